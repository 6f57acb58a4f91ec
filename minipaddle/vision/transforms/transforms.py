"""Transforms: functions of functional.py with their arguments set, for a dataset's `transform`.

What is random comes from the generator of `paddle.seed` (in Paddle: from Python's `random`).

Paddle: python/paddle/vision/transforms/transforms.py.
Left out: `keys` (several inputs at once).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.generator import default_generator
from minipaddle.vision.transforms import functional as F

__all__ = [
    "BaseTransform",
    "CenterCrop",
    "Compose",
    "Normalize",
    "Pad",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "Resize",
    "ToTensor",
    "Transpose",
]


class Compose:
    """Several transforms, one after the other."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for transform in self.transforms:
            data = transform(data)
        return data


class BaseTransform:
    """Base class: define `_apply_image`."""

    def __call__(self, inputs: Any) -> Any:
        return self._apply_image(inputs)

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(
            f"BaseTransform: {type(self).__name__} has no _apply_image. Write it."
        )


class ToTensor(BaseTransform):
    """A float32 Tensor [C, H, W]; uint8 0..255 becomes 0..1."""

    def __init__(self, data_format: str = "CHW", keys: Any = None) -> None:
        self.data_format = data_format

    def _apply_image(self, image: Any) -> Tensor:
        return F.to_tensor(image, self.data_format)


class Resize(BaseTransform):
    """Another size: (H, W), or that of the shorter side."""

    def __init__(
        self, size: int | Sequence[int], interpolation: str = "bilinear", keys: Any = None
    ) -> None:
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """The middle: (H, W), or a square."""

    def __init__(self, size: int | Sequence[int], keys: Any = None) -> None:
        self.size = size

    def _apply_image(self, image: Any) -> Any:
        return F.center_crop(image, self.size)


class Normalize(BaseTransform):
    """(image - mean) / std for each channel."""

    def __init__(
        self,
        mean: Sequence[float] | float = 0.0,
        std: Sequence[float] | float = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Any = None,
    ) -> None:
        self.mean, self.std, self.data_format, self.to_rgb = mean, std, data_format, to_rgb

    def _apply_image(self, image: Any) -> Any:
        return F.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """The axes in another order; (2, 0, 1) makes [C, H, W] of [H, W, C] or [H, W]."""

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Any = None) -> None:
        self.order = order

    def _apply_image(self, image: Any) -> np.ndarray:
        image = np.asarray(image)
        return (image[..., None] if image.ndim == 2 else image).transpose(self.order)


class Pad(BaseTransform):
    """A frame around the image: see `pad`."""

    def __init__(
        self,
        padding: int | Sequence[int],
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Any = None,
    ) -> None:
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def _apply_image(self, image: Any) -> Any:
        return F.pad(image, self.padding, self.fill, self.padding_mode)


class RandomCrop(BaseTransform):
    """A part at a random place.

    Args:
        size: (H, W), or a square.
        padding: a frame that is put around the image first.
        pad_if_needed: widen an image that is too small.

    Raises:
        ValueError: the image is too small.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
        keys: Any = None,
    ) -> None:
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.padding, self.pad_if_needed = padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    def _apply_image(self, image: Any) -> Any:
        if self.padding is not None:
            image = F.pad(image, self.padding, self.fill, self.padding_mode)
        height, width = F.size_hw("RandomCrop", image)
        missing = [max(0, want - got) for want, got in zip(self.size, (height, width))]
        if any(missing) and self.pad_if_needed:
            image = F.pad(image, missing[::-1], self.fill, self.padding_mode)
            height, width = F.size_hw("RandomCrop", image)
        elif any(missing):
            raise ValueError(
                f"RandomCrop: expected an image of at least {list(self.size)}, but got "
                f"{[height, width]}. Set padding or pad_if_needed=True."
            )
        top, left = default_generator().integers(
            0, [height - self.size[0] + 1, width - self.size[1] + 1]
        )
        return F.crop(image, int(top), int(left), *self.size)


class RandomHorizontalFlip(BaseTransform):
    """Left and right changed, with probability `prob`."""

    def __init__(self, prob: float = 0.5, keys: Any = None) -> None:
        self.prob = prob

    def _apply_image(self, image: Any) -> Any:
        return F.hflip(image) if default_generator().random() < self.prob else image


class RandomVerticalFlip(BaseTransform):
    """Top and bottom changed, with probability `prob`."""

    def __init__(self, prob: float = 0.5, keys: Any = None) -> None:
        self.prob = prob

    def _apply_image(self, image: Any) -> Any:
        return F.vflip(image) if default_generator().random() < self.prob else image
