    erased, parameters = 0, set()
    for op in reversed(list(program.global_block().ops)):
        is_parameter = op.name() == "builtin.parameter"
        may_go = is_parameter or "SideEffect" not in op.info.traits or "Random" in op.info.traits
        if may_go and all(result.use_empty() for result in op.results()):
            if is_parameter:
                parameters.add(op.attributes["parameter_name"].value)
            op.erase()
            erased += 1
    return erased, parameters
