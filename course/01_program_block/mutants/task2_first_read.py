    seen = {*fetch}
    freed = []
    for operator in block.ops:
        names = {n for n in operator.input_arg_names if not block.var(n).persistable}
        freed.append(sorted(names - seen))
        seen |= names
    return freed
