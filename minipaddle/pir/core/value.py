"""Values and their uses. A value knows who made it and everybody who reads it: a use-def chain.

    %2 = pd_op.add(%0, %1)       two OpOperands: (add, 0) reads %0, (add, 1) reads %1

Paddle: paddle/pir/include/core/value.h, op_operand.h, op_result.h.
Left out: dist types, symbolic shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minipaddle.common.dtype import DataType
from minipaddle.common.size import Size
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.symbolic import Symbolic
from minipaddle.pir.core.attribute import Attribute
from minipaddle.pir.core.type import DenseTensorType, Type, VectorType

if TYPE_CHECKING:
    from minipaddle.pir.core.operation import Operation


class OpOperand:
    """One use of a value: operand `index` of `owner` reads `source`."""

    __slots__ = ("_index", "_owner", "_source")

    def __init__(self, owner: Operation, index: int, source: Value | None) -> None:
        self._owner = owner
        self._index = index
        self._source: Value | None = None
        self.set_source(source)

    def owner(self) -> Operation:
        return self._owner

    def index(self) -> int:
        return self._index

    def source(self) -> Value | None:
        """The value that is read; None where an optional input is not given."""
        return self._source

    def set_source(self, source: Value | None) -> None:
        """Reads another value from now on; both values' use lists follow."""
        if self._source is not None:
            self._source._uses.remove(self)
        self._source = source
        if source is not None:
            source._uses.append(self)

    def __repr__(self) -> str:
        return f"OpOperand(owner={self._owner.name()}, index={self._index})"


class Value(Symbolic):
    """A value: the result of an operation. It has a type, and is written exactly once."""

    def __init__(self, type: Type | None, owner: Operation, index: int) -> None:
        self._type = type
        self._owner = owner
        self._index = index
        self._uses: list[OpOperand] = []

    # -- who made it, who reads it -------------------------------------------------------------

    def get_defining_op(self) -> Operation:
        return self._owner

    def index(self) -> int:
        """Which result of its operation it is."""
        return self._index

    @property
    def _fetch_key(self) -> tuple[int, int]:
        """What an Executor knows this value by."""
        return self._owner.number, self._index

    def uses(self) -> list[OpOperand]:
        """All uses, in the order in which they were made."""
        return list(self._uses)

    def all_used_ops(self) -> list[Operation]:
        """The operations that read this value: one per use, the newest first, as in Paddle."""
        return [use.owner() for use in reversed(self._uses)]

    def use_empty(self) -> bool:
        return not self._uses

    def has_one_use(self) -> bool:
        return len(self._uses) == 1

    def replace_all_uses_with(self, other: Value) -> None:
        """Everybody who reads this value reads `other` from now on."""
        for use in list(self._uses):
            use.set_source(other)

    def is_same(self, other: Value) -> bool:
        return self is other

    # -- what it is ----------------------------------------------------------------------------

    def type(self) -> Type | None:
        return self._type

    def _tensor_type(self) -> DenseTensorType:
        if not isinstance(self._type, DenseTensorType):
            raise TypeError(
                f"Value: expected a tensor, but got {self._type!r} (made by {self._owner.name()}). "
                "Only tensors have a shape and a dtype."
            )
        return self._type

    @property
    def shape(self) -> Size:
        return self._tensor_type().shape

    @property
    def dtype(self) -> DataType:
        return self._tensor_type().dtype

    def meta(self) -> Any:
        """What InferMeta needs: a MetaTensor, or a list of them for a vector."""
        if isinstance(self._type, VectorType):
            return [MetaTensor(t.shape, t.dtype) for t in self._type.items]  # type: ignore[attr-defined]
        return MetaTensor(self.shape, self.dtype)

    @property
    def name(self) -> str:
        """A parameter's or input's name. Raises ValueError for other values: they have none."""
        attrs = self._owner.attributes
        for key in ("parameter_name", "name"):
            if key in attrs:
                return attrs[key].value
        raise ValueError(
            "Value.name: expected a parameter or an input, but got a result of "
            f"{self._owner.name()}. "
            "Values have numbers, not names; use the Value itself."
        )

    @property
    def has_name(self) -> bool:
        return any(key in self._owner.attributes for key in ("parameter_name", "name"))

    def _flag(self, key: str, default: bool) -> bool:
        flags = self._owner.attributes.get(key)
        return flags.value[self._index] if flags else default

    def _set_flag(self, key: str, value: bool, default: bool) -> None:
        flags = self._owner.attributes.get(key)
        values = list(flags.value) if flags else [default] * self._owner.num_results()
        values[self._index] = bool(value)
        self._owner.attributes[key] = Attribute(values)

    @property
    def stop_gradient(self) -> bool:
        return self._flag("stop_gradient", True)

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self._set_flag("stop_gradient", value, True)

    @property
    def persistable(self) -> bool:
        return self._flag("persistable", False)

    @persistable.setter
    def persistable(self, value: bool) -> None:
        self._set_flag("persistable", value, False)

    def _in_words(self) -> tuple[str, str, str]:
        return "Value", f"a Value of {self._owner.name()}", "value"

    def __repr__(self) -> str:
        return (
            f"Value(define_op_name={self._owner.name()}, index={self._index}, "
            f"dtype={self._type!r}, "
            f"stop_gradient={self.stop_gradient})"
        )


class OpResult(Value):
    """A value that an operation made. (Block arguments will be the other kind.)"""
