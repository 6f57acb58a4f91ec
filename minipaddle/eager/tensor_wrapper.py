"""TensorWrapper: how a GradNode keeps a Tensor until backward.

It notes the Tensor's inplace_version. If an in-place op has changed the numbers since, the
gradient would be wrong without anybody noticing; so `array()` refuses.

Inside `saved_tensors_hooks` it keeps what the pack hook made of the Tensor.

Paddle: paddle/fluid/eager/tensor_wrapper.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minipaddle.common.dtype import BY_NUMPY
from minipaddle.common.place import module_of
from minipaddle.eager.autograd_meta import AutogradMeta
from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.world import tracer

if TYPE_CHECKING:
    from minipaddle.eager.grad_node_info import GradNodeBase


class TensorWrapper:
    """Keeps a Tensor's data, for a GradNode.

    An *input* of the op keeps its AutogradMeta as well. An *output* must not: its AutogradMeta
    points to the very node that holds this wrapper, and the two would keep each other alive. So
    an output only knows its slot.
    """

    __slots__ = ("data", "meta", "slot", "unpack", "version", "version_kept")

    def __init__(self, tensor: Tensor, output_slot: int | None = None) -> None:
        self.data = tensor._data
        self.version = tensor._version
        self.version_kept = tensor._version[0]
        self.meta = tensor.autograd_meta if output_slot is None else None
        self.slot = output_slot
        self.unpack = None  # what unpack hook the data has to go through
        if tracer.saved_tensors_hooks is not None:
            pack, self.unpack = tracer.saved_tensors_hooks
            self.data = _without_recording(pack, tensor)

    def array(self) -> Any:
        """The data, for a kernel.

        Raises:
            RuntimeError: an in-place op has changed it since.
            ValueError: the unpack hook gives no Tensor.
        """
        if self.unpack is not None:
            return self._unpacked()
        if self.version[0] != self.version_kept:
            raise RuntimeError(
                f"backward: expected a saved Tensor of shape {list(self.data.shape)} at version "
                f"{self.version_kept}, but got version {self.version[0]}: an in-place op has "
                "changed it after it was used. Use the op that is not in place, or change a "
                "clone()."
            )
        return self.data

    def _unpacked(self) -> Any:
        tensor = _without_recording(self.unpack, self.data)
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"saved_tensors_hooks: expected unpack_hook to return a Tensor, but got "
                f"{type(tensor).__name__}. Return one like the one that pack_hook got."
            )
        return tensor._data

    def tensor(self, node: GradNodeBase) -> Tensor:
        """The Tensor as it was, connected to the graph, for a gradient that is itself recorded."""
        tensor = Tensor(self.array())
        if self.slot is None:
            tensor.autograd_meta = self.meta
        else:
            tensor.autograd_meta = AutogradMeta(False, node, self.slot)
        return tensor


def _without_recording(hook: Any, value: Any) -> Any:
    """hook(value), which must not record ops, nor pack what they would keep."""
    before = tracer.has_grad
    tracer.has_grad = False
    try:
        return hook(value)
    finally:
        tracer.has_grad = before


def meta_tensor(shape: tuple[int, ...], dtype: Any) -> MetaTensor:
    """What a node keeps of a Tensor that its rule marks NoNeedBuffer, for a kernel."""
    return MetaTensor(shape, BY_NUMPY[dtype])


def empty_tensor(shape: tuple[int, ...], dtype: Any, beside: Tensor) -> Tensor:
    """The same for a rule that is recorded: a Tensor of that shape without memory of its own, one
    zero, shown everywhere; on the device of `beside`.
    """
    xp = module_of(beside._data)
    return Tensor(xp.broadcast_to(xp.zeros((), dtype), shape))
