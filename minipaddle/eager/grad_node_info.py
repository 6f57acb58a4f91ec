"""GradNodeBase: one op on the way back. Its edges say where each input's gradient goes.

    y = paddle.tanh(x)         y.grad_fn is a TanhGradNode; its one edge leads to the node of x.

Paddle: paddle/fluid/eager/grad_node_info.h.
Left out: device contexts; the C++ vectors of slots (a slot here is one Tensor, in order).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from minipaddle.common.errors import NoGradientError
from minipaddle.common.place import module_of
from minipaddle.common.size import Size
from minipaddle.phi.core.meta_tensor import MetaTensor

if TYPE_CHECKING:
    from minipaddle.eager.tensor import Tensor


class Edge(NamedTuple):
    """Where a gradient goes: to gradient slot `slot` of `node`."""

    node: GradNodeBase
    slot: int


class GradNodeBase:
    """A node of the backward graph. The op's own class is generated, see eager_gen.py.

    Attributes:
        edges: one per input of the forward op that can have a gradient; None where none is wanted.
        specs: shape and dtype (numpy's) per output of the forward op; None for an output that the
            op did not make.
        gradient_hooks: slot -> hooks on the gradient of that output, called before the node runs.
        post_hooks: number -> hooks on what the node gives, see register_hook.
        cleared: True after a backward without retain_graph: what the node had kept is gone.
    """

    __slots__ = ("__weakref__", "cleared", "edges", "gradient_hooks", "post_hooks", "specs")

    accumulates = False  # True for GradNodeAccumulation only

    def __init__(self, edges: Sequence[Edge | None], specs: Sequence[Any]) -> None:
        self.edges = edges
        self.specs = specs
        self.gradient_hooks: dict[int, dict[int, Callable]] | None = None
        self.post_hooks: dict[int, Callable] | None = None
        self.cleared = False

    def name(self) -> str:
        """The node's name, as Paddle's: "MatmulGradNode"."""
        return type(self).__name__

    @property
    def output_metas(self) -> list[MetaTensor]:
        """One MetaTensor per output of the forward op."""
        return [MetaTensor(*spec) for spec in self.specs if spec is not None]

    @property
    def next_functions(self) -> list[GradNodeBase | None]:
        """The nodes to which this node's results go, one per edge."""
        return [edge.node if edge else None for edge in self.edges]

    def input_meta(self) -> list[tuple[Size, Any]]:
        """Shape and dtype of the gradients that come in."""
        return [(Size(meta.shape), meta.dtype) for meta in self.output_metas]

    def register_hook(self, hook: Callable[[tuple, tuple], Any]) -> HookRemoveHelper:
        """Calls `hook(results, grads)` when the node has run: the gradients that it gives, one per
        edge, and those that had arrived, one per slot. What it returns, one per edge, replaces the
        results.

        Paddle: GradNodeBase::RegisterNodePostHook, in Python `_register_post_hook`.

        Raises:
            ValueError: the node is a GradNodeAccumulation: it gives nothing.
        """
        if self.accumulates:
            raise ValueError(
                "register_hook: expected the node of an op, but got a GradNodeAccumulation, which "
                "gives nothing on. Register the hook on the leaf: x.register_hook."
            )
        hooks = self.post_hooks = self.post_hooks or {}
        return HookRemoveHelper(hooks, hook)

    _register_post_hook = register_hook  # Paddle's name

    def __call__(
        self, grads: Sequence[Tensor | None], create_graph: bool = False
    ) -> list[Tensor | None]:
        """Computes the gradients of the forward op's inputs.

        Args:
            grads: the gradients of the op's outputs, one per slot; None where nobody used it.
            create_graph: record this computation too, so that it can be differentiated again.

        Raises:
            RuntimeError: the node was cleared by an earlier backward, or what it kept was changed
                in place.
        """
        raise NotImplementedError

    def clear_tensor_wrappers(self) -> None:
        """Lets go of the Tensors that the node keeps."""

    def __repr__(self) -> str:
        return f"<{self.name()}>"


_hook_numbers = count()  # a number is never used again: an old helper removes no later hook


class HookRemoveHelper:
    """Puts a hook among others, under a number of its own; `remove()` takes it away again.

    Paddle: TensorHookRemoveHelper, NodePostHookRemoveHelper, and HookRemoveHelper of Layers.
    """

    def __init__(self, hooks: dict[int, Callable], hook: Callable) -> None:
        self.hooks, self.number = hooks, next(_hook_numbers)
        hooks[self.number] = hook

    def remove(self) -> bool:
        """False if it was not there any more."""
        return self.hooks.pop(self.number, None) is not None


def refuse_cleared(node: GradNodeBase) -> None:
    """An earlier backward has freed what `node` kept. Raises RuntimeError."""
    raise RuntimeError(
        f"backward: expected {node.name()} to still have its saved Tensors, but got a graph that "
        "an earlier backward has freed. Call the first backward with retain_graph=True, or compute "
        "the loss again."
    )


def refuse_double_grad(node: GradNodeBase) -> None:
    """The gradient that `node` gives has no gradient. Raises NoGradientError."""
    raise NoGradientError(
        f"grad: expected {node.name()} to have a gradient of its own, but got none, as in Paddle. "
        "Leave create_graph=False, or build the function from other ops."
    )


def zeros_like_output(node: GradNodeBase, slot: int, grads: Sequence[Tensor | None]) -> Tensor:
    """The gradient of an output that nobody used, where the rule reads it; beside the others."""
    from minipaddle.eager.tensor import Tensor  # it builds on this file

    shape, dtype = node.specs[slot]
    beside = next(grad for grad in grads if grad is not None)
    return Tensor(module_of(beside._data).zeros(shape, dtype))
