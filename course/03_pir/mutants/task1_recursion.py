    ops = outputs[0].get_defining_op().get_parent_block().ops
    down, up = set(), set()

    def forward(value):
        for op in value.all_used_ops():
            if op not in down:
                down.add(op)
                for result in op.results():
                    forward(result)

    def backward(value):
        op = value.get_defining_op()
        if op not in up:
            up.add(op)
            for source in op.operands_source():
                if source is not None:
                    backward(source)

    for value in inputs:
        forward(value)
    for value in outputs:
        backward(value)
    return [op for op in ops if op in down and op in up]
