"""Images of another size. Paddle: python/paddle/nn/functional/common.py.

Left out: antialias; "area" of volumes, which needs pooling in three dimensions.
"""

from __future__ import annotations

from typing import Any

from minipaddle.nn.functional.pooling import adaptive_avg_pool2d
from minipaddle.phi.core.op import OPS, stacked
from minipaddle.phi.core.world import in_dynamic_mode

__all__ = ["interpolate", "upsample"]

MODES = {
    "linear": (3,),
    "bilinear": (4,),
    "bicubic": (4,),
    "trilinear": (5,),
    "nearest": (4, 5),
    "area": (3, 4),
}
LAYOUTS = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "stop_gradient")


def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Images x [N, C, W], [N, C, H, W] or [N, C, D, H, W] in another size.

    Args:
        size: the size to have, a number for each axis behind the channels; or a Tensor of them.
        scale_factor: or how many times as large: one number for all axes, or one for each.
        mode: "nearest"; "linear", "bilinear", "trilinear": between the two neighbours, along one,
            two or three axes; "bicubic": a curve through four; "area": the mean of what lies there.
        align_corners: the first and last numbers stay where they are.
        align_mode: for the linear modes, without align_corners: 0: numbers lie in the middle of
            their pixels; 1: at their edges.
        data_format: "NWC", "NHWC" or "NDHWC" where the channels come last.
        recompute_scale_factor: find the size first, and take the factor from it.

    Raises:
        ValueError: an argument does not fit the others.
        NotImplementedError: antialias, or "area" of volumes.
    """
    mode = mode.lower()
    data_format = _checked(x, size, scale_factor, mode, align_corners, align_mode, data_format)
    if antialias or (mode == "area" and x.ndim == 5):
        raise NotImplementedError(
            "interpolate: expected no antialias and no 'area' of volumes, but got one of them. "
            "They are left out here."
        )
    if _is_tensor(size) and in_dynamic_mode():
        size = size.numpy().tolist()
    if _is_tensor(scale_factor) and in_dynamic_mode():
        scale_factor = scale_factor.numpy().tolist()
    if mode == "area":
        return _area(x, size, data_format)
    attrs: dict[str, Any] = {"out_d": -1, "out_h": -1, "out_w": -1, "scale": ()}
    out_size = scale_tensor = None
    if scale_factor is not None:
        if _is_tensor(scale_factor):
            scale_tensor = scale_factor
        else:
            attrs["scale"] = _per_axis(x, scale_factor)
            if recompute_scale_factor:
                axes = x.shape[2:]  # wherever the channels are, as in Paddle
                size = [int(old * factor) for old, factor in zip(axes, attrs["scale"])]
                attrs["scale"] = ()
    if _is_tensor(size):
        out_size = OPS["cast"](size, dtype="int32")
    elif size is not None and any(map(_is_tensor, size)) and not in_dynamic_mode():
        out_size = OPS["cast"](OPS["reshape"](stacked(size), shape=[-1]), dtype="int32")
    elif size is not None:
        names = ("out_d", "out_h", "out_w")[-(x.ndim - 2) :]
        attrs |= dict(zip(names, map(int, size), strict=True))
    return OPS[f"{mode}_interp"](
        x,
        out_size,
        None,
        scale_tensor,
        data_format="NCHW" if data_format[1] == "C" else "NHWC",
        interp_method=mode,
        align_corners=align_corners,
        align_mode=align_mode,
        **attrs,
    )


def _checked(
    x: Any,
    size: Any,
    scale_factor: Any,
    mode: str,
    align_corners: Any,
    align_mode: Any,
    data_format: str | None,
) -> str:
    """The data_format, if all fits. Raises ValueError or TypeError."""
    layouts = LAYOUTS.get(x.ndim, ("",))
    data_format = (data_format or layouts[0]).upper()
    given = (
        len(size) if isinstance(size, (list, tuple)) else size.shape[0] if _is_tensor(size) else 0
    )
    problem = ""
    if x.ndim not in MODES.get(mode, ()) and not (mode == "area" and x.ndim == 5):
        fit = sorted(mode for mode, axes in MODES.items() if x.ndim in axes)
        problem = f"one of the modes {fit} for an image of {x.ndim} axes, but got {mode!r}"
    elif (size is None) == (scale_factor is None):
        problem = f"either size or scale_factor, but got {size} and {scale_factor}"
    elif given and given != x.ndim - 2:
        problem = f"a size for each of {x.ndim - 2} axes, but got {size}"
    elif mode == "area" and size is None:
        problem = f"a size for mode 'area', but got scale_factor={scale_factor}"
    elif align_mode not in (0, 1) or (align_corners and mode == "nearest"):
        problem = (
            f"align_mode 0 or 1 and no align_corners with 'nearest', but got {align_mode} and "
            f"{align_corners}"
        )
    elif data_format not in layouts:
        problem = f"data_format among {list(layouts)}, but got {data_format!r}"
    if problem:
        raise ValueError(
            f"interpolate: expected {problem}. An image is [batch, channels, ...]: what you "
            "give is for the axes behind."
        )
    if not isinstance(align_corners, bool) or (size is not None and not given):
        raise TypeError(
            "interpolate: expected align_corners to be a bool and size a list or a Tensor, but got "
            f"{align_corners!r} and {size!r}. Give a size for each axis."
        )
    if isinstance(size, (list, tuple)) and any(not _is_tensor(s) and s <= 0 for s in size):
        raise AssertionError(f"interpolate: expected sizes above 0, but got {size}. Give others.")
    return data_format


def _per_axis(x: Any, scale: Any) -> list[float]:
    """The factor of each axis."""
    factors = list(scale) if isinstance(scale, (list, tuple)) else [scale] * (x.ndim - 2)
    if not all(isinstance(factor, (int, float)) for factor in factors):
        raise TypeError(
            f"interpolate: expected scale_factor to be a number or a list of them, but got "
            f"{scale!r}. Pass 2, say."
        )
    if len(factors) != x.ndim - 2 or min(factors) <= 0:
        raise ValueError(
            f"interpolate: expected a scale_factor above 0 for each of {x.ndim - 2} axes, but got "
            f"{scale!r}. One number stands for all."
        )
    return [float(factor) for factor in factors]


def _area(x: Any, size: Any, data_format: str) -> Any:
    """The mean of what lies under each number of the result."""
    if x.ndim == 4:
        return adaptive_avg_pool2d(x, size)
    flat = adaptive_avg_pool2d(OPS["unsqueeze"](x, axis=[2]), [1, *size])
    return OPS["squeeze"](flat, axis=[2])


def upsample(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """As interpolate."""
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)
