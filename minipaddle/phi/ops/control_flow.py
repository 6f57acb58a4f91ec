"""Ops that watch over a program, and ops that join and part the branches of one.

Paddle: AssertOp in paddle/fluid/pir/dialect/operator/ir/control_flow_op.h;
paddle/fluid/operators/select_input_op.cc, select_output_op.cc, print_op.cc.
Left out: the ops with blocks of their own are no kernels: see new_executor/control_flow.py.
"""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import TensorList, op


@op(
    source="paddle/fluid/pir/dialect/operator/ir/control_flow_op.h: AssertOp",
    name="assert",  # a word of Python's own; so the function has another name
    outputs=(),
    traits=("SideEffect", "ForwardOnly"),
)
def assert_op(xp, cond, data: TensorList, *, summarize: int = -1):
    """Stops the program if `cond` is false, and shows the numbers of `data`: the first `summarize`
    of each, or all (-1).
    """
    if cond.all():
        return ()
    count = None if summarize < 0 else summarize
    shown = [f"{list(item.shape)}: {item.ravel()[:count].tolist()}" for item in data]
    raise ValueError(
        f"assert: expected the condition to be true, but got false. The data beside it: {shown}."
    )


@assert_op.infer_meta
def _(cond, data, *, summarize):
    if cond.dtype is not dtypes.bool_:
        raise TypeError(
            f"assert: expected a condition of dtype bool, but got {cond.dtype.name}. Compare it "
            "with something."
        )
    return ()


@op(source="paddle/fluid/operators/print_op.cc", name="print", traits=("SideEffect",))
def print_op(
    xp,
    x,
    *,
    first_n: int = -1,
    message: str = "",
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "BOTH",
    is_forward: bool = True,
):
    """A copy of x, which shows itself when it runs. What a kernel can't know the Executor puts into
    its attributes: the name of the variable (print_tensor_name), and a list with the number of
    times that are left (first_n).
    """
    left: Any = first_n if isinstance(first_n, list) else [first_n]
    if left[0] and print_phase in ("BOTH", "FORWARD" if is_forward else "BACKWARD"):
        numbers = x.ravel()[: None if summarize < 0 else summarize].astype("float32").tolist()
        dtype, place = dtypes.to_dtype(x.dtype).name, "cpu" if xp.__name__ == "numpy" else "gpu:0"
        name = print_tensor_name if isinstance(print_tensor_name, str) else "var"  # as in PIR
        lines = (
            (f"Variable: {name}", print_tensor_name),
            (f"  - message: {message}", message),
            ("  - lod: {}", print_tensor_lod),
            (f"  - place: Place({place})", True),
            (f"  - shape: {list(x.shape)}", print_tensor_shape),
            ("  - layout: NCHW", print_tensor_layout),
            (f"  - dtype: {dtype}", print_tensor_type),
            (f"  - data: [{' '.join(f'{number:.6f}' for number in numbers)}]", True),
        )
        print(*(line for line, wanted in lines if wanted), sep="\n")
        left[0] -= 1
    return x.copy()


@print_op.infer_meta
def _(x, *, print_phase, **attrs):
    if print_phase not in ("BOTH", "FORWARD", "BACKWARD"):
        raise ValueError(
            f"print: expected print_phase BOTH, FORWARD or BACKWARD, but got {print_phase!r}. "
            "It says when to show the numbers, and when their gradients."
        )
    return x


@print_op.vjp(invoke=True)
def _(
    out_grad,
    *,
    first_n: int,
    message: str,
    summarize: int,
    print_tensor_name: bool,
    print_tensor_type: bool,
    print_tensor_shape: bool,
    print_tensor_layout: bool,
    print_tensor_lod: bool,
    print_phase: str,
):
    shown = print_op(
        out_grad,
        first_n,
        message,
        summarize,
        print_tensor_name,
        print_tensor_type,
        print_tensor_shape,
        print_tensor_layout,
        print_tensor_lod,
        print_phase,
        is_forward=False,
    )
    return (shown,)


@op(source="paddle/fluid/operators/select_input_op.cc")
def select_input(xp, x: TensorList, mask):
    """A copy of x[mask]: joins what two branches made, of which one has run. The other one's is
    None.
    """
    return x[int(mask.item())].copy()


@select_input.infer_meta
def _(x, mask):
    _check_mask("select_input", mask)
    if len(x) != 2:
        raise ValueError(
            f"select_input: expected two Tensors, one for each branch, but got {len(x)}. Join "
            "more of them step by step."
        )
    false, true = x  # one of them is there when the program runs: what differs is said as of `true`
    if false.ndim != true.ndim:
        return MetaTensor(true.shape, true.dtype)
    pairs = zip(false.shape, true.shape, strict=True)
    return MetaTensor([a if a == b else -1 for a, b in pairs], true.dtype)


@select_input.vjp(wrt=["x"], invoke=True)
def _(mask, out_grad):
    return (select_output(out_grad, mask),)


@op(source="paddle/fluid/operators/select_output_op.cc", outputs=("out[]",))
def select_output(xp, x, mask):
    """A copy of x at place `mask` of two, zeros at the other: the gradient goes to the branch that
    ran.
    """
    copy, zeros = x.copy(), xp.zeros_like(x)
    return [zeros, copy] if mask.item() else [copy, zeros]


@select_output.infer_meta
def _(x, mask):
    _check_mask("select_output", mask)
    return [x, x]


@select_output.vjp(wrt=["x"], invoke=True)
def _(mask, out_grad):
    return (select_input(out_grad, mask),)


def _check_mask(who, mask):
    if mask.dtype is not dtypes.int32 or mask.size != 1:
        raise TypeError(
            f"{who}: expected a mask of one int32, but got {mask.dtype.name} "
            f"{list(mask.shape)}. Cast the condition to int32."
        )
