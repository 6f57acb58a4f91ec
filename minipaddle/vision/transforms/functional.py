"""Changes of one image.

Paddle: python/paddle/vision/transforms/functional.py, functional_tensor.py.
Left out: images of PIL; interpolations other than "nearest" and "bilinear".
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minipaddle.common.enforce import require_one_of
from minipaddle.eager.tensor import Tensor
from minipaddle.eager.tensor import to_tensor as new_tensor

__all__ = ["center_crop", "crop", "hflip", "normalize", "pad", "resize", "to_tensor", "vflip"]


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """An image as a float32 Tensor [C, H, W] (or [H, W, C]); uint8 0..255 becomes 0..1.

    Raises:
        ValueError: the image or data_format has another form.
    """
    require_one_of("to_tensor", "data_format", data_format, ("CHW", "HWC"))
    if isinstance(pic, Tensor):
        return pic
    image = _checked("to_tensor", pic)
    image = image[:, :, None] if image.ndim == 2 else image
    scale = 255.0 if image.dtype == np.uint8 else 1.0
    image = image.astype(np.float32) / np.float32(scale)
    return new_tensor(image.transpose(2, 0, 1) if data_format == "CHW" else image)


def resize(img: Any, size: int | Sequence[int], interpolation: str = "bilinear") -> Any:
    """The image in another size.

    Args:
        size: (H, W); or a number: the shorter side's, and the longer one in proportion.
        interpolation: "nearest", or "bilinear": a mean of the (up to four) nearest pixels.

    Raises:
        ValueError: the image, size or interpolation has another form.
    """
    require_one_of("resize", "interpolation", interpolation, _WEIGHTS)

    def change(image: np.ndarray) -> np.ndarray:
        height, width = _size_of(size, image.shape[:2])
        weights = _WEIGHTS[interpolation]
        rows, columns = weights(image.shape[0], height), weights(image.shape[1], width)
        # each new row is a mix of old rows, each new column a mix of old columns
        mixed = np.einsum("hi,ij...,wj->hw...", rows, image, columns, optimize=True)
        return _as(mixed, image.dtype)

    return _on_hwc("resize", img, change)


def _size_of(size: int | Sequence[int], old: tuple[int, ...]) -> tuple[int, int]:
    if isinstance(size, int):
        height, width = old
        if size < 1:
            raise ValueError(f"resize: expected size of at least 1, but got {size}. Use 1 or more.")
        if height <= width:
            return size, int(size * width / height)
        return int(size * height / width), size
    if len(size) != 2 or min(size) < 1:
        raise ValueError(
            f"resize: expected size as a number or (H, W), but got {size!r}. Name both sides."
        )
    return int(size[0]), int(size[1])


@functools.lru_cache(maxsize=64)
def _nearest(old: int, new: int) -> np.ndarray:
    """[new, old]: a 1 at the pixel that each new pixel copies."""
    return np.eye(old, dtype=np.float32)[np.arange(new) * old // new]


@functools.lru_cache(maxsize=64)
def _bilinear(old: int, new: int) -> np.ndarray:
    """[new, old]: how much of each old pixel is in each new one. Pixels are squares: the middle of
    new pixel i is at (i + 0.5) * old / new - 0.5 among the middles of the old ones.
    """
    place = ((np.arange(new) + 0.5) * old / new - 0.5).clip(0, old - 1)
    before = np.floor(place).astype(int)
    after = np.minimum(before + 1, old - 1)
    share = (place - before)[:, None]
    eye = np.eye(old)
    return (eye[before] * (1 - share) + eye[after] * share).astype(np.float32)


_WEIGHTS: dict[str, Callable[[int, int], np.ndarray]] = {
    "nearest": _nearest,
    "bilinear": _bilinear,
}


def normalize(
    img: Any,
    mean: Sequence[float] | float,
    std: Sequence[float] | float,
    data_format: str = "CHW",
    to_rgb: bool = False,
) -> Any:
    """(img - mean) / std for each channel, as float32.

    Args:
        mean, std: a number for each channel.
        data_format: where the channels are, "CHW" or "HWC".
        to_rgb: turn the order of the channels first: BGR becomes RGB.

    Raises:
        ValueError: data_format is unknown, or the image has another number of channels.
    """
    require_one_of("normalize", "data_format", data_format, ("CHW", "HWC"))
    image = np.asarray(img, np.float32)
    axis = 0 if data_format == "CHW" else -1
    values = [np.asarray(value, np.float32).reshape(-1) for value in (mean, std)]
    channels = 1 if image.ndim == 2 else image.shape[axis]
    if any(len(value) not in (1, channels) for value in values):
        raise ValueError(
            f"normalize: expected mean and std for {channels} channels ({data_format} of shape "
            f"{list(image.shape)}), but got {len(values[0])} and {len(values[1])} numbers. Give "
            "one for each channel, or set data_format."
        )
    if to_rgb and image.ndim == 3:
        image = np.flip(image, axis)
    if image.ndim == 3 and axis == 0:
        values = [value[:, None, None] for value in values]
    result = (image - values[0]) / values[1]
    return new_tensor(result) if isinstance(img, Tensor) else result


def pad(
    img: Any, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant"
) -> Any:
    """The image with a frame around it.

    Args:
        padding: pixels at each side; or (left and right, top and bottom); or (left, top, right,
            bottom).
        fill: the frame's value.
        padding_mode: "constant", "edge", "reflect" or "symmetric".

    Raises:
        ValueError: padding or padding_mode has another form.
    """
    sides = [padding] if isinstance(padding, int) else list(padding)
    if len(sides) not in (1, 2, 4):
        raise ValueError(
            f"pad: expected padding with 1, 2 or 4 numbers, but got {padding!r}. Name left, top, "
            "right and bottom."
        )
    require_one_of(
        "pad", "padding_mode", padding_mode, ("constant", "edge", "reflect", "symmetric")
    )
    left, top, right, bottom = sides * (4 // len(sides))
    options = {"constant_values": fill} if padding_mode == "constant" else {}

    def change(image: np.ndarray) -> np.ndarray:
        widths = [(top, bottom), (left, right), (0, 0)][: image.ndim]
        return np.pad(image, widths, padding_mode, **options)  # type: ignore[call-overload]

    return _on_hwc("pad", img, change)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """The part that starts at row `top` and column `left`."""
    return _on_hwc("crop", img, lambda image: image[top : top + height, left : left + width])


def center_crop(img: Any, output_size: int | Sequence[int]) -> Any:
    """The middle of the image, (H, W) or a square."""
    height, width = (output_size,) * 2 if isinstance(output_size, int) else output_size
    old_height, old_width = size_hw("center_crop", img)
    top, left = round((old_height - height) / 2), round((old_width - width) / 2)
    return crop(img, top, left, height, width)


def hflip(img: Any) -> Any:
    """Left and right changed."""
    return _on_hwc("hflip", img, lambda image: image[:, ::-1])


def vflip(img: Any) -> Any:
    """Top and bottom changed."""
    return _on_hwc("vflip", img, lambda image: image[::-1])


def size_hw(who: str, img: Any) -> tuple[int, int]:
    """Height and width."""
    if isinstance(img, Tensor):
        return img.shape[-2], img.shape[-1]
    height, width = _checked(who, img).shape[:2]
    return height, width


def _on_hwc(who: str, img: Any, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Applies `change` to an array [H, W] or [H, W, C]; a Tensor [C, H, W] stays one."""
    if not isinstance(img, Tensor):
        return np.ascontiguousarray(change(_checked(who, img)))
    if img.ndim != 3:
        raise ValueError(
            f"{who}: expected a Tensor [C, H, W], but got {list(img.shape)}. Take one image."
        )
    return new_tensor(change(img.numpy().transpose(1, 2, 0)).transpose(2, 0, 1))


def _checked(who: str, image: Any) -> np.ndarray:
    if not isinstance(image, np.ndarray):
        raise TypeError(
            f"{who}: expected an image as an array or a Tensor, but got {type(image).__name__}. "
            "Convert it with np.asarray."
        )
    if image.ndim == 2 or (image.ndim == 3 and image.shape[-1] <= 4):
        return image
    raise ValueError(
        f"{who}: expected an image [H, W] or [H, W, C] with at most 4 channels, but got "
        f"{list(image.shape)}. Move the channels of [C, H, W] first: Transpose((1, 2, 0))."
    )


def _as(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Back to the image's dtype; whole numbers are rounded and kept in their range."""
    if dtype.kind not in "iu":
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.rint(values).clip(limits.min, limits.max).astype(dtype)
