    chosen = [op for op in program.global_block().ops if op.name() == name]
    for op in chosen:
        with paddle.static.program_guard(program):
            paddle.pir.set_insertion_point(op)
            new = rule(op)
        for old, value in zip(op.results(), new):
            old.replace_all_uses_with(value)
        op.erase()
    return len(chosen)
