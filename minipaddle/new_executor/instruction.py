"""Instruction: one op of a program, ready to run. An InstructionList knows when each value dies.

Paddle: paddle/fluid/framework/new_executor/new_executor_defs.h (Instruction),
interpretercore_util.cc.
Instructions with a block of their own are in control_flow.py.
Left out: streams, events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from minipaddle.new_executor.dependency_builder import dependencies
from minipaddle.phi.core.op import Op


@dataclass
class Instruction:
    """One kernel call.

    Attributes:
        op: whose kernel is called.
        inputs: per input of the op: a variable's name, a list of names (for a list input), or None.
        outputs: per output of the op: the name it gets, a list of names (for a list output), or
            None if nobody wants it.
        attrs: attributes that are known.
        attr_inputs: attributes whose value is a variable (an IntArray or Scalar made by an op).
        op_type: what the program calls the op.
        call_stack: where in the user's code the op was appended; empty if that is not known.
        place: where in the Program the op stands: (block, position in the block), for a reader.
    """

    op: Op
    inputs: list[Any]
    outputs: list[Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    attr_inputs: dict[str, str] = field(default_factory=dict)
    op_type: str = ""
    call_stack: Sequence[str] = ()
    place: tuple[int, int] | None = None

    def reads(self) -> list[str]:
        """The names of all variables that the instruction reads."""
        return _names([*self.inputs, *self.attr_inputs.values()])

    def writes(self) -> list[str]:
        """The names of all variables that the instruction writes."""
        return _names(self.outputs)

    def has_side_effect(self) -> bool:
        """True if it has to run though nobody reads what it writes."""
        return "SideEffect" in self.op.traits

    def acts_outside(self) -> bool:
        """True if its side effect is outside the program, as print's, and no write into memory."""
        return self.has_side_effect() and not self.op.inplace

    def is_random(self) -> bool:
        """True if it draws numbers from the shared generator."""
        return "Random" in self.op.traits

    def overwrites(self) -> list[str]:
        """The variables into whose memory it writes."""
        names = [item.name for item in self.op.inputs]
        return _names([self.inputs[names.index(source)] for source in self.op.inplace.values()])

    def shares_memory(self) -> list[list[str]]:
        """Groups of variables that may be the same memory because of this instruction."""
        op = self.op
        if "View" in op.traits:
            return [_names([self.inputs[0], *self.outputs])]
        if op.forward_op is not None:  # add_grad gives the gradient on as it is
            given = [x for item, x in zip(op.inputs, self.inputs) if item.name.endswith("_grad")]
            return [_names([*given, *self.outputs])]
        names = [item.name for item in op.inputs]
        return [
            _names([self.inputs[names.index(source)], self.outputs[op.outputs.index(output)]])
            for output, source in op.inplace.items()
        ]

    def leaves_rest(self) -> bool:
        """True if it makes arrays that nobody wants; in the generated text they are called `_`."""
        return not self.op.inplace and any(not item for item in self.outputs)

    def pruned(self, needed: set[str]) -> Instruction | None:
        """What is left of it if only `needed` is wanted: itself or nothing."""
        return self if self.has_side_effect() or needed.intersection(self.writes()) else None

    def __str__(self) -> str:
        attrs = [f"{name}={value!r}" for name, value in self.attrs.items()]
        attrs += [f"{name}={value}" for name, value in self.attr_inputs.items()]
        inputs = [str(item).replace("'", "") for item in self.inputs]
        outputs = ", ".join(str(item or "_").replace("'", "") for item in self.outputs)
        return f"{outputs} = {self.op.name}({', '.join(inputs + attrs)})"


def _names(items: Iterable[Any]) -> list[str]:
    """All names, those in lists too; None is left out."""
    names: list[str] = []
    for item in items:
        names += item if isinstance(item, list) else [item] if item is not None else []
    return names


@dataclass
class InstructionList:
    """A program, lowered.

    Attributes:
        instructions: in the order in which they run: Instructions, and those of control_flow.py.
        feeds: name the user gives -> (variable, check), where `check(array)` returns the array to
            use or raises.
        scope_reads: scope name -> variable: read before the first instruction (parameters).
        scope_writes: scope name -> variable: written back after the last.
        fetches: the variables that the user gets.
        names: variable -> its name in the Program, for a reader. Empty where the values of the
            program have no names.
    """

    instructions: list[Any]
    feeds: dict[str, tuple[str, Callable[[Any], Any]]]
    scope_reads: dict[str, str]
    scope_writes: dict[str, str]
    fetches: list[str]
    names: dict[str, str] = field(default_factory=dict)

    def last_uses(self) -> list[list[str]]:
        """Per instruction: the variables that nobody reads after it, so that they can be dropped.

        This is the garbage collector's plan: a variable dies at its last use.
        """
        return last_uses(self.instructions, {*self.fetches, *self.scope_writes.values()})

    def dependencies(self) -> list[list[int]]:
        """Per instruction: the numbers of those that must have run before it may start."""
        return dependencies(self.instructions)


def last_uses(instructions: Sequence[Any], needed: Iterable[str]) -> list[list[str]]:
    """The same for any block of instructions, or of Operators; `needed`: what somebody reads after
    the block.
    """
    read_later = set(needed)
    plan: list[list[str]] = []
    for instruction in reversed(instructions):
        touched = dict.fromkeys([*instruction.reads(), *instruction.writes()])
        plan.append([name for name in touched if name not in read_later])
        read_later.update(touched)
    return plan[::-1]


def prune(instructions: Sequence[Any], wanted: set[str]) -> list[Any]:
    """Keeps the instructions on which `wanted` depends, and those with a side effect."""
    needed, kept = set(wanted), []
    for instruction in reversed(instructions):
        left = instruction.pruned(needed)
        if left is not None:
            kept.append(left)
            needed.update(left.reads())
    return kept[::-1]


def reads_of(instructions: Iterable[Any]) -> list[str]:
    """What a block of instructions reads before it writes it."""
    found: dict[str, None] = {}
    written: set[str] = set()
    for instruction in instructions:
        found.update((name, None) for name in instruction.reads() if name not in written)
        written.update(instruction.writes())
    return list(found)


def writes_of(instructions: Iterable[Any]) -> set[str]:
    """What a block of instructions writes."""
    return {name for instruction in instructions for name in instruction.writes()}
