"""Finds groups of element-by-element operations in a PIR program, and writes one loop for each.

Paddle: paddle/cinn/hlir/dialect/operator/transforms/cinn_group_cluster_pass.cc,
paddle/cinn/backends/.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minipaddle.pir.core.block import Program
from minipaddle.pir.core.constant import attribute_values
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.value import Value


@dataclass
class FusionGroup:
    """Operations that become one kernel.

    Attributes:
        inputs: the values that it reads.
        output: the one value that others read.
    """

    ops: list[Operation]
    inputs: list[Value]
    output: Value

    def source(self) -> str:
        """The kernel as Python text: what happens to one element."""
        names = {value: f"x{i}" for i, value in enumerate(self.inputs)}
        lines = [f"def kernel({', '.join(names[value] for value in self.inputs)}):"]
        for number, op in enumerate(self.ops):
            declaration = op.info.op
            assert declaration is not None
            values = zip(declaration.inputs, op.operands_source())
            arguments = {item.name: names[value] for item, value in values if value is not None}
            names[op.result(0)] = f"t{number}"
            text = declaration.scalar.format(**attribute_values(op), **arguments)
            lines.append(f"    t{number} = {text}")
        lines.append(f"    return {names[self.output]}")
        return "\n".join(lines) + "\n"


def _fusible(op: Operation) -> bool:
    return op.info.op is not None and bool(op.info.op.scalar)


def find_groups(program: Program) -> list[FusionGroup]:
    """The largest groups: an operation joins the group of its only reader."""
    groups: list[FusionGroup] = []
    taken: set[Operation] = set()
    for last in reversed(program.global_block().ops):
        if last in taken or not _fusible(last):
            continue
        members, queue = {last}, [last]
        while queue:
            for value in queue.pop().operands_source():
                if value is None:
                    continue
                maker = value.get_defining_op()
                inside = all(user in members for user in value.all_used_ops())
                if _fusible(maker) and inside and maker not in members:
                    members.add(maker)
                    queue.append(maker)
        if len(members) < 2:
            continue
        taken |= members
        ops = [op for op in program.global_block().ops if op in members]
        inputs: dict[Value, None] = {}
        for op in ops:
            assert op.info.op is not None
            for value in op.operands_source()[: len(op.info.op.inputs)]:
                if value is not None and value.get_defining_op() not in members:
                    inputs[value] = None
        groups.append(FusionGroup(ops, list(inputs), last.result(0)))
    return groups[::-1]


def compile_group(group: FusionGroup) -> Callable[..., Any]:
    """The group as one function of arrays, compiled by numba.

    Raises:
        RuntimeError: numba is not installed.
    """
    try:
        numba = importlib.import_module("numba")
    except ImportError as error:
        raise RuntimeError(
            "cinn: expected numba to compile the kernel, but it is not installed. "
            "Install the extra with `pip install minipaddle[cinn]`."
        ) from error
    names: dict[str, Any] = dict(vars(math))  # exp, tanh, ...
    exec(compile(group.source(), "<minipaddle cinn kernel>", "exec"), names)
    return numba.vectorize(names["kernel"])
