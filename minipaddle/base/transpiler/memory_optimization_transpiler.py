"""memory_optimize: a variable takes over the name of one that is dead, and with it its memory.

A Scope that keeps every variable until the run ends needs room for all of them, though few are
alive at the same time. So the program is rewritten: when an op makes a new variable, and an older
one of the same dtype and shape will never be read again, then the op writes into the older one:

    {Out=['a']} = relu(X=['x'])             {Out=['a']} = relu(X=['x'])
    {Out=['b']} = scale(X=['a'])            {Out=['b']} = scale(X=['a'])
    {Out=['c']} = tanh(X=['b'])     ->      {Out=['a']} = tanh(X=['b'])      a is dead: c is a now

It is what a compiler does with registers. An Executor that frees each variable at its last use (as
Paddle's since version 1.6, and ours) does not need it: see `MemoryReport`.

Paddle: python/paddle/fluid/transpiler/memory_optimization_transpiler.py in Paddle 1.x;
its documentation advises against it since 1.6.
Left out: variables inside the blocks of control flow, and those that such blocks use; variables of
other shapes in each other's place.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from minipaddle.base.block_lowering import FEED_AND_FETCH
from minipaddle.base.framework import Operator, Program, Variable
from minipaddle.base.variable import DENSE_TENSOR
from minipaddle.new_executor.instruction import last_uses, reads_of, writes_of


@dataclass
class MemoryReport:
    """What `memory_optimize` did, in bytes. -1 in a shape counts as the batch size.

    Attributes:
        kept_before, kept_after: all variables together that live in one run only: what a Scope
            holds at the end that frees nothing.
        peak: the most bytes of them that are alive at one moment: what an Executor needs that
            frees each at its last use.
        renamed: old name -> the name whose memory it took over.
    """

    kept_before: int
    kept_after: int
    peak: int
    renamed: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"all variables, before: {self.kept_before:>10} bytes",
            f"all variables, after:  {self.kept_after:>10} bytes",
            f"alive at one moment:   {self.peak:>10} bytes",
            *(f"    {old} -> {new}" for old, new in self.renamed.items()),
        ]
        return "\n".join(lines)


def memory_optimize(
    program: Program,
    skip_opt_set: Iterable[Any] = (),
    *,
    inplace: bool = False,
    reuse: bool = True,
    batch_size: int = 1,
) -> MemoryReport:
    """Rewrites block 0 of the program, in place.

    Args:
        skip_opt_set: Variables or names that keep their names: what will be fetched.
        inplace: an op with an in-place form, such as relu, also writes over its own input, if
            nobody reads that later.
        reuse: take over the names of variables that died before (False: only `inplace`).
        batch_size: what -1 in a shape counts as, in the report.

    Raises:
        ValueError: skip_opt_set names a variable that the program does not have.
    """
    block = program.global_block()
    kept = {item.name if isinstance(item, Variable) else item for item in skip_opt_set}
    unknown = sorted(str(name) for name in kept if not block.has_var(name))
    if unknown:
        raise ValueError(
            f"memory_optimize: expected variables of the program in skip_opt_set, but got "
            f"{unknown}. Name what will be fetched."
        )
    before = _sizes(program, batch_size)
    peak = _peak(block.ops, kept, before)
    renamed = _rename(program, kept, inplace, reuse)
    after = _sizes(program, batch_size)
    return MemoryReport(sum(before.values()), sum(after.values()), peak, renamed)


def _rename(program: Program, kept: set[str], inplace: bool, reuse: bool) -> dict[str, str]:
    """The rewriting itself: one walk forwards, with a pool of names that are free."""
    block = program.global_block()
    writes = Counter(name for operator in block.ops for name in operator.writes())
    fixed = kept | _untouchable(program) | set(reads_of(block.ops))
    candidates = {n for n in _temporaries(program) if writes[n] == 1 and n not in fixed}
    pool: dict[Any, list[str]] = defaultdict(list)
    renamed: dict[str, str] = {}
    for operator, dead in zip(block.ops, last_uses(block.ops, kept), strict=True):
        dying = candidates.intersection(dead)
        over = _overwritable(operator) if inplace else {}
        for name in operator.writes():
            if name not in candidates:
                continue
            kind, source = _kind(block.vars[name]), over.get(name)
            if source in dying and _kind(block.vars[source]) == kind:
                renamed[name] = renamed.get(source, source)
                dying.discard(source)  # its memory lives on
            elif reuse and pool[kind]:
                renamed[name] = pool[kind].pop()
        for name in sorted(dying):
            pool[_kind(block.vars[name])].append(renamed.get(name, name))
    for operator in block.ops:
        _rename_in(operator, renamed)
    for name in renamed:
        del block.vars[name]
    program._changed()
    return renamed


def _untouchable(program: Program) -> set[str]:
    """The variables that blocks of control flow, or feed and fetch ops, know by name."""
    first, *inner = program.blocks
    ops = [o for o in first.ops if o.has_attr("sub_block") or o.type in FEED_AND_FETCH]
    ops += [operator for block in inner for operator in block.ops]
    return {name for operator in ops for name in operator.reads() + operator.writes()}


def _overwritable(operator: Operator) -> dict[str, str]:
    """Output name -> the input's name over which the op could write."""
    op = operator.declaration
    if op is None:
        return {}
    found, keys = {}, operator.phi_slots()
    for output, source in op.inplace_form.items():
        targets, sources = keys[output], keys[source]
        if len(targets) == len(sources) == 1 and operator.input_arg_names.count(sources[0]) == 1:
            found[targets[0]] = sources[0]
    return found


def _rename_in(operator: Operator, renamed: dict[str, str]) -> None:
    slots = [*operator.proto.inputs, *operator.proto.outputs]
    lists = [item.arguments for item in slots]
    lists += [item.strings for item in operator.proto.attrs if item.name == "op_role_var"]
    for names in lists:
        for position, name in enumerate(names):
            if name in renamed:
                names[position] = renamed[name]


def _kind(variable: Variable) -> Any:
    """Variables of one kind can take each other's place: same dtype, same shape."""
    return variable.dtype, tuple(variable.shape)


def _temporaries(program: Program) -> list[str]:
    """The variables that ops of block 0 make, for one run only."""
    block = program.global_block()
    made = [block.vars[name] for name in writes_of(block.ops) if name in block.vars]
    return [v.name for v in made if not v.persistable and v.type == DENSE_TENSOR]


def _sizes(program: Program, batch_size: int) -> dict[str, int]:
    """The bytes of each of them."""
    found = {name: program.global_block().vars[name] for name in _temporaries(program)}
    return {
        name: math.prod(batch_size if size == -1 else size for size in variable.shape)
        * variable.dtype.itemsize
        for name, variable in found.items()
    }


def _peak(ops: Sequence[Operator], fetched: set[str], sizes: dict[str, int]) -> int:
    """The most bytes at one moment, if each variable is freed at its last use."""
    alive: set[str] = set()
    peak = 0
    for operator, dead in zip(ops, last_uses(ops, fetched), strict=True):
        alive.update(name for name in operator.reads() + operator.writes() if name in sizes)
        peak = max(peak, sum(sizes[name] for name in alive))
        alive.difference_update(dead)
    return peak
