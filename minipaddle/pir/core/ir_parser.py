"""IrParser: reads the text that IrPrinter writes. Errors say line and column, and show the place.

Paddle: paddle/pir/src/core/parser/ir_parser.cc (it can't be reached from Python in 3.3).
Left out: regions.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.common.errors import IRError, IRParseError
from minipaddle.common.place import CPU, UNDEFINED, CUDAPlace
from minipaddle.phi.core.attribute import convert
from minipaddle.pir.core.block import Program
from minipaddle.pir.core.dialect import COMMON_ATTRS, Flags, OpInfo, get_op_info
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.type import DenseTensorType, Type, VectorType
from minipaddle.pir.core.value import Value
from minipaddle.pir.core.verify import verify_program

TOKENS = re.compile(
    r"""\s*(?:
      (?P<null><<NULL\ (?:VALUE|TYPE)>>)
    | (?P<tensor>tensor<[^>\n]*>)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<value>%\w+)
    | (?P<place>Place\([^)\n]*\))
    | (?P<number>-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)\b\.?)
    | (?P<word>[A-Za-z_][\w.]*)
    | (?P<mark>->|[(){}\[\]:,=])
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)


def parse_program(text: str) -> Program:
    """The program that the text describes; it has been verified.

    Raises:
        IRParseError: the text is not a program (says line and column).
        IRError: it can be read, but is not well formed.
    """
    return IrParser(text).program()


