"""Several Tensors into one, one Tensor into several, and one Tensor repeated.

Joining and taking apart are each other's gradients.

Paddle: paddle/phi/kernels/concat_kernel.h, stack_kernel.h, split_kernel.h, unbind_kernel.h,
tile_kernel.h, meshgrid_kernel.h, broadcast_tensors_kernel.h.
"""

from __future__ import annotations

from minipaddle.phi.core.attribute import IntArray, ScalarInt, UnknownInts
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, TensorList, op
from minipaddle.phi.infermeta.binary import broadcast_shape
from minipaddle.phi.infermeta.enforce import normalize_axes, require_same_dtype, shapes_agree
from minipaddle.phi.ops.manipulation import reduce_as, reshape, reshape_as
from minipaddle.phi.ops.reduction import sum


def _agree(who, metas, skip=None):
    """Raises ValueError where sizes (but for the axis `skip`) or dtypes of the inputs differ."""
    first = metas[0]
    for other in metas[1:]:
        shapes = [
            [-1 if i == skip else size for i, size in enumerate(meta.shape)]
            for meta in (first, other)
        ]
        if not shapes_agree(*shapes):
            where = "" if skip is None else f" but for axis {skip}"
            raise ValueError(
                f"{who}: expected inputs of one shape{where}, but got {list(first.shape)} and "
                f"{list(other.shape)}. Reshape one of them."
            )
        if other.dtype is not first.dtype:
            raise ValueError(
                f"{who}: expected inputs of one dtype, but got {first.dtype.name} and "
                f"{other.dtype.name}. Cast one of them with astype."
            )


def _not_empty(who, metas):
    if not metas:
        raise ValueError(f"{who}: expected at least one Tensor, but got none. Pass a list of them.")


def _total(sizes):
    total = 0  # `sum` is an op here
    for size in sizes:
        total += size
    return total


@op(source="paddle/phi/ops/yaml/ops.yaml: concat", traits=("Pure",))
def concat(xp, x: TensorList, *, axis: ScalarInt = 0):
    """The Tensors one after the other along `axis`."""
    if any(item.dtype != x[0].dtype for item in x):
        raise TypeError  # numpy would promote; InferMeta says what is wrong
    return xp.concatenate(x, int(axis))


@concat.infer_meta
def _(x, *, axis):
    _not_empty("concat", x)
    if x[0].ndim == 0:
        raise ValueError(
            "concat: expected Tensors with dimensions, but got a 0-D Tensor. Use stack."
        )
    (place,) = normalize_axes("concat", int(axis), x[0].ndim)
    _agree("concat", x, skip=place)
    shape = list(x[0].shape)
    sizes = [item.shape[place] for item in x]
    shape[place] = -1 if -1 in sizes else _total(sizes)
    return MetaTensor(shape, x[0].dtype)


@concat.vjp
def _(x: NoNeedBuffer, out_grad, *, axis: ScalarInt):
    return (split(out_grad, sections=[item.shape[int(axis)] for item in x], axis=axis),)


@op(source="paddle/phi/ops/yaml/ops.yaml: stack", traits=("Pure",))
def stack(xp, x: TensorList, *, axis: int = 0):
    """The Tensors, all of one shape, beside each other along a new axis."""
    if any(item.dtype != x[0].dtype for item in x):
        raise TypeError  # numpy would promote; InferMeta says what is wrong
    return xp.stack(x, axis)


@stack.infer_meta
def _(x, *, axis):
    _not_empty("stack", x)
    _agree("stack", x)
    (place,) = normalize_axes("stack", axis, x[0].ndim + 1)
    shape = list(x[0].shape)
    shape.insert(place, len(x))
    return MetaTensor(shape, x[0].dtype)


@stack.vjp
def _(x: NoNeedBuffer, out_grad, *, axis: int):
    return (unbind(out_grad, axis=axis),)


