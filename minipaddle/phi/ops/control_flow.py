"""Ops that watch over a program.

Paddle: AssertOp in paddle/fluid/pir/dialect/operator/ir/control_flow_op.h.
Left out: print; the ops with blocks of their own.
"""

from __future__ import annotations

from minipaddle.common import dtype as dtypes
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