class IrParser:
    """Reads a text from left to right; `self.kind` and `self.token` are what comes next."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.start = 0
        self.kind = self.token = ""
        self.values: dict[str, Value] = {}
        self._advance()

    # -- tokens --------------------------------------------------------------------------------

    def _advance(self) -> None:
        match = TOKENS.match(self.text, self.position)
        if match is None:
            skipped = len(self.text[self.position :]) - len(self.text[self.position :].lstrip())
            self.start = self.position + skipped
            self.token = self.text[self.start : self.start + 1]
            self._fail("a value, a name, a number or a mark")
        self.kind = match.lastgroup or "end"
        self.token = match.group(self.kind)
        self.start = match.start(self.kind)
        self.position = match.end()

    def _fail(self, expected: str, hint: str = "") -> NoReturn:
        line_number = self.text.count("\n", 0, self.start) + 1
        line_start = self.text.rfind("\n", 0, self.start) + 1
        line_end = self.text.find("\n", self.start)
        line = self.text[line_start : len(self.text) if line_end < 0 else line_end]
        column = self.start - line_start + 1
        got = repr(self.token) if self.token else "the end of the text"
        shown, caret = line, column - 1
        if len(line) > 120:  # long lines are cut, so that the place can be seen
            cut = max(0, caret - 60)
            shown, caret = line[cut : cut + 120], caret - cut
        head = f"  line {line_number}:  "
        raise IRParseError(
            f"pir parser: expected {expected}, but got {got} at line {line_number}, column "
            f"{column}. "
            f"{hint or 'Compare with what print(program) writes.'}\n"
            f"{head}{shown}\n{' ' * (len(head) + caret)}^"
        )

    def _take(self, mark: str, where: str) -> None:
        if self.token != mark or self.kind not in ("mark", "word"):
            self._fail(f"{mark!r} {where}")
        self._advance()

    def _take_kind(self, kind: str, expected: str) -> str:
        if self.kind != kind:
            self._fail(expected)
        token = self.token
        self._advance()
        return token

    def _list(self, close: str, item: Any, where: str) -> list[Any]:
        """Items separated by commas, up to and including `close`."""
        items: list[Any] = []
        while self.token != close or self.kind != "mark":
            if items:
                self._take(",", f"or {close!r} {where}")
            items.append(item())
        self._advance()
        return items

    # -- grammar -------------------------------------------------------------------------------

    def program(self) -> Program:
        program = Program()
        self._take("{", "at the beginning of the program")
        while self.token != "}":
            if self.kind == "end":
                self._fail("'}' at the end of the program")
            program.global_block().append(self.operation())
        self._advance()
        if self.kind != "end":
            self._fail("the end of the text after '}'")
        verify_program(program)
        return program

    def operation(self) -> Operation:
        self._take("(", "before an operation's results")
        names = self._list(")", lambda: self._take_kind("value", "a result such as %0"), "")
        self._take("=", "after the results")
        where = self.start
        if self.kind != "string":
            self._fail("the operation's name in quotes")
        try:
            info = get_op_info(self.token[1:-1])
        except IRError as error:
            self.start = where
            self._fail("a registered operation", str(error).partition("'. ")[2])
        self._advance()
        self._take("(", "before the operands")
        operands = self._list(")", self._operand, "after the operands")
        self._take("{", "before the attributes")
        attributes = dict(self._list("}", lambda: self._attribute(info), "after the attributes"))
        self._take(":", "before the operand types")
        self._take("(", "before the operand types")
        types_at = self.start
        in_types = self._list(")", self._type, "after the operand types")
        for operand, type in zip(operands, in_types, strict=len(operands) == len(in_types)):
            if (None if operand is None else operand.type()) is not type:
                self.start = types_at
                self._fail("the types of the operands", "They must be the types of the values.")
        self._take("->", "before the result types")
        out_types: list[Type | None] = []
        for _ in names:
            if out_types:
                self._take(",", "between result types")
            out_types.append(self._type())
        op = Operation(info.name, operands, attributes, out_types)
        for name, result in zip(names, op.results(), strict=True):
            if name in self.values:
                self.token = name
                self._fail(
                    f"a new name instead of {name}",
                    "A value is written once; choose another number.",
                )
            self.values[name] = result
        return op

    def _operand(self) -> Value | None:
        if self.token == "<<NULL VALUE>>":
            self._advance()
            return None
        if self.kind == "value" and self.token not in self.values:
            self._fail("a value that was made before", "Values are made before they are read.")
        return self.values[self._take_kind("value", "an operand such as %0")]

    def _attribute(self, info: OpInfo) -> tuple[str, Any]:
        where = self.start
        name = self._take_kind("word", "an attribute's name")
        kinds: dict[str, Any] = {**info.attr_kinds, **dict.fromkeys(COMMON_ATTRS, Flags)}
        if name not in kinds:
            self.start, self.token = where, name
            self._fail(f"one of the attributes {sorted(kinds)}")
        self._take(":", f"after the attribute {name}")
        where, token = self.start, self.token
        value = self._attribute_value()
        try:
            if kinds[name] is Flags:
                if not isinstance(value, tuple) or any(type(item) is not bool for item in value):
                    raise TypeError("a list of true and false")
                return name, value
            return name, convert(info.name, name, kinds[name], value)
        except TypeError as error:
            self.start, self.token = where, token
            self._fail(f"a value that fits {name}", str(error))

    def _attribute_value(self) -> Any:
        token, kind = self.token, self.kind
        if kind == "mark" and token == "[":
            self._advance()
            return tuple(self._list("]", self._attribute_value, "in a list"))
        if kind == "string":
            self._advance()
            return re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), token[1:-1])
        if kind == "number":
            self._advance()
            return float(token) if re.search(r"[.en]", token) else int(token)
        if kind == "place":
            self._advance()
            device, _, number = token[6:-1].partition(":")
            places = {"cpu": CPU, "undefined": UNDEFINED, "gpu": CUDAPlace(int(number or 0))}
            if device in places:
                return places[device]
        if kind == "word":
            self._advance()
            if token in ("true", "false"):
                return token == "true"
            if token in ("inf", "nan"):
                return float(token)
            try:
                return dtypes.to_dtype(token, by_other_names=False)
            except TypeError:
                pass  # the one message below
        self.token = token
        self._fail("true, false, a number, a text in quotes, a dtype, a Place or a list")

    def _type(self) -> Type | None:
        token = self.token
        if token == "<<NULL TYPE>>":
            self._advance()
            return None
        if token == "vec":
            self._advance()
            self._take("[", "after vec")
            return VectorType(self._list("]", self._type, "after the types of a vec"))
        if self.kind != "tensor":
            self._fail("a type such as tensor<2x3xf32>")
        *sizes, short = token[len("tensor<") : -1].split("x")
        dtype: DataType | None = dtypes.BY_SHORT.get(short)
        if dtype is None or any(not re.fullmatch(r"-1|\d+", size) for size in sizes):
            self._fail("a type such as tensor<2x3xf32>")
        self._advance()
        return DenseTensorType(dtype, map(int, sizes))
