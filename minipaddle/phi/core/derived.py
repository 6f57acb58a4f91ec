"""Kernels that follow from a declaration: of the gradient `<op>_grad`, and of the in-place form
`<op>_`.

Paddle: both are declared beside the op, `backward:` and `inplace:` in paddle/phi/ops/yaml/ops.yaml;
the kernels are written by hand.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minipaddle.phi.core.meta_tensor import MetaTensor

if TYPE_CHECKING:
    from minipaddle.phi.core.op import Op


def grad_kernel_of(op: Op) -> Callable:
    """The kernel of `<op>_grad`: the hand-written one, or the rule bound to kernels.

    Beside its inputs and attributes, it takes `wanted`: one bool per gradient.
    """
    vjp, by_hand = op.require_vjp(), op.grad_kernel_fn
    count = len(vjp.wrt)
    everything = (True,) * count

    def kernel(xp: types.ModuleType, *inputs: Any, wanted: Any = everything, **attrs: Any) -> tuple:
        if by_hand is not None:
            results = by_hand(xp, wanted, *inputs, **attrs)
        else:
            results = vjp.on_arrays(xp)(*inputs, **attrs)
        if type(results) is not tuple or len(results) != count:
            refuse_results(op, results)
        return results

    return kernel


def grad_infer_meta_of(op: Op) -> Callable:
    """The InferMeta function of `<op>_grad`: the rule bound to InferMeta functions."""
    vjp = op.require_vjp()

    def infer_meta(*inputs: Any, **attrs: Any) -> tuple:
        rule = vjp.bound_to(MetaTensor, lambda called: called.on_metas)
        results = rule(*inputs, **attrs)
        if not isinstance(results, tuple) or len(results) != len(vjp.wrt):
            refuse_results(op, results)
        return results

    return infer_meta


def refuse_results(op: Op, results: Any) -> None:
    """A rule did not return one gradient for each input that has one. Raises TypeError."""
    wrt = op.require_vjp().wrt
    got = f"{len(results)}" if isinstance(results, tuple) else type(results).__name__
    raise TypeError(
        f"@{op.name}.vjp: expected a tuple of {len(wrt)} gradients, for {list(wrt)}, but got "
        f"{got}. Return one gradient for each."
    )


def inplace_kernel_of(op: Op) -> Callable:
    """The kernel of `<op>_`: computes as the op does, and writes the result into the input."""
    names = [item.name for item in op.inputs]
    targets = {output: names.index(source) for output, source in op.inplace_form.items()}

    def kernel(xp: types.ModuleType, *inputs: Any, **attrs: Any) -> Any:
        results = op.run(xp, *inputs, **attrs)
        several = results if isinstance(results, tuple) else (results,)
        several = tuple(
            _written(op, xp.asarray(result), inputs[targets[name]]) if name in targets else result
            for name, result in zip(op.outputs, several)
        )
        return several if isinstance(results, tuple) else several[0]

    return kernel


def _written(op: Op, result: Any, target: Any) -> Any:
    """The target's array with the numbers of the result. Raises ValueError or TypeError if
    they don't fit.
    """
    # the shape of one Tensor may turn, as in reshape_; several are not broadcast to another one
    if result.size != target.size or (len(op.inputs) > 1 and result.shape != target.shape):
        raise ValueError(
            f"{op.name}_: expected a result of the input's shape {list(target.shape)}, but got "
            f"{list(result.shape)}. Use {op.name}, which makes a new Tensor."
        )
    if result.dtype != target.dtype and "IntegersStop" in op.traits:
        raise TypeError(
            f"{op.name}_: expected x of a floating-point dtype, but got {target.dtype}. Use "
            f"{op.name}, which makes a new Tensor."
        )
    writeable = getattr(target.flags, "writeable", True)  # not so: a broadcast array
    if result.shape == target.shape and result.dtype == target.dtype and writeable:
        target[...] = result
        return target
    return result  # another shape: a view of the same memory; another dtype: new memory
