"""append: what both kinds of program do with the inputs of an op before they append it.

Paddle: it is written into each function, python/paddle/tensor/, and into each op's Build function,
which paddle/fluid/pir/dialect/op_generator/ makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minipaddle.phi.core.op import OPS, Op
from minipaddle.phi.core.type_promotion import promoted


def pieces_of(op: Op, inputs: Sequence[Any], require: Callable[[str, Any], Any]) -> list[list[Any]]:
    """Per input of the op: its Variables or Values, in a list; empty where it is not given.

    Args:
        inputs: as the op takes them: in lists where the declaration says so, or None.
        require: given an input's name and what stands there, gives the Variable or Value; it raises
            if that is something else.
    """
    found = []
    for item, value in zip(op.inputs, promoted(op, inputs, OPS["cast"]), strict=True):
        listed = value if item.is_list else [] if value is None else [value]
        found.append([require(item.name, piece) for piece in listed])
    return found


def metas_of(op: Op, pieces: Sequence[Sequence[Any]]) -> list[Any]:
    """Per input of the op: what InferMeta gets for these pieces."""
    metas = [[piece.meta() for piece in listed] for listed in pieces]
    pairs = zip(op.inputs, metas, strict=True)
    return [found if item.is_list else found[0] if found else None for item, found in pairs]
