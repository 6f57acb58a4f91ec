    dead = [
        op
        for op in program.global_block().ops
        if op.name() in ("pd_op.softmax", "pd_op.exp")
        or (
            op.name() == "pd_op.matmul"
            and op.result(0).shape == [2, 4]
            and op.operand_source(1).get_defining_op().attributes["parameter_name"].value == "old_w"
        )
        or (op.name() == "builtin.parameter" and op.attributes["parameter_name"].value == "old_w")
    ]
    for op in reversed(dead):
        op.erase()
    return len(dead), {"old_w"} if dead else set()
