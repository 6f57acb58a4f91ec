    needed = set(fetch) | {name for name in block.vars if block.var(name).persistable}
    freed = []
    for operator in reversed(block.ops):
        touched = [*operator.input_arg_names, *operator.output_arg_names]
        freed.append(sorted(name for name in touched if name not in needed))
        needed.update(touched)
    return freed[::-1]
