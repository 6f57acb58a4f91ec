"""clip_by_norm: a Tensor as a whole is made smaller. (`clip`, number by number, is in math.py.)

Paddle: paddle/phi/kernels/clip_by_norm_kernel.h.
Left out: the kernel for sparse gradients.
"""

from __future__ import annotations

from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import op
from minipaddle.phi.infermeta.enforce import require_floating


@op(source="paddle/phi/ops/yaml/ops.yaml: clip_by_norm", traits=("Pure", "ForwardOnly"))
def clip_by_norm(xp, x, *, max_norm: float):
    """x, scaled down so that its L2 norm is at most max_norm."""
    if x.dtype.kind != "f" or max_norm <= 0:
        raise ValueError  # InferMeta says why
    norm = xp.sqrt(xp.sum(x * x, dtype=x.dtype))
    limit = x.dtype.type(max_norm)
    return x * (limit / xp.maximum(norm, limit))


@clip_by_norm.infer_meta
def _(x, *, max_norm):
    require_floating("clip_by_norm", x.dtype, error=RuntimeError)
    if max_norm <= 0:
        raise ValueError(
            f"clip_by_norm: expected a positive max_norm, but got {max_norm}. It is the largest "
            "norm that is left as it is."
        )
    return MetaTensor(x.shape, x.dtype)
