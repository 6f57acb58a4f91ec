"""Variable and Parameter: names for Tensors that will exist when a Program runs.

Each holds its own message (VarDesc); what it knows stands in it.

Paddle: Variable, Parameter in python/paddle/base/framework.py, paddle/fluid/framework/var_desc.h.
Left out: dist attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minipaddle.base.framework_proto import (
    VAR_TYPES,
)
from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.symbolic import Symbolic

if TYPE_CHECKING:
    from minipaddle.base.block import Block

DENSE_TENSOR, STEP_SCOPES = 7, 11  # kinds of variables; the second is control flow's own
_VAR_TYPE_NAMES = {number: name for name, number in VAR_TYPES.items()}


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
    def type(self) -> int:
        """What it is when the program runs: DENSE_TENSOR, or a kind that ops use inside."""
        return self.proto.type.type

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
                f"Variable: expected a Tensor, but got {self.name!r}, which is "
                f"{_VAR_TYPE_NAMES[self.type]}: only the ops of control flow use it. Use what "
                "cond or while_loop returned."
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

    def __str__(self) -> str:
        kind = "var"
        if self.is_parameter:
            kind = "param" if self.stop_gradient else "trainable param"
        persist = "persist " if self.persistable else ""
        if self.type != DENSE_TENSOR:  # Paddle's own text has one bracket too many
            return f"{persist}{kind} {self.name} : {_VAR_TYPE_NAMES[self.type]})"
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
