"""Builder: where new operations go, and how a call of an op becomes one.

Paddle: paddle/pir/include/core/builder.h; ApiBuilder in
paddle/fluid/pir/dialect/operator/utils/.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.common.place import CPU
from minipaddle.phi.core.append import metas_of, pieces_of
from minipaddle.phi.core.attribute import IntArray, ScalarDouble, ScalarInt, ScalarInt64
from minipaddle.phi.core.op import OPS, Attr, Op
from minipaddle.phi.core.symbolic import CurrentPrograms
from minipaddle.phi.core.world import tracer
from minipaddle.pir.core.attribute import Attribute
from minipaddle.pir.core.block import Program
from minipaddle.pir.core.constant import constant_or_unknown
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.type import Type, VectorType
from minipaddle.pir.core.value import Value
from minipaddle.pir.core.vector import combined_values
from minipaddle.pir.core.verify import type_of


class _Current(CurrentPrograms):
    """Also the place at which operations are inserted."""

    index: int | None = None  # None: at the end of the main program
    lift: Callable[[Any], Value] | None = None  # see `lifting`


_current = _Current(Program(), Program())


def default_main_program() -> Program:
    """The program to which operations are added."""
    return _current.main


def default_startup_program() -> Program:
    """The program that makes the parameters."""
    return _current.startup


@contextlib.contextmanager
def program_guard(main: Program, startup: Program | None = None) -> Iterator[None]:
    """Inside, operations go to the end of `main` and the making of parameters goes to `startup`."""
    with _current.guard(main, startup), insertion_point_at(None):
        yield


def set_insertion_point(operation: Operation) -> None:
    """From now on, operations are inserted before this one."""
    _current.index = _current.main.global_block().ops.index(operation)


def set_insertion_point_after(operation: Operation) -> None:
    """From now on, operations are inserted after this one."""
    _current.index = _current.main.global_block().ops.index(operation) + 1


def reset_insertion_point_to_start() -> None:
    """From now on, operations are inserted at the beginning."""
    _current.index = 0


def reset_insertion_point_to_end() -> None:
    """From now on, operations are added at the end."""
    _current.index = None


@contextlib.contextmanager
def insertion_point_at(index: int | None) -> Iterator[None]:
    """Inside, operations are inserted from this place on (None: at the end)."""
    before = _current.index
    _current.index = index
    try:
        yield
    finally:
        _current.index = before


@contextlib.contextmanager
def lifting(lift: Callable[[Any], Value] | None) -> Iterator[None]:
    """Inside, an input that is no Value is given to `lift`: a tracer makes it an input of its
    graph.
    """
    before = _current.lift
    _current.lift = lift
    try:
        yield
    finally:
        _current.lift = before


def insert(operation: Operation) -> Operation:
    """Inserts an operation at the insertion point, which moves behind it."""
    block = _current.main.global_block()
    if _current.index is None:
        return block.append(operation)
    block.insert(_current.index, operation)
    _current.index += 1
    return operation


def build(
    name: str,
    operands: Sequence[Value | None] = (),
    attributes: dict[str, Any] | None = None,
    result_types: Sequence[Type | None] = (),
) -> Operation:
    """Makes an operation that has no kernel (builtin ones, data, fetch), and inserts it."""
    return insert(Operation(name, operands, attributes, result_types))


def combine(values: Sequence[Value]) -> Value:
    """Several values as one: `builtin.combine`."""
    types = VectorType(value.type() for value in values)  # type: ignore[misc]
    attributes = {"stop_gradient": flags(all(value.stop_gradient for value in values))}
    return build("builtin.combine", values, attributes, [types]).result(0)


def split(value: Value) -> list[Value]:
    """The values of a list: `builtin.split`."""
    types = value.type().items  # type: ignore[union-attr]
    attributes = {"stop_gradient": flags(*[value.stop_gradient] * len(types))}
    return build("builtin.split", [value], attributes, types).results()


def append_phi_op(
    op: Op,
    inputs: Sequence[Any],
    attrs: dict[str, Any],
    *,
    attr_operands: dict[str, Value] | None = None,
    wanted: Sequence[bool] | None = None,
) -> list[Any]:
    """Inserts the operation `pd_op.<name>`; InferMeta gives the result types.

    Returns one Value per output; for an output that is a list, the list of its Values.

    Args:
        inputs: Values, lists of Values, or None, in the order of the declaration.
        attrs: phi's attributes. IntArray and Scalar become operands, and may be Values already.
        attr_operands: values that exist already for IntArray and Scalar attributes.
        wanted: per output; a False one gets no type.

    Raises:
        TypeError: an input is no Value.
        ValueError, TypeError: InferMeta refuses.
    """
    mutable = {attr.name for attr in op.attrs if attr.mutable}
    ready = {name: v for name, v in (attr_operands or {}).items() if name in mutable}
    pieces = pieces_of(op, inputs, partial(_as_value, op))
    ready |= {name: value for name, value in attrs.items() if isinstance(value, Value)}
    known = {name: constant_or_unknown(op.name, name, value) for name, value in ready.items()}
    # InferMeta comes first: if it refuses, nothing has been added to the program
    results = op.infer_metas(metas_of(op, pieces), {**attrs, **known})
    types = [
        type_of(meta) if wanted is None or wanted[position] else None
        for position, meta in enumerate(results)
    ]
    constants = [  # before the lists, as in Paddle
        ready[attr.name] if attr.name in ready else _constant(attr, attrs[attr.name])
        for attr in op.attrs
        if attr.mutable
    ]
    operands: list[Any] = [
        combine(given) if item.is_list else given[0] if given else None
        for item, given in zip(op.inputs, pieces, strict=True)
    ]
    operands += constants
    held = {attr.name: attrs[attr.name] for attr in op.attrs if not attr.mutable}
    if types:
        held["stop_gradient"] = [_stop_gradient(op, operands)] * len(types)
    made = insert(Operation(f"pd_op.{op.name}", operands, held, types)).results()
    return [split(value) if isinstance(value.type(), VectorType) else value for value in made]


def _as_value(op: Op, name: str, value: Any) -> Value:
    if not isinstance(value, Value):
        if _current.lift is not None:
            return _current.lift(value)
        raise TypeError(
            f"{op.name}: expected {name} to be a Value of a PIR program, but got "
            f"{type(value).__name__}. "
            "Make one with paddle.static.data, or leave static mode with paddle.disable_static()."
        )
    return value


def _stop_gradient(op: Op, operands: Sequence[Value | None]) -> bool:
    """Results need a gradient where an operand does, and ops are being recorded."""
    if not tracer.has_grad or "ForwardOnly" in op.traits:
        return True
    flags = []
    for value in operands:
        flags += [piece.stop_gradient for piece in combined_values(value)]
    return all(flags)


def _constant(attr: Attr, value: Any) -> Value:
    """The operand that stands for an IntArray or a Scalar."""
    if attr.kind is IntArray:
        op = OPS["full_int_array"]
        constant = {"value": tuple(value), "dtype": dtypes.int64, "place": CPU}
    else:
        op = OPS["full"]
        dtype, value = dtypes.float32, float(value)
        if attr.kind in (ScalarInt, ScalarInt64):
            dtype = dtypes.int32 if attr.kind is ScalarInt else dtypes.int64
            value = int(value)
        elif attr.kind is ScalarDouble:
            dtype = dtypes.float64
        elif isinstance(attr.default, int) and not isinstance(attr.default, bool):
            dtype = dtypes.int64
        constant = {"shape": (1,), "value": value, "dtype": dtype, "place": CPU}
    (result,) = append_phi_op(op, [], op.complete(constant))
    return result


def flags(*values: bool) -> Attribute:
    """A list of bools as an attribute."""
    return Attribute(values)
