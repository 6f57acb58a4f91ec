"""The table: all cases of tests/phi/cases/, and what a test does with one.

A case is (inputs, attributes). Inputs are numpy arrays in the order of the declaration; a list
stands for a list input, None for an optional one that is not given.

`Backend` is numpy or CuPy; the fixture `backend` of conftest.py hands it to every test of the table.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import OPS, Op

KINDS = (
    "activation",
    "clip",
    "control_flow",
    "conv",
    "creation",
    "elementary",
    "fused",
    "indexing",
    "linalg",
    "logic",
    "loss",
    "manipulation",
    "math",
    "metric",
    "norm",
    "optimizer",
    "pooling",
    "random",
    "reduction",
    "search",
    "special",
)
FILES = [importlib.import_module(f"tests.phi.cases.{kind}") for kind in KINDS]
CALLS = {name: calls for file in FILES for name, calls in file.CALLS.items()}


def parameters(keep=lambda name, inputs: True):
    """pytest's parameters: one per case for which `keep` is true."""
    return [
        pytest.param(name, inputs, attrs, id=f"{name}-{number}")
        for name, calls in CALLS.items()
        if name in OPS
        for number, (inputs, attrs) in enumerate(calls)
        if keep(name, inputs)
    ]


@dataclass(frozen=True)
class Backend:
    """Where the table runs: the module of the arrays and the name of the device."""

    xp: ModuleType
    device: str

    @property
    def place(self) -> Any:
        return paddle.CUDAPlace(0) if self.device == "gpu" else paddle.CPUPlace()

    def array(self, value: Any) -> Any:
        """A fresh array on the device, which lies in memory as `value` does."""
        value = np.asarray(value)
        if value.flags.c_contiguous or value.flags.f_contiguous:
            return self.xp.array(value)
        wide = self.xp.zeros((*value.shape[:-1], 2 * value.shape[-1]), value.dtype)
        wide[..., ::2] = self.xp.asarray(value)
        return wide[..., ::2]

    def numpy(self, array: Any) -> np.ndarray:
        """A copy of an array of the device, in numpy."""
        return np.array(array) if self.xp is np else self.xp.asnumpy(array)

    def run(self, op: Op, inputs: list, attrs: dict) -> tuple:
        """What the op's kernel returns for copies of the inputs: one numpy array, a list of them,
        or None per output. Random numbers start from the same seed every time.
        """
        paddle.seed(1)
        results = op.run(self.xp, *each(self.array, inputs), **op.complete(attrs))
        return tuple(each(self.numpy, as_tuple(results)))


def each(function: Any, values: Any) -> list:
    """`function` of each array, also inside lists; None stays."""
    return [
        None if v is None else each(function, v) if isinstance(v, (list, tuple)) else function(v)
        for v in values
    ]


def flat(values: Any) -> list:
    """All arrays in one list, those of lists too, None left out."""
    found: list = []
    for value in values:
        if value is not None:
            found += flat(value) if isinstance(value, (list, tuple)) else [value]
    return found


def meta(value: Any) -> MetaTensor:
    return MetaTensor(value.shape, value.dtype)


def is_float(array: Any) -> bool:
    return array.dtype.kind == "f"


def gradient_inputs(op: Op, inputs: list) -> list[int]:
    """The positions of the inputs that have a gradient."""
    if op.vjp_rule is None:
        return []
    return [
        position
        for position, (item, value) in enumerate(zip(op.inputs, inputs, strict=True))
        if item.name in op.vjp_rule.wrt and flat([value]) and all(map(is_float, flat([value])))
    ]


def counted_outputs(op: Op) -> list[str]:
    """The outputs that count in a loss: those whose gradient the rule reads. (The softmax that
    cross_entropy_with_softmax returns beside the loss has none, as in Paddle.)
    """
    read = {item.name for item in op.require_vjp().inputs}
    return [name for name in op.outputs if f"{name}_grad" in read]


def loss_weights(array: np.ndarray) -> np.ndarray:
    """Weights for the numbers of an output: no two alike, so that no two mistakes cancel."""
    numbers = 0.5 + (np.arange(1, array.size + 1) * 0.618033988749895) % 1.0
    return numbers.reshape(array.shape).astype(array.dtype)


def as_tensors(inputs: list, recorded: tuple | list = ()) -> list:
    """The inputs as Tensors; gradients of those at the positions `recorded` are wanted."""
    return [
        each(lambda v, p=position: paddle.to_tensor(v, stop_gradient=p not in recorded), [value])[0]
        for position, value in enumerate(inputs)
    ]


def as_tuple(results: Any) -> tuple:
    return results if isinstance(results, tuple) else (results,)
