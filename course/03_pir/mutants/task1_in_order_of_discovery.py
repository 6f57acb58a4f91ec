    down, up, todo = [], set(), list(inputs)
    while todo:
        for op in todo.pop().all_used_ops():
            if op not in down:
                down.append(op)
                todo += op.results()
    todo = list(outputs)
    while todo:
        op = todo.pop().get_defining_op()
        if op not in up:
            up.add(op)
            todo += [v for v in op.operands_source() if v is not None]
    return [op for op in down if op in up]
