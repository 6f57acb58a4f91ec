    if x.dtype is not y.dtype:
        raise TypeError("dtypes differ")
    shorter, longer = (x, y) if x.ndim < y.ndim else (y, x)
    if axis >= 0 and axis + shorter.ndim > longer.ndim:
        raise ValueError("no place")
    return longer
