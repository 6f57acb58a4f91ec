written, feeds = set(), set()
for one in block.ops:
    feeds |= {name for name in one.input_arg_names if name not in written}
    written |= set(one.output_arg_names)
plan = paddle.static.Executor().interpreter(block.program, tuple(feeds), list(fetch)).plan
names = [[plan.names[n] for n in i.writes()] for i in plan.instructions]
kept = [n for n, one in enumerate(block.ops) if list(one.output_arg_names) in names]
return kept, sorted([*plan.feeds, *plan.scope_reads])
