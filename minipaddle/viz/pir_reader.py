"""Reads a PIR program: its operations as plain data, those in regions too.

It uses what minipaddle's and real Paddle's operations have in common: name, operands_source,
results, attrs, blocks. Both are told apart nowhere but in `operation_key` and `_attributes`.

Paddle has no counterpart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from minipaddle.pir.core.ir_printer import type_text
from minipaddle.pir.core.type import Type

Key = tuple[Any, ...]

KINDS = {
    "pd_op.data": "data",
    "builtin.parameter": "param",
    "pd_op.full": "const",
    "pd_op.full_int_array": "const",
}


@dataclass(frozen=True)
class Drawn:
    """One operation as it was when the picture was taken."""

    id: str
    line: str
    label: str  # "" for a line that is no operation
    kind: str
    details: str
    reads: tuple[str, ...]  # ids of the operations that it reads, "" where an operand is missing
    home: str = ""  # the region it stands in
    regions: tuple[tuple[str, str, str], ...] = ()  # its own: id, the region around it, label


class Reader:
    """Gives operations and values names that stay, in the order in which they are found."""

    def __init__(self) -> None:
        self.ids: dict[Key, str] = {}  # operation -> "op0", "op1" ...
        self._numbers: dict[Key, str] = {}  # value -> "%0", "%1" ...
        self._argument_numbers: dict[Key, str] = {}
        self._arguments: list[tuple[Any, str, str]] = []  # value, its number, the id of its node

    def read(self, program: Any) -> list[Drawn]:
        """All operations in program order; those of a region follow their operation."""
        self._arguments = []
        return list(self._block(program.global_block().ops, "", ""))

    def number(self, value: Any) -> str:
        """`%3`, the same in all pictures."""
        key = _value_key(value)
        if key is not None:
            return self._numbers.setdefault(key, f"%{len(self._numbers)}")
        return self._argument(value)[0]

    def _block(self, ops: Iterable[Any], home: str, indent: str) -> Iterator[Drawn]:
        for op in ops:
            drawn = self._operation(op, home, indent)
            yield drawn
            if not drawn.regions:
                continue
            for number, (block, region) in enumerate(zip(_blocks(op), drawn.regions, strict=True)):
                if number:
                    yield _line(f"{drawn.id} else {number}", f"{indent}}} else {{", home)
                yield from self._enter(block, region[0], drawn.id, indent + "    ")
            yield _line(f"{drawn.id} end", indent + "}", home)

    def _enter(self, block: Any, region: str, owner: str, indent: str) -> Iterator[Drawn]:
        """What stands in one region: its arguments, then its operations."""
        for position, value in enumerate(block.args()):
            id_ = f"{region} arg{position}"
            numbers = self._argument_numbers
            number = numbers.setdefault((region, position), f"%arg{len(numbers)}")
            self._arguments.append((value, number, id_))
            details = f"argument {position} of the region"
            line = f"{indent}^{number} : {_type(value.type())}"
            yield Drawn(id_, line, number, "var", details, (owner,), region)
        first = True
        for drawn in self._block(block.ops, region, indent):
            # a region without arguments hangs on its operation by its first line
            alone = first and not block.args()
            reads = (*drawn.reads, owner) if alone else drawn.reads
            first = False
            yield Drawn(**{**vars(drawn), "reads": reads})

    def _operation(self, op: Any, home: str, indent: str) -> Drawn:
        sources = op.operands_source()
        operands = ", ".join("<<NULL VALUE>>" if v is None else self.number(v) for v in sources)
        results = ", ".join(self.number(result) for result in op.results())
        types = ", ".join(_type(result.type()) for result in op.results())
        key = operation_key(op)
        id_ = self.ids.setdefault(key, f"op{len(self.ids)}")
        blocks = _blocks(op)
        regions = tuple(
            (f"{id_} region {n}", home, _region_label(op, n, len(blocks)))
            for n in range(len(blocks))
        )
        line = f'{indent}({results}) = "{op.name()}" ({operands}){_essential(op)} -> {types}'
        attributes = sorted(_attributes(op).items())
        return Drawn(
            id_,
            line + " {" if regions else line,
            f"{short(op)}\n{results}" if results else short(op),
            KINDS.get(op.name(), "op"),
            "\n".join([op.name(), *(f"{name}: {_written(value)}" for name, value in attributes)]),
            tuple("" if v is None else self._maker(v) for v in sources),
            home,
            regions,
        )

    def _maker(self, value: Any) -> str:
        """The id of the node that gives a value."""
        key = _value_key(value)
        return self._argument(value)[1] if key is None else self.ids.get(key[:-1], "")

    def _argument(self, value: Any) -> tuple[str, str]:
        for known, number, id_ in self._arguments:
            if known.is_same(value):
                return number, id_
        return "%?", ""


def operation_key(op: Any) -> Key:
    """The same for the same operation: real Paddle makes new Python objects for it each time."""
    return ("id", op.id()) if hasattr(op, "id") else ("number", op.number)


def _value_key(value: Any) -> Key | None:
    """The operation that made it and which of its results it is; None for an argument."""
    op = value.get_defining_op()
    if op is None:
        return None
    for index, result in enumerate(op.results()):
        if result.is_same(value):
            return (*operation_key(op), index)
    return (*operation_key(op), 0)


def _blocks(op: Any) -> list[Any]:
    return list(op.blocks()) if hasattr(op, "blocks") else []


def _line(id_: str, line: str, home: str) -> Drawn:
    return Drawn(id_, line, "", "", "", (), home)


def _region_label(op: Any, number: int, count: int) -> str:
    name = short(op)
    return f"{name}: {('true', 'false')[number]}" if name == "if" and count == 2 else name


def short(op: Any) -> str:
    """`pd_op.add` as add; inputs and parameters by their names."""
    attributes = _attributes(op) if op.name() in KINDS else {}
    for key in ("parameter_name", "name"):
        if key in attributes and op.name() in ("pd_op.data", "builtin.parameter"):
            return str(getattr(attributes[key], "value", attributes[key]))
    name = op.name().partition(".")[2]
    value = attributes.get("value")
    return f"{name} {_written(value)}" if value is not None else name


def _attributes(op: Any) -> dict[str, Any]:
    """minipaddle keeps Attributes, which print themselves; real Paddle gives Python values."""
    return op.attributes if hasattr(op, "attributes") else op.attrs()


def _written(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _essential(op: Any) -> str:
    """The one attribute without which a line can't be understood: a name, or a constant's value."""
    if op.name() not in KINDS:
        return ""
    attributes = _attributes(op)
    for key in ("parameter_name", "name", "value"):
        if key in attributes:
            return f" {{{key}:{_written(attributes[key])}}}"
    return ""


def _type(type_: Any) -> str:
    return type_text(type_) if type_ is None or isinstance(type_, Type) else str(type_)
