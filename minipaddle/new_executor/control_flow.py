"""Instructions that run a block of instructions: `if` and `while`, and the gradients of both.

In the generated function they are Python's own `if`, `while` and `for`:

    if v2:                                  conditional_block
        v4 = scale(v0, scale=2.0)
        v3 = assign(v4)
        v5 = (v4,)                          what the gradient block will read: a Scope
    else:
        v3 = v5 = None

    v9 = []                                 while
    while v7:
        start_0_v6 = v6
        v8 = multiply(v6, v6)
        v6 = assign(v8)
        v9.append((start_0_v6, v8))           one Scope per turn: StepScopes

A gradient block reads values of its forward block. Only those are kept, and only if the gradient is
wanted: the gradient's instruction writes their names into `kept`, which both share.

Paddle: paddle/fluid/framework/new_executor/instruction/control_flow/,
paddle/fluid/operators/controlflow/{conditional_block_op,while_op}.cc.
Left out: Paddle keeps whole scopes, with all variables of the block in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

from minipaddle.common.flags import flag
from minipaddle.new_executor.instruction import prune, reads_of, writes_of
from minipaddle.phi.core.op import OPS


@dataclass
class ControlFlowInstruction:
    """What the four have in common.

    Attributes:
        block: the instructions that it runs; all variables are of one Python function.
        op_type, call_stack, place: as in Instruction.
    """

    block: list[Any]
    op_type: str
    call_stack: Sequence[str] = ()
    place: tuple[int, int] | None = None

    def has_side_effect(self) -> bool:
        return any(instruction.has_side_effect() for instruction in self.block)

    def acts_outside(self) -> bool:
        return any(instruction.acts_outside() for instruction in self.block)

    def is_random(self) -> bool:
        return any(instruction.is_random() for instruction in self.block)

    def overwrites(self) -> list[str]:
        return [name for instruction in self.block for name in instruction.overwrites()]

    def shares_memory(self) -> list[list[str]]:
        """Said of all that it touches: a loop hands variables on under several names."""
        inner = [group for instruction in self.block for group in instruction.shares_memory()]
        return [[*self.reads(), *self.writes(), *reads_of(self.block)], *inner]

    def reads(self) -> list[str]:
        raise NotImplementedError

    def writes(self) -> list[str]:
        raise NotImplementedError


@dataclass
class ForwardInstruction(ControlFlowInstruction):
    """What the two that are no gradients have in common.

    Attributes:
        condition: a variable of one bool.
        outputs: variables outside that the block writes.
        unset: those of them that have no value before; if the block does not run, they are None.
        scope: the variable that holds what is kept, in a loop one tuple per turn; None if nothing
            is.
        kept: variables that the gradient reads: of the block, or a loop's outputs, as they were
            when the turn began.
    """

    condition: str = ""
    outputs: list[str] = field(default_factory=list)
    unset: list[str] = field(default_factory=list)
    scope: str | None = None
    kept: dict[str, None] = field(default_factory=dict)

    def reads(self) -> list[str]:
        before = [name for name in self.outputs if name not in self.unset]
        return _unique([self.condition], reads_of(self.block), before)

    def writes(self) -> list[str]:
        return [*self.outputs, *([self.scope] if self.scope else [])]

    def _with(self, block: list[Any], scope: str | None) -> Self:
        """The same with less in its block."""
        written = writes_of(block)
        return replace(
            self,
            block=block,
            outputs=[name for name in self.outputs if name in written],
            unset=[name for name in self.unset if name in written],
            scope=scope,
        )


class ConditionalBlockInstruction(ForwardInstruction):
    """Runs its block if the condition is true."""

    def pruned(self, needed: set[str]) -> ConditionalBlockInstruction | None:
        scope = self.scope if self.scope in needed and self.kept else None
        wanted = needed.intersection(self.outputs) | (set(self.kept) if scope else set())
        block = prune(self.block, wanted)
        return self._with(block, scope) if block else None

    def write(self, writer: Any) -> None:
        writer.line(f"if {self.condition}:", self)
        kept = self.kept if self.scope else {}
        with writer.indented():
            writer.block(self.block, {*reads_of(self.block), *self.outputs, *kept})
            if self.scope:
                writer.line(f"{self.scope} = {_tuple(kept)}")
                writer.line(f"del {', '.join(kept)}")
        none = [*self.unset, *([self.scope] if self.scope else [])]
        if none:
            writer.line("else:")
            with writer.indented():
                writer.line(f"{' = '.join(none)} = None")

    def __str__(self) -> str:
        return _shown(f"if {self.condition}:", self.block)


@dataclass
class WhileInstruction(ForwardInstruction):
    """Runs its block again and again while the condition, which the block writes, is true.

    Attributes:
        label: what an endless loop is called in the error.
    """

    label: str = ""

    def pruned(self, needed: set[str]) -> WhileInstruction | None:
        scope = self.scope if self.scope in needed else None
        wanted = needed.intersection(self.outputs)
        if not (wanted or scope or self.has_side_effect()):
            return None
        wanted |= {self.condition, *(self.kept if scope else ())}
        return self._with(_prune_loop(self.block, wanted), scope)

    def write(self, writer: Any) -> None:
        for name in self.unset:
            writer.line(f"{name} = None")
        if self.scope:
            writer.line(f"{self.scope} = []")
        kept = self.kept if self.scope else {}
        turns = writer.constant("turns", partial(count_turns, self.label))
        # with the loop's number: loops in one another may write the same variable
        start = turns.replace("turns", "start")
        starts = {name: f"{start}_{name}" for name in kept if name in self.outputs}
        writer.line(f"{turns}_left = {turns}()")
        writer.line(f"while {self.condition}:", self)
        with writer.indented():
            writer.line(f"next({turns}_left)", self)
            for name, start in starts.items():
                writer.line(f"{start} = {name}")
            outside = {*reads_of(self.block), *self.outputs}
            writer.block(self.block, {*outside, *kept})
            if self.scope:
                values = [starts.get(name, name) for name in kept]
                writer.line(f"{self.scope}.append({_tuple(values)})")
                if values:
                    writer.line(f"del {', '.join(values)}")

    def __str__(self) -> str:
        return _shown(f"while {self.condition}:", self.block)


@dataclass
class ConditionalBlockGradInstruction(ControlFlowInstruction):
    """Runs the gradient block of a conditional_block that ran; if it didn't, gradients are 0.

    Attributes:
        condition: the forward op's.
        results: gradient -> the variable whose gradient it is.
        scope: where the forward block's values are kept.
        saved: variable of the forward block -> what it is called in this block.
        kept: the forward instruction's.
    """

    condition: str = ""
    results: dict[str, str] = field(default_factory=dict)
    scope: str = ""
    saved: dict[str, str] = field(default_factory=dict)
    kept: dict[str, None] = field(default_factory=dict)

    def reads(self) -> list[str]:
        found = _unique([self.condition], self.results.values(), reads_of(self.block))
        scope = [self.scope] if self.saved else []
        return [*(name for name in found if name not in self.saved.values()), *scope]

    def writes(self) -> list[str]:
        return list(self.results)

    def pruned(self, needed: set[str]) -> ConditionalBlockGradInstruction | None:
        results = {name: like for name, like in self.results.items() if name in needed}
        if not results:
            return None
        block = prune(self.block, set(results))
        saved = _used(self.saved, block)
        self.kept.update(dict.fromkeys(saved))
        return replace(self, block=block, results=results, saved=saved)

    def write(self, writer: Any) -> None:
        zeros = writer.constant("zeros_like", writer.xp.zeros_like, once=True)
        written = writes_of(self.block)
        writer.line(f"if {self.condition}:", self)
        with writer.indented():
            if self.saved:
                writer.line(f"{_targets(self.kept, self.saved)} = {self.scope}")
            outside = {name for name in reads_of(self.block) if name not in self.saved.values()}
            writer.block(self.block, {*outside, *self.results})
            for name, like in self.results.items():
                if name not in written:
                    writer.line(f"{name} = {zeros}({like})")
        writer.line("else:")
        with writer.indented():
            for name, like in self.results.items():
                writer.line(f"{name} = {zeros}({like})")

    def __str__(self) -> str:
        return _shown(f"if {self.condition}:", self.block)


@dataclass
class WhileGradInstruction(ControlFlowInstruction):
    """Runs the gradient block once for each turn of the loop, the last turn first.

    Attributes:
        carried: gradients of what the loop hands from turn to turn: the block reads and writes
            them.
        given: those that have another name before: gradient -> that name.
        missing: those that nobody gave: gradient -> the variable whose gradient it is. They start
            as 0.
        returned: those that have another name after: gradient -> that name.
        captured: gradients of what the block only reads: gradient of one turn -> (their sum, the
            variable whose gradient it is).
        scope: where the forward block's values are kept.
        saved, kept: as in ConditionalBlockGradInstruction.
    """

    carried: list[str] = field(default_factory=list)
    given: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    returned: dict[str, str] = field(default_factory=dict)
    captured: dict[str, tuple[str, str]] = field(default_factory=dict)
    scope: str = ""
    saved: dict[str, str] = field(default_factory=dict)
    kept: dict[str, None] = field(default_factory=dict)

    def reads(self) -> list[str]:
        before = [self.given.get(name, name) for name in self.carried if name not in self.missing]
        likes = [like for _, like in self.captured.values()]
        outside = self._outside()
        return _unique([self.scope], before, self.missing.values(), likes, outside)

    def writes(self) -> list[str]:
        sums = [total for total, _ in self.captured.values()]
        return _unique(self.carried, self.returned.values(), sums)

    def _outside(self) -> list[str]:
        """What the block reads of the variables around it."""
        own = {*self.saved.values(), *self.carried}
        return [name for name in reads_of(self.block) if name not in own]

    def pruned(self, needed: set[str]) -> WhileGradInstruction | None:
        captured = {name: pair for name, pair in self.captured.items() if pair[0] in needed}
        carried = {name for name in self.carried if self.returned.get(name, name) in needed}
        if not captured and not carried:
            return None
        block = _prune_loop(self.block, {*captured, *carried})
        carried |= set(reads_of(block)).intersection(self.carried)
        saved = _used(self.saved, block)
        self.kept.update(dict.fromkeys(saved))

        def left(names: dict[str, str]) -> dict[str, str]:
            return {name: other for name, other in names.items() if name in carried}

        return replace(
            self,
            block=block,
            carried=[name for name in self.carried if name in carried],
            given=left(self.given),
            missing=left(self.missing),
            returned=left(self.returned),
            captured=captured,
            saved=saved,
        )

    def write(self, writer: Any) -> None:
        zeros = writer.constant("zeros_like", writer.xp.zeros_like, once=True)
        add = writer.constant("add", partial(OPS["add"].run, writer.xp), once=True)
        starts = dict(self.captured.values()) | self.missing
        for name, like in starts.items():
            writer.line(f"{name} = {zeros}({like})")
        for name, source in self.given.items():
            writer.line(f"{name} = {source}")
        writer.line(f"for {_targets(self.kept, self.saved)} in reversed({self.scope}):", self)
        with writer.indented():
            if not self.block:
                writer.line("pass")
            outside = {*self._outside(), *self.carried}
            writer.block(self.block, {*outside, *self.captured})
            for name, (total, _) in self.captured.items():
                writer.line(f"{total} = {add}({total}, {name})")
            if self.captured:
                writer.line(f"del {', '.join(self.captured)}")
        for name, target in self.returned.items():
            writer.line(f"{target} = {name}")

    def __str__(self) -> str:
        return _shown(f"for each turn in {self.scope}, the last one first:", self.block)


def count_turns(label: str) -> Iterator[None]:
    """Allows as many turns as the flag says.

    Raises:
        RuntimeError: at the first turn too many.
    """
    limit = flag("FLAGS_max_while_turns")
    for _ in range(limit):
        yield
    raise RuntimeError(
        f"while: expected the loop over {label} to end within {limit} turns, but got true as its "
        "condition after them. Let the body change what the condition reads, or allow more: "
        "paddle.set_flags({'FLAGS_max_while_turns': ...})."
    )


def _prune_loop(block: list[Any], wanted: set[str]) -> list[Any]:
    """What is needed of a block that runs again and again: also what its own next turn reads."""
    while True:
        left = prune(block, wanted)
        more = wanted.union(reads_of(left))
        if more == wanted:
            return left
        wanted = more


def _used(saved: dict[str, str], block: list[Any]) -> dict[str, str]:
    read = set(reads_of(block))
    return {forward: name for forward, name in saved.items() if name in read}


def _targets(kept: Iterable[str], saved: dict[str, str]) -> str:
    """The left side that takes a tuple of the kept values apart; `_` is one for somebody else."""
    names = [saved.get(name, "_") for name in kept]
    return _tuple(names)[1:-1] if saved else "_"


def _tuple(names: Iterable[str]) -> str:
    listed = list(names)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def _unique(*several: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for names in several for name in names))


def _shown(head: str, block: list[Any]) -> str:
    lines = "\n".join(str(instruction) for instruction in block).splitlines()
    return "\n".join([head, *(f"    {line}" for line in lines)])