def _sections(x, sections, axis):
    """The sizes, with -1 worked out.

    Raises:
        ValueError: they don't add up to the size of x.
    """
    if x.ndim == 0:
        raise ValueError("split: expected a Tensor with dimensions, but got a 0-D Tensor.")
    (axis,) = normalize_axes("split", int(axis), x.ndim)
    size, known = x.shape[axis], _total(item for item in sections if item != -1)
    if size == -1 or isinstance(sections, UnknownInts):
        return list(sections)
    unknown = list(sections).count(-1)
    if unknown > 1 or (known > size if unknown else known != size):
        raise ValueError(
            f"split: expected sections that add up to {size}, with at most one -1, but got "
            f"{list(sections)} for axis {axis} of shape {list(x.shape)}. One -1 takes what is left."
        )
    return [size - known if item == -1 else item for item in sections]


@op(source="paddle/phi/ops/yaml/ops.yaml: split", outputs=("out[]",), traits=("Pure",))
def split(xp, x, *, sections: IntArray, axis: ScalarInt):
    """Takes x apart along `axis`, in pieces of the sizes `sections`; one of them may be -1."""
    axis = int(axis)
    ends, end = [], 0
    for size in _sections(x, sections, axis):
        end += size
        ends.append(end)
    # copies, as in Paddle: writing into a piece does not write into x
    return [piece.copy() for piece in xp.split(x, ends[:-1], axis)]


@split.infer_meta
def _(x, *, sections, axis):
    sizes = _sections(x, sections, axis)
    shapes = []
    for size in sizes:
        shape = list(x.shape)
        shape[int(axis)] = size
        shapes.append(MetaTensor(shape, x.dtype))
    return shapes


@split.vjp(invoke=True)
def _(out_grad: TensorList, *, axis: ScalarInt):
    return (concat(out_grad, axis=axis),)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: split_with_num",
    outputs=("out[]",),
    traits=("Pure",),
)
def split_with_num(xp, x, *, num: int, axis: ScalarInt):
    """Takes x apart along `axis`, in `num` equal pieces."""
    return [piece.copy() for piece in xp.split(x, num, int(axis))]


@split_with_num.infer_meta
def _(x, *, num, axis):
    if x.ndim == 0:
        raise ValueError("split: expected a Tensor with dimensions, but got a 0-D Tensor.")
    (place,) = normalize_axes("split", int(axis), x.ndim)
    size = x.shape[place]
    if num < 1 or size % num and size != -1:
        raise ValueError(
            f"split: expected a size that {num} divides, but got {size} (axis {place} of shape "
            f"{list(x.shape)}). Give the sizes of the pieces as a list."
        )
    shape = list(x.shape)
    shape[place] = -1 if size == -1 else size // num
    return [MetaTensor(shape, x.dtype) for _ in range(num)]


@split_with_num.vjp(invoke=True)
def _(out_grad: TensorList, *, axis: ScalarInt):
    return (concat(out_grad, axis=axis),)


def _unbound(who, x, axis):
    (place,) = normalize_axes(who, axis, x.ndim)
    if x.ndim == 0 or x.shape[place] == -1:
        raise ValueError(
            f"{who}: expected a known size at axis {axis}, but got shape {list(x.shape)}. "
            "It says how many Tensors come out."
        )
    shape = [size for i, size in enumerate(x.shape) if i != place]
    return [MetaTensor(shape, x.dtype) for _ in range(x.shape[place])]


@op(
    source="paddle/phi/ops/yaml/ops.yaml: unbind",
    outputs=("out[]",),
    traits=("Pure", "View"),
)
def unbind(xp, input, *, axis: int = 0):
    """The slices of x along `axis`, which goes away."""
    first = xp.moveaxis(input, axis, 0)
    return [first[i, ...] for i in range(len(first))]


@unbind.infer_meta
def _(input, *, axis):
    return _unbound("unbind", input, axis)


@unbind.vjp(invoke=True)
def _(out_grad: TensorList, *, axis: int):
    return (stack(out_grad, axis=axis),)


@op(source="paddle/phi/ops/yaml/ops.yaml: unstack", outputs=("out[]",), traits=("Pure",))
def unstack(xp, x, *, axis: int = 0, num: int = 0):
    """The same as unbind; `num`, if given, must be the size of the axis."""
    pieces = xp.moveaxis(x, axis, 0)
    if num not in (0, len(pieces)):
        raise ValueError  # InferMeta says why
    return [piece.copy() for piece in pieces]


