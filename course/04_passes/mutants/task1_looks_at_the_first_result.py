    erased, parameters = 0, set()
    for op in reversed(list(program.global_block().ops)):
        is_parameter = op.name() == "builtin.parameter"
        may_go = is_parameter or not op.info.traits & {"SideEffect", "Random"}
        if may_go and op.result(0).use_empty():
            if is_parameter:
                parameters.add(op.attributes["parameter_name"].value)
            op.erase()
            erased += 1
    return erased, parameters
