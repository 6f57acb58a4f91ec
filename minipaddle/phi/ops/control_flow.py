"""Ops that watch over a program, and ops that join and part the branches of one.

Paddle: AssertOp in paddle/fluid/pir/dialect/operator/ir/control_flow_op.h;
paddle/fluid/operators/select_input_op.cc, select_output_op.cc.
Left out: print. The ops with blocks of their own are no kernels: see new_executor/control_flow.py.
"""

from __future__ import annotations

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
    first, second = x
    if first.dtype is not second.dtype:
        raise TypeError(
            "select_input: expected both branches to give one dtype, but got "
            f"{second.dtype.name} if true and {first.dtype.name} if false. Cast one of them."
        )
    if first.ndim != second.ndim:
        raise ValueError(
            "select_input: expected both branches to give as many dimensions, but got shape "
            f"{list(second.shape)} if true and {list(first.shape)} if false. Reshape one of them."
        )
    pairs = zip(first.shape, second.shape, strict=True)
    return MetaTensor([a if a == b else -1 for a, b in pairs], first.dtype)


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
