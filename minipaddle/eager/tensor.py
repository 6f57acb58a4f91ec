"""Tensor: data, and an AutogradMeta if it takes part in gradients.

Paddle: paddle/phi/api/include/tensor.h, python/paddle/base/dygraph/tensor_patch_methods.py.
Left out: strides of its own, sparse and distributed Tensors.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from minipaddle.common import dtype as dtypes
from minipaddle.common import unique_name
from minipaddle.common.dtype import DataType, to_dtype
from minipaddle.common.place import CPU, CUDAPlace, Place, array_module, current_place, module_of
from minipaddle.common.size import Size
from minipaddle.eager.autograd_meta import AutogradMeta


def _as_array(data: Any) -> Any:
    """The data as an array without dimensions, if it is one of numpy's numbers."""
    return np.asarray(data) if isinstance(data, np.generic) else data


class Tensor:
    """An array that can remember how it was made.

    `_version` counts changes in place; it is a list of one number, so that Tensors that share
    memory can share it.
    """

    __slots__ = ("__weakref__", "_data", "_name", "_version", "autograd_meta", "persistable")

    def __init__(self, data: Any) -> None:
        # numpy gives a plain number where an array would have no dimension; a Tensor always holds
        # an array
        self._data: Any = data if type(data) is ndarray else _as_array(data)
        self._version = [0]
        self._name: str | None = None
        self.autograd_meta: AutogradMeta | None = None
        self.persistable = False

    # -- what it is ----------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        return Size(self._data.shape)

    @property
    def dtype(self) -> DataType:
        return dtypes.BY_NUMPY[self._data.dtype]

    @property
    def ndim(self) -> int:
        return self._data.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._data.size

    @property
    def place(self) -> Place:
        return CPU if module_of(self._data) is np else CUDAPlace(self._data.device.id)

    @property
    def name(self) -> str:
        if self._name is None:
            self._name = unique_name.generate("eager_tmp")
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._name = value

    @property
    def inplace_version(self) -> int:
        """How often an in-place op has changed the data."""
        return self._version[0]

    # -- gradients -----------------------------------------------------------------------------

    def _require_meta(self) -> AutogradMeta:
        if self.autograd_meta is None:
            self.autograd_meta = AutogradMeta()
        return self.autograd_meta

    @property
    def stop_gradient(self) -> bool:
        return self.autograd_meta is None or self.autograd_meta.stop_gradient

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                f"Tensor.stop_gradient: expected True or False, but got {value!r}. Set one."
            )
        self._require_meta().stop_gradient = value

    @property
    def requires_grad(self) -> bool:
        """The opposite of stop_gradient."""
        return not self.stop_gradient

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Sets `requires_grad`; returns this Tensor."""
        if not isinstance(requires_grad, bool):
            raise TypeError(
                f"requires_grad: expected True or False, but got {requires_grad!r}. Set one."
            )
        self.stop_gradient = not requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        return self.autograd_meta is None or self.autograd_meta.is_leaf

    @property
    def grad_fn(self) -> GradNodeBase | None:
        """The node to which this Tensor's gradient goes; None for a leaf that wants none."""
        edge = self._grad_edge()
        if edge is None:  # an inner Tensor keeps its node when its stop_gradient is set later
            return self.autograd_meta.grad_node if self.autograd_meta else None
        return edge.node

    def _grad_edge(self) -> Edge | None:
        """Where this Tensor's gradient goes. A leaf gets its GradNodeAccumulation the first time
        it is asked.
        """
        meta = self.autograd_meta
        if meta is None or meta.stop_gradient:
            return None
        if meta.grad_node is None:
            meta.grad_node = GradNodeAccumulation(meta, self._data)
        if meta.edge is None:
            meta.edge = Edge(meta.grad_node, meta.out_slot)
        return meta.edge

    @property
    def grad(self) -> Tensor | None:
        return self.autograd_meta.grad if self.autograd_meta else None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and (not isinstance(value, Tensor) or value.shape != self.shape):
            got = (
                f"shape {list(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
            )
            raise ValueError(
                f"Tensor.grad: expected None or a Tensor of shape {list(self.shape)}, but got "
                f"{got}. A gradient has its Tensor's shape."
            )
        self._require_meta().grad = value

    def gradient(self) -> np.ndarray | None:
        """`.grad` as a numpy array."""
        return None if self.grad is None else self.grad.numpy()

    def backward(self, grad_tensor: Tensor | None = None, retain_graph: bool = False) -> None:
        """Computes the gradients of this Tensor and adds them to the leaves' `.grad`.

        Args:
            grad_tensor: the gradient to start with (default: ones).
            retain_graph: keep the graph, for another backward.

        Raises:
            RuntimeError: the graph was freed by an earlier backward, or a saved Tensor was
                changed in place.
            AssertionError: grad_tensor is no Tensor, or has another shape than this Tensor.
        """
        if not isinstance(retain_graph, (bool, type(None))):
            raise TypeError(
                f"backward: expected retain_graph to be True or False, but got {retain_graph!r}. "
                "Set one of them."
            )
        if isinstance(grad_tensor, Tensor) and grad_tensor.shape != self.shape:
            raise wrong_first_shape(self, grad_tensor)
        run_backward([self], [grad_tensor], retain_graph)

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Sets the gradient to zeros, or drops it."""
        meta = self.autograd_meta
        if meta is None or meta.grad is None or not meta.grad.size:
            return  # an empty one stays, as in Paddle
        if set_to_zero:
            meta.grad._writable_data().fill(0)  # in place, as in Paddle
        else:
            meta.grad = None

    clear_grad = clear_gradient

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> HookRemoveHelper:
        """Calls `hook(grad)` when this Tensor's gradient is complete; what it returns replaces
        the gradient.

        Raises:
            RuntimeError: no gradient flows to this Tensor.
            TypeError: the hook can't be called.
        """
        if not callable(hook):
            raise TypeError(
                f"register_hook: expected a function that takes the gradient, but got "
                f"{type(hook).__name__}. Pass one, such as lambda grad: grad * 2."
            )
        edge = self._grad_edge()
        if edge is None or self.autograd_meta is None:
            raise RuntimeError(
                "register_hook: expected a Tensor with stop_gradient=False, but got one with "
                "stop_gradient=True. Set stop_gradient=False before you compute with it."
            )
        if self.autograd_meta.is_leaf:
            hooks = self.autograd_meta.hooks = self.autograd_meta.hooks or {}
        else:
            by_slot = edge.node.gradient_hooks = edge.node.gradient_hooks or {}
            hooks = by_slot.setdefault(edge.slot, {})
        return HookRemoveHelper(hooks, hook)

    def _register_backward_hook(self, hook: Callable[[], Any]) -> None:
        """Calls `hook()` each time that backward has added to this leaf's `.grad`; `paddle.grad`
        does not. Paddle's data parallel and sharding start their communication there.

        Raises:
            ValueError: this is no leaf that wants a gradient.
        """
        edge = self._grad_edge()
        if edge is None or not edge.node.accumulates:
            raise ValueError(
                "_register_backward_hook: expected a leaf with stop_gradient=False, but got "
                f"is_leaf={self.is_leaf}, stop_gradient={self.stop_gradient}. Use register_hook."
            )
        hooks = edge.node.post_hooks = edge.node.post_hooks or {}

        def call(results: Any, grads: Any) -> None:
            hook()

        HookRemoveHelper(hooks, call)

    def retain_grads(self) -> None:
        """Keeps the gradient of an inner Tensor in `.grad` too."""
        if self.is_leaf or self.stop_gradient:
            return
        tensor = weakref.ref(self)  # an in-place op gives it another AutogradMeta

        def keep(grad: Tensor) -> None:
            kept = Tensor(grad._data)
            kept.autograd_meta = AutogradMeta(False) if grad.stop_gradient else grad.autograd_meta
            if (alive := tensor()) is not None:
                alive._require_meta().grad = kept

        self.register_hook(keep)

    def detach(self) -> Tensor:
        """The same data, cut off from the graph."""
        tensor = Tensor(self._data)
        tensor._version = self._version
        return tensor

    def detach_(self) -> Tensor:
        """Cuts this Tensor itself off from the graph."""
        self.autograd_meta = None
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """A leaf of its own: gradients of the copy don't reach what it was copied from."""
        copied = memo[id(self)] = type(self).__new__(type(self))
        Tensor.__init__(copied, self._data.copy())
        for name in getattr(type(self), "SETTINGS", ()):
            setattr(copied, name, getattr(self, name))
        copied.persistable = self.persistable
        copied.stop_gradient = self.stop_gradient
        copied.name = unique_name.generate(f"{self.name}_deepcopy")
        if self.grad is not None:
            copied.grad = copy.deepcopy(self.grad.detach(), memo)
        return copied

    # -- data ----------------------------------------------------------------------------------

    def numpy(self) -> np.ndarray:
        """The data as a numpy array (a copy)."""
        data = self._data
        return data.copy() if module_of(data) is np else data.get()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def item(self, *index: int) -> Any:
        """An element, as a Python number: the only one; or the one at `index`, which counts row by
        row, or has one number for each axis.

        Raises:
            ValueError: there is not exactly one element, or the index does not fit.
        """
        if index:
            try:
                return self._data.item(*index)
            except (IndexError, ValueError, TypeError):
                raise ValueError(
                    f"Tensor.item: expected one place in shape {list(self.shape)}, but got "
                    f"{list(index)}. Count row by row, or give one int for each axis."
                ) from None
        if self.size != 1:
            raise ValueError(
                f"Tensor.item: expected one element, but got shape {list(self.shape)}. "
                "Use tolist() or numpy()."
            )
        return self._data.item()

    def tolist(self) -> Any:
        return self._data.tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __index__(self) -> int:
        return int(self.item())

    def __len__(self) -> int:
        if not self._data.ndim:
            raise TypeError(
                "len: expected a Tensor with dimensions, but got a 0-D Tensor. Use item() for its "
                "number."
            )
        return len(self._data)

    def set_value(self, value: Any) -> None:
        """Writes new numbers into this Tensor; shape and dtype must agree. The dtype of a list is
        this Tensor's.

        Raises:
            ValueError: the shape or the dtype differs.
        """
        array = value._data if isinstance(value, Tensor) else value
        if not hasattr(array, "dtype"):
            array = np.asarray(array, self._data.dtype)
        if array.dtype != self._data.dtype:
            raise ValueError(
                f"Tensor.set_value: expected dtype {self.dtype.name}, but got {array.dtype}. "
                f"Cast the value first: value.astype('{self.dtype.name}')."
            )
        if array.shape != self._data.shape:
            raise ValueError(
                f"Tensor.set_value: expected shape {list(self.shape)}, but got "
                f"{list(array.shape)}. Reshape the value first."
            )
        self._writable_data()[...] = module_of(self._data).asarray(array)

    def _writable_data(self) -> Any:
        """The data, to be changed in place: the change is counted."""
        if not getattr(self._data.flags, "writeable", True):
            self._data = self._data.copy()  # one number, shown everywhere (broadcast)
        self._version[0] += 1
        return self._data

    def cpu(self) -> Tensor:
        """A copy on the CPU; the Tensor itself, if it is there."""
        return self if self.place is CPU else Tensor(self.numpy())

    def cuda(self, device_id: int = 0) -> Tensor:
        """A copy on a GPU. Raises RuntimeError where there is none."""
        return Tensor(array_module(CUDAPlace(device_id)).asarray(self._data))

    def __repr__(self) -> str:
        head = f"Tensor(shape={list(self.shape)}, dtype={self.dtype.name}, place={self.place}, "
        return f"{head}stop_gradient={self.stop_gradient},\n       {_text(self.numpy())})"


