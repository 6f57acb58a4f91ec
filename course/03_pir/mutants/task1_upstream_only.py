    ops = outputs[0].get_defining_op().get_parent_block().ops
    needed, answer = set(outputs), []
    for op in reversed(ops):
        if not needed.isdisjoint(op.results()):
            needed.update(v for v in op.operands_source() if v is not None and v not in set(inputs))
            if op.num_operands():
                answer.append(op)
    return answer[::-1]
