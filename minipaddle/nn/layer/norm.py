"""Normalisations as layers. Paddle: python/paddle/nn/layer/norm.py.

Left out: SyncBatchNorm, SpectralNorm, LocalResponseNorm, BatchNorm (the old form).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minipaddle.common.dtype import get_default_dtype
from minipaddle.common.enforce import require_one_of
from minipaddle.nn import functional
from minipaddle.nn.initializer import Constant
from minipaddle.nn.layer.layers import Layer
from minipaddle.nn.param_attr import ParamAttr

__all__ = [
    "BatchNorm1D",
    "BatchNorm2D",
    "GroupNorm",
    "InstanceNorm2D",
    "LayerNorm",
    "RMSNorm",
]


class _BatchNormBase(Layer):
    """Each channel with mean 0 and variance 1 over the batch; see functional.batch_norm.

    Parameters: weight [C], at first 1; bias [C], at first 0; and two that are not trained, the
    running mean (at first 0) and the running variance (at first 1).
    """

    ndims: tuple[int, ...] = ()
    layouts: tuple[str, ...] = ()

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._data_format, self._use_global_stats = data_format, use_global_stats
        usual = get_default_dtype()
        dtype = "float32" if usual == "float16" else usual
        shape = [num_features]
        self.weight = self.create_parameter(
            shape, weight_attr, dtype, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter(shape, bias_attr, dtype, is_bias=True)
        for attribute, first in (("_mean", 0.0), ("_variance", 1.0)):
            attr = ParamAttr(
                name=name and name + attribute, initializer=Constant(first), trainable=False
            )
            running = self.create_parameter(shape, attr, dtype)
            running.stop_gradient = True
            setattr(self, attribute, running)

    def forward(self, input: Any) -> Any:
        if input.ndim not in self.ndims:
            raise ValueError(
                f"{type(self).__name__}: expected x with {' or '.join(map(str, self.ndims))} "
                f"dimensions, but got {list(input.shape)}."
            )
        require_one_of(type(self).__name__, "data_format", self._data_format, self.layouts)
        return functional.batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            self.training,
            self._momentum,
            self._epsilon,
            self._data_format,
            self._use_global_stats,
        )

    def extra_repr(self) -> str:
        said = (
            f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        )
        return said if self._data_format == "NCHW" else f"{said}, data_format={self._data_format}"


class BatchNorm1D(_BatchNormBase):
    """Batch normalisation of [N, C] or [N, C, L]."""

    ndims = (2, 3)
    layouts = ("NC", "NCL", "NLC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features,
            momentum,
            epsilon,
            weight_attr,
            bias_attr,
            data_format,
            use_global_stats,
            name,
        )


class BatchNorm2D(_BatchNormBase):
    """Batch normalisation of images [N, C, H, W] (or [N, H, W, C])."""

    ndims = (4,)
    layouts = ("NCHW", "NHWC")


class LayerNorm(Layer):
    """The last axes with mean 0 and variance 1; see functional.layer_norm.

    Parameters: weight, at first 1, and bias, at first 0, of one number per place, in one row.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
        *,
        elementwise_affine: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        weight_attr = weight_attr if elementwise_affine else False
        bias_attr = bias_attr if elementwise_affine and bias else False
        sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self._normalized_shape, self._epsilon = sizes, epsilon
        shape = [math.prod(sizes)]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(shape, bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        return functional.layer_norm(
            input, self._normalized_shape, self.weight, self.bias, self._epsilon
        )

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class RMSNorm(Layer):
    """The last axes divided by the root of their mean square; see functional.rms_norm. Paddle 3.3.1
    has the function, but not yet the layer.

    Parameters: weight of normalized_shape, at first 1.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self._normalized_shape, self._epsilon = sizes, epsilon
        self.weight = self.create_parameter(sizes, weight_attr, default_initializer=Constant(1.0))

    def forward(self, input: Any) -> Any:
        return functional.rms_norm(input, self._normalized_shape, self.weight, self._epsilon)[0]

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class GroupNorm(Layer):
    """Each image's channels in groups, with mean 0 and variance 1; see functional.group_norm.

    Parameters: weight [C], at first 1; bias [C], at first 0.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
        *,
        affine: bool = True,
    ) -> None:
        super().__init__()
        weight_attr, bias_attr = (weight_attr, bias_attr) if affine else (False, False)
        self._num_groups, self._num_channels, self._epsilon = num_groups, num_channels, epsilon
        require_one_of(
            "GroupNorm",
            "data_format",
            data_format,
            ("NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"),
        )
        self._data_format = "NCHW" if data_format[1] == "C" else "NHWC"
        self.weight = self.create_parameter(
            [num_channels], weight_attr, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([num_channels], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        return functional.group_norm(
            input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format
        )

    def extra_repr(self) -> str:
        return (
            f"num_groups={self._num_groups}, num_channels={self._num_channels}, "
            f"epsilon={self._epsilon}"
        )


class InstanceNorm2D(Layer):
    """Each channel of each image with mean 0 and variance 1; see functional.instance_norm.

    Parameters: scale [C], at first 1; bias [C], at first 0; both or neither.

    Raises:
        ValueError: only one of weight_attr and bias_attr is False.
    """

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if (weight_attr is False) != (bias_attr is False):
            raise ValueError(
                "InstanceNorm2D: expected weight_attr and bias_attr to be both False or both not, "
                f"but got {weight_attr!r} and {bias_attr!r}."
            )
        self._num_features, self._epsilon = num_features, epsilon
        self._momentum, self._data_format = momentum, data_format
        self.scale = self.create_parameter(
            [num_features], weight_attr, default_initializer=Constant(1.0)
        )
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        if input.ndim != 4:
            raise ValueError(
                f"InstanceNorm2D: expected x with 4 dimensions, but got {list(input.shape)}."
            )
        return functional.instance_norm(input, weight=self.scale, bias=self.bias, eps=self._epsilon)

    def extra_repr(self) -> str:
        return f"num_features={self._num_features}, epsilon={self._epsilon}"
