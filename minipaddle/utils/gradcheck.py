"""gradcheck: is the gradient that an op gives the true one? One line tests an op.

    grad_check(paddle.tanh, [numpy.random.rand(2, 3)])
    double_grad_check(paddle.tanh, [numpy.random.rand(2, 3)])

Each number of each input is moved up and down by `eps`; how much the outputs follow is the
numeric gradient:

    (loss(x + eps) - loss(x - eps)) / (2 eps)

The loss is the sum of all outputs, each number times a weight of its own, so that two mistakes
don't cancel each other. Everything is computed in float64, where the numeric gradient is good to
about 8 digits. Near a kink (relu at 0) it is wrong: choose inputs away from there.

Paddle: test/legacy_test/gradient_checker.py (grad_check, double_grad_check), which is not part of
its package.
Left out: gradients in static programs, complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minipaddle.eager import Tensor, grad, to_tensor

__all__ = ["double_grad_check", "grad_check"]


def grad_check(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    eps: float = 1e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
) -> None:
    """Compares the gradients of `function` with numeric ones.

    Args:
        function: takes the inputs as Tensors; returns a Tensor, or a list or tuple of them.
        inputs: Tensors or arrays, lists of them, or None. Floating-point ones are checked, in
            float64; the others are handed over as they are.
        eps: how far a number is moved.
        rtol, atol: how far a gradient may be off: atol + rtol * |numeric gradient|.

    Raises:
        AssertionError: a gradient is wrong. Says which input, which element, expected and got.
        RuntimeError: no output depends on an input.
    """
    _Check("grad_check", function, inputs, eps, rtol, atol).run()


def double_grad_check(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    eps: float = 1e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
) -> None:
    """Compares the gradients of the gradients with numeric ones.

    The gradient is itself a function: of the inputs, and of the gradients that arrive at the
    outputs. Both are checked; in an error, the latter come after the inputs. The arguments are
    those of `grad_check`.

    Raises:
        AssertionError: a gradient is wrong.
        NoGradientError: the gradient rule calls an op that has no gradient.
    """
    first = _Check("double_grad_check", function, inputs, eps, rtol, atol)
    outputs = first.call([to_tensor(array) for array in first.arrays])
    arriving = [_weights(out) for out in outputs]
    count = len(first.arrays)

    def gradient(*tensors: Any) -> list[Tensor]:
        moved, seeds = list(tensors[:count]), list(tensors[count:])
        return first.gradients(moved, seeds, create_graph=True)

    _Check(first.who, gradient, [*first.arrays, *arriving], eps, rtol, atol).run()


class _Check:
    """One check: the function of a flat list of float64 arrays, and its loss."""

    def __init__(
        self,
        who: str,
        function: Callable,
        inputs: Sequence[Any],
        eps: float,
        rtol: float,
        atol: float,
    ) -> None:
        self.who, self.function, self.inputs = who, function, list(inputs)
        self.eps, self.rtol, self.atol = eps, rtol, atol
        self.arrays: list[np.ndarray] = []  # what is moved
        self.names: list[str] = []
        for position, value in enumerate(self.inputs):
            for which, piece in enumerate(value if isinstance(value, (list, tuple)) else [value]):
                if _is_floating(piece):
                    place = f"[{which}]" if isinstance(value, (list, tuple)) else ""
                    self.names.append(f"{position}{place}")
                    self.arrays.append(np.array(_numpy(piece), "float64"))
        if not self.arrays:
            raise ValueError(
                f"{who}: expected at least one floating-point input, but got none. Only "
                "floating-point numbers have gradients."
            )

    def call(self, tensors: list[Tensor]) -> list[Tensor]:
        """The function's floating-point outputs, where `tensors` stand for what is moved."""
        rest = iter(tensors)

        def given(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [given(piece) for piece in value]
            if _is_floating(value):
                return next(rest)
            return value if value is None or isinstance(value, Tensor) else to_tensor(value)

        result = self.function(*[given(value) for value in self.inputs])
        outputs: list[Tensor] = []
        for out in result if isinstance(result, (list, tuple)) else [result]:
            outputs += out if isinstance(out, (list, tuple)) else [out]
        return [out for out in outputs if out is not None and out.dtype.is_floating]

    def loss(self, arrays: list[np.ndarray]) -> float:
        outputs = self.call([to_tensor(array, stop_gradient=False) for array in arrays])
        return float(sum(float((out.numpy() * _weights(out)).sum()) for out in outputs))

    def gradients(
        self, tensors: list[Tensor], seeds: list[Tensor] | None = None, create_graph: bool = False
    ) -> list[Tensor]:
        """The gradients of the loss with respect to `tensors`; zeros where there is none."""
        for tensor in tensors:
            tensor.stop_gradient = False
        outputs = self.call(tensors)
        weights = seeds or [to_tensor(_weights(out)) for out in outputs]
        used = [pair for pair in zip(outputs, weights, strict=True) if not pair[0].stop_gradient]
        found = [None] * len(tensors)
        if used:
            outputs, weights = [out for out, _ in used], [weight for _, weight in used]
            found = grad(outputs, tensors, weights, create_graph=create_graph, allow_unused=True)
        return [
            to_tensor(np.zeros(tensor.shape)) if slope is None else slope
            for slope, tensor in zip(found, tensors, strict=True)
        ]

    def run(self) -> None:
        """Compares. Raises AssertionError at the worst difference."""
        found = self.gradients([to_tensor(array) for array in self.arrays])
        for which, (name, slope) in enumerate(zip(self.names, found, strict=True)):
            expected, got = self.numeric(which), slope.numpy()
            allowed = self.atol + self.rtol * np.abs(expected)
            wrong = ~(np.abs(got - expected) <= allowed)  # also true where one is not a number
            if not wrong.any():
                continue
            off = np.where(wrong, np.abs(got - expected) - allowed, -np.inf)
            worst = np.unravel_index(int(np.argmax(np.nan_to_num(off, nan=np.inf))), off.shape)
            raise AssertionError(
                f"{self.who}: expected the gradient of input {name} at "
                f"{[int(i) for i in worst]} to be {expected[worst]:.8g}, but got "
                f"{got[worst]:.8g}; {int(wrong.sum())} of its {wrong.size} numbers are wrong. "
                "Look at the gradient rule, or move the input away from a kink."
            )

    def numeric(self, which: int) -> np.ndarray:
        """The numeric gradient with respect to one array."""
        slope = np.zeros(self.arrays[which].shape)
        for index in np.ndindex(*slope.shape):
            ends = []
            for sign in (1, -1):
                moved = [np.array(array) for array in self.arrays]
                moved[which][index] += sign * self.eps
                ends.append(self.loss(moved))
            slope[index] = (ends[0] - ends[1]) / (2 * self.eps)
        return slope


def _is_floating(value: Any) -> bool:
    return hasattr(value, "dtype") and _numpy(value).dtype.kind == "f"


def _numpy(value: Any) -> np.ndarray:
    return value.numpy() if isinstance(value, Tensor) else np.asarray(value)


def _weights(out: Tensor) -> np.ndarray:
    """A weight for each number of an output: between 0.5 and 1.5, no two alike."""
    count = int(np.prod(out.shape, dtype=int))
    golden = (np.sqrt(5) - 1) / 2  # its multiples spread evenly and never repeat
    weights = 0.5 + (np.arange(1, count + 1) * golden) % 1.0
    return weights.reshape(out.shape).astype(out.numpy().dtype)
