"""Which instructions must have run before another may start.

An instruction waits for

- what wrote a variable that it reads (read after write),
- what read a variable before it overwrites it (write after read),
- what wrote a variable before it overwrites it (write after write).

A variable stands for memory, and two variables can share it: a view and what it looks at. An op
that writes in place, such as sgd_, so waits for all that read the memory under another name. Two
more things are written by several ops: what is outside the program (the screen, for print), and the
state of the random generator. Ops that touch the same one of them keep their order.

Paddle: paddle/fluid/framework/new_executor/interpreter/dependency_builder.cc.
Left out: streams and communication ops; a coalesced tensor's parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def dependencies(instructions: Sequence[Any]) -> list[list[int]]:
    """Per instruction: the numbers of those for which it waits, in their order.

    One that is waited for in any case, because another one waits for it, is left out.
    """
    memory = shared_memory(instructions)
    last_writer: dict[Any, int] = {}
    readers: dict[Any, list[int]] = {}
    found = []
    for number, instruction in enumerate(instructions):
        reads, writes = _touched(instruction, memory)
        waits_for = {last_writer[item] for item in [*reads, *writes] if item in last_writer}
        for item in writes:
            waits_for.update(readers.pop(item, ()))
            last_writer[item] = number
        for item in reads.difference(writes):
            readers.setdefault(item, []).append(number)
        waits_for.discard(number)
        found.append(waits_for)
    return _without_detours(found)


def shared_memory(instructions: Sequence[Any]) -> dict[str, str]:
    """Variable -> one of those with which it may share memory, the same one for all of them.
    Variables that share with nobody are left out.
    """
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while name in above:
            name = above[name]
        return name

    for instruction in instructions:
        for group in instruction.shares_memory():
            tops = [top(name) for name in group]
            for name in [*group, *tops]:  # straight to the top, so that the way up stays short
                if name != tops[0]:
                    above[name] = tops[0]
    return {name: top(name) for name in [*above, *above.values()]}


def _touched(instruction: Any, memory: dict[str, str]) -> tuple[set[Any], set[Any]]:
    """What an instruction reads and what it writes: variables, pieces of memory, and the two
    things that are no variables.
    """
    names = instruction.reads()
    reads: set[Any] = {*names, *(("memory", memory.get(name, name)) for name in names)}
    writes: set[Any] = set(instruction.writes())
    writes |= {("memory", memory.get(name, name)) for name in instruction.overwrites()}
    if instruction.acts_outside():
        writes.add(("outside",))
    if instruction.is_random():
        writes.add(("random generator",))
    return reads, writes


def _without_detours(waits_for: Sequence[set[int]]) -> list[list[int]]:
    """Leaves out what follows from the rest. A set of numbers is kept as the bits of an int."""
    before: list[int] = []  # per instruction: all that run before it
    left = []
    for numbers in waits_for:
        covered, direct = 0, []
        for number in sorted(numbers, reverse=True):
            if not covered >> number & 1:
                direct.append(number)
                covered |= before[number] | 1 << number
        before.append(covered)
        left.append(direct[::-1])
    return left
