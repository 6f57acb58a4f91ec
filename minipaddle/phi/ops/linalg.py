"""Products of matrices.

Paddle: paddle/phi/kernels/matmul_kernel.h; fused_ops.yaml: fc.
"""

from __future__ import annotations

import math

from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta import binary
from minipaddle.phi.infermeta.enforce import require_same_dtype
from minipaddle.phi.ops.manipulation import cast, reduce_as, reshape, reshape_as, unsqueeze


@op(
    source="paddle/phi/ops/yaml/ops.yaml: matmul",
    traits=("Pure",),
    same_dtype=("x", "y"),
    amp="white",
)
def matmul(xp, x, y, *, transpose_x: bool = False, transpose_y: bool = False):
    """x [..., M, K] @ y [..., K, N] -> [..., M, N]. A flag swaps the last two axes of its input
    first.
    """
    if transpose_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if transpose_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    return xp.matmul(x, y)


matmul.infer_meta(binary.matmul)


@matmul.vjp
def _(x, y, out_grad, *, transpose_x: bool, transpose_y: bool):
    # a vector is a matrix with one row (x) or one column (y)
    rows, columns, grad = x, y, out_grad
    if x.ndim == 1:
        rows, grad, transpose_x = unsqueeze(x, axis=(0,)), unsqueeze(grad, axis=(-1,)), False
        if y.ndim > 1:
            grad = unsqueeze(out_grad, axis=(-2,))
    if y.ndim == 1:
        columns, transpose_y = unsqueeze(y, axis=(-1,)), False
        grad = unsqueeze(grad, axis=(-1,))
    if transpose_x:
        x_grad = matmul(columns, grad, transpose_x=transpose_y, transpose_y=True)
    else:
        x_grad = matmul(grad, columns, transpose_y=not transpose_y)
    if transpose_y:
        y_grad = matmul(grad, rows, transpose_x=True, transpose_y=transpose_x)
    else:
        y_grad = matmul(rows, grad, transpose_x=not transpose_x)
    if x.ndim == y.ndim == 2:  # nothing was broadcast
        return x_grad, y_grad
    x_grad, y_grad = reduce_as(x_grad, rows), reduce_as(y_grad, columns)
    return reshape_as(x_grad, x), reshape_as(y_grad, y)


@matmul.grad_kernel
def _(xp, wanted, x, y, out_grad, *, transpose_x, transpose_y):
    """The same for plain matrices, without the gradient that nobody wants (that of the data)."""
    if not x.ndim == y.ndim == 2:
        rule = matmul.require_vjp().on_arrays(xp)
        return rule(x, y, out_grad, transpose_x=transpose_x, transpose_y=transpose_y)
    x_grad = y_grad = None
    if wanted[0]:
        right = y if transpose_y else y.T
        x_grad = xp.matmul(right.T, out_grad.T) if transpose_x else xp.matmul(out_grad, right)
    if wanted[1]:
        left = x if transpose_x else x.T
        y_grad = xp.matmul(out_grad.T, left.T) if transpose_y else xp.matmul(left, out_grad)
    return x_grad, y_grad


@op(
    source="paddle/phi/ops/yaml/ops.yaml: matmul_with_flatten",
    traits=("Pure",),
    same_dtype=("x", "y"),
)
def matmul_with_flatten(xp, x, y, *, x_num_col_dims: int = 1, y_num_col_dims: int = 1):
    """x @ y as matrices: the first `num_col_dims` axes of each are its rows, the others its
    columns. Classic Programs call it `mul`; static.nn.fc uses it.
    """
    rows, columns = (
        array.reshape(math.prod(array.shape[:count]), math.prod(array.shape[count:]))
        for array, count in ((x, x_num_col_dims), (y, y_num_col_dims))
    )
    return xp.matmul(rows, columns).reshape(*x.shape[:x_num_col_dims], *y.shape[y_num_col_dims:])


@matmul_with_flatten.infer_meta
def _(x, y, *, x_num_col_dims, y_num_col_dims):
    for name, meta, count in (("x", x, x_num_col_dims), ("y", y, y_num_col_dims)):
        if not 0 < count < meta.ndim:
            raise ValueError(
                f"matmul_with_flatten: expected {name}_num_col_dims between 1 and "
                f"{meta.ndim - 1}, but got {count} for the shape {list(meta.shape)}. Leave axes "
                "for the rows and for the columns."
            )
    inner, rows = x.shape[x_num_col_dims:], y.shape[:y_num_col_dims]
    if -1 not in (*inner, *rows) and math.prod(inner) != math.prod(rows):
        raise ValueError(
            "matmul_with_flatten: expected as many columns of x as rows of y, but got "
            f"{list(x.shape)} cut after {x_num_col_dims} axes and {list(y.shape)} cut after "
            f"{y_num_col_dims}. Change a shape, or where it is cut."
        )
    return MetaTensor((*x.shape[:x_num_col_dims], *y.shape[y_num_col_dims:]), x.dtype)


@matmul_with_flatten.vjp
def _(x, y, out_grad, *, x_num_col_dims: int, y_num_col_dims: int):
    inner, columns = math.prod(y.shape[:y_num_col_dims]), math.prod(y.shape[y_num_col_dims:])
    x_matrix, y_matrix = reshape(x, shape=(-1, inner)), reshape(y, shape=(inner, columns))
    grad = reshape(out_grad, shape=(-1, columns))
    x_grad = matmul(grad, y_matrix, transpose_y=True)
    y_grad = matmul(x_matrix, grad, transpose_x=True)
    return reshape_as(x_grad, x), reshape_as(y_grad, y)


