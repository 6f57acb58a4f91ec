"""One table over all op declarations: what an op says about itself must be true.

Each op has at least one call here: an op that is declared without one fails `test_every_op_is_in_the_table`.
"""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.common.dtype import float32, float64, int64
from minipaddle.decomposition import decompose, has_decomp
from minipaddle.eager.eager_gen import ad_func
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import OPS
from minipaddle.pir.core.builder import append_phi_op
from tests.phi.cases import (
    activation,
    conv,
    creation,
    indexing,
    linalg,
    logic,
    loss,
    manipulation,
    math,
    norm,
    optimizer,
    pooling,
    random,
    reduction,
    search,
)
from tests.phi.cases.numbers import Numbers

FILES = (
    activation,
    conv,
    creation,
    indexing,
    linalg,
    logic,
    loss,
    manipulation,
    math,
    norm,
    optimizer,
    pooling,
    random,
    reduction,
    search,
)
CALLS = {name: calls for file in FILES for name, calls in file.CALLS.items()}

rng = np.random.default_rng(7)
f = Numbers(__name__).away_from_zero

EVERY_CALL = [
    pytest.param(name, inputs, attrs, id=f"{name}-{number}")
    for name, calls in CALLS.items()
    for number, (inputs, attrs) in enumerate(calls)
]


def copies(inputs):
    return [
        [np.array(v) for v in item]
        if isinstance(item, list)
        else None
        if item is None
        else np.array(item)
        for item in inputs
    ]


def metas(inputs):
    return [
        [MetaTensor(v.shape, v.dtype) for v in item]
        if isinstance(item, list)
        else None
        if item is None
        else MetaTensor(item.shape, item.dtype)
        for item in inputs
    ]


def run(op, inputs, attrs):
    """The kernel's results as a tuple."""
    results = op.run(np, *copies(inputs), **op.complete(attrs))
    return results if isinstance(results, tuple) else (results,)


def differentiable(op, inputs):
    """The positions of the inputs that have a numeric gradient."""
    if op.vjp_rule is None:
        return []
    return [
        i
        for i, (item, value) in enumerate(zip(op.inputs, inputs, strict=True))
        if item.name in op.vjp_rule.wrt
        and value is not None
        and np.asarray(value[0] if isinstance(value, list) else value).dtype.kind == "f"
    ]


def test_every_op_is_in_the_table():
    assert sorted(OPS) == sorted(CALLS)


def test_every_op_says_where_it_is_in_paddle_and_what_it_does():
    for op in OPS.values():
        assert op.source, op
        assert op.__doc__, op


def test_an_op_without_gradient_says_so():
    """No gradient was forgotten: an op has a rule, or is marked, or has no Tensor input."""
    for op in OPS.values():
        marked = "ForwardOnly" in op.traits or op.infer_meta_fn.__qualname__.startswith("compared")
        assert (op.vjp_rule is not None) or marked or not op.inputs or op.name == "full_like", op


@pytest.mark.parametrize(("name", "inputs", "attrs"), EVERY_CALL)
def test_infer_meta_is_what_the_kernel_returns(name, inputs, attrs):
    op = OPS[name]
    found = op.infer_metas(metas(inputs), op.complete(attrs))
    for meta, array in zip(found, run(op, inputs, attrs), strict=True):
        if array is None:
            assert meta is None
        else:
            assert meta == MetaTensor(array.shape, array.dtype)


@pytest.mark.parametrize(("name", "inputs", "attrs"), EVERY_CALL)
def test_dygraph_gives_what_the_kernel_gives(name, inputs, attrs):
    op = OPS[name]
    tensors = [
        [paddle.to_tensor(v) for v in item] if isinstance(item, list)
        else None if item is None else paddle.to_tensor(item)
        for item in copies(inputs)
    ]  # fmt: skip
    results = ad_func(op)(*tensors, **attrs)
    results = results if isinstance(results, tuple) else (results,)
    for tensor, array in zip(results, run(op, inputs, attrs), strict=True):
        if array is not None:
            np.testing.assert_array_equal(tensor.numpy(), array)
            assert tensor.numpy().dtype == array.dtype


WITH_GRADIENT = [p for p in EVERY_CALL if differentiable(OPS[p.values[0]], p.values[1])]


