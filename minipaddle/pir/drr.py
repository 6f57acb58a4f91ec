"""DRR, declarative rewrite rules: draw the pattern, draw what replaces it.

    ctx = DrrPatternContext()
    pat = ctx.SourcePattern()
    relu1, relu2 = pat.Op("pd_op.relu"), pat.Op("pd_op.relu")
    relu1([pat.Tensor("a")], [pat.Tensor("b")])
    relu2([pat.Tensor("b")], [pat.Tensor("c")])
    res = pat.ResultPattern()
    res.Op("pd_op.relu")([res.Tensor("a")], [res.Tensor("c")])

A pattern matches where the operations are connected as drawn. A tensor that is made inside the
pattern and is not kept by the result must have no other reader.

Paddle: paddle/fluid/pir/drr/.
Left out: attributes that are computed by position in a chain of patterns, several outputs of
the pattern in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from minipaddle.common.errors import IRError
from minipaddle.pir.core.block import Program
from minipaddle.pir.core.builder import append_phi_op, insertion_point_at, program_guard
from minipaddle.pir.core.constant import attribute_values
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.value import Value


class PatternTensor:
    """A tensor in a drawing, known by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Tensor({self.name!r})"


class PatternOp:
    """An operation in a drawing. Calling it draws its inputs and outputs."""

    def __init__(self, name: str, attributes: dict[str, Any] | None = None) -> None:
        self.name = name
        self.attributes = attributes or {}
        self.inputs: list[PatternTensor] = []
        self.outputs: list[PatternTensor] = []

    def __call__(
        self, inputs: Sequence[PatternTensor], outputs: Sequence[PatternTensor] = ()
    ) -> None:
        self.inputs, self.outputs = list(inputs), list(outputs)


class Attr:
    """An attribute in a drawing: the value that was found in the match."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Drawing:
    def __init__(self) -> None:
        self.ops: list[PatternOp] = []

    def Op(self, name: str, attributes: dict[str, Any] | None = None) -> PatternOp:
        """Draws an operation. In a source, attributes must be equal (or are captured by an
        Attr).
        """
        self.ops.append(PatternOp(name, attributes))
        return self.ops[-1]

    def Tensor(self, name: str) -> PatternTensor:
        """A tensor; the same name is the same tensor."""
        return PatternTensor(name)

    def Attr(self, name: str) -> Attr:
        """An attribute that is captured (source) or used (result)."""
        return Attr(name)


class ResultPattern(_Drawing):
    """What replaces a match."""


class SourcePattern(_Drawing):
    """What to look for."""

    def __init__(self) -> None:
        super().__init__()
        self.constraints: list[Callable[[MatchContext], bool]] = []
        self.result = ResultPattern()

    def AddConstraint(self, constraint: Callable[[MatchContext], bool]) -> None:
        """A match counts only if `constraint(match)` is true."""
        self.constraints.append(constraint)

    def ResultPattern(self) -> ResultPattern:
        return self.result


class DrrPatternContext:
    """Holds one source pattern and its result pattern."""

    def __init__(self) -> None:
        self.source = SourcePattern()

    def SourcePattern(self) -> SourcePattern:
        return self.source


class MatchContext:
    """One match: which value stands for which tensor of the drawing."""

    def __init__(self) -> None:
        self.tensors: dict[str, Value] = {}
        self.attributes: dict[str, Any] = {}
        self.ops: list[Operation] = []

    def Tensor(self, name: str) -> Value:
        """The value that a tensor of the drawing stands for."""
        return self.tensors[name]

    def Attr(self, name: str) -> Any:
        """A captured attribute's value."""
        return self.attributes[name]


def find_matches(program: Program, context: DrrPatternContext) -> Iterable[MatchContext]:
    """All places where the source pattern fits, in program order. Changes nothing."""
    for what, drawing in (("source", context.source), ("result", context.source.result)):
        if not drawing.ops:
            raise IRError(
                f"drr: expected a {what} pattern with at least one operation, but got an empty "
                "one. Draw one with Op."
            )
    for op in list(program.global_block().ops):
        match = _match_at(op, context.source)
        if match is not None:
            yield match