@unstack.infer_meta
def _(x, *, axis, num):
    pieces = _unbound("unstack", x, axis)
    if num not in (0, len(pieces)):
        raise ValueError(
            f"unstack: expected num to be the size of axis {axis} of shape {list(x.shape)}, but "
            f"got {num}. Leave it out."
        )
    return pieces


@unstack.vjp
def _(out_grad: TensorList, *, axis: int):
    return (stack(out_grad, axis=axis),)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: broadcast_tensors",
    outputs=("out[]",),
    traits=("Pure",),
)
def broadcast_tensors(xp, input: TensorList):
    """All Tensors in the shape that they broadcast to together."""
    if any(item.dtype != input[0].dtype for item in input):
        raise ValueError  # InferMeta says why
    return [item.copy() for item in xp.broadcast_arrays(*input)]


@broadcast_tensors.infer_meta
def _(input):
    _not_empty("broadcast_tensors", input)
    whole = input[0]
    for item in input[1:]:
        require_same_dtype("broadcast_tensors", first=whole, other=item)
        whole = MetaTensor(broadcast_shape("broadcast_tensors", whole, item), whole.dtype)
    return [MetaTensor(whole.shape, item.dtype) for item in input]


@broadcast_tensors.vjp
def _(input: NoNeedBuffer, out_grad: TensorList):
    return ([reduce_as(grad, item) for grad, item in zip(out_grad, input, strict=True)],)


@op(source="paddle/phi/ops/yaml/ops.yaml: meshgrid", outputs=("out[]",), traits=("Pure",))
def meshgrid(xp, inputs: TensorList):
    """Rows [N], [M], ... -> as many Tensors [N, M, ...]: each shows its own row along its axis."""
    if any(item.ndim > 1 for item in inputs):
        raise ValueError  # InferMeta says why
    grids = xp.meshgrid(*[item.reshape(-1) for item in inputs], indexing="ij")
    return [item.copy() for item in grids]


@meshgrid.infer_meta
def _(inputs):
    _not_empty("meshgrid", inputs)
    if any(item.ndim > 1 for item in inputs):
        raise ValueError(
            f"meshgrid: expected inputs of 0 or 1 dimensions, but got "
            f"{[list(item.shape) for item in inputs]}. Flatten them first."
        )
    shape = [item.shape[0] if item.ndim else 1 for item in inputs]
    return [MetaTensor(shape, item.dtype) for item in inputs]


@meshgrid.vjp
def _(inputs: NoNeedBuffer, out_grad: TensorList):
    grads = []
    for i, (item, grad) in enumerate(zip(inputs, out_grad, strict=True)):
        others = [axis for axis in range(len(inputs)) if axis != i]
        grads.append(reshape_as(sum(grad, axis=others) if others else grad, item))
    return (grads,)


def _both(x, repeat_times):
    """The numbers of repetitions and the sizes of x, one of each per axis of the result."""
    ndim = max(x.ndim, len(repeat_times))
    times = (1,) * (ndim - len(repeat_times)) + tuple(repeat_times)
    return times, (1,) * (ndim - x.ndim) + tuple(x.shape)


@op(source="paddle/phi/ops/yaml/ops.yaml: tile", traits=("Pure",))
def tile(xp, x, *, repeat_times: IntArray = ()):
    """x, repeated along each axis; counted from the right, like broadcasting."""
    return xp.tile(x, repeat_times).copy()


@tile.infer_meta
def _(x, *, repeat_times):
    if any(times < 1 for times in repeat_times) and not isinstance(repeat_times, UnknownInts):
        raise ValueError(
            f"tile: expected numbers of 1 or more, but got {list(repeat_times)}. 1 repeats nothing."
        )
    times, shape = _both(x, repeat_times)
    sizes = [-1 if -1 in (n, size) else n * size for n, size in zip(times, shape, strict=True)]
    return MetaTensor(sizes, x.dtype)


@tile.vjp
def _(x: NoNeedBuffer, out_grad, *, repeat_times: IntArray):
    # each axis of out is (repetition, place in x): sum over the repetitions
    times, shape = _both(x, repeat_times)
    apart = [size for pair in zip(times, shape, strict=True) for size in pair]
    if not apart:
        return (out_grad,)
    summed = sum(reshape(out_grad, shape=apart), axis=list(range(0, len(apart), 2)))
    return (reshape_as(summed, x),)
