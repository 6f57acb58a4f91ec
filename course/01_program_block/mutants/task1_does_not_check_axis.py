    if x.dtype is not y.dtype:
        raise TypeError("dtypes differ")
    shorter, longer = (x, y) if x.ndim < y.ndim else (y, x)
    left = longer.ndim - shorter.ndim if axis == -1 else axis
    right = longer.ndim - shorter.ndim - left
    sizes = []
    for a, b in zip((1,) * left + shorter.shape + (1,) * right, longer.shape):
        if a != b and 1 not in (a, b) and -1 not in (a, b):
            raise ValueError("sizes")
        sizes.append(b if a == 1 else a if b == 1 else max(a, b))
    return MetaTensor(sizes, x.dtype)
