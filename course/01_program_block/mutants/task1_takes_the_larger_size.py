    if x.dtype is not y.dtype:
        raise TypeError("dtypes differ")
    shorter, longer = (x, y) if x.ndim < y.ndim else (y, x)
    left = longer.ndim - shorter.ndim if axis == -1 else axis
    right = longer.ndim - shorter.ndim - left
    if left < 0 or right < 0:
        raise ValueError("no place")
    padded = (1,) * left + shorter.shape + (1,) * right
    if any(a != b and 1 not in (a, b) and -1 not in (a, b) for a, b in zip(padded, longer.shape)):
        raise ValueError("sizes")
    return MetaTensor([max(a, b) for a, b in zip(padded, longer.shape)], x.dtype)
