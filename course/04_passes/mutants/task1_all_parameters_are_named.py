    erased, parameters = 0, set()
    for op in reversed(list(program.global_block().ops)):
        is_parameter = op.name() == "builtin.parameter"
        if is_parameter:
            parameters.add(op.attributes["parameter_name"].value)
        may_go = is_parameter or not op.info.traits & {"SideEffect", "Random"}
        if may_go and all(result.use_empty() for result in op.results()):
            op.erase()
            erased += 1
    return erased, parameters
