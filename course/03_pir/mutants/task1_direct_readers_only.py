    ops = outputs[0].get_defining_op().get_parent_block().ops
    readers = {op for value in inputs for op in value.all_used_ops()}
    needed, answer = set(outputs), []
    for op in reversed(ops):
        if not needed.isdisjoint(op.results()):
            needed.update(v for v in op.operands_source() if v is not None)
            if op in readers:
                answer.append(op)
    return answer[::-1]
