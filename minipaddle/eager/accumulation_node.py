"""GradNodeAccumulation: the end of the road. It adds what arrives to a leaf's `.grad`.

Paddle: paddle/fluid/eager/accumulation/accumulation_node.h.
Left out: sparse gradients. (Its reduce hooks are the node's post hooks here.)
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from minipaddle.eager.autograd_meta import AutogradMeta
from minipaddle.eager.grad_node_info import GradNodeBase
from minipaddle.eager.tensor import Tensor


class GradNodeAccumulation(GradNodeBase):
    """The node of a leaf. It holds the leaf's AutogradMeta weakly: a graph does not keep a
    dropped leaf alive.
    """

    __slots__ = ("leaf_meta",)

    accumulates = True

    def __init__(self, leaf_meta: AutogradMeta, data: Any) -> None:
        super().__init__([], [(data.shape, data.dtype)])
        self.leaf_meta = weakref.ref(leaf_meta)

    @property
    def next_functions(self) -> list[GradNodeBase | None]:
        return [None]  # as Paddle shows it

    def __call__(self, grads: Sequence[Tensor], create_graph: bool = False) -> list[Tensor | None]:
        (grad,) = grads
        meta = self.leaf_meta()
        if meta is None:
            return []
        if meta.hooks:
            grad = after_hooks(meta.hooks.values(), grad)
        held = meta.grad
        if create_graph:
            meta.grad = grad if held is None else add_grads(held, grad, create_graph)
        elif held is not None and held._data.dtype == grad._data.dtype:
            data = held._writable_data()
            data += grad._data  # into the memory that is there, as in Paddle
        elif held is not None:
            meta.grad = add_grads(held, grad, create_graph)
        else:
            # a copy: x + y gives one array to both, and another op may give a read-only view
            meta.grad = Tensor(grad._data.copy())
            meta.grad.autograd_meta = AutogradMeta(False)  # as Paddle shows it
        return []


def after_hooks(hooks: Iterable[Callable[[Tensor], Any]], grad: Tensor) -> Tensor:
    """The gradient after the hooks have seen it, one after the other.

    Raises:
        TypeError: a hook returns no Tensor.
        RuntimeError: a hook returns a Tensor of another shape or dtype.
    """
    if grad.stop_gradient:
        # a hook may write into it, and x + y gives one array to both
        grad = Tensor(grad._data.copy())
        grad.autograd_meta = AutogradMeta(False)  # what a hook computes is recorded, as in Paddle
    for hook in list(hooks):
        changed = hook(grad)
        if changed is None:
            continue
        if not isinstance(changed, Tensor):
            raise TypeError(
                f"register_hook: expected the hook to return a Tensor or None, but got "
                f"{type(changed).__name__}. Return the new gradient, or nothing."
            )
        if changed.shape != grad.shape or changed.dtype is not grad.dtype:
            raise RuntimeError(
                f"register_hook: expected the hook to return a gradient of shape "
                f"{list(grad.shape)} and dtype {grad.dtype.name}, but got {list(changed.shape)} "
                f"and {changed.dtype.name}. Keep both as they are."
            )
        grad = changed
    return grad


def add_grads(a: Tensor, b: Tensor, create_graph: bool) -> Tensor:
    """a + b; recorded only where the gradient itself will be differentiated."""
    if create_graph:
        return a + b  # type: ignore[operator]
    total = Tensor(a._data + b._data)
    total.autograd_meta = AutogradMeta(False)
    return total
