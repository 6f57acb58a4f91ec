"""Sequential. Paddle: python/paddle/nn/layer/container.py."""

from __future__ import annotations

from typing import Any

from minipaddle.nn.layer.layers import Layer

__all__ = [
    "Sequential",
]


class Sequential(Layer):
    """Layers one after the other."""

    def __init__(self, *layers: Layer) -> None:
        super().__init__()
        for number, layer in enumerate(layers):
            self.add_sublayer(str(number), layer)

    def __getitem__(self, index: int) -> Layer:
        return list(self._sub_layers.values())[index]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def forward(self, x: Any) -> Any:
        for layer in self._sub_layers.values():
            x = layer(x)
        return x
