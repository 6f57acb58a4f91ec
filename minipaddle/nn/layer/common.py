"""Linear. Paddle: python/paddle/nn/layer/common.py."""

from __future__ import annotations

from typing import Any

from minipaddle.common.dtype import get_default_dtype
from minipaddle.nn import functional
from minipaddle.nn.layer.layers import Layer

__all__ = [
    "Linear",
]


class Linear(Layer):
    """y = x @ weight + bias; x [..., in_features] -> y [..., out_features]."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__("linear")
        self._features = in_features, out_features
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = None
        if bias_attr is not False:
            self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        return functional.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        in_features, out_features = self._features
        return (
            f"in_features={in_features}, out_features={out_features}, dtype={get_default_dtype()}"
        )
