    written, feeds = set(), set()
    for operator in block.ops:
        feeds |= {n for n in operator.input_arg_names if n not in written}
        written |= set(operator.output_arg_names)
    plan = paddle.static.Executor().interpreter(block.program, tuple(feeds), list(fetch)).plan
    return [sorted(plan.names[variable] for variable in dead) for dead in plan.last_uses()]
