"""PyLayer: an op whose forward and backward are written in Python.

    class Cube(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensor()
            return grad * 3.0 * x * x

    y = Cube.apply(x)

Ops inside `forward` are not recorded. The whole call leaves one node, GradNodePyLayer_Cube, which
calls `backward`.

Paddle: python/paddle/autograd/py_layer.py, paddle/fluid/pybind/eager_py_layer.cc,
paddle/fluid/eager/pylayer/py_layer_node.cc.
Left out: lists of Tensors among the results, static programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common.dtype import BY_NUMPY
from minipaddle.eager import set_grad_enabled
from minipaddle.eager.autograd_meta import AutogradMeta
from minipaddle.eager.dygraph_function import require_no_leaf
from minipaddle.eager.grad_node_info import (
    Edge,
    GradNodeBase,
    refuse_cleared,
    zeros_like_output,
)
from minipaddle.eager.tensor import Tensor
from minipaddle.eager.tensor_wrapper import TensorWrapper
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import tracer


class PyLayerContext:
    """`ctx`: what forward leaves for backward. It may have any attributes of your own too."""

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] | None = None  # Tensors; TensorWrappers once there is a node
        self._node: GradNodePyLayer | None = None  # only while backward runs
        self._not_inplace: tuple[Tensor, ...] = ()
        self._non_differentiable: tuple[Tensor, ...] = ()
        self._materialize_grads = True
        self._grad_in_dtype_consistent = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps Tensors for backward. Other values are kept as they are.

        A Tensor that an in-place op changes later is refused in backward.
        """
        self._saved = tensors

    def saved_tensor(self) -> tuple[Any, ...] | None:
        """What was saved; None where nothing was.

        Raises:
            RuntimeError: an in-place op has changed a saved Tensor since.
        """
        node = self._node
        if self._saved is None or node is None:
            return self._saved
        return tuple(
            item.tensor(node) if isinstance(item, TensorWrapper) else item for item in self._saved
        )

    def mark_not_inplace(self, *tensors: Tensor) -> None:
        """These inputs are not changed, though forward returns them: the results are Tensors of
        their own.
        """
        self._not_inplace = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """No gradient flows to these results. backward still gets a gradient for each: zeros."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """With False, backward gets None for a result that nobody used, instead of zeros."""
        self._materialize_grads = value

    def set_grad_in_dtype_consistent(self, flag: bool) -> None:
        """With False, backward gets a gradient in the dtype in which it has come, instead of the
        result's.
        """
        if not isinstance(flag, bool):
            raise TypeError(
                f"set_grad_in_dtype_consistent: expected True or False, but got {flag!r}. Set one."
            )
        self._grad_in_dtype_consistent = flag

    def _wrap_saved(self, slots: dict[int, int]) -> None:
        """Puts saved Tensors into TensorWrappers. `slots`: id of a result -> its slot."""
        if self._saved is not None:
            self._saved = tuple(
                TensorWrapper(item, slots.get(id(item))) if isinstance(item, Tensor) else item
                for item in self._saved
            )


class PyLayer:
    """Subclasses give `forward` and `backward`; `apply` calls them."""

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """Computes the results: a Tensor, or a list or tuple that has at least one."""
        raise NotImplementedError(
            "PyLayer: expected a static method forward(ctx, ...), but got none. Write one."
        )

    @staticmethod
    def backward(ctx: PyLayerContext, *grads: Tensor | None) -> Any:
        """Takes one gradient for each Tensor that forward returned. Returns one for each Tensor
        that it took: a Tensor of that shape, or None where no gradient is wanted; a list of them
        where it took a list. Several stand in a tuple.
        """
        raise OSError(  # the kind that Paddle raises
            "PyLayer: expected a static method backward(ctx, ...), but got none. Write one."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls forward; where a gradient is wanted, the results are connected to a GradNode.

        Raises:
            ValueError: forward returns no Tensor; or it returns an input that is a leaf and wants
                a gradient, which would be an in-place change.
        """
        taken = [value for value in (*args, *kwargs.values()) if _tensors_of(value)]
        inputs = [tensor for value in taken for tensor in _tensors_of(value)]
        ctx = PyLayerContext()
        with set_grad_enabled(False):
            results = cls.forward(ctx, *args, **kwargs)
        several = isinstance(results, (list, tuple))
        found = list(results) if several else [results]
        if not any(isinstance(item, Tensor) for item in found) or any(map(_tensors_in, found)):
            raise ValueError(
                f"{cls.__name__}: expected forward to return a Tensor, or a flat list or tuple "
                f"that has at least one, but got {type(results).__name__}. Return the Tensors side "
                "by side."
            )
        edges = [tensor._grad_edge() for tensor in inputs]
        if tracer.has_grad and any(edges):
            counts = [None if isinstance(v, Tensor) else len(_tensors_in(v)) for v in taken]
            node = GradNodePyLayer(cls, ctx, counts, edges)
            found = node.connect(found, inputs)
        return type(results)(found) if several else found[0]


