"""Variable and Parameter: names for Tensors that will exist when a Program runs.

Each holds its own message (VarDesc); what it knows stands in it.

Paddle: Variable, Parameter in python/paddle/base/framework.py, paddle/fluid/framework/var_desc.h.
Left out: dist attributes.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from minipaddle.base.framework_proto import VAR_TYPES
from minipaddle.base.program_state import require_fit, tensor_of
from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.common.enforce import require_type
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.symbolic import Symbolic

if TYPE_CHECKING:
    from minipaddle.base.block import Block

DENSE_TENSOR, STEP_SCOPES = 7, 11  # kinds of variables; the second is control flow's own
_DTYPES = {name: dtypes.BY_PROTO[n] for name, n in VAR_TYPES.items() if n in dtypes.BY_PROTO}
_KINDS = {name: number for name, number in VAR_TYPES.items() if name not in _DTYPES}


class _Kind(IntEnum):
    __str__ = Enum.__str__  # VarType.DENSE_TENSOR, and not 7


VarType: Any = _Kind("VarType", {**_KINDS, "LOD_TENSOR": DENSE_TENSOR})
for _name, _dtype in _DTYPES.items():  # VarType.FP32 is paddle.float32
    setattr(VarType, _name, _dtype)


class Variable(Symbolic):
    """A name for a Tensor that will exist when the program runs."""

    desc: Any  # see desc.py

    def __init__(self, block: Block, proto: Any) -> None:
        self.block = block
        self.proto = proto
        self._name: str = proto.name  # names are asked for at each run: so without protobuf

    @property
    def name(self) -> str:
        return self._name

    def _rename(self, name: str) -> None:
        """Only the variable's own part of it: see Block._rename_var."""
        self.proto.name = self._name = name

    @property
    def type(self) -> Any:
        """What it is when the program runs, a VarType: a DENSE_TENSOR, or what ops use inside."""
        return VarType(self.proto.type.type)

    @property
    def op(self) -> Any:
        """The last op of the block that writes it, or None."""
        writers = (op for op in reversed(self.block.ops) if self._name in op.output_arg_names)
        return next(writers, None)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.proto.type.dense_tensor.tensor.dims)

    @property
    def dtype(self) -> DataType:
        return dtypes.BY_PROTO[self.proto.type.dense_tensor.tensor.data_type]

    def _in_words(self) -> tuple[str, str, str]:
        return "Variable", f"the Variable {self.name!r}", repr(self.name)

    def dim(self) -> int:
        return self.ndim

    def element_size(self) -> int:
        """Bytes of one number."""
        return self.dtype.itemsize

    @property
    def grad_name(self) -> str:
        return f"{self._name}@GRAD"

    def get_value(self, scope: Any = None) -> Any:
        """What the scope (default: the global one) holds. Raises ValueError if there is nothing."""
        return tensor_of("Variable.get_value", self._name, scope)

    def set_value(self, value: Any, scope: Any = None) -> None:
        """Writes an array into what the scope holds.

        Raises:
            TypeError: value is no array.
            ValueError: it has another shape or dtype, or the scope holds nothing.
        """
        if not hasattr(value, "__array__"):
            raise TypeError(
                f"Variable.set_value: expected an array, but got {type(value).__name__}. Make one "
                "with numpy.array."
            )
        require_fit("Variable.set_value", self, np.asarray(value))
        tensor_of("Variable.set_value", self._name, scope).set(np.asarray(value))

    @property
    def stop_gradient(self) -> bool:
        return self.proto.stop_gradient

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self.proto.stop_gradient = value

    @property
    def persistable(self) -> bool:
        return self.proto.persistable

    @persistable.setter
    def persistable(self, value: bool) -> None:
        self.proto.persistable = value
        self.block.program._changed()

    @property
    def _fetch_key(self) -> str:
        """What an Executor knows this Variable by."""
        return self._name

    @property
    def is_parameter(self) -> bool:
        return self.proto.is_parameter

    def meta(self) -> MetaTensor:
        """What InferMeta knows of it. Raises TypeError if it is no Tensor when the program runs."""
        if self.type != DENSE_TENSOR:
            raise TypeError(
                f"Variable: expected a Tensor, but got {self.name!r}, which is {self.type.name}: "
                "only the ops of control flow use it. Use what cond or while_loop returned."
            )
        return MetaTensor(self.shape, self.dtype)

    def _set_meta(self, meta: MetaTensor) -> None:
        """InferMeta decides the shape and the dtype of what an op writes."""
        tensor = self.proto.type.dense_tensor.tensor
        tensor.data_type = meta.dtype.proto_number
        tensor.dims[:] = meta.shape

    def _assign_from(self, source: Variable) -> Variable:
        """Appends an op that writes another variable's value into this one."""
        self.block.program.current_block().append_op("assign", {"X": source}, {"Out": self})
        return self

    def to_string(self, throw_on_error: bool, with_details: bool = False) -> str:
        """The description, field by field."""
        return str(self.proto)

    def __str__(self) -> str:
        kind = "var"
        if self.is_parameter:
            kind = "param" if self.stop_gradient else "trainable param"
        persist = "persist " if self.persistable else ""
        if self.type != DENSE_TENSOR:  # Paddle's own text has one bracket too many
            return f"{persist}{kind} {self.name} : {self.type.name})"
        return (
            f"{persist}{kind} {self.name} : DENSE_TENSOR.shape{tuple(self.shape)}"
            f".dtype({self.dtype.name}).stop_gradient({self.stop_gradient})"
        )

    __repr__ = __str__


class Parameter(Variable):
    """A Variable that lives between runs and that an optimizer changes."""

    @property
    def trainable(self) -> bool:
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value


def names_of(who: str, what: str, given: Any) -> list[str]:
    """The names of one or several Variables, which are given as such or by name."""
    items = list(given) if isinstance(given, (list, tuple, set, frozenset)) else [given]
    for item in items:
        expected, advice = f"{what} to hold Variables or names", "Pass Variables of this Program."
        require_type(who, expected, item, (str, Variable), advice)
    return [item if isinstance(item, str) else item.name for item in items]
