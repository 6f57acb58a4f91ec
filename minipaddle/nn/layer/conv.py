"""Convolutions as layers. Paddle: python/paddle/nn/layer/conv.py.

Left out: Conv1D, Conv3D and the transposed ones.
"""

from __future__ import annotations

from typing import Any

from minipaddle.common.enforce import require_one_of
from minipaddle.nn import functional
from minipaddle.nn.functional.conv import convolve
from minipaddle.nn.functional.padding import channel_last, padding_of, two_ints
from minipaddle.nn.initializer import Normal
from minipaddle.nn.layer.layers import Layer

__all__ = ["Conv2D"]

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class Conv2D(Layer):
    """Convolution of images [N, C, H, W] -> [N, O, OH, OW]; see functional.conv2d.

    Parameters: weight [O, C / groups, kh, kw], at first normal with standard deviation
    sqrt(2 / (C * kh * kw)); bias [O], at first 0.

    Raises:
        ValueError: groups does not divide the channels, or an argument is wrong.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        bias_attr = bias_attr if bias else False
        require_one_of("Conv2D", "padding_mode", padding_mode, PADDING_MODES)
        if padding_mode != "zeros" and not isinstance(padding, int):
            raise TypeError(
                f"Conv2D: expected padding to be an int with padding_mode {padding_mode!r}, but "
                f"got {padding!r}."
            )
        if groups < 1 or in_channels % groups:
            raise ValueError(
                f"Conv2D: expected groups that divide in_channels, but got {groups} for "
                f"{in_channels} channels."
            )
        self._in_channels, self._out_channels = in_channels, out_channels
        self._stride = two_ints("Conv2D", "stride", stride)
        self._dilation = two_ints("Conv2D", "dilation", dilation)
        self._kernel_size = two_ints("Conv2D", "kernel_size", kernel_size)
        self._padding, self._padding_mode = padding, padding_mode
        self._groups, self._data_format = groups, data_format
        last = channel_last("Conv2D", data_format)
        pads, algorithm = padding_of("Conv2D", padding if padding_mode == "zeros" else 0, last)
        self._attrs = {
            "strides": tuple(self._stride),
            "paddings": tuple(pads),
            "padding_algorithm": algorithm,
            "dilations": tuple(self._dilation),
            "groups": groups,
            "data_format": data_format,
            "depthwise": in_channels == groups != 1 and out_channels % groups == 0,
        }
        kernel = self._kernel_size
        if min(in_channels, out_channels, *kernel) < 1:
            raise ValueError(
                f"Conv2D: expected channels and kernel_size of 1 or more, but got "
                f"{in_channels} and {out_channels} channels and kernel_size {kernel}."
            )
        spread = (2.0 / (kernel[0] * kernel[1] * in_channels)) ** 0.5
        self.weight = self.create_parameter(
            [out_channels, in_channels // groups, *kernel],
            weight_attr,
            default_initializer=Normal(0.0, spread),
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        if self._padding_mode != "zeros":
            x = functional.pad(  # type: ignore[attr-defined]
                x,
                [self._padding] * 4,
                mode=self._padding_mode,
                data_format=self._data_format,
            )
        return convolve(x, self.weight, self.bias, **self._attrs)

    def extra_repr(self) -> str:
        said = [f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"]
        for name, usual in (
            ("stride", [1, 1]),
            ("padding", 0),
            ("padding_mode", "zeros"),
            ("dilation", [1, 1]),
            ("groups", 1),
        ):
            value = getattr(self, f"_{name}")
            if value != usual:
                said.append(f"{name}={value}")
        return ", ".join([*said, f"data_format={self._data_format}"])
