"""What must be true of an op, for one case. The fixed cases and the drawn ones go through the same checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.decomposition import decompose
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import OPS, Op
from minipaddle.pir.core.builder import append_phi_op
from minipaddle.utils.gradcheck import double_grad_check, grad_check
from tests.phi import exceptions
from tests.phi.table import (
    Backend,
    as_tensors,
    as_tuple,
    counted_outputs,
    each,
    flat,
    gradient_inputs,
    is_float,
    loss_weights,
    meta,
)


def check_infer_meta(backend: Backend, name: str, inputs: list, attrs: dict) -> None:
    """InferMeta says what the kernel returns; also where a size is not known yet."""
    op = OPS[name]
    full = op.complete(attrs)
    metas = each(meta, inputs)
    real = tuple(each(meta, backend.run(op, inputs, attrs)))
    if name in exceptions.UNKNOWN_SIZES:
        _same_as_far_as_known(op.infer_metas(metas, full), real)
    else:
        said = op.infer_metas(metas, full)
        assert said == real, f"{name}: InferMeta says {said}, the kernel returned {real}"
    for position, known in enumerate(metas):
        # an unknown size of 1 is another matter: squeeze and broadcasting depend on it
        if not isinstance(known, MetaTensor) or not known.ndim or known.shape[0] == 1:
            continue
        unknown = list(metas)
        unknown[position] = MetaTensor((-1, *known.shape[1:]), known.dtype)
        if name in exceptions.REFUSES_UNKNOWN_SIZE and full["axis"] in (0, -known.ndim):
            with pytest.raises(ValueError, match=f"^{name}: expected"):
                op.infer_metas(unknown, full)
        else:
            _same_as_far_as_known(op.infer_metas(unknown, full), real)


def _same_as_far_as_known(found: tuple, real: tuple) -> None:
    """The same dtypes, numbers of axes and sizes, but a size may be -1."""
    for guess, truth in zip(flat(found), flat(real), strict=True):
        assert guess.dtype is truth.dtype
        assert guess.ndim == truth.ndim, (guess, truth)
        assert all(a in (-1, b) for a, b in zip(guess.shape, truth.shape)), (guess, truth)


def check_dygraph(backend: Backend, name: str, inputs: list, attrs: dict) -> None:
    """The generated function gives what the kernel gives."""
    paddle.seed(1)
    results = flat(as_tuple(OPS[name](*as_tensors(inputs), **attrs)))
    expected = flat(backend.run(OPS[name], inputs, attrs))
    for tensor, array in zip(results, expected, strict=True):
        # the same kernel; but a matrix product may round otherwise where memory starts elsewhere
        assert_close(tensor.numpy(), array)
        assert tensor.numpy().dtype == array.dtype


def _pir_program(op: Op, inputs: list, attrs: dict) -> tuple[Any, dict[str, Any], list]:
    """A PIR program with this one op, what to feed it, and its outputs."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        feed: dict[str, Any] = {}

        def data(array: Any) -> Any:
            key = f"x{len(feed)}"
            feed[key] = np.array(array)
            return paddle.static.data(key, array.shape, str(array.dtype))

        outputs = append_phi_op(op, each(data, inputs), op.complete(attrs))
    return main, feed, [value for value in flat(outputs) if value.type() is not None]


def check_pir(backend: Backend, name: str, inputs: list, attrs: dict) -> None:
    """In a PIR program the op gives what the kernel gives, and the program's text can be parsed."""
    paddle.enable_static()
    try:
        main, feed, outputs = _pir_program(OPS[name], inputs, attrs)
        text = str(main)
        assert str(paddle.pir.parse_program(text)) == text
        main.verify()
        paddle.seed(1)
        got = paddle.static.Executor(backend.place).run(main, feed=feed, fetch_list=outputs)
    finally:
        paddle.disable_static()
    for array, expected in zip(got, flat(backend.run(OPS[name], inputs, attrs)), strict=True):
        np.testing.assert_array_equal(array, expected)
        assert array.dtype == expected.dtype


def check_decomposition(backend: Backend, name: str, inputs: list, attrs: dict) -> None:
    """The op in terms of simpler ones gives what its kernel gives."""
    paddle.enable_static()
    try:
        main, feed, outputs = _pir_program(OPS[name], inputs, attrs)
        outputs = decompose(main, outputs)
        assert f"pd_op.{name}" not in [op.name() for op in main.global_block().ops]
        main.verify()
        got = paddle.static.Executor(backend.place).run(main, feed=feed, fetch_list=outputs)
    finally:
        paddle.disable_static()
    for array, expected in zip(got, flat(backend.run(OPS[name], inputs, attrs)), strict=True):
        assert_close(array, expected)


