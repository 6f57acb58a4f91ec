    count = 0
    for op in program.global_block().ops:
        if op.name() != name:
            continue
        with paddle.static.program_guard(program):
            paddle.pir.set_insertion_point(op)
            new = rule(op)
        for old, value in zip(op.results(), new):
            if value.type() is not old.type():
                raise ValueError("another type")
            old.replace_all_uses_with(value)
        op.erase()
        count += 1
    return count
