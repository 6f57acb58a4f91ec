"""Recompute: a backward that keeps only the checkpoints, and computes what lies between them again.

Without it, a value that a gradient op reads lives from its forward op until then: the memory grows
with the depth of the net. With checkpoints, the values between two of them die in the forward
part. Before the gradients of such a segment are computed, its ops run once more, into variables
called `<name>.subprog_<i>`, which the gradient ops read.

Paddle: python/paddle/base/backward.py (_append_backward_ops_with_checkpoints_, ProgramStats).
Paddle lets a dropout run again, with the same seed, and refuses control flow. Here an op that is
random, that writes over its input or that has blocks of its own runs once, and its outputs are
kept; so does an op with a variable that is written several times, as a loop does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from minipaddle.base.backward_plan import GRADIENT_MAKERS, origin
from minipaddle.base.backward_walk import Walk
from minipaddle.base.framework import Operator
from minipaddle.common import unique_name


def append_gradients_with_checkpoints(
    walk: Walk, path: Sequence[Operator], checkpoints: Sequence[str]
) -> list[str]:
    """Appends the gradient ops of a path, and before those of each segment the segment itself.

    Returns:
        The checkpoints, in the order in which the program computes them.

    Raises:
        ValueError: a checkpoint is not computed on the way to the loss.
    """
    made_by = {name: i for i, operator in enumerate(path) for name in operator.output_arg_names}
    for name in checkpoints:
        if name not in made_by:
            raise ValueError(
                f"append_backward: expected checkpoints on the way to the loss, but got {name!r}, "
                "through which no gradient goes. Take results of the layers of the net."
            )
    ordered = sorted(set(checkpoints), key=made_by.__getitem__)
    ends = sorted({made_by[name] + 1 for name in ordered})
    last_reader = {name: i for i, operator in enumerate(path) for name in operator.input_arg_names}
    writers = Counter(name for op in walk.forward_block.ops for name in op.output_arg_names)
    overwritten = {name for name, count in writers.items() if count > 1}
    walk.append_gradients(path[ends[-1] :])
    segments = list(zip([0, *ends], ends, strict=False))
    for number, (start, end) in enumerate(reversed(segments)):
        segment = path[start:end]
        made = {name for operator in segment for name in operator.output_arg_names}
        kept = {name for name in made if name in checkpoints or last_reader.get(name, 0) >= end}
        again = [
            operator
            for operator in segment
            if not kept.issuperset(operator.output_arg_names)
            and overwritten.isdisjoint([*operator.input_arg_names, *operator.output_arg_names])
            and not _runs_once(operator)
        ]
        _run_again(walk, again, f".subprog_{number}")
        walk.append_gradients(segment)
    return ordered


def _run_again(walk: Walk, operators: Sequence[Operator], suffix: str) -> None:
    """Appends these ops once more; the walk reads what they write."""
    block = walk.block
    for operator in operators:
        renamed = {}
        for name in operator.output_arg_names:
            new = f"{name}{suffix}"
            while new in block.vars:
                new = unique_name.generate(f"{name}{suffix}")
            like = walk.variable(name)
            block.create_var(new, like.shape, like.dtype, stop_gradient=like.stop_gradient)
            renamed[name] = new
        inputs = {
            slot: [walk.stand_ins.get(name, name) for name in operator.input(slot)]
            for slot in operator.input_names
        }
        outputs = {
            slot: [renamed[name] for name in operator.output(slot)]
            for slot in operator.output_names
        }
        with origin(operator):
            block.append_op(operator.type, inputs, outputs, operator.all_attrs())
        walk.stand_ins |= renamed


def _runs_once(operator: Operator) -> bool:
    """True if a second run would give other numbers, or change what must not change twice."""
    if operator.type in GRADIENT_MAKERS:
        return True
    writes_over = not set(operator.input_arg_names).isdisjoint(operator.output_arg_names)
    return writes_over or not {"Random", "SideEffect"}.isdisjoint(operator.phi_op.traits)