# how far two ways of computing the same thing may be apart, per dtype: a few of its last digits
PRECISION = {"float16": 4e-3, "float32": 4e-6, "float64": 1e-11}


def assert_close(array: Any, expected: Any, off: float = 0.0) -> None:
    """Equal dtype and shape, and numbers that differ by rounding only, or by `off`."""
    assert array.dtype == expected.dtype, f"dtype {array.dtype}, expected {expected.dtype}"
    assert array.shape == expected.shape, f"shape {array.shape}, expected {expected.shape}"
    off = max(off, PRECISION[str(expected.dtype)]) if is_float(expected) else 0.0
    np.testing.assert_allclose(array, expected, rtol=off, atol=off)


def _function_of(op: Op, inputs: list, attrs: dict) -> tuple[Any, list]:
    """The op as a function of the inputs that have a gradient, and those inputs."""
    positions = gradient_inputs(op, inputs)
    counted = counted_outputs(op)

    def function(*moving: Any) -> list:
        given = as_tensors(inputs)
        for position, value in zip(positions, moving, strict=True):
            given[position] = value
        paddle.seed(1)
        results = as_tuple(op(*given, **attrs))
        return [out for key, out in zip(op.outputs, results, strict=True) if key in counted]

    return function, [inputs[position] for position in positions]


def check_gradient(name: str, inputs: list, attrs: dict) -> None:
    """The gradient is the numeric one."""
    grad_check(*_function_of(OPS[name], inputs, attrs))


def check_second_gradient(name: str, inputs: list, attrs: dict) -> None:
    """The gradient of the gradient is the numeric one."""
    double_grad_check(*_function_of(OPS[name], inputs, attrs), rtol=1e-4, atol=1e-6)


def ours(name: str, inputs: list, attrs: dict) -> tuple:
    """(outputs, weights, gradients, second gradients, inputs afterwards) as arrays."""
    op = OPS[name]
    wanted = gradient_inputs(op, inputs)
    tensors = as_tensors(inputs, wanted)
    with paddle.enable_grad():
        outputs = as_tuple(op(*tensors, **attrs))
    outputs = outputs[: exceptions.COMPARED_OUTPUTS.get(name)]
    arrays = each(lambda t: t.numpy(), outputs)
    after = each(lambda t: t.numpy(), flat(tensors))
    every = [piece for o in arrays for piece in (o if isinstance(o, list) else [o])]
    if not wanted:
        return every, [], [], None, after
    counted, weights = counted_outputs(op), []
    for key, value in zip(op.outputs, arrays):
        for piece in value if isinstance(value, list) else [value]:
            counts = piece is not None and key in counted and is_float(piece)
            weights.append(loss_weights(piece) if counts else None)
    leaves = flat([tensors[position] for position in wanted])
    results = [piece for o in outputs for piece in (o if isinstance(o, list) else [o])]

    def gradients(of: list, seeds: list, **options: Any) -> list:
        used = [
            (t, paddle.to_tensor(w))
            for t, w in zip(of, seeds, strict=True)
            if w is not None and t is not None and not t.stop_gradient
        ]
        if not used:
            return [None] * len(leaves)
        return paddle.grad(
            [t for t, _ in used], leaves, [w for _, w in used], allow_unused=True, **options
        )

    first = gradients(results, weights, retain_graph=True)
    second = None
    if op.vjp_rule.double_grad:
        recorded = gradients(results, weights, create_graph=True)
        seeds = [None if g is None else loss_weights(g.numpy()) for g in recorded]
        second = gradients(recorded, seeds)
        second = [None if g is None else g.numpy() for g in second]
    first = [None if g is None else g.numpy() for g in first]
    return every, weights, first, second, after


def same_gradients(what: str, mine: list, others: list, off: float = 0.0) -> None:
    """No gradient and a gradient of zeros are the same."""
    for position, (one, other) in enumerate(zip(mine, others, strict=True)):
        if one is None or other is None:
            given = other if one is None else one
            assert given is None or not given.any(), f"{what} {position}: {one} and {other}"
        else:
            assert_close(one, other, off)


def check_device_gradients(backend: Backend, name: str, inputs: list, attrs: dict) -> None:
    """The gradients on a device, and their gradients, are those of numpy, which were compared with
    numeric ones.
    """
    paddle.seed(1)
    _, _, first, second, _ = ours(name, inputs, attrs)
    paddle.set_device("cpu")
    paddle.seed(1)
    _, _, expected, expected_second, _ = ours(name, inputs, attrs)
    paddle.set_device(backend.device)
    same_gradients("gradient", first, expected)
    same_gradients("second gradient", second or [], expected_second or [])


