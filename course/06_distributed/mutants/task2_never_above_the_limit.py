    buckets, opened, nbytes, limits = [], {}, {}, {}
    for index, parameter in enumerate(parameters):
        if parameter.stop_gradient:
            continue
        kind, size = parameter.dtype.name, parameter.numpy().nbytes
        if kind in opened and nbytes[kind] + size > limits.get(kind, last_limit):
            buckets.append(opened.pop(kind))
            nbytes[kind], limits[kind] = 0, limit
        opened.setdefault(kind, []).append(index)
        nbytes[kind] = nbytes.get(kind, 0) + size
    buckets += opened.values()
    return sorted(buckets, reverse=True)
