"""recompute: less memory for more time. What a part of the model computes in between is not kept
for backward; when backward comes there, the part runs a second time.

There are two ways. With `use_reentrant=True` the whole part is one PyLayer, whose backward runs
the part again and calls backward inside of backward. With `use_reentrant=False` the part leaves
its own nodes, and saved_tensors_hooks see to it that they keep numbers instead of Tensors; the
first node that needs its Tensors has all of them computed again.

Paddle: python/paddle/distributed/fleet/recompute/recompute.py, public as
paddle.distributed.fleet.utils.recompute.
Left out: offloading, hybrid parallel.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from minipaddle.autograd import PyLayer, saved_tensors_hooks
from minipaddle.eager import enable_grad
from minipaddle.eager.backward import run_backward
from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.generator import default_generator
from minipaddle.phi.core.world import tracer

__all__ = ["recompute"]


def recompute(
    function: Callable,
    *args: Any,
    preserve_rng_state: bool = True,
    use_reentrant: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, without keeping what it computes in between.

    Args:
        function: a Layer or function. It must compute the same both times.
        preserve_rng_state: draw the same random numbers the second time (dropout needs it).
        use_reentrant: as one PyLayer, see the module's docstring. Then at least one Tensor among
            the arguments must want a gradient, or none flows at all.

    Raises:
        TypeError: the function can't be called.
        RuntimeError: in backward: an argument was changed in place, or the second run keeps other
            Tensors than the first.
    """
    if not callable(function):
        raise TypeError(
            f"recompute: expected a Layer or a function, but got {type(function).__name__}. Pass "
            "the part of the model itself, and its arguments after it."
        )
    state = _State(preserve_rng_state)
    if not use_reentrant:
        return _without_reentrant(function, state, args, kwargs)
    if tracer.has_grad and all(t.stop_gradient for t in _tensors([*args, *kwargs.values()])):
        warnings.warn(
            "recompute: expected an argument that wants a gradient, but got none: no gradient "
            "flows through this part. Use use_reentrant=False, or do without recompute.",
            stacklevel=2,
        )
    return RecomputeFunction.apply(function, state, *args, **kwargs)


class _State:
    """What a run depends on besides its arguments: the random numbers to come, and auto_cast."""

    def __init__(self, preserve_rng_state: bool) -> None:
        self.rng = default_generator().bit_generator.state if preserve_rng_state else None
        self.amp = tracer.amp_dtype, tracer.amp_lists

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """Inside, everything is as it was then."""
        rng, amp = default_generator().bit_generator.state, (tracer.amp_dtype, tracer.amp_lists)
        try:
            tracer.amp_dtype, tracer.amp_lists = self.amp
            if self.rng is not None:
                default_generator().bit_generator.state = self.rng
            with enable_grad():
                yield
        finally:
            tracer.amp_dtype, tracer.amp_lists = amp
            if self.rng is not None:
                default_generator().bit_generator.state = rng


class RecomputeFunction(PyLayer):
    """The reentrant way."""

    @staticmethod
    def forward(ctx: Any, function: Callable, state: _State, *args: Any, **kwargs: Any) -> Any:
        ctx.function, ctx.state = function, state
        values = [*args, *kwargs.values()]
        ctx.values, ctx.names = _each(values, lambda tensor: _HOLE), list(kwargs)
        ctx.save_for_backward(*_tensors(values))
        return function(*args, **kwargs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple:
        saved = iter(ctx.saved_tensor())

        def detached(_hole: Any) -> Tensor:
            tensor = next(saved)
            copied = tensor.detach()
            copied.stop_gradient = tensor.stop_gradient
            return copied

        values = _each(ctx.values, detached)
        count = len(values) - len(ctx.names)
        with ctx.state.again():
            results = ctx.function(*values[:count], **dict(zip(ctx.names, values[count:])))
        outputs = _tensors([results])
        pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if not o.stop_gradient]
        run_backward([output for output, _ in pairs], [grad for _, grad in pairs])
        return tuple(
            value.grad if isinstance(value, Tensor) else [t.grad for t in _tensors(value)]
            for value in values
            if _tensors([value])
        )


def _without_reentrant(function: Callable, state: _State, args: tuple, kwargs: dict) -> Any:
    """The way with saved_tensors_hooks."""
    versions = [tensor.inplace_version for tensor in _tensors([*args, *kwargs.values()])]
    numbers: list[int] = []  # one for each Tensor that the first run would have kept
    kept: list[Tensor] = []  # what the second run keeps

    def number(tensor: Tensor) -> int:
        numbers.append(len(numbers))
        return numbers[-1]

    def second_run(number: int) -> Tensor:
        if not kept:
            if versions != [
                tensor.inplace_version for tensor in _tensors([*args, *kwargs.values()])
            ]:
                raise RuntimeError(
                    "recompute: expected the arguments as they were, but got one that an in-place "
                    "op has changed since. Pass a clone()."
                )
            with state.again(), saved_tensors_hooks(keep, lambda tensor: tensor):
                function(*args, **kwargs)
            if len(kept) != len(numbers):
                raise RuntimeError(
                    f"recompute: expected the second run to keep {len(numbers)} Tensors as the "
                    f"first did, but got {len(kept)}. The function must do the same both times."
                )
        return kept[number]

    def keep(tensor: Tensor) -> None:
        kept.append(tensor.detach())

    with saved_tensors_hooks(number, second_run):
        return function(*args, **kwargs)


_HOLE = object()  # stands where a Tensor was


def _each(values: Iterable[Any], new: Callable[[Any], Any]) -> list[Any]:
    """The values with new(...) in the place of each Tensor or hole, also of those in lists."""

    def replaced(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(_each(value, new))
        return new(value) if isinstance(value, Tensor) or value is _HOLE else value

    return [replaced(value) for value in values]


def _tensors(values: Iterable[Any]) -> list[Tensor]:
    """All Tensors among the values and in lists among them, in order."""
    found: list[Tensor] = []
    _each(values, found.append)
    return found
