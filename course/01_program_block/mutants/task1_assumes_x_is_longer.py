    if x.dtype is not y.dtype:
        raise TypeError("dtypes differ")
    left = x.ndim - y.ndim if axis == -1 else axis
    right = x.ndim - y.ndim - left
    if left < 0 or right < 0:
        raise ValueError("no place")
    sizes = []
    for a, b in zip(x.shape, (1,) * left + y.shape + (1,) * right):
        if a != b and 1 not in (a, b) and -1 not in (a, b):
            raise ValueError("sizes")
        sizes.append(b if a == 1 else a if b == 1 else max(a, b))
    return MetaTensor(sizes, x.dtype)
