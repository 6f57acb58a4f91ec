    buckets, opened, nbytes, limits = [], {}, {}, {}
    for index, parameter in enumerate(parameters):
        if parameter.stop_gradient:
            continue
        kind = "all"
        opened.setdefault(kind, []).append(index)
        nbytes[kind] = nbytes.get(kind, 0) + parameter.numpy().nbytes
        if nbytes[kind] >= limits.get(kind, last_limit):
            buckets.append(opened.pop(kind))
            nbytes[kind], limits[kind] = 0, limit
    buckets += opened.values()
    return sorted(buckets, reverse=True)
