    if x.dtype is not y.dtype:
        raise TypeError("dtypes differ")
    shorter, longer = (x, y) if x.ndim < y.ndim else (y, x)
    left = longer.ndim - shorter.ndim if axis == -1 else axis
    right = longer.ndim - shorter.ndim - left
    if left < 0 or right < 0:
        raise ValueError("no place")
    sizes = []
    for a, b in zip((1,) * left + shorter.shape + (1,) * right, longer.shape):
        if a != b and 1 not in (a, b) and -1 not in (a, b):
            raise ValueError("sizes")
        sizes.append(-1 if -1 in (a, b) else b if a == 1 else a)
    return MetaTensor(sizes, x.dtype)
