"""saved_tensors_hooks: what happens to a Tensor when a GradNode keeps it, and when it needs it.

Paddle: python/paddle/autograd/saved_tensors_hooks.py, paddle/fluid/eager/saved_tensors_hooks.h,
and the places in tensor_wrapper.h and pylayer/ that ask for the hooks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.world import tracer


class saved_tensors_hooks:
    """Inside `with`, each Tensor that a GradNode keeps goes through two functions.

    Args:
        pack_hook: gets the Tensor; what it returns is kept instead (an array in half precision, or
            the name of a file, for example).
        unpack_hook: gets what pack_hook returned, when backward needs the Tensor; returns it as a
            Tensor of the same shape and dtype.

    What was packed is not checked for changes in place: it may be a copy. Ops inside the two
    functions are not recorded.

    Raises:
        TypeError: a hook can't be called.
        ValueError: there is a pair of hooks already: only one at a time, as in Paddle.
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(
                    f"saved_tensors_hooks: expected {name} to be a function, but got "
                    f"{type(hook).__name__}. Give one that takes one value and returns one."
                )
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if tracer.saved_tensors_hooks is not None:
            raise ValueError(
                "saved_tensors_hooks: expected one pair of hooks at a time, but got a second pair "
                "inside the first. Join them into one pair, or leave the first `with` before."
            )
        tracer.saved_tensors_hooks = (self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception: object) -> None:
        tracer.saved_tensors_hooks = None
