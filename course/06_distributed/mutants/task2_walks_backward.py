    buckets, opened, nbytes, limits = [], {}, {}, {}
    for index in reversed(range(len(parameters))):
        parameter = parameters[index]
        if parameter.stop_gradient:
            continue
        kind = parameter.dtype.name
        opened.setdefault(kind, []).insert(0, index)
        nbytes[kind] = nbytes.get(kind, 0) + parameter.numpy().nbytes
        if nbytes[kind] >= limits.get(kind, last_limit):
            buckets.append(opened.pop(kind))
            nbytes[kind], limits[kind] = 0, limit
    buckets += opened.values()
    return sorted(buckets, reverse=True)
