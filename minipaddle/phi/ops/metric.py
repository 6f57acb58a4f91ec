"""How many predictions are right.

Paddle: paddle/phi/kernels/accuracy_kernel.h.
Left out: the op `auc`; paddle.metric.Auc counts in Python, as Paddle's does.
"""

from __future__ import annotations

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import op
from minipaddle.phi.infermeta.enforce import require_dtype


@op(
    source="paddle/phi/ops/yaml/ops.yaml: accuracy",
    outputs=("accuracy", "correct", "total"),
    traits=("Pure", "ForwardOnly"),
)
def accuracy(xp, x, indices, label):
    """The share of rows whose label is among their `indices`, the number of such rows, and of all.

    x: [N, k], the scores of topk, which only say the dtype; indices: int64 [N, k]; label: int64
    [N, 1].
    """
    if label.shape != (len(indices), 1) or not indices.dtype == label.dtype == xp.int64:
        raise ValueError  # InferMeta says why; numpy would stretch the label
    right = xp.asarray((indices == label).any(axis=1).sum(), xp.int32)
    total = xp.asarray(len(label), xp.int32)
    share = right / xp.maximum(total, 1)
    return xp.asarray(share, xp.float32), right, total


@accuracy.infer_meta
def _(x, indices, label):
    if indices.ndim != 2:
        raise ValueError(
            f"accuracy: expected indices [N, k], but got {list(indices.shape)}. topk gives them."
        )
    if label.ndim != 2 or label.shape[1] not in (1, -1):
        raise ValueError(
            f"accuracy: expected label [N, 1], but got {list(label.shape)}. Reshape it to [-1, 1]."
        )
    rows = indices.shape[0], label.shape[0]
    if -1 not in rows and rows[0] != rows[1]:
        raise ValueError(
            f"accuracy: expected one label per row, but got {rows[0]} rows and {rows[1]} labels. "
            "Give as many of one as of the other."
        )
    require_dtype("accuracy", "indices", indices, dtypes.int64)
    require_dtype("accuracy", "label", label, dtypes.int64)
    return (
        MetaTensor([], dtypes.float32),
        MetaTensor([], dtypes.int32),
        MetaTensor([], dtypes.int32),
    )
