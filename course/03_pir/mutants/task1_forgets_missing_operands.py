    ops = outputs[0].get_defining_op().get_parent_block().ops
    down, up, todo = set(), set(), list(inputs)
    while todo:
        for op in todo.pop().all_used_ops():
            if op not in down:
                down.add(op)
                todo += op.results()
    todo = list(outputs)
    while todo:
        op = todo.pop().get_defining_op()
        if op not in up:
            up.add(op)
            todo += op.operands_source()
    return [op for op in ops if op in down and op in up]