def _known(backend: Backend, op: Op, inputs: list, attrs: dict) -> dict[str, Any]:
    """All that a gradient rule can ask for, by name, in numpy arrays."""
    outputs = backend.run(op, inputs, attrs)
    known = {item.name: value for item, value in zip(op.inputs, inputs, strict=True)}
    for key, value in zip(op.outputs, outputs, strict=True):
        known[key] = known[f"{key}_grad"] = value
    return known


def check_grad_op(backend: Backend, name: str, inputs: list, attrs: dict) -> None:
    """`<op>_grad`: InferMeta says what its kernel returns: the shapes of the op's inputs."""
    op = OPS[name]
    known, full = _known(backend, op, inputs, attrs), op.complete(attrs)
    given = {attr.name: full.get(attr.name, attr.default) for attr in op.grad_op.attrs}
    arrays = [known[item.name] for item in op.grad_op.inputs]
    found = op.grad_op.infer_metas(each(meta, arrays), given)
    wanted = gradient_inputs(op, inputs)
    real = backend.run(op.grad_op, arrays, given)
    for position, item in enumerate(op.inputs):
        if position in wanted:
            which = op.require_vjp().wrt.index(item.name)
            expected = each(meta, [known[item.name]])[0]
            assert found[which] == expected, item.name
            assert each(meta, [real[which]])[0] == expected, item.name


def check_grad_kernel(backend: Backend, name: str, inputs: list, attrs: dict) -> None:
    """A hand-written gradient kernel gives what the rule gives, also if only one gradient is wanted."""
    op = OPS[name]
    vjp, by_hand = op.require_vjp(), op.grad_kernel_fn
    assert by_hand is not None
    known, full = _known(backend, op, inputs, attrs), op.complete(attrs)
    given = {attr.name: full.get(attr.name, attr.default) for attr in vjp.attrs}
    bound = vjp.bound_to(backend.xp, lambda called: lambda *a, **k: called.run(backend.xp, *a, **k))

    def arrays() -> list:
        return each(backend.array, [known[item.name] for item in vjp.inputs])

    expected = each(backend.numpy, bound(*arrays(), **given))
    for only in (None, *range(len(vjp.wrt))):
        wanted = tuple(only in (None, which) for which in range(len(vjp.wrt)))
        got = by_hand(backend.xp, wanted, *arrays(), **given)
        for want, mine, rule in zip(wanted, got, expected, strict=True):
            if want and rule is not None:
                for a, b in zip(flat([mine]), flat([rule]), strict=True):
                    np.testing.assert_allclose(backend.numpy(a), b, rtol=1e-9, atol=1e-11)
                    assert a.dtype == b.dtype


def check_inplace(backend: Backend, name: str, inputs: list, attrs: dict) -> None:
    """The in-place form gives what the op gives, and writes it into the input."""
    op = OPS[name]
    expected = backend.run(op, inputs, attrs)
    names = [item.name for item in op.inputs]
    tensors = as_tensors(inputs)
    targets = {out: tensors[names.index(source)] for out, source in op.inplace_form.items()}
    before = {out: (target._data, target.inplace_version) for out, target in targets.items()}
    if any(
        out in targets
        and array.shape != tuple(targets[out].shape)
        and (len(names) > 1 or array.size != targets[out].size)
        for out, array in zip(op.outputs, expected, strict=True)
    ):
        with pytest.raises(ValueError, match=f"^{name}_: expected"):
            op.inplace_op(*tensors, **attrs)
        return
    if "IntegersStop" in op.traits and inputs[0].dtype.kind != "f":
        with pytest.raises(TypeError, match=f"^{name}_: expected x of a floating-point dtype"):
            op.inplace_op(*tensors, **attrs)
        return
    results = as_tuple(op.inplace_op(*tensors, **attrs))
    for out, tensor, array in zip(op.outputs, results, expected, strict=True):
        np.testing.assert_array_equal(tensor.numpy(), array)
        assert tensor.numpy().dtype == array.dtype
        if out in targets:
            data, version = before[out]
            assert tensor is targets[out]
            assert tensor.inplace_version == version + 1
            if data.shape == array.shape and data.dtype == array.dtype:
                assert tensor._data is data


def in_float64(inputs: list) -> list:
    """Floating-point arrays in float64, as a numeric gradient needs them."""
    return each(lambda v: v.astype("float64") if is_float(v) else v, inputs)
