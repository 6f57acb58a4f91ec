"""An op that is declared in a test file works in every world without another line."""

import contextlib

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.phi.core.op import OPS, op
from minipaddle.phi.infermeta.unary import unchanged

X = np.array([[0.5, -1.0], [2.0, 0.25]], "float32")
WANTED = X**3 + 2 * X
SLOPE = 3 * X**2 + 2


@pytest.fixture(scope="module")
def cubic():
    """y = x^3 + factor * x, declared once."""

    @op(source="declared in a test")
    def cubic(xp, x, *, factor: float = 2.0):
        """x cubed, plus factor times x."""
        return x * x * x + x.dtype.type(factor) * x

    cubic.infer_meta(unchanged)

    @cubic.vjp
    def _(x, out_grad, *, factor: float):
        return (out_grad * (3.0 * x * x + factor),)

    yield cubic
    del OPS["cubic"]


def test_dygraph(cubic):
    x = paddle.to_tensor(X, stop_gradient=False)
    y = cubic(x)
    assert y.grad_fn.name() == "CubicGradNode"
    y.sum().backward()
    np.testing.assert_allclose(y.numpy(), WANTED, rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), SLOPE, rtol=1e-6)


def test_gradient_of_gradient(cubic):
    x = paddle.to_tensor(X, stop_gradient=False)
    (first,) = paddle.grad(cubic(x).sum(), x, create_graph=True)
    (second,) = paddle.grad(first.sum(), x)
    np.testing.assert_allclose(second.numpy(), 6 * X, rtol=1e-6)


def build(cubic):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 2], "float32")
        x.stop_gradient = False
        y = cubic(x)
        loss = paddle.mean(y)
    return main, x, y, loss


def test_classic_program(cubic):
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main, x, y, loss = build(cubic)
            paddle.static.append_backward(loss)
            types = [o.type for o in main.global_block().ops]
            assert types[0] == "cubic" and types[-1] == "cubic_grad"
            again = type(main).parse_from_string(main.serialize_to_string())
            out, grad = paddle.static.Executor().run(
                again, feed={"x": X}, fetch_list=[y.name, "x@GRAD"]
            )
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(out, WANTED, rtol=1e-6)
    np.testing.assert_allclose(grad, SLOPE / 4, rtol=1e-6)


def test_pir(cubic):
    paddle.enable_static()
    try:
        main, x, y, loss = build(cubic)
        (grad,) = paddle.static.gradients(loss, x)
        text = str(main)
        assert str(paddle.pir.parse_program(text)) == text
        assert '"pd_op.cubic_grad"' in text and "factor:2" in text
        out, slope = paddle.static.Executor().run(main, feed={"x": X}, fetch_list=[y, grad])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(out, WANTED, rtol=1e-6)
    np.testing.assert_allclose(slope, SLOPE / 4, rtol=1e-6)


def test_bytecode_capture(cubic):
    @paddle.jit.to_static(full_graph=False)
    def function(x):
        return cubic(x, factor=2.0).sum()

    x = paddle.to_tensor(X, stop_gradient=False)
    function(x).backward()
    assert "pd_op.cubic" in function.cache[0].graph.forward_text
    np.testing.assert_allclose(x.grad.numpy(), SLOPE, rtol=1e-6)


def test_data_parallel(cubic):
    def main():
        x = paddle.to_tensor(X, stop_gradient=False)
        x.register_hook(lambda grad: paddle.distributed.all_reduce(grad) or grad)
        cubic(x).sum().backward()
        return x.grad.numpy()

    for grad in paddle.distributed.spawn(main, nprocs=2):
        np.testing.assert_allclose(grad, 2 * SLOPE, rtol=1e-6)


def test_mistakes_in_a_rule_are_named(cubic):
    x = paddle.to_tensor(X, stop_gradient=False)
    right = cubic.vjp_rule.rule

    def gives(rule, error, message):
        cubic.vjp(rule)
        with pytest.raises(error, match=message):
            cubic(x).sum().backward()

    try:
        gives(
            lambda x, out_grad: (out_grad.sum(),),
            RuntimeError,
            r"expected CubicGradNode to give a gradient of shape \[2, 2\], but got \[\]",
        )
        gives(
            lambda x, out_grad: (out_grad, out_grad),
            TypeError,
            r"@cubic.vjp: expected a tuple of 1 gradients, for \['x'\], but got 2",
        )
        gives(lambda x, out_grad: out_grad, TypeError, "but got ndarray. Return one gradient")
        gives(lambda x, out_grad: (paddle.exp(out_grad),), ValueError, "by their bare names")
    finally:
        cubic.vjp(right)


def test_declaring_it_twice_is_an_error(cubic):
    with pytest.raises(ValueError, match=r"op: expected a new name, but got 'cubic'"):

        @op(source="again", name="cubic")
        def other(xp, x):
            return x


