    chosen = [op for op in program.global_block().ops if op.name() == name]
    for op in chosen:
        with paddle.static.program_guard(program):
            paddle.pir.set_insertion_point(op)
            new = subtract_rule(op) if name == "pd_op.subtract" else assign_rule(op)
        op.result(0).replace_all_uses_with(new[0])
        op.erase()
    return len(chosen)
