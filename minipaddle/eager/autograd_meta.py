"""AutogradMeta: what a Tensor knows about gradients.

Paddle: paddle/fluid/eager/autograd_meta.h.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minipaddle.eager.grad_node_info import Edge, GradNodeBase
    from minipaddle.eager.tensor import Tensor


class AutogradMeta:
    """Made only for Tensors that take part in gradients.

    Attributes:
        stop_gradient: True where no gradient flows to this Tensor.
        grad_node: the node to which this Tensor's gradient goes: the node of the op that made it,
            or for a leaf a GradNodeAccumulation.
        out_slot: which of that op's outputs this Tensor is.
        edge: the two as an Edge, made when it is first asked for, and then shared by all readers.
        grad: the gradient, for leaves and after `retain_grads()`.
        hooks: a leaf's hooks, by number; an inner Tensor's hooks stand in its node.
    """

    __slots__ = ("__weakref__", "edge", "grad", "grad_node", "hooks", "out_slot", "stop_gradient")

    def __init__(
        self,
        stop_gradient: bool = True,
        grad_node: GradNodeBase | None = None,
        out_slot: int = 0,
    ) -> None:
        self.stop_gradient = stop_gradient
        self.grad_node = grad_node
        self.out_slot = out_slot
        self.edge: Edge | None = None
        self.grad: Tensor | None = None
        self.hooks: dict[int, Callable] | None = None

    @property
    def is_leaf(self) -> bool:
        """True where no recorded op made this Tensor."""
        return self.grad_node is None or self.grad_node.accumulates