@op(
    source="paddle/phi/ops/yaml/fused_ops.yaml: fc",
    traits=("Pure",),
    same_dtype=("input", "w"),
    amp="white",
)
def fc(
    xp,
    input,
    w,
    bias,
    *,
    in_num_col_dims: int = 1,
    activation_type: str = "",
    padding_weights: bool = False,
):
    """A whole layer in one op: activation(input @ w + bias). What matmul_add_act_fuse_pass
    makes.
    """
    out = xp.matmul(input, w)
    out += bias
    return xp.maximum(out, out.dtype.type(0)) if activation_type == "relu" else out


@fc.infer_meta
def _(input, w, bias, *, in_num_col_dims, activation_type, padding_weights):
    if activation_type not in ("", "relu"):
        raise ValueError(
            f"fc: expected activation_type '' or 'relu', but got {activation_type!r}. Apply "
            "others as ops."
        )
    product = binary.matmul(input, w, transpose_x=False, transpose_y=False)
    return MetaTensor(binary.broadcast_shape("fc", product, bias), product.dtype)


@fc.vjp
def _(input, w, bias: NoNeedBuffer, out, out_grad, *, activation_type: str):
    # Paddle's fc has no gradient (it is made for inference); ours trains, so that a fused program
    # can be compared
    grad = out_grad
    if activation_type == "relu":
        grad = out_grad * cast(out > 0, dtype=out.dtype)
    rows = reshape(input, shape=(-1, input.shape[-1]))
    flat = reshape(grad, shape=(-1, grad.shape[-1]))
    input_grad = reshape_as(matmul(flat, w, transpose_y=True), input)
    return input_grad, matmul(rows, flat, transpose_x=True), reduce_as(grad, bias)


@op(source="paddle/phi/ops/yaml/ops.yaml: bmm", traits=("Pure",), same_dtype=("x", "y"))
def bmm(xp, x, y):
    """A product for each matrix of a batch: x [B, M, K], y [B, K, N] -> [B, M, N]."""
    if x.ndim != 3 or y.ndim != 3 or x.shape[0] != y.shape[0]:
        raise ValueError  # InferMeta says why
    return xp.matmul(x, y)


bmm.infer_meta(binary.bmm)


@bmm.vjp
def _(x, y, out_grad):
    x_grad = matmul(out_grad, y, transpose_y=True)
    return x_grad, matmul(x, out_grad, transpose_x=True)


@bmm.decomp
def _(x, y):
    return matmul(x, y)


@op(source="paddle/phi/ops/yaml/ops.yaml: dot", traits=("Pure",), promote=("x", "y"))
def dot(xp, x, y):
    """The product of two vectors: x [K], y [K] -> []; of two lists of vectors: [B, K] -> [B]."""
    if x.shape != y.shape or x.ndim not in (1, 2):
        raise RuntimeError  # InferMeta says why
    product = x * y
    return xp.asarray(product.sum(axis=-1, dtype=product.dtype))  # int32 too stays what it is


dot.infer_meta(binary.dot)


@dot.vjp
def _(x, y, out_grad):
    grad = unsqueeze(out_grad, axis=(-1,))
    return grad * y, grad * x


@op(source="paddle/phi/ops/yaml/ops.yaml: addmm", traits=("Pure",), inplace={"out": "input"})
def addmm(xp, input, x, y, *, beta: float = 1.0, alpha: float = 1.0):
    """beta * input + alpha * (x @ y): x [M, K], y [K, N]; input broadcasts to [M, N]."""
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError  # InferMeta says why
    product = xp.matmul(x, y)
    kind = product.dtype.type
    return input * kind(beta) + product * kind(alpha)


addmm.infer_meta(binary.addmm)


@addmm.vjp
def _(input, x, y, out_grad, *, alpha: float, beta: float):
    grad = out_grad * alpha
    x_grad, y_grad = matmul(grad, y, transpose_y=True), matmul(x, grad, transpose_x=True)
    return reduce_as(out_grad * beta, input), x_grad, y_grad


@op(source="paddle/phi/ops/yaml/ops.yaml: kron", traits=("Pure",))
def kron(xp, x, y):
    """Every number of x times all of y: x [A, B], y [C, D] -> [A * C, B * D]. Of the one with fewer
    axes, the first ones count as 1.
    """
    if x.dtype != y.dtype:
        raise ValueError  # InferMeta says why
    return xp.asarray(xp.kron(x, y))


@kron.infer_meta
def _(x, y):
    require_same_dtype("kron", x=x, y=y)
    ndim = max(x.ndim, y.ndim)
    sizes = zip((1,) * (ndim - x.ndim) + x.shape, (1,) * (ndim - y.ndim) + y.shape)
    return MetaTensor([-1 if -1 in pair else math.prod(pair) for pair in sizes], x.dtype)


def _between(x, ndim, first):
    """Where axes of 1 go, so that x gets `ndim` axes, and one more before each or behind each."""
    return (0,) * (ndim - x.ndim) + tuple(range(first, 2 * ndim, 2))


@kron.vjp
def _(x, y, out_grad):
    ndim = max(x.ndim, y.ndim)
    left = unsqueeze(x, axis=_between(x, ndim, 1))  # [A, 1, B, 1]
    right = unsqueeze(y, axis=_between(y, ndim, 0))  # [1, C, 1, D]
    grad = reshape_as(out_grad, left * right)
    x_grad, y_grad = reduce_as(grad * right, left), reduce_as(grad * left, right)
    return reshape_as(x_grad, x), reshape_as(y_grad, y)
