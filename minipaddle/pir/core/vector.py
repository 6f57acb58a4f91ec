"""Lists of values: `builtin.combine` makes one value of several, `builtin.split` takes it apart.

    concat([a, b])        %2 = builtin.combine(%0, %1);  %3 = pd_op.concat(%2, ...)
    split(x)              %1 = pd_op.split(%0, ...);     %2, %3 = builtin.split(%1)

Paddle: paddle/pir/include/core/builtin_op.h (CombineOp, SplitOp).
Left out: builtin.slice, which takes one value out of a list.
"""

from __future__ import annotations

from collections.abc import Sequence

from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.type import VectorType
from minipaddle.pir.core.value import Value


def combined_values(value: Value | None) -> list[Value]:
    """The values that were combined into this one; a value that is no list, alone."""
    if value is None:
        return []
    maker = value.get_defining_op()
    if maker.name() == "builtin.combine":
        return [piece for piece in maker.operands_source() if piece is not None]
    return [value]


def split_op_of(value: Value) -> Operation | None:
    """The `builtin.split` that takes a list apart."""
    for user in value.all_used_ops():
        if user.name() == "builtin.split":
            return user
    return None


def split_values(value: Value) -> list[Value]:
    """The values that a list was split into; a value that is no list, alone."""
    if not isinstance(value.type(), VectorType):
        return [value]
    split = split_op_of(value)
    return [] if split is None else split.results()


def all_results(ops: Sequence[Operation] | Operation) -> list[Value]:
    """The results of an operation; in the place of a list, what it was split into."""
    several = [ops] if isinstance(ops, Operation) else ops
    return [
        value
        for op in several
        for result in op.results()
        if result.type() is not None
        for value in split_values(result)
    ]
