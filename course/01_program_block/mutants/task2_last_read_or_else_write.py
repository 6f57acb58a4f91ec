    last = {}
    for number, operator in enumerate(block.ops):
        for name in operator.output_arg_names:
            last.setdefault(name, number)
        for name in operator.input_arg_names:
            last[name] = number
    freed = [[] for _ in block.ops]
    for name, number in sorted(last.items()):
        if name not in fetch and not block.var(name).persistable:
            freed[number].append(name)
    return freed
