"""matmul_add_act_fuse_pass: matmul + add (+ relu) becomes one `pd_op.fc`.

Why: one kernel instead of three, and the sum is written into the product's own memory.

Paddle: paddle/fluid/pir/transforms/gpu/matmul_add_act_fuse_pass.cc. There `fc` is for inference
only; here it has a gradient, so that a fused program can be trained and compared.
Left out: gelu and other activations.
"""

from __future__ import annotations

from minipaddle.pir.core.block import Program
from minipaddle.pir.drr import DrrPatternContext, MatchContext, apply_patterns
from minipaddle.pir.pass_manager import Pass, register_pass


def matmul_add_pattern(activation: str = "") -> DrrPatternContext:
    """matmul(x, w) + bias, then the activation if there is one."""
    context = DrrPatternContext()
    pat = context.SourcePattern()
    matmul = pat.Op("pd_op.matmul", {"transpose_x": False, "transpose_y": False})
    matmul([pat.Tensor("x"), pat.Tensor("w")], [pat.Tensor("product")])
    last = "sum" if activation else "out"
    pat.Op("pd_op.add")([pat.Tensor("product"), pat.Tensor("bias")], [pat.Tensor(last)])
    if activation:
        pat.Op(f"pd_op.{activation}")([pat.Tensor("sum")], [pat.Tensor("out")])

    def is_a_layer(match: MatchContext) -> bool:
        """x [..., K] @ w [K, N] + bias [N] of one dtype; anything else is not what fc computes."""
        x, w, bias = match.Tensor("x"), match.Tensor("w"), match.Tensor("bias")
        one_dtype = x.dtype is w.dtype is bias.dtype
        return one_dtype and x.ndim >= 2 and w.ndim == 2 and list(bias.shape) == [w.shape[1]]

    pat.AddConstraint(is_a_layer)
    res = pat.ResultPattern()
    fc = res.Op(
        "pd_op.fc",
        {
            "in_num_col_dims": lambda match: match.Tensor("x").ndim - 1,
            "activation_type": activation,
        },
    )
    fc([res.Tensor("x"), res.Tensor("w"), res.Tensor("bias")], [res.Tensor("out")])
    return context


@register_pass("matmul_add_act_fuse_pass")
class MatmulAddActFusePass(Pass):
    """The pattern with relu is tried first: it covers more."""

    def run(self, program: Program) -> int:
        return apply_patterns(program, [matmul_add_pattern("relu"), matmul_add_pattern()])
