    chosen = [op for op in program.global_block().ops if op.name() == name]
    for op in chosen:
        with paddle.static.program_guard(program):
            paddle.pir.set_insertion_point(op)
            new = rule(op)
        for old, value in zip(op.results(), new):
            if value.type() is not old.type():
                raise ValueError("another type")
            if old.uses():
                old.uses()[0].set_source(value)
        if op.result(0).use_empty():
            op.erase()
    return len(chosen)
