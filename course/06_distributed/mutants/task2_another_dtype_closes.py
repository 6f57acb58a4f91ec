    buckets, bucket, nbytes, kind, cap = [], [], 0, None, last_limit
    for index, parameter in enumerate(parameters):
        if parameter.stop_gradient:
            continue
        if bucket and parameter.dtype.name != kind:
            buckets.append(bucket)
            bucket, nbytes, cap = [], 0, limit
        bucket.append(index)
        nbytes, kind = nbytes + parameter.numpy().nbytes, parameter.dtype.name
        if nbytes >= cap:
            buckets.append(bucket)
            bucket, nbytes, cap = [], 0, limit
    if bucket:
        buckets.append(bucket)
    return sorted(buckets, reverse=True)
