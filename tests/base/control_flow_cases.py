"""Programs with conditions and loops, as functions that build them with any `paddle`.

In dygraph the same functions just run: that is what the Programs are compared with.
"""


def _count(paddle, value=0):
    return paddle.full([1], value, "int64")


def _loop(paddle, turns, body, values):
    """`body` as often as `turns` says; gives the values after it."""
    limit = _count(paddle, turns)
    result = paddle.static.nn.while_loop(
        lambda i, *now: i < limit, lambda i, *now: [i + 1, *body(*now)], [_count(paddle), *values]
    )
    return result[1:]


def condition(paddle, x):
    return paddle.static.nn.cond(paddle.mean(x) > 0, lambda: x * 2.0, lambda: x - 1.0)


def loop(paddle, x):
    return _loop(paddle, 3, lambda a: [a + a * x], [x * 1.0])[0]


def loop_without_a_turn(paddle, x):
    return _loop(paddle, 0, lambda a: [a * x], [x * 3.0])[0]


def two_values_in_a_loop(paddle, x):
    return _loop(paddle, 3, lambda a, b: [a + b, b * x], [x * 1.0, x * 2.0])[0]


def sum_of_a_loop(paddle, x):
    """The sum starts as a constant, which has no gradient."""
    return _loop(paddle, 3, lambda s: [s + x * x], [paddle.full([2], 0.0)])[0]


def swapped_values(paddle, x):
    a, b = _loop(paddle, 3, lambda a, b: [b, a], [x * 1.0, x * 10.0])
    return a * a + b


def value_that_a_turn_does_not_read(paddle, x):
    return _loop(paddle, 3, lambda a: [x * x], [x * 5.0])[0]


def op_before_needs_what_the_loop_overwrites(paddle, x):
    y = x * 2.0
    z = y * y
    return _loop(paddle, 3, lambda a: [a * a], [y])[0] + z


def op_before_needs_its_own_result(paddle, x):
    y = paddle.nn.functional.softmax(x)
    return _loop(paddle, 2, lambda a: [a * 3.0], [y])[0] * x


def loop_over_what_is_fed(paddle, x):
    return _loop(paddle, 2, lambda a: [a * a + a], [x])[0]


def one_loop_after_the_other(paddle, x):
    (y,) = _loop(paddle, 2, lambda a: [a * x], [x * 1.0])
    (y,) = _loop(paddle, 3, lambda a: [a * 0.5 + x], [y])
    return y * y


def loop_in_loop(paddle, x):
    def outer(a):
        (b,) = _loop(paddle, 2, lambda b: [b * x], [a])
        return [b * b]

    return _loop(paddle, 2, outer, [x * 1.0])[0]


def loop_in_condition(paddle, x):
    def true():
        return _loop(paddle, 2, lambda a: [a * x], [x * 3.0])[0]

    return paddle.static.nn.cond(paddle.mean(x) > 0, true, lambda: x * x)


def condition_in_loop(paddle, x):
    def body(a):
        return [paddle.static.nn.cond(paddle.mean(a) > 0, lambda: a * x, lambda: a - x)]

    return _loop(paddle, 3, body, [x * 3.0])[0]


def condition_in_condition(paddle, x):
    cond = paddle.static.nn.cond

    def inner():
        return cond(paddle.mean(x) > 2, lambda: x * x * x, lambda: x * x)

    return cond(paddle.mean(x) > 0, inner, lambda: x)


def loop_in_loop_in_condition(paddle, x):
    y = x * 0.5

    def true():
        def outer(a, b):
            (c,) = _loop(paddle, 2, lambda c: [c * y + b], [a])
            return [c, b * a]

        return _loop(paddle, 2, outer, [x * 1.0, y])[0]

    return paddle.static.nn.cond(paddle.mean(x) > 0, true, lambda: y)


def first_true_case(paddle, x):
    pairs = [(paddle.mean(x) > 2, lambda: x * x), (paddle.mean(x) > 0, lambda: x * 3.0)]
    return paddle.static.nn.case(pairs, default=lambda: x - 5.0)


def numbered_case(paddle, x):
    index = paddle.cast(paddle.mean(x) * 2.0, "int64")
    functions = {1: lambda: x * x, 3: lambda: x * x * x, 7: lambda: x * 7.0}
    return paddle.static.nn.switch_case(index, functions)


def structures(paddle, x):
    cond = paddle.static.nn.cond
    got = cond(
        paddle.mean(x) > 0,
        lambda: {"a": [x * 2.0, (x, 3.0)], "b": x * x},
        lambda: {"a": [x * 4.0, (x - 1.0, 3.0)], "b": x},
    )
    first, (second, three) = got["a"]
    return first * second * three + got["b"]


CASES = [
    value for name, value in list(globals().items()) if callable(value) and not name.startswith("_")
]
