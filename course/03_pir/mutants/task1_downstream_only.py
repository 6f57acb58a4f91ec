    ops = outputs[0].get_defining_op().get_parent_block().ops
    reached, answer = set(inputs), []
    for op in ops:
        if not reached.isdisjoint(op.operands_source()):
            reached.update(op.results())
            answer.append(op)
    return answer
