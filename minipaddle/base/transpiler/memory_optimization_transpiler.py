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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from minipaddle.base.block_lowering import FEED_AND_FETCH
from minipaddle.base.framework import DENSE_TENSOR, Operator, Program, Variable
from minipaddle.base.op_compat import compat_of, output_slot, slot_of


class ControlFlowGraph:
    """Which variables are alive around each op of a block, found by one walk backwards.

    Attributes:
        uses, defs: per op: the names that it reads, and those that it writes.
        dying: per op: the names that it uses or writes, and that nobody needs after it.
        live_at_start: the names that are needed before the first op: they come from outside.
    """

    def __init__(self, ops: Sequence[Operator], live_at_end: Iterable[str] = ()) -> None:
        self.uses = [set(operator.input_arg_names) for operator in ops]
        self.defs = [set(operator.output_arg_names) for operator in ops]
        self.dying: list[set[str]] = [set() for _ in ops]
        live = set(live_at_end)
        for position in range(len(ops) - 1, -1, -1):
            self.dying[position] = (self.uses[position] | self.defs[position]) - live
            live -= self.defs[position]
            live |= self.uses[position]
        self.live_at_start = live

    def walk(self) -> Iterator[set[str]]:
        """Per op, from the first to the last: the names that are alive while it runs. It is one set
        that changes: copy it if you keep it.
        """
        live = set(self.live_at_start)
        for defs, dying in zip(self.defs, self.dying, strict=True):
            live |= defs
            yield live
            live -= dying


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
    before, peak = _bytes_of_all(program, batch_size), _peak(program, kept, batch_size)
    kept |= _untouchable(program)
    renamed = _rename(program, kept, inplace, reuse)
    return MemoryReport(before, _bytes_of_all(program, batch_size), peak, renamed)


def _untouchable(program: Program) -> set[str]:
    """The variables that blocks of control flow, or feed and fetch ops, know by name."""
    first, *inner = program.blocks
    ops = [o for o in first.ops if o.has_attr("sub_block") or o.type in FEED_AND_FETCH]
    ops += [operator for block in inner for operator in block.ops]
    return {name for o in ops for name in o.input_arg_names + o.output_arg_names}


def _rename(program: Program, kept: set[str], inplace: bool, reuse: bool) -> dict[str, str]:
    """The rewriting itself: one walk forwards, with a pool of names that are free."""
    block = program.global_block()
    graph = ControlFlowGraph(block.ops, kept)
    writes = Counter(name for names in graph.defs for name in names)
    kept |= graph.live_at_start
    candidates = {name for name in _temporaries(program) if writes[name] == 1 and name not in kept}
    pool: dict[Any, list[str]] = defaultdict(list)
    renamed: dict[str, str] = {}
    for position, operator in enumerate(block.ops):
        born = [name for name in operator.output_arg_names if name in candidates]
        dying = graph.dying[position] & candidates
        over = _overwritable(operator) if inplace else {}
        for name in born:
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


def _overwritable(operator: Operator) -> dict[str, str]:
    """Output name -> the input's name over which the op could write."""
    try:
        op = operator.phi_op
    except KeyError:
        return {}
    compat = compat_of(op.name)
    found = {}
    for output, source in op.inplace_form.items():
        targets = operator.output(output_slot(compat, output))
        sources = operator.input(slot_of(compat, source))
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


def _bytes(variable: Variable, batch_size: int) -> int:
    sizes = [batch_size if size == -1 else size for size in variable.shape]
    return math.prod(sizes) * variable.dtype.itemsize


def _temporaries(program: Program) -> dict[str, Variable]:
    """The variables that ops of block 0 make, for one run only."""
    block = program.global_block()
    made = {name for operator in block.ops for name in operator.output_arg_names}
    return {
        name: variable
        for name, variable in block.vars.items()
        if name in made and not variable.persistable and variable.type == DENSE_TENSOR
    }


def _bytes_of_all(program: Program, batch_size: int) -> int:
    return sum(_bytes(variable, batch_size) for variable in _temporaries(program).values())


def _peak(program: Program, fetched: set[str], batch_size: int) -> int:
    graph = ControlFlowGraph(program.global_block().ops, fetched)
    sizes = {name: _bytes(item, batch_size) for name, item in _temporaries(program).items()}
    alive = sum(sizes.get(name, 0) for name in graph.live_at_start)
    peak, live = alive, set(graph.live_at_start)
    for defs, dying in zip(graph.defs, graph.dying, strict=True):
        alive += sum(sizes.get(name, 0) for name in defs - live)
        peak = max(peak, alive)
        alive -= sum(sizes.get(name, 0) for name in dying)
        live |= defs
        live -= dying
    return peak
