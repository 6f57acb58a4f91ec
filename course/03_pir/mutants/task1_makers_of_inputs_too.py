    ops = outputs[0].get_defining_op().get_parent_block().ops
    reached, needed = set(inputs), set(outputs)
    downstream = {value.get_defining_op() for value in inputs}
    for op in ops:
        if not reached.isdisjoint(op.operands_source()):
            downstream.add(op)
            reached.update(op.results())
    answer = []
    for op in reversed(ops):
        if not needed.isdisjoint(op.results()):
            needed.update(v for v in op.operands_source() if v is not None)
            if op in downstream:
                answer.append(op)
    return answer[::-1]
