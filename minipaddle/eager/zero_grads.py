"""DoubleGradNode: behind a recorded gradient whose formula does not read its own input.

The gradient of x in x * y is out_grad * y: no x in it. Yet in Paddle multiply_grad is one op that
reads x, and its own gradient, multiply_double_grad, gives x zeros: `paddle.grad(gx, x)` is zeros,
not an error. Our rule has several ops, none of which leads from gx to x; so this node does.

Paddle: the generated MultiplyDoubleGradNode and DivideDoubleGradNode.
"""

from __future__ import annotations

from collections.abc import Sequence

from minipaddle.common.place import module_of
from minipaddle.eager.autograd_meta import AutogradMeta
from minipaddle.eager.grad_node_info import Edge, GradNodeBase
from minipaddle.eager.tensor import Tensor


class DoubleGradNode(GradNodeBase):
    """Two edges: to what has computed the gradient, and to the input, which gets zeros."""

    __slots__ = ("of",)

    def __init__(self, of: GradNodeBase, edges: Sequence[Edge | None], grad: Tensor) -> None:
        super().__init__(edges, [(grad._data.shape, grad._data.dtype)])
        self.of = of.name()

    def name(self) -> str:
        return self.of.replace("GradNode", "DoubleGradNode")

    def __call__(
        self, grads: Sequence[Tensor | None], create_graph: bool = False
    ) -> list[Tensor | None]:
        (grad,) = grads
        assert grad is not None  # the node has one slot only
        xp = module_of(grad._data)
        return [grad, Tensor(xp.broadcast_to(xp.zeros((), grad._data.dtype), grad._data.shape))]


def with_zero_grads(node: GradNodeBase, results: Sequence[Tensor]) -> list[Tensor]:
    """The recorded gradients that `node` gives, each leading to its own input as well."""
    x_edge, y_edge = node.edges
    if x_edge is y_edge:  # x * x: the formula reads x
        return list(results)
    linked = []
    for grad, edge in zip(results, node.edges):
        if edge is not None:
            own = Tensor(grad._data)
            behind = DoubleGradNode(node, [grad._grad_edge(), edge], grad)
            own._version, own.autograd_meta = grad._version, AutogradMeta(False, behind)
            grad = own
        linked.append(grad)
    return linked
