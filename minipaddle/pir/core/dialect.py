"""Dialects: families of operations, and what is known about each of them.

`builtin` has the operations that every program needs; `pd_op` has Paddle's ops, and reads them
off phi's declarations: an op that is declared is an operation here, with no further line.

Paddle: paddle/pir/include/core/dialect.h, op_info.h, builtin_op.h;
paddle/fluid/pir/dialect/operator/ir/.
Left out: interfaces, kernel and shape dialects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minipaddle.common.dtype import DataType
from minipaddle.common.errors import IRError
from minipaddle.common.place import Place
from minipaddle.phi.core.attribute import Ints
from minipaddle.phi.core.op import Op, find_op

COMMON_ATTRS = ("stop_gradient", "persistable")  # one flag per result, on any operation


@dataclass(frozen=True)
class OpInfo:
    """What is known about an operation by its name.

    Attributes:
        inputs, outputs: names; a name ending in "*" stands for any number.
        attrs: attribute -> kind.
        traits: "SideEffect" keeps an operation alive though nobody reads its results.
        op: phi's declaration; None for operations without a kernel.
    """

    name: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    attrs: tuple[tuple[str, Any], ...] = ()
    traits: frozenset[str] = frozenset()
    op: Op | None = None

    @property
    def attr_kinds(self) -> dict[str, Any]:
        return dict(self.attrs)


class Flags:
    """The kind of an attribute that is a list of bools."""


SPECIAL = {
    info.name: info
    for info in (
        OpInfo(
            "builtin.parameter",
            outputs=("out",),
            attrs=(
                ("parameter_name", str),
                ("is_distributed", Flags),
                ("is_parameter", Flags),
                ("need_clip", Flags),
                ("trainable", Flags),
            ),
            traits=frozenset(["SideEffect"]),
        ),
        OpInfo(
            "builtin.set_parameter",
            inputs=("x",),
            attrs=(("parameter_name", str),),
            traits=frozenset(["SideEffect"]),
        ),
        OpInfo(
            "builtin.shadow_output",
            inputs=("x",),
            attrs=(("output_name", str),),
            traits=frozenset(["SideEffect"]),
        ),
        OpInfo("builtin.combine", inputs=("x*",), outputs=("out",)),
        OpInfo("builtin.split", inputs=("x",), outputs=("out*",)),
        OpInfo(
            "pd_op.data",
            outputs=("out",),
            attrs=(("name", str), ("shape", Ints), ("dtype", DataType), ("place", Place)),
            traits=frozenset(["SideEffect"]),
        ),
        OpInfo(
            "pd_op.fetch",
            inputs=("x",),
            outputs=("out",),
            attrs=(("name", str), ("col", int)),
            traits=frozenset(["SideEffect"]),
        ),
    )
}


def get_op_info(name: str) -> OpInfo:
    """What is known about the operation `name`.

    Raises:
        IRError: there is no such operation.
    """
    if name in SPECIAL:
        return SPECIAL[name]
    dialect, _, op_name = name.partition(".")
    if dialect == "pd_op":
        try:
            op = find_op(op_name)
        except KeyError:
            op = None
        if op is not None:
            return info_of(op)
    close = sorted(known for known in SPECIAL if known.startswith(dialect))
    raise IRError(
        f"pir: expected a registered operation, but got {name!r}. "
        f"Declare pd_op operations with @op; others are {close or sorted(SPECIAL)}."
    )


def info_of(op: Op) -> OpInfo:
    """The operation that a declaration stands for. IntArray and Scalar attributes are operands."""
    operands = [item.name for item in op.inputs]
    operands += [attr.name for attr in op.attrs if attr.mutable]
    return OpInfo(
        f"pd_op.{op.name}",
        tuple(operands),
        op.outputs,
        tuple((attr.name, attr.kind) for attr in op.attrs if not attr.mutable),
        op.traits,
        op,
    )
