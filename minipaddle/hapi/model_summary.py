"""paddle.summary: what each layer of a model takes, gives and holds.

Hooks on the layers note the shapes while one batch goes through the model. A row's parameters are
the layer's own: those of the layers inside it have rows of their own.

Paddle: python/paddle/hapi/model_summary.py.
Left out: models with several outputs nested deeper than a list; `paddle.flops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minipaddle.eager import no_grad
from minipaddle.eager.tensor import Tensor, to_tensor
from minipaddle.nn.layer.container import LayerList, Sequential
from minipaddle.nn.layer.layers import Layer

__all__ = ["summary"]

MIB = 1024**2
BYTES_PER_NUMBER = 4  # as Paddle counts: float32


WIDTHS = (15, 20, 20, 15)  # of the columns, at least


@dataclass
class _Row:
    inputs: Any
    outputs: Any
    parameters: int
    trainable: int


def summary(
    net: Layer,
    input_size: Any = None,
    dtypes: Any = None,
    input: Any = None,
) -> dict[str, int]:
    """Prints a table of the layers inside `net`, and counts the parameters.

    `Sequential` and `LayerList` have no row: they only hold layers. A layer that is called twice
    has one row, of its last call.

    Args:
        input_size: the shape of the input, (N, C, H, W); or a list of shapes. None and -1 are 1.
        dtypes: of the inputs; default float32.
        input: in the place of input_size: a Tensor, or a list or dict of Tensors.

    Returns:
        {"total_params": ..., "trainable_params": ...}

    Raises:
        ValueError: neither input_size nor input is given.
    """
    inputs = _inputs(input_size, dtypes, input)
    rows: dict[str, _Row] = {}
    hooks = []

    def note(layer: Layer, args: Any, outputs: Any) -> None:
        own = [p for p in layer._parameters.values() if p is not None]
        trainable = sum(p.size for p in own if not p.stop_gradient)
        # the number in the layer's name: linear_0 is Linear-1
        name = f"{type(layer).__name__}-{int(layer.full_name().rsplit('_', 1)[-1]) + 1}"
        rows[name] = _Row(
            _shapes(list(args)), _shapes(outputs), sum(p.size for p in own), trainable
        )

    shown = [x for x in net.sublayers() if not isinstance(x, (Sequential, LayerList))] or [net]
    was_training = [layer.training for layer in net.sublayers(include_self=True)]
    try:
        for layer in shown:
            hooks.append(layer.register_forward_post_hook(note))
        net.eval()  # the batch must not change any statistics
        with no_grad():
            net(**inputs) if isinstance(inputs, dict) else net(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
        for layer, training in zip(net.sublayers(include_self=True), was_training):
            layer.training = training
    total = sum(row.parameters for row in rows.values())
    trainable = sum(row.trainable for row in rows.values())
    _print(rows, inputs, total, trainable)
    return {"total_params": total, "trainable_params": trainable}


def _inputs(input_size: Any, dtypes: Any, given: Any) -> Any:
    if given is not None:
        return given if isinstance(given, (dict, list, tuple)) else [given]
    if input_size is None:
        raise ValueError(
            "summary: expected input_size or input, but got neither. Give the input's shape."
        )
    if isinstance(input_size, int):
        sizes: list[Any] = [(input_size,)]
    elif all(isinstance(size, int) or size is None for size in input_size):
        sizes = [input_size]
    else:
        sizes = list(input_size)
    kinds = [dtypes or "float32"] * len(sizes) if not isinstance(dtypes, Sequence) else dtypes
    if isinstance(kinds, str):
        kinds = [kinds] * len(sizes)
    shapes = [[1 if side in (None, -1) else side for side in size] for size in sizes]
    return [
        to_tensor(np.ones(shape, "float32"), dtype=kind)
        for shape, kind in zip(shapes, kinds, strict=True)
    ]


def _shapes(value: Any) -> Any:
    """The Tensors' shapes, in the same lists."""
    if isinstance(value, Tensor):
        return list(value.shape)
    if isinstance(value, (list, tuple)):
        return [_shapes(item) for item in value if isinstance(item, (Tensor, list, tuple))]
    return []


def _print(rows: dict[str, _Row], inputs: Any, total: int, trainable: int) -> None:
    table = [("Layer (type)", "Input Shape", "Output Shape", "Param #")]
    table += [
        (name, str(row.inputs), str(row.outputs), f"{row.parameters:,}")
        for name, row in rows.items()
    ]
    widths = [max(least, *(len(row[i]) for row in table)) for i, least in enumerate(WIDTHS)]
    line = "-" * (sum(widths) + 5)

    def text(cells: Sequence[str]) -> str:
        return " ".join(f"{cell:^{width}}" for cell, width in zip(cells, widths))

    fed = inputs.values() if isinstance(inputs, dict) else inputs
    sizes = {
        "Input size": sum(tensor.size for tensor in fed if isinstance(tensor, Tensor)),
        # what the forward keeps and the gradients of it
        "Forward/backward pass size": 2 * sum(_numbers(row.outputs) for row in rows.values()),
        "Params size": total,
    }
    lines = [line, text(table[0]), "=" * len(line), *map(text, table[1:]), "=" * len(line)]
    lines += [f"Total params: {total:,}", f"Trainable params: {trainable:,}"]
    lines += [f"Non-trainable params: {total - trainable:,}", line]
    lines += [f"{what} (MB): {size * BYTES_PER_NUMBER / MIB:.2f}" for what, size in sizes.items()]
    whole = sum(sizes.values()) * BYTES_PER_NUMBER / MIB
    print("\n".join([*lines, f"Estimated Total Size (MB): {whole:.2f}", line, ""]))


def _numbers(shapes: Any) -> int:
    """How many numbers all these shapes hold."""
    if any(isinstance(item, list) for item in shapes):
        return sum(map(_numbers, shapes))
    return int(np.prod(shapes))