@pytest.mark.parametrize(("name", "inputs", "attrs"), WITH_GRADIENT)
def test_gradient_is_the_numeric_one(name, inputs, attrs):
    """Sum of outputs times fixed weights; every input number is moved up and down by epsilon."""
    op = OPS[name]
    outputs = run(op, inputs, attrs)
    used = [array.dtype.kind == "f" for array in outputs]
    if name == "cross_entropy_with_softmax":
        used = [False, True]  # its softmax output is for the gradient only, as in Paddle
    weights = [rng.uniform(0.5, 1.5, array.shape) for array in outputs]

    def total(values):
        found = run(op, values, attrs)
        return sum((a * w).sum() for a, w, use in zip(found, weights, used, strict=True) if use)

    tensors = [
        [paddle.to_tensor(v, stop_gradient=False) for v in item] if isinstance(item, list)
        else paddle.to_tensor(item, stop_gradient=np.asarray(item).dtype.kind != "f")
        for item in copies(inputs)
    ]  # fmt: skip
    results = ad_func(op)(*tensors, **attrs)
    results = results if isinstance(results, tuple) else (results,)
    chosen = [t for t, use in zip(results, used, strict=True) if use]
    seeds = [paddle.to_tensor(w) for w, use in zip(weights, used, strict=True) if use]
    paddle.autograd.backward(chosen, seeds)

    epsilon = 1e-6
    for position in differentiable(op, inputs):
        pieces = inputs[position] if isinstance(inputs[position], list) else [inputs[position]]
        found = tensors[position] if isinstance(tensors[position], list) else [tensors[position]]
        for which, piece in enumerate(pieces):
            numeric = np.zeros(piece.shape)
            for index in np.ndindex(*piece.shape):
                ends = []
                for sign in (1, -1):
                    moved = copies(inputs)
                    target = (
                        moved[position][which]
                        if isinstance(moved[position], list)
                        else moved[position]
                    )
                    target[index] += sign * epsilon
                    ends.append(total(moved))
                numeric[index] = (ends[0] - ends[1]) / (2 * epsilon)
            # float64 with epsilon 1e-6: the numeric gradient itself is good to about 1e-8
            np.testing.assert_allclose(found[which].grad.numpy(), numeric, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("name", "inputs", "attrs"), WITH_GRADIENT)
def test_grad_op_infers_the_shapes_of_its_inputs(name, inputs, attrs):
    op = OPS[name]
    outputs = run(op, inputs, attrs)
    known = dict(zip([i.name for i in op.inputs], metas(inputs), strict=True))
    for output, array in zip(op.outputs, outputs, strict=True):
        known[output] = known[f"{output}_grad"] = MetaTensor(array.shape, array.dtype)
    grad_op, full = op.grad_op, op.complete(attrs)
    given = {a.name: full.get(a.name, a.default) for a in grad_op.attrs}
    found = grad_op.infer_metas([known[i.name] for i in grad_op.inputs], given)
    assert list(found) == [known[w] for w in op.vjp_rule.wrt]


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if has_decomp(op)])
def test_decomposition_is_the_kernel(name):
    paddle.enable_static()
    try:
        for inputs, attrs in CALLS[name]:
            main = paddle.static.Program()
            with paddle.static.program_guard(main, paddle.static.Program()):
                values = [
                    paddle.static.data(f"x{i}", v.shape, v.dtype) for i, v in enumerate(inputs)
                ]
                outputs = append_phi_op(OPS[name], values, OPS[name].complete(attrs))
            outputs = decompose(main, outputs)
            assert f"pd_op.{name}" not in [op.name() for op in main.global_block().ops]
            main.verify()
            feed = {f"x{i}": v for i, v in enumerate(inputs)}
            got = paddle.static.Executor().run(main, feed=feed, fetch_list=outputs)
            for a, b in zip(got, run(OPS[name], inputs, attrs), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)
    finally:
        paddle.disable_static()


def test_grad_ops_decompose_by_their_rule():
    """tanh_grad has no decomposition of its own: the gradient rule is one."""
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [2, 3], "float32")
            x.stop_gradient = False
            (grad,) = paddle.static.gradients(paddle.tanh(x).sum(), x)
        executor, feed = paddle.static.Executor(), {"x": f(2, 3).astype("float32")}
        (before,) = executor.run(main, feed=feed, fetch_list=[grad])
        (grad,) = decompose(main, [grad])
        assert "pd_op.tanh_grad" not in [op.name() for op in main.global_block().ops]
        (after,) = executor.run(main, feed=feed, fetch_list=[grad])
        np.testing.assert_array_equal(before, after)
    finally:
        paddle.disable_static()


def test_float32_and_integers_keep_their_dtype():
    assert (paddle.ones([2]) * 2.5).dtype is float32
    assert (paddle.to_tensor(np.ones(2)) * 2).dtype is float64
    assert (paddle.to_tensor([1, 2]) * 2).dtype is int64
    assert (paddle.to_tensor([1, 2]) * 2.5).dtype is float32