def test_a_rule_that_reads_something_unknown_is_an_error(cubic):
    with pytest.raises(ValueError, match=r"expected parameters among .* but got \['z'\]"):

        @cubic.vjp
        def _(z, out_grad):
            return (out_grad,)


def kernel(xp, x, y, *, factor: float = 2.0):
    """x + factor * y"""


def without_xp(x, y):
    pass


def number_before_the_star(xp, x, factor: float = 2.0):
    pass


def no_annotation(xp, x, *, factor=2.0):
    pass


WRONG_DECLARATIONS = {
    "no brackets": (lambda: op(kernel), r"expected @op\(source=...\), but got @op on kernel"),
    "no xp": (lambda: op()(without_xp), r"expected a kernel whose first parameter is xp, but"),
    "an attribute among the inputs": (
        lambda: op()(number_before_the_star),
        r"input 'factor' to have no annotation.* but got <class 'float'>.* behind a star",
    ),
    "an attribute without a kind": (lambda: op()(no_annotation), "'factor' to be annotated"),
    "AMP class": (lambda: op(amp="grey")(kernel), r"expected amp among .* got \['grey'\]"),
    "trait": (lambda: op(traits=("Puer",))(kernel), r"expected traits among .* got \['Puer'\]"),
    "inplace": (lambda: op(inplace={"out": "z"})(kernel), r"inplace inputs among .* got \['z'\]"),
    "promote": (lambda: op(promote=("x", "z"))(kernel), r"expected promote among .* got \['z'\]"),
    "same_dtype": (lambda: op(same_dtype=("z",))(kernel), r"same_dtype among .* got \['z'\]"),
    "scalar": (lambda: op(scalar="{x} * {z!r}")(kernel), r"in scalar among .* got \['z'\]"),
    "infer_meta without an input": (
        lambda: op()(kernel).infer_meta(lambda x, **attrs: x),
        r"expected a function of \(x, y, \*, factor\), but got one of \(x\)",
    ),
    "infer_meta without an attribute": (
        lambda: op()(kernel).infer_meta(lambda x, y: x),
        r"expected a function of \(x, y, \*, factor\), but got one of \(x, y\).*\*\*attrs takes",
    ),
    "wrt": (
        lambda: op()(kernel).vjp(wrt=("x", "z"))(lambda x, out_grad: (x, x)),
        r"@kernel.vjp: expected wrt among \['x', 'y'\], but got \['z'\]",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_DECLARATIONS)
def test_a_wrong_declaration_is_an_error(wrong):
    declare, message = WRONG_DECLARATIONS[wrong]
    try:
        with pytest.raises((TypeError, ValueError), match=message):
            declare()
    finally:
        OPS.pop("kernel", None)


@pytest.fixture(scope="module")
def clipped_cube():
    """An op whose rule gives an attribute by position, and calls ops through helper functions."""
    cast, pow = OPS["cast"], OPS["pow"]

    def mask(x, low):
        return cast(x >= low, x.dtype)

    def slope(x, low):
        return 3.0 * pow(x, 2.0) * mask(x, low)

    @op(source="declared in a test")
    def clipped_cube(xp, x, *, low: float = 0.0):
        """x cubed where x is `low` or more, elsewhere a number."""
        return xp.where(x >= low, x, x.dtype.type(low)) ** 3

    clipped_cube.infer_meta(unchanged)

    @clipped_cube.vjp
    def _(x, out_grad, *, low: float):
        return (out_grad * slope(x, low),)

    yield clipped_cube
    del OPS["clipped_cube"]


def test_a_rule_calls_ops_through_helpers_and_gives_attributes_by_position(clipped_cube):
    wanted = 3 * X**2 * (X >= 0)
    x = paddle.to_tensor(X, stop_gradient=False)
    clipped_cube(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-6)
    (first,) = paddle.grad(clipped_cube(x).sum(), x, create_graph=True)
    np.testing.assert_allclose(paddle.grad(first.sum(), x)[0].numpy(), 6 * X * (X >= 0), rtol=1e-6)
    for guard in (paddle.pir_utils.OldIrGuard, contextlib.nullcontext):  # classic, then PIR
        paddle.enable_static()
        try:
            with guard():
                main = paddle.static.Program()
                with paddle.static.program_guard(main, paddle.static.Program()):
                    v = paddle.static.data("x", [None, 2], "float32")
                    v.stop_gradient = False
                    (grad,) = paddle.static.gradients(clipped_cube(v), v)
                assert list(grad.shape) == [-1, 2]
                (found,) = paddle.static.Executor().run(main, feed={"x": X}, fetch_list=[grad])
        finally:
            paddle.disable_static()
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
