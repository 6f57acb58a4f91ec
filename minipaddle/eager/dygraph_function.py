"""The dygraph function of an op: the text of eager_gen.py, compiled, and what it calls.

It is made the first time that the op is called. The text is also put into `linecache`, so that
tracebacks and `inspect.getsource` show it.

Paddle: the generated dygraph_functions.cc; paddle/fluid/eager/amp_utils.h, type_promotion_utils.h,
utils.h (CheckInplace).
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minipaddle.common.dtype import DataType, float16, float32
from minipaddle.common.place import Place, array_module, current_place, module_of
from minipaddle.eager.autograd_meta import AutogradMeta
from minipaddle.eager.eager_gen import text_of
from minipaddle.eager.grad_node_info import (
    GradNodeBase,
    refuse_cleared,
    refuse_double_grad,
    zeros_like_output,
)
from minipaddle.eager.tensor import Tensor
from minipaddle.eager.tensor_wrapper import TensorWrapper, empty_tensor, meta_tensor
from minipaddle.eager.zero_grads import with_zero_grads
from minipaddle.phi.core.attribute import convert
from minipaddle.phi.core.derived import refuse_results
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import OPS, Op, find_op
from minipaddle.phi.core.type_promotion import promote
from minipaddle.phi.core.world import tracer

_sources: dict[str, str] = {}


def ad_func(op: Op) -> Callable:
    """The op's dygraph function; written the first time."""
    if op.dygraph_function is None:
        op.dygraph_function = _compiled(op)
    return op.dygraph_function


def call_dygraph(op: Op, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What calling an op means in dygraph."""
    function = op.dygraph_function or ad_func(op)
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        op.explain_call(error, args, kwargs)
        raise


def source_of(name: str) -> str:
    """The generated Python text of an op's dygraph function and GradNode.

    Raises:
        KeyError: there is no op of that name.
    """
    ad_func(find_op(name))
    return _sources[name]


def _compiled(op: Op) -> Callable:
    """Compiles the text, with the names that it uses."""
    text = text_of(op)
    filename = f"<minipaddle {op.name}_ad_func>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    _sources[op.name] = text
    vjp = op.vjp_rule
    names: dict[str, Any] = {
        "op": op,
        "np": np,
        "ndarray": np.ndarray,
        "tracer": tracer,
        "Tensor": Tensor,
        "TensorWrapper": TensorWrapper,
        "meta_tensor": meta_tensor,
        "empty_tensor": empty_tensor,
        "zeros_like_output": zeros_like_output,
        "with_zero_grads": with_zero_grads,
        "require_no_leaf": require_no_leaf,
        "share_version": share_version,
        "AutogradMeta": AutogradMeta,
        "GradNodeBase": GradNodeBase,
        "refuse_cleared": refuse_cleared,
        "refuse_double_grad": refuse_double_grad,
        "kernel": op.kernels.only or op.run,
        "grad_kernel": op.grad_kernel_fn,
        "rule": vjp.rule if vjp else None,
        "rule_on_arrays": vjp.on_arrays if vjp else None,
        "refuse_results": refuse_results,
        "convert": convert,
        "promote_inputs": promote_inputs,
        "explain": explain,
        "amp_cast": amp_cast,
        "module_of": module_of,
        "DataType": DataType,
        "Place": Place,
        "current_module": lambda: array_module(current_place()),
        "defaults": {attr.name: attr.default for attr in op.attrs},
        "kinds": {attr.name: attr.kind for attr in op.attrs},
    }
    exec(compile(text, filename, "exec"), names)
    return names[f"{op.name}_ad_func"]


# -- what the text calls -----------------------------------------------------------------------


def require_no_leaf(x: Tensor) -> None:
    """Raises ValueError if an in-place op would overwrite a leaf that wants a gradient."""
    if isinstance(x, Tensor) and x.is_leaf and not x.stop_gradient:
        raise ValueError(
            "in-place op: expected a Tensor that an op has made, or one with stop_gradient=True, "
            "but got a leaf that wants a gradient, which would lose its numbers. Use the op that "
            "is not in place, or `with paddle.no_grad():`."
        )


def share_version(out: Tensor, x: Tensor) -> None:
    """A view counts its changes together with the Tensor whose memory it shows."""
    base = getattr(out._data, "base", None)
    if base is not None and (base is x._data or base is getattr(x._data, "base", None)):
        out._version = x._version


def promote_inputs(who: str, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Casts x and y to the dtype in which Paddle combines them.

    Raises:
        TypeError: they don't mix.
    """
    dtype = promote(who, x, y)
    cast = ad_func(OPS["cast"])
    return (
        x if x.dtype is dtype else cast(x, dtype=dtype),
        y if y.dtype is dtype else cast(y, dtype=dtype),
    )


def amp_cast(name: str, inputs: tuple) -> list:
    """The inputs of op `name` in the dtype that auto_cast wants: its own for the white list,
    float32 for the black list; others only where float16 meets float32: float32. Casts are
    recorded like any op. Paddle: GetAmpDestDtype, AmpAutoCasts.
    """
    white, black = tracer.amp_lists
    found = {tensor.dtype for tensor in _amp_tensors(inputs)}
    dtype = float32 if name in black or len(found) > 1 else None
    if name in white:
        dtype = tracer.amp_dtype
    if dtype is None or found == {dtype}:
        return list(inputs)
    cast = ad_func(OPS["cast"])

    def each(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [each(item) for item in value]
        return cast(value, dtype=dtype) if _amp_tensors([value]) else value

    return [each(value) for value in inputs]


def _amp_tensors(inputs: Iterable[Any]) -> list[Tensor]:
    """Those that auto_cast may cast; what is no Tensor, the op itself will name."""
    flat = [t for v in inputs for t in (v if isinstance(v, (list, tuple)) else [v])]
    return [t for t in flat if isinstance(t, Tensor) and t.dtype in (float16, float32)]


def explain(op: Op, inputs: tuple, attrs: dict[str, Any]) -> None:
    """Called when a kernel has failed: raises the error that tells the user which input is wrong,
    if there is one.

    Raises:
        ValueError: an input is not a Tensor (as in Paddle), or InferMeta finds that the inputs
            don't fit.
    """
    metas = []
    for item, value in zip(op.inputs, inputs, strict=True):
        values = value if item.is_list and isinstance(value, (list, tuple)) else [value]
        for tensor in values:
            if not isinstance(tensor, Tensor) and not (item.optional and tensor is None):
                advice = "Make one with paddle.to_tensor."
                if isinstance(tensor, (np.ndarray, np.generic)):
                    advice += (
                        " (In a gradient rule, call ops by their bare names: exp, not paddle.exp.)"
                    )
                raise ValueError(
                    f"{op.name}: expected {item.name} to be a Tensor, but got "
                    f"{type(tensor).__name__}. {advice}"
                ) from None
        found = [None if t is None else MetaTensor(t._data.shape, t._data.dtype) for t in values]
        metas.append(found if item.is_list else found[0])
    if op.infer_meta_fn is not None:
        try:
            op.meta(*metas, **attrs)
        except (ValueError, TypeError, IndexError) as better:
            raise better from None
