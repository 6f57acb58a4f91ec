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

rng = np.random.default_rng(7)


def f(*shape):
    """Random float64 numbers, away from 0, where relu has no slope."""
    values = rng.uniform(0.2, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
    return values


def positive(*shape):
    return rng.uniform(0.5, 1.5, shape)


LABELS = np.array([[0], [2], [1]])

# op -> calls: (inputs, attributes). A list among the inputs is a list input; None an optional one.
CALLS = {
    "full": [([], {"shape": (2, 3), "value": 1.5}), ([], {"shape": (), "dtype": "int64"})],
    "full_int_array": [([], {"value": (1, -1)}), ([], {"value": ()})],
    "full_like": [([f(2, 3)], {"value": 2.0, "dtype": "float32"})],
    "assign_value": [
        ([], {"shape": (2, 2), "dtype": "float32", "values": (1.0, 2.0, 3.0, 4.0)})
    ],
    "uniform": [([], {"shape": (2, 3), "seed": 5}), ([], {"shape": (0,), "seed": 5})],
    "add": [([f(2, 3), f(2, 3)], {}), ([f(2, 3), f(3)], {}), ([f(2, 1), f(1, 3)], {}), ([f(), f(2)], {})],
    "subtract": [([f(2, 3), f(2, 3)], {}), ([f(3), f(2, 3)], {})],
    "multiply": [([f(2, 3), f(2, 3)], {}), ([f(2, 3), f(1)], {}), ([f(0, 3), f(3)], {})],
    "divide": [([f(2, 3), positive(2, 3)], {}), ([f(3), positive(2, 3)], {})],
    "greater_than": [([f(2, 3), f(3)], {})],
    "less_than": [([f(2, 3), f(3)], {})],
    "greater_equal": [([np.array([1, 2]), np.array([1, 3])], {})],
    "less_equal": [([np.array([1, 2]), np.array([1, 1])], {})],
    "not_equal": [([np.array([1, 2]), np.array([1, 3])], {})],
    "equal": [([np.array([1, 2]), np.array([1, 3])], {})],
    "scale": [
        ([f(2, 3)], {"scale": 2.5, "bias": 1.0}),
        ([f(2)], {"scale": -1.0, "bias": 1.0, "bias_after_scale": False}),
        ([np.array([1, 2])], {"scale": 3}),
    ],
    "add_n": [([[f(2, 3), f(2, 3), f(2, 3)]], {}), ([[f(2)]], {})],
    "sum": [
        ([f(2, 3)], {}),
        ([f(2, 3)], {"axis": (1,), "keepdim": True}),
        ([f(2, 3, 4)], {"axis": (0, -1)}),
        ([np.array([1, 2], "int32")], {}),
    ],
    "mean": [([f(2, 3)], {}), ([f(2, 3)], {"axis": (0,)}), ([f(2, 3)], {"axis": (-1,), "keepdim": True})],
    "mean_all": [([f(2, 3)], {}), ([f()], {})],
    "argmax": [([f(2, 3)], {}), ([f(2, 3)], {"axis": 0, "keepdims": True})],
    "exp": [([f(2, 3)], {}), ([f()], {})],
    "pow": [([positive(2, 3)], {"y": 3.0}), ([positive(2)], {"y": 0.5})],
    "relu": [([f(2, 3)], {}), ([f(0)], {})],
    "tanh": [([f(2, 3)], {})],
    "softmax": [([f(2, 3)], {}), ([f(2, 3)], {"axis": 0})],
    "matmul": [
        ([f(2, 3), f(3, 4)], {}),
        ([f(3, 2), f(3, 4)], {"transpose_x": True}),
        ([f(2, 3), f(4, 3)], {"transpose_y": True}),
        ([f(3, 2), f(4, 3)], {"transpose_x": True, "transpose_y": True}),
        ([f(5, 2, 3), f(3, 4)], {}),
        ([f(2, 3), f(5, 3, 4)], {}),
        ([f(3), f(3)], {}),
        ([f(3), f(3, 4)], {}),
        ([f(2, 3), f(3)], {}),
        ([f(5, 2, 3), f(3)], {}),
        ([f(3), f(5, 3, 4)], {}),
    ],
    "fc": [
        ([f(2, 3), f(3, 4), f(4)], {}),
        ([f(2, 3), f(3, 4), f(4)], {"activation_type": "relu"}),
        ([f(5, 2, 3), f(3, 4), f(4)], {"in_num_col_dims": 2}),
    ],
    "reshape": [([f(2, 3)], {"shape": (3, 2)}), ([f(2, 3)], {"shape": (-1,)}), ([f(2, 3)], {"shape": (0, -1)})],
    "reshape_as": [([f(2, 3), f(3, 2)], {})],
    "unsqueeze": [([f(2, 3)], {"axis": (0,)}), ([f(2, 3)], {"axis": (1, -1)}), ([f()], {"axis": (0,)})],
    "squeeze": [([f(1, 3, 1)], {}), ([f(1, 3, 1)], {"axis": (0,)}), ([f(2, 1)], {"axis": (0,)})],
    "transpose": [([f(2, 3)], {"perm": (1, 0)}), ([f(2, 3, 4)], {"perm": (2, 0, 1)})],
    "cast": [([f(2, 3)], {"dtype": "float64"}), ([np.array([1, 2])], {"dtype": "float32"})],
    "expand_as": [([f(1, 3), f(2, 3)], {}), ([f(3), f(2, 3)], {})],
    "reduce_as": [([f(2, 3), f(3)], {}), ([f(2, 3), f(2, 1)], {}), ([f(2, 3), f()], {})],
    "assign": [([f(2, 3)], {})],
    "one_hot": [([np.array([0, 2])], {"num_classes": 3}), ([np.array([[5]])], {"num_classes": 3})],
    "cross_entropy_with_softmax": [
        ([f(3, 4), LABELS], {}),
        ([f(3, 4), np.array([[0], [-100], [1]])], {}),
        ([f(2, 4), np.array([[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0]])], {"soft_label": True}),
    ],
    "sgd_": [([f(2, 3), np.array(0.1), f(2, 3), None], {})],
}  # fmt: skip

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
