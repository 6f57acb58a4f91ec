    erased = 0
    for op in reversed(list(program.global_block().ops)):
        keep = op.info.traits & {"SideEffect", "Random"}
        if not keep and all(result.use_empty() for result in op.results()):
            op.erase()
            erased += 1
    return erased, set()