def apply_patterns(program: Program, contexts: Sequence[DrrPatternContext]) -> int:
    """Replaces matches until none is left; returns how many there were.

    Raises:
        IRError: a pattern keeps matching what it makes.
    """
    count, limit = 0, 10 * (program.num_ops() + 10)
    while True:
        match, found_context = next(
            ((m, c) for c in contexts for m in find_matches(program, c)), (None, None)
        )
        if match is None or found_context is None:
            return count
        _replace(program, match, found_context.source)
        count += 1
        if count > limit:
            raise IRError(
                f"drr: expected a pattern that comes to an end, but got {count} replacements in a "
                "program of "
                f"{program.num_ops()} operations. Its result seems to match its source again; add "
                "a constraint."
            )


def _match_at(last: Operation, source: SourcePattern) -> MatchContext | None:
    """Tries to lay the pattern's last operation on `last`, and the others on what it reads."""
    match = MatchContext()
    makers = {t.name: (op, i) for op in source.ops for i, t in enumerate(op.outputs)}

    def fits(drawn: PatternOp, op: Operation) -> bool:
        if op.name() != drawn.name or op in match.ops:
            return op in match.ops and op.name() == drawn.name
        if op.info.op is not None:
            values = attribute_values(op)
            for name, wanted in drawn.attributes.items():
                if isinstance(wanted, Attr):
                    match.attributes[wanted.name] = values.get(name)
                elif values.get(name) != wanted:
                    return False
        match.ops.append(op)
        for tensor, value in zip(drawn.outputs, op.results(), strict=False):
            if match.tensors.setdefault(tensor.name, value) is not value:
                return False
        for tensor, value in zip(drawn.inputs, op.operands_source(), strict=False):
            if value is None or match.tensors.setdefault(tensor.name, value) is not value:
                return False
            maker = makers.get(tensor.name)
            if maker is None:
                continue
            drawn_maker, result = maker
            if value.index() != result or not fits(drawn_maker, value.get_defining_op()):
                return False
        return True

    if not fits(source.ops[-1], last) or len(match.ops) != len(source.ops):
        return None
    kept = {t.name for op in source.result.ops for t in [*op.inputs, *op.outputs]}
    for name in makers:
        users = match.tensors[name].all_used_ops()
        if name not in kept and any(user not in match.ops for user in users):
            return None  # somebody outside still needs what would disappear
    if not all(constraint(match) for constraint in source.constraints):
        return None
    return match


def _replace(program: Program, match: MatchContext, source: SourcePattern) -> None:
    """Inserts the result's operations where the match ends, moves the uses over, erases the
    match.
    """
    block = program.global_block()
    values = dict(match.tensors)
    made: dict[str, Value] = {}
    position = max(block.ops.index(op) for op in match.ops) + 1
    with program_guard(program), insertion_point_at(position):
        for drawn in source.result.ops:
            made.update(_build(drawn, {**values, **made}, match))
    outside = set(match.ops)
    for name, new in made.items():
        old = match.tensors.get(name)
        if old is None:
            continue
        new.stop_gradient = old.stop_gradient
        for use in old.uses():
            if use.owner() not in outside:
                use.set_source(new)
    for op in sorted(match.ops, key=block.ops.index, reverse=True):
        op.erase()


def _build(drawn: PatternOp, values: dict[str, Value], match: MatchContext) -> dict[str, Value]:
    """Inserts one operation of the result."""
    from minipaddle.pir.core.dialect import get_op_info  # the dialect builds on nothing here

    declaration = get_op_info(drawn.name).op
    if declaration is None:
        raise IRError(
            f"drr: expected a pd_op operation in the result, but got {drawn.name!r}. Use "
            "operations with a kernel."
        )
    given: dict[str, Any] = {}
    for name, value in drawn.attributes.items():
        if isinstance(value, Attr):
            given[name] = match.attributes[value.name]
        else:
            given[name] = value(match) if callable(value) else value
    inputs = [values[tensor.name] for tensor in drawn.inputs]
    results = append_phi_op(declaration, inputs, declaration.complete(given))
    return {tensor.name: value for tensor, value in zip(drawn.outputs, results, strict=False)}
