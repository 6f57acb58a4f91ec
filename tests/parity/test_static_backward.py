"""Backward of classic Programs: names, order, roles and values, as in real Paddle."""

import textwrap

import pytest

from minipaddle.compare import both

BUILD = """
paddle.enable_static()
with paddle.pir_utils.OldIrGuard():
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        gradients, relu = paddle.static.gradients, paddle.nn.functional.relu
        def data(name, stop_gradient=True):
            variable = paddle.static.data(name, [2, 3])
            variable.stop_gradient = stop_gradient
            return variable
        def parameter(name):
            return paddle.static.create_parameter([3, 3], 'float32', name=name)
"""

# what builds the program, and what is done with it afterwards
SNIPPETS = {
    "gradients of an intermediate result": (
        """
        x = data('x', False)
        y = relu(x @ parameter('w'))
        print(gradients([paddle.mean(y * y + y)], [y, x]))
        """,
        "print(main)",
    ),
    "an input on which nothing depends": (
        """
        x = data('x', False)
        print(gradients(relu(x), [x, data('u', False)]))
        """,
        "print(main)",
    ),
    "two targets, one with a gradient of its own": (
        """
        x, g = data('x', False), data('g')
        gradients([relu(x), x * x], [x], [g, None])
        """,
        """
        print(main)
        array = np.arange(6, dtype='float32').reshape(2, 3) - 2
        feed = {'x': array, 'g': array}
        print(paddle.static.Executor().run(main, feed=feed, fetch_list=['x@GRAD']))
        """,
    ),
    "a target gradient of another shape": (
        """
        x = data('x', False)
        gradients(relu(x), x, paddle.static.data('g', [3]))
        """,
        "",
    ),
    "two losses": (
        """
        y = data('x') @ parameter('w')
        print(paddle.static.append_backward(paddle.mean(y)))
        print(paddle.static.append_backward(paddle.mean(relu(y))))
        """,
        "print(main)",
    ),
    "three readers": (
        """
        x = data('x', False)
        a, b = relu(x), x * x
        paddle.static.append_backward(paddle.mean((a * b + a) * b + x))
        """,
        "print(main)",
    ),
    "a branch in no_grad_set": (
        """
        x = data('x', False)
        y, z = x @ parameter('w'), x @ parameter('v')
        print(paddle.static.append_backward(paddle.mean(y * z), no_grad_set={y.name}))
        """,
        "print(main)",
    ),
    "a list of parameters": (
        """
        y = data('x') @ parameter('w') @ parameter('v')
        print(paddle.static.append_backward(paddle.mean(y), parameter_list=['v']))
        """,
        "print(main)",
    ),
    "checkpoints": (
        """
        results = [data('x')]
        for number in range(3):
            w = parameter(f'w{number}')
            h = results[-1] @ w
            across = h if number == 0 else across  # it is read after the checkpoints
            results.append(relu(h * (results[-1] @ w)))
        chosen = [results[2], results[1]]
        loss = paddle.mean(results[-1] + across)
        print(paddle.base.backward.append_backward(loss, checkpoints=chosen))
        """,
        "print(str(main.global_block()).strip())",
    ),
    "values of three orders": (
        """
        x, w = data('x', False), data('w')
        y = (x @ x.T @ w) * x * x
        (g,) = gradients(y, x)
        (h,) = gradients(g * g, x)
        (i,) = gradients(h * g, x)
        print(g.name, h.name, i.name)
        """,
        """
        array = np.arange(6, dtype='float32').reshape(2, 3) - 2
        feed = {'x': array, 'w': array / 10}
        for found in paddle.static.Executor().run(main, feed=feed, fetch_list=[g, h, i]):
            print([f'{number:.4g}' for number in found.ravel()])
        """,
    ),
}


# what builds the program and prints the answer; our answer, Paddle's
DIFFERENT = {
    "a target on the way to another": (
        """
        x = data('x', False)
        y = x * x
        gradients([y, y * y], x)
        feed = {'x': np.full((2, 3), 2.0, 'float32')}
        print(paddle.static.Executor().run(main, feed=feed, fetch_list=['x@GRAD'])[0][0, 0])
        """,
        "36.0",  # 2 x + 4 x ** 3
        "32.0",  # the first target's ones are overwritten
    ),
    "one input that has no gradient": (
        """
        print(gradients(data('x', False) * 2.0, data('u', False)))
        """,
        "[None]",  # one answer for each input
        "[]",
    ),
    "the gradient of a target with respect to itself": (
        """
        y = data('x', False) * 2.0
        print(len(gradients(y, y)))
        """,
        "1",  # ones
        "0",
    ),
    "a loss of integers": (
        """
        loss = paddle.static.data('n', [1], 'int64')
        loss.stop_gradient = False
        print(paddle.static.append_backward(loss * 2))
        """,
        "ValueError",
        "[]",
    ),
}


def snippet(build, after=""):
    text = BUILD + textwrap.indent(textwrap.dedent(build), " " * 8)
    return text + textwrap.indent(textwrap.dedent(after), " " * 4)


@pytest.mark.parametrize("name", SNIPPETS)
def test_both_print_the_same(name):
    both(snippet(*SNIPPETS[name]), same=True)


@pytest.mark.parametrize("name", DIFFERENT)
def test_where_they_differ_ours_is_clearer(name):
    build, ours, theirs = DIFFERENT[name]
    found = both(snippet(build))
    assert (found.minipaddle.strip(), found.paddle.strip()) == (ours, theirs)
