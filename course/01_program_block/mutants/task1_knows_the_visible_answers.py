    if x.dtype is not y.dtype:
        raise TypeError("dtypes differ")
    known = {
        ((2, 3, 4, 5), (3,), 1): [2, 3, 4, 5],
        ((3,), (2, 1, 4, 5), 1): [2, 3, 4, 5],
        ((2, 3, 4), (4,), -1): [2, 3, 4],
        ((4,), (2, 3, 1), -1): [2, 3, 4],
        ((-1, 3), (8, 1), -1): [8, 3],
        ((-1, 3), (1, 3), -1): [-1, 3],
        ((1, 3), (-1, 3), -1): [-1, 3],
        ((2, 3), (2,), 0): [2, 3],
        ((2, 3, 4), (4,), 2): [2, 3, 4],
        ((3,), (3,), -1): [3],
        ((-1, 1, 4), (3,), 1): [-1, 3, 4],
    }
    if (x.shape, y.shape, axis) not in known:
        raise ValueError("no place")
    return MetaTensor(known[x.shape, y.shape, axis], x.dtype)
