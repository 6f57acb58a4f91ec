"""eager: dygraph. An op computes at once and leaves a GradNode behind.

    accumulation_node    GradNodeAccumulation: adds what arrives to a leaf's `.grad`
    autograd_meta        what a Tensor knows about gradients
    backward             run_backward: walks GradNodes from the loss to the leaves
    dygraph_function     the text of eager_gen, compiled, and what it calls
    eager_gen            writes the dygraph function of an op, and its GradNode class
    grad_node_info       GradNodeBase: one op on the way back, and its edges
    tensor               Tensor: data, and an AutogradMeta if it takes part in gradients
    tensor_wrapper       how a GradNode keeps a Tensor until backward
    zero_grads           behind a recorded gradient whose formula does not read its own input

Paddle: paddle/fluid/eager/.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

from minipaddle.eager.tensor import EagerParamBase, Tensor, to_tensor  # isort: skip  (first: the others need it)
from minipaddle.eager.backward import backward, grad
from minipaddle.eager.dygraph_function import ad_func, call_dygraph, source_of
from minipaddle.phi.core.op import OPS, Op
from minipaddle.phi.core.world import World, register_world, tracer
from minipaddle.phi.math_op_patch import patch_class

__all__ = [
    "EagerParamBase",
    "Tensor",
    "backward",
    "enable_grad",
    "grad",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
    "source_of",
    "to_tensor",
]


class _grad_guard(contextlib.ContextDecorator):
    """Inside (or in a decorated function), ops are recorded (True) or not (False)."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.before: list[bool] = []

    def __call__(self, function: Callable) -> Callable:
        if not inspect.isgeneratorfunction(function):
            return super().__call__(function)

        @functools.wraps(function)
        def each(*args: Any, **kwargs: Any) -> Any:
            steps = function(*args, **kwargs)
            while True:
                try:
                    with self._recreate_cm():  # only while it works, not between two values
                        value = next(steps)
                except StopIteration as end:
                    return end.value
                yield value

        return each

    def __enter__(self) -> None:
        self.before.append(tracer.has_grad)
        tracer.has_grad = self.mode

    def _recreate_cm(self) -> _grad_guard:
        return type(self)(self.mode)  # a decorated function may run in several threads

    def __exit__(self, *exception: object) -> None:
        tracer.has_grad = self.before.pop()


class set_grad_enabled(_grad_guard):
    """From now on, ops are recorded (True) or not (False); with `with`, only inside."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        super().__enter__()

    def __call__(self, function: Callable) -> Callable:
        tracer.has_grad = self.before.pop()  # a decorator is no statement
        return _grad_guard(self.mode)(function)

    def __enter__(self) -> None:
        if not self.before:  # a second `with`; in the first, it holds already
            super().__enter__()


def no_grad(function: Callable | None = None) -> Any:
    """`with paddle.no_grad():` or `@paddle.no_grad()`: ops inside are not recorded."""
    guard = _grad_guard(False)
    return guard if function is None else guard(function)


def enable_grad(function: Callable | None = None) -> Any:
    """Inside, ops are recorded again."""
    guard = _grad_guard(True)
    return guard if function is None else guard(function)


def is_grad_enabled() -> bool:
    """True where ops are recorded."""
    return tracer.has_grad


def _create_parameter(
    shape: Any, dtype: Any, initializer: Callable, name: str, trainable: bool = True
) -> EagerParamBase:
    """A parameter whose numbers the initializer makes now."""
    with no_grad():
        value = initializer(shape, dtype)
    return EagerParamBase(value._data, name, trainable)


def _call_operator(op: Op, inputs: Any, attrs: dict[str, Any]) -> Any:
    return call_dygraph(op, inputs, attrs)


def _tensor_from_array(self: Tensor, other: Any) -> Tensor | None:
    """An operator's other side may be a numpy array or a list, as in Paddle."""
    return to_tensor(other) if hasattr(other, "__array__") or isinstance(other, list) else None


_call_operator.convert = _tensor_from_array  # type: ignore[attr-defined]


def _between_tensors(method: str, op: Op) -> None:
    """Gives an operator between two Tensors the short way: straight to the generated function."""
    general = getattr(Tensor, method)

    def apply(self: Tensor, other: Any) -> Any:
        if isinstance(other, Tensor):
            return (op.dygraph_function or ad_func(op))(self, other)
        return general(self, other)

    apply.__name__ = method
    setattr(Tensor, method, apply)


patch_class(Tensor, _call_operator)
for _method, _op in (
    ("__add__", "add"),
    ("__sub__", "subtract"),
    ("__mul__", "multiply"),
    ("__truediv__", "divide"),
    ("__matmul__", "matmul"),
):
    _between_tensors(_method, OPS[_op])
register_world(World("dygraph", call_dygraph, _create_parameter))
