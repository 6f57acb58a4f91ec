"""Linear, Embedding, Dropout and other small layers. Paddle: python/paddle/nn/layer/common.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common.dtype import get_default_dtype
from minipaddle.nn import functional
from minipaddle.nn.layer.layers import Layer
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import in_dynamic_mode

__all__ = [
    "CosineSimilarity",
    "Dropout",
    "Embedding",
    "Flatten",
    "Fold",
    "Identity",
    "Linear",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2D",
    "UpsamplingNearest2D",
]


class Identity(Layer):
    """Gives back what it gets; takes any arguments, so that it can stand in for any layer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Layer):
    """y = x @ weight + bias; x [..., in_features] -> y [..., out_features].

    Args:
        weight_attr, bias_attr: what `ParamAttr` says; bias_attr=False: no bias.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._dtype = get_default_dtype()
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.name = name

    def forward(self, input: Any) -> Any:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        in_features, out_features = self.weight.shape
        name = f", name={self.name}" if self.name else ""
        return f"in_features={in_features}, out_features={out_features}, dtype={self._dtype}{name}"


class Embedding(Layer):
    """A table with one row per number; x [...] of row numbers -> [..., embedding_dim].

    Args:
        padding_idx: this row starts as zeros and gets no gradient (negative: from the end).
        sparse: taken for Paddle's sake; gradients are dense here.

    Raises:
        ValueError: a size is not positive, or padding_idx is no row.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        sparse: bool = False,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_embeddings <= 0 or embedding_dim <= 0:
            raise ValueError(
                f"Embedding: expected positive sizes, but got num_embeddings {num_embeddings} and "
                f"embedding_dim {embedding_dim}. Pass the number of rows and their length."
            )
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(
                f"Embedding: expected padding_idx in [{-num_embeddings}, {num_embeddings}), but "
                f"got {padding_idx}. It is the number of a row."
            )
        self._sizes = num_embeddings, embedding_dim
        self._padding_idx = padding_idx
        self._sparse = sparse
        self._name = name
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr)
        if padding_idx is not None and in_dynamic_mode():
            rows = self.weight.numpy()
            rows[padding_idx] = 0
            self.weight.set_value(rows)

    def forward(self, x: Any) -> Any:
        return functional.embedding(
            x, self.weight, padding_idx=self._padding_idx, sparse=self._sparse
        )

    def extra_repr(self) -> str:
        padding = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        name = "" if self._name is None else f", name={self._name}"
        rows, length = self._sizes
        return f"{rows}, {length}{padding}, sparse={self._sparse}, scale_grad_by_freq=False{name}"


class Dropout(Layer):
    """In training, sets elements to 0 with probability p and makes the others larger; see
    functional.dropout.
    """

    def __init__(
        self,
        p: float = 0.5,
        inplace: bool = False,
        axis: int | Sequence[int] | None = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.p = p
        self.inplace = inplace
        self.axis = axis
        self.mode = mode
        self.name = name

    def forward(self, input: Any) -> Any:
        return functional.dropout(
            input, p=self.p, axis=self.axis, training=self.training, mode=self.mode
        )

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}{name}, inplace={self.inplace}"


class Flatten(Layer):
    """Joins the axes from start_axis to stop_axis: [N, C, H, W] -> [N, C*H*W]."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis = start_axis
        self.stop_axis = stop_axis

    def forward(self, input: Any) -> Any:
        return OPS["flatten"](input, start_axis=self.start_axis, stop_axis=self.stop_axis)


class CosineSimilarity(Layer):
    """The cosine of the angle between two Tensors' vectors along an axis."""

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis, self._eps = axis, eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return functional.cosine_similarity(x1, x2, axis=self._axis, eps=self._eps)

    def extra_repr(self) -> str:
        return "axis={_axis}, eps={_eps}".format(**self.__dict__)


class Unfold(Layer):
    """The windows of images, each one as a column; see functional.unfold."""

    def __init__(
        self,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.kernel_sizes, self.dilations = kernel_sizes, dilations
        self.paddings, self.strides, self.name = paddings, strides, name

    def forward(self, input: Any) -> Any:
        return functional.unfold(
            input, self.kernel_sizes, self.strides, self.paddings, self.dilations
        )

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return (
            f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, "
            f"padding={self.paddings}, stride={self.strides}{name}"
        )


class Fold(Unfold):
    """Images out of their windows; see functional.fold."""

    def __init__(
        self,
        output_sizes: Any,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_sizes, dilations, paddings, strides, name)
        self.output_sizes = output_sizes

    def forward(self, input: Any) -> Any:
        window = (self.kernel_sizes, self.strides, self.paddings, self.dilations)
        return functional.fold(input, self.output_sizes, *window)


class Upsample(Layer):
    """Images of another size; see functional.interpolate."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str | None = None,
        recompute_scale_factor: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode.lower()
        self.align_corners, self.align_mode = align_corners, align_mode
        self.data_format, self.name = data_format, name
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, x: Any) -> Any:
        return functional.interpolate(
            x,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.align_mode,
            self.data_format,
            self.recompute_scale_factor,
        )

    def _size(self) -> str:
        by_factor = self.scale_factor is not None
        return f"scale_factor={self.scale_factor}" if by_factor else f"size={self.size}"

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return (
            f"{self._size()}, mode={self.mode}, align_corners={self.align_corners}, "
            f"align_mode={self.align_mode}, data_format={self.data_format}{name}"
        )


class UpsamplingNearest2D(Upsample):
    """Images of another size: each number is the nearest one."""

    mode, align_corners = "nearest", False

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            size, scale_factor, self.mode, self.align_corners, 0, data_format, None, name
        )

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"{self._size()}, data_format={self.data_format}{name}"


class UpsamplingBilinear2D(UpsamplingNearest2D):
    """Images of another size, with the corners where they are: each number lies between four."""

    mode, align_corners = "bilinear", True
