"""dead_code_elimination_pass: removes operations whose results nobody reads.

It goes through the block from the end: when an operation goes, those that only it read are met
later, and go too. Operations with a side effect stay: they write a parameter, give an output,
take an input.

Paddle: paddle/fluid/pir/transforms/general/dead_code_elimination_pass.cc.
Left out: blocks inside operations; parameters that are no longer read are kept (Paddle drops
them).
"""

from __future__ import annotations

from minipaddle.pir.core.block import Program
from minipaddle.pir.pass_manager import Pass, register_pass


@register_pass("dead_code_elimination_pass")
class DeadCodeEliminationPass(Pass):
    """Contract: what is fetched through pd_op.fetch, and what is written to parameters, stays the
    same.
    """

    def run(self, program: Program) -> int:
        removed = 0
        for op in reversed(list(program.global_block().ops)):
            unused = all(result.use_empty() for result in op.results())
            if unused and "SideEffect" not in op.info.traits:
                op.erase()
                removed += 1
        return removed
