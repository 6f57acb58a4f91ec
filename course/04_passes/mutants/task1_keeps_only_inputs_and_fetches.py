    erased, parameters = 0, set()
    for op in reversed(list(program.global_block().ops)):
        keep = op.name() in ("pd_op.data", "pd_op.fetch") or "Random" in op.info.traits
        if not keep and all(result.use_empty() for result in op.results()):
            if op.name() == "builtin.parameter":
                parameters.add(op.attributes["parameter_name"].value)
            op.erase()
            erased += 1
    return erased, parameters