class EagerParamBase(Tensor):
    """A parameter: a Tensor that an optimizer changes. Its settings are what ParamAttr says."""

    __slots__ = SETTINGS = ("need_clip", "optimize_attr", "regularizer")

    def __init__(self, data: Any, name: str, trainable: bool = True) -> None:
        super().__init__(data)
        self.name = name
        self.persistable = True
        self.need_clip = True
        self.optimize_attr = {"learning_rate": 1.0}  # a factor: the optimizer's rate times this
        self.regularizer: Any = None
        self.stop_gradient = not trainable

    @property
    def trainable(self) -> bool:
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


def to_tensor(
    data: Any, dtype: object = None, place: Place | str | None = None, stop_gradient: bool = True
) -> Tensor:
    """Makes a Tensor from numbers, lists, numpy arrays or another Tensor. The data is copied.

    Python floats get the default dtype (float32), Python ints int64; numpy arrays keep their dtype.

    Raises:
        ValueError: a list is ragged.
        TypeError: the elements are not numbers.
    """
    if isinstance(data, Tensor):
        array, keeps_dtype = data.numpy(), True
    else:
        keeps_dtype = isinstance(data, (np.ndarray, np.generic))
        try:
            array = np.array(data)
        except ValueError as error:
            raise ValueError(
                "to_tensor: expected lists of equal lengths, but got a ragged list. Pad the "
                "shorter rows."
            ) from error
    if dtype is not None and array.dtype.kind in "biuf":
        array = array.astype(to_dtype(dtype, by_other_names=False).numpy_dtype)
    elif not keeps_dtype and array.dtype == np.float64:
        array = array.astype(dtypes.get_default_dtype())
    if array.dtype not in dtypes.BY_NUMPY:
        raise TypeError(
            f"to_tensor: expected numbers of a dtype of Paddle, but got elements of type "
            f"{array.dtype}. Convert them first, or name a dtype."
        )
    wanted = place if isinstance(place, Place) else current_place()
    if isinstance(place, str):
        wanted = CPU if place == "cpu" else CUDAPlace()
    tensor = Tensor(array_module(wanted).asarray(array))
    tensor.name = unique_name.generate("generated_tensor")
    tensor.stop_gradient = stop_gradient
    return tensor


def _text(array: np.ndarray) -> str:
    """The numbers as Paddle prints them: whole floats as `1.`, others with eight digits, columns
    aligned.
    """

    def item_text(item: Any) -> str:
        if array.dtype.kind != "f":
            return str(item)
        if np.isfinite(item) and item == int(item):
            return f"{item:.0f}."
        return f"{item:.8f}"

    texts = [item_text(item) for item in array.ravel()[:4000]]
    width = max(map(len, texts), default=0)
    signed = array.dtype.kind in "fi" and bool((array < 0).any())

    def aligned(item: Any) -> str:
        text = item_text(item)
        if array.ndim == 0:
            return text
        return (" " + text if signed and item >= 0 else text).ljust(width)

    return np.array2string(
        array, separator=", ", formatter={"all": aligned}, prefix=" " * 7, threshold=1000
    )


# At the end, because these files need Tensor: the two ends of the graph's walk that Tensor starts.
from minipaddle.eager.accumulation_node import GradNodeAccumulation  # noqa: E402
from minipaddle.eager.backward import run_backward, wrong_first_shape  # noqa: E402
from minipaddle.eager.grad_node_info import Edge, GradNodeBase, HookRemoveHelper  # noqa: E402