def _tensors_of(value: Any) -> list[Tensor]:
    """The Tensors of one argument: itself, or those that stand in a list or tuple."""
    return [value] if isinstance(value, Tensor) else _tensors_in(value)


def _tensors_in(value: Any) -> list[Tensor]:
    if not isinstance(value, (list, tuple)):
        return []
    return [item for item in value if isinstance(item, Tensor)]


class GradNodePyLayer(GradNodeBase):
    """The node of one `apply`. Its name has the layer's name: GradNodePyLayer_Cube.

    Attributes:
        counts: how many Tensors each argument had that is a list; None for a Tensor.
    """

    __slots__ = ("counts", "ctx", "layer")

    def __init__(
        self,
        layer: type[PyLayer],
        ctx: PyLayerContext,
        counts: Sequence[int | None],
        edges: Sequence[Edge | None],
    ) -> None:
        super().__init__(edges, [])
        self.layer, self.counts = layer, counts
        self.ctx: Any = ctx  # None after clear_tensor_wrappers

    def name(self) -> str:
        return f"GradNodePyLayer_{self.layer.__name__}"

    def connect(self, results: list[Any], inputs: list[Tensor]) -> list[Any]:
        """Gives each Tensor among the results its place in the graph; returns them."""
        ctx, slots, specs = self.ctx, {}, []
        for position, result in enumerate(results):
            if not isinstance(result, Tensor):
                continue
            out = result
            if _is_among(result, inputs) and not _is_among(result, ctx._not_inplace):
                require_no_leaf(result)  # changed in place
                result._version[0] += 1
            elif result.autograd_meta is not None:
                out = result.detach()  # the Tensor keeps its own place in a graph
            flows = not _is_among(result, ctx._non_differentiable)
            out.autograd_meta = AutogradMeta(not flows, self, len(specs))
            if out is result:
                slots[id(result)] = len(specs)
            specs.append((out._data.shape, out._data.dtype))
            results[position] = out
        self.specs = specs
        ctx._wrap_saved(slots)
        ctx._not_inplace = ctx._non_differentiable = ()  # they would keep the graph alive
        return results

    def __call__(
        self, grads: Sequence[Tensor | None], create_graph: bool = False
    ) -> list[Tensor | None]:
        if self.cleared:
            refuse_cleared(self)
        given = [self._given(slot, grads) for slot in range(len(self.specs))]
        self.ctx._node = self
        try:
            with set_grad_enabled(create_graph):
                results = self.layer.backward(self.ctx, *given)
        finally:
            self.ctx._node = None
        return self._in_order(results if isinstance(results, tuple) else (results,))

    def _given(self, slot: int, grads: Sequence[Tensor | None]) -> Tensor | None:
        """The gradient for this slot as backward gets it: its own, as it may write into it."""
        grad = grads[slot]
        if grad is None:
            return zeros_like_output(self, slot, grads) if self.ctx._materialize_grads else None
        dtype = BY_NUMPY[self.specs[slot][1]]
        if grad.dtype is not dtype and self.ctx._grad_in_dtype_consistent:
            return OPS["cast"](grad, dtype=dtype)
        return Tensor(grad._data.copy()) if grad.stop_gradient else grad

    def _in_order(self, results: tuple[Any, ...]) -> list[Tensor | None]:
        """What backward returned, one gradient for each edge. Raises ValueError if it doesn't
        fit.
        """
        in_order: list[Any] = []
        for count, result in zip(self.counts, results):
            if count is None or result is None:
                in_order += [result] * (count or 1)
            elif isinstance(result, (list, tuple)) and len(result) == count:
                wanted = self.edges[len(in_order) :]  # in a list, others are let pass, as in Paddle
                in_order += [grad if edge else None for grad, edge in zip(result, wanted)]
            else:
                listed = isinstance(result, (list, tuple))
                got = f"a list of {len(result)}" if listed else type(result).__name__
                raise self._error(f"a list of {count} where forward took one", got)
        forgotten = self.edges[len(in_order) :]
        if any(forgotten) or len(results) > len(self.counts):
            listed = len(results) == 1 and isinstance(results[0], list)
            got = "1, a list" if listed else f"{len(results)}"
            raise self._error(f"{len(self.counts)} gradients", got)
        in_order += [None] * len(forgotten)
        for grad, edge in zip(in_order, self.edges):
            if grad is not None and not isinstance(grad, Tensor):
                raise self._error("Tensors or None", type(grad).__name__)
            if grad is not None and edge is None:
                raise self._error("None for an input with stop_gradient=True", "a Tensor")
        return in_order

    def _error(self, wanted: str, got: str) -> ValueError:
        return ValueError(
            f"{self.name()}: expected backward to return {wanted}, but got {got}. Return one "
            "gradient for each argument of forward that is a Tensor, a list for a list of them, "
            "and None where it has stop_gradient=True."
        )

    def clear_tensor_wrappers(self) -> None:
        self.cleared = True
        self.ctx = None


def _is_among(tensor: Tensor, tensors: Sequence[Tensor]) -> bool:
    return any(tensor is other for other in tensors)
