"""Images of another size: nearest, linear, bilinear, trilinear, bicubic.

Five ops, which differ in the images that they take; the method is an attribute of each.

Paddle: paddle/phi/kernels/interpolate_kernel.h.
Left out: antialias; a list of Tensors for the size (`size_tensor`): out_size is one Tensor.
"""

from __future__ import annotations

from minipaddle.phi.core.attribute import Floats
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, Optional, op
from minipaddle.phi.infermeta.enforce import require_floating
from minipaddle.phi.kernels import interpolate

METHODS = {3: ("linear",), 4: ("bilinear", "nearest", "bicubic"), 5: ("trilinear", "nearest")}


def _axes(x, data_format):
    """The axes of height, width and depth."""
    return range(1, x.ndim - 1) if data_format == "NHWC" else range(2, x.ndim)


def _scales(count, scale, scale_tensor):
    """The factor of each axis; 0 where a size was given."""
    if scale_tensor is not None:
        scale = [float(item) for item in scale_tensor.reshape(-1)]
        return scale * count if len(scale) == 1 else scale
    return scale or [0.0] * count


def _sizes(sizes, scales, out_size, wanted):
    """What the sizes become."""
    if out_size is not None:
        return [int(size) for size in out_size]
    wanted = wanted[-len(sizes) :]
    return [
        int(size * scale) if scale else given for size, scale, given in zip(sizes, scales, wanted)
    ]


def _forward(
    xp,
    x,
    out_size: Optional,
    size_tensor: Optional,
    scale_tensor: Optional,
    *,
    data_format: str = "NCHW",
    out_d: int = 0,
    out_h: int = 0,
    out_w: int = 0,
    scale: Floats = (),
    interp_method: str = "bilinear",
    align_corners: bool = True,
    align_mode: int = 1,
):
    """x [N, C, H, W] (or one or three axes for H, W) in the size `out_size`, or (out_d, out_h,
    out_w), or `scale` times as large. Each number is a mean of those of x that lie around it.
    """
    if interp_method not in METHODS.get(x.ndim, ()):
        raise ValueError  # InferMeta says why
    if interp_method != "nearest" and x.dtype.kind != "f":
        raise TypeError
    axes = _axes(x, data_format)
    before = [x.shape[axis] for axis in axes]
    scales = _scales(len(axes), scale, scale_tensor)
    out = x.astype(xp.float32) if x.dtype == xp.float16 and interp_method != "nearest" else x
    how = (interp_method, align_corners, align_mode)
    after = _sizes(before, scales, out_size, (out_d, out_h, out_w))
    if len(scales) != len(axes) or min(after) < 1:
        raise ValueError  # InferMeta says why
    for axis, size, factor, wanted in zip(axes, before, scales, after):
        out = interpolate.read(xp, out, axis, *interpolate.taps(xp, size, wanted, factor, *how))
    return out.astype(x.dtype)


def _shape_rule(who):
    """Makes the rule of one of the ops."""

    def rule(
        x,
        out_size,
        size_tensor,
        scale_tensor,
        *,
        data_format,
        out_d,
        out_h,
        out_w,
        scale,
        interp_method,
        **attrs,
    ):
        if interp_method not in METHODS.get(x.ndim, ()):
            raise ValueError(
                f"{who}: expected x with 3 axes for 'linear', 4 for 'bilinear', 'bicubic' and "
                f"'nearest', 5 for 'trilinear' and 'nearest', but got shape {list(x.shape)} and "
                f"{interp_method!r}. An image is [batch, channels, height, width]."
            )
        if interp_method != "nearest":
            require_floating(who, x.dtype)
        shape, axes = list(x.shape), _axes(x, data_format)
        if out_size is not None or scale_tensor is not None:
            wanted = [-1] * len(axes)
        else:
            scales = _scales(len(axes), scale, None)
            before = [shape[axis] for axis in axes]
            wanted = _sizes(before, scales, None, (out_d, out_h, out_w))
            too_small = any(new < 1 and old != -1 for old, new in zip(before, wanted))
            if len(scales) != len(axes) or too_small:
                raise ValueError(
                    f"{who}: expected a result of 1 or more along each of {len(axes)} axes, but "
                    f"got {wanted} for shape {list(x.shape)} and scale {list(scale)}. Give larger "
                    "ones."
                )
        for axis, size in zip(axes, wanted):
            shape[axis] = max(size, -1)
        return MetaTensor(shape, x.dtype)

    return rule


@op(source="written here: the gradient of the interpolations", traits=("Pure", "ForwardOnly"))
def interpolate_back(
    xp,
    x: NoNeedBuffer,
    out_grad,
    scale_tensor: Optional,
    *,
    data_format: str,
    scale: Floats,
    interp_method: str,
    align_corners: bool,
    align_mode: int,
):
    """Each number of the result gives its gradient to the numbers of x that it is the mean of."""
    axes = _axes(x, data_format)
    scales = _scales(len(axes), scale, scale_tensor)
    how = (interp_method, align_corners, align_mode)
    grad = out_grad
    for axis, factor in zip(axes, scales):
        size, wanted = x.shape[axis], out_grad.shape[axis]
        found = interpolate.taps(xp, size, wanted, factor, *how)
        grad = interpolate.give_back(xp, grad, axis, size, *found)
    return grad


@interpolate_back.infer_meta
def _(x, out_grad, scale_tensor, **attrs):
    return MetaTensor(x.shape, out_grad.dtype)


def _backward(
    x: NoNeedBuffer,
    out_size: Optional,
    size_tensor: Optional,
    scale_tensor: Optional,
    output_grad,
    *,
    data_format: str,
    out_d: int,
    out_h: int,
    out_w: int,
    scale: Floats,
    interp_method: str,
    align_corners: bool,
    align_mode: int,
):
    how = {"interp_method": interp_method, "align_corners": align_corners, "scale": scale}
    how |= {"data_format": data_format, "align_mode": align_mode}
    return (interpolate_back(x, output_grad, scale_tensor, **how),)


for _name in ("nearest", "linear", "bilinear", "trilinear", "bicubic"):
    _declared = op(
        source=f"paddle/phi/ops/yaml/ops.yaml: {_name}_interp",
        name=f"{_name}_interp",
        outputs=("output",),
        traits=("Pure",),
        amp="black",
    )(_forward)
    _declared.infer_meta(_shape_rule(f"{_name}_interp"))
    _declared.vjp(_backward, wrt=("x",), double_grad=False)
