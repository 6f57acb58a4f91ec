"""GradTensorHolder: collects the gradients of one node until all have arrived.

Paddle: paddle/fluid/eager/grad_tensor_holder.h.
"""

from __future__ import annotations

from minipaddle.eager.accumulation_node import add_grads
from minipaddle.eager.tensor import Tensor


class GradTensorHolder:
    """One place per output of the forward op. A second gradient for a place is added to the
    first.
    """

    __slots__ = ("slots",)

    def __init__(self, count: int, slot: int, grad: Tensor) -> None:
        """`count` places; the first gradient that arrived goes to `slot`."""
        self.slots: list[Tensor | None] = [None] * count
        self.slots[slot] = grad

    def add(self, slot: int, grad: Tensor, create_graph: bool = False) -> None:
        """Puts `grad` into `slot`, or adds it to what is there."""
        held = self.slots[slot]
        self.slots[slot] = grad if held is None else add_grads(held, grad, create_graph)
