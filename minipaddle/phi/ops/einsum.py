"""einsum: sums of products, said in letters. "ij,jk->ik" is a matrix product.

Each letter names an axis. Axes of the same letter run together; a letter that is not behind the
arrow is summed over. "..." stands for any number of axes in front.

Paddle: paddle/phi/kernels/impl/einsum_kernel_impl.h. It cuts the equation into transposes and
matmuls and keeps the pieces for its gradient (outputs inner_cache and xshape).
Left out: those two outputs; numpy and CuPy have an einsum of their own.
"""

from __future__ import annotations

from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import TensorList, op
from minipaddle.phi.ops.creation import eye
from minipaddle.phi.ops.manipulation import expand_as, unsqueeze

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@op(source="paddle/phi/ops/yaml/ops.yaml: einsum", traits=("Pure",), amp="white")
def einsum(xp, x: TensorList, *, equation: str):
    """Sums of products of the Tensors of x, as the equation says: "ij,jk->ik"."""
    out = xp.asarray(xp.einsum(equation, *x, optimize=True))
    return out.copy() if len(x) == 1 else out  # where nothing is summed, it is a view of x


@einsum.infer_meta
def _(x, *, equation):
    labels, out = labels_of(equation, [item.ndim for item in x])
    sizes = {}
    for item, letters in zip(x, labels, strict=True):
        for letter, size in zip(letters, item.shape, strict=True):
            known = sizes.setdefault(letter, size)
            if known != size and 1 not in (known, size) and -1 not in (known, size):
                raise ValueError(
                    f"einsum: expected one size for {letter!r} in {equation!r}, but got {known} "
                    f"and {size}, from shapes {[list(item.shape) for item in x]}. Use another "
                    "letter, or transpose."
                )
            if known in (1, -1) and size != 1:
                sizes[letter] = size
    return MetaTensor([sizes[letter] for letter in out], x[0].dtype)


@einsum.vjp
def _(x, out_grad, *, equation: str):
    labels, out = labels_of(equation, [item.ndim for item in x])
    grads = []
    for position, (item, letters) in enumerate(zip(x, labels, strict=True)):
        # the same sum with out_grad in the place of x[position]; a second letter of the same name
        # gets a new one, and an identity matrix that ties the two together
        single, ties, free = [], [], iter(unused_letters(labels, out))
        for letter in letters:
            if letter in single:
                ties.append((letter, next(free)))
                letter = ties[-1][1]
            single.append(letter)
        others = [other for i, other in enumerate(x) if i != position]
        sizes = dict(zip(single, item.shape, strict=True))
        tied = [eye(num_rows=sizes[a], num_columns=sizes[b], dtype=out_grad.dtype) for a, b in ties]
        left = [out, *(labels[i] for i in range(len(x)) if i != position)]
        left += [a + b for a, b in ties]
        # A letter that stands nowhere else was summed over: the gradient is the same along it. A
        # size of 1 was perhaps broadcast: the gradient is summed along it.
        present = [
            letter
            for letter in single
            if sizes[letter] != 1 and any(letter in part for part in left)
        ]
        grad = einsum([out_grad, *others, *tied], equation=f"{','.join(left)}->{''.join(present)}")
        for axis, letter in enumerate(single):
            if letter not in present:
                grad = unsqueeze(grad, axis=(axis,))
        grads.append(expand_as(grad, item) if grad.shape != item.shape else grad)
    return (grads,)


def labels_of(equation, ndims):
    """The letters of each input's axes and those of the result, with "..." spelled out.

    Raises:
        ValueError: the equation and the numbers of dimensions don't fit.
    """
    left, arrow, out = equation.replace(" ", "").partition("->")
    wrong = {letter for letter in left + out if letter not in LETTERS + ".,"}
    if wrong:
        raise ValueError(
            f"einsum: expected letters, commas, '...' and one arrow '->', but got {equation!r}, "
            f"which has {sorted(wrong)}. Name each axis with a letter."
        )
    parts = left.split(",")
    if len(parts) != len(ndims):
        raise ValueError(
            f"einsum: expected {len(parts)} Tensors for {equation!r}, but got {len(ndims)}. Give "
            "one Tensor between two commas."
        )
    dots = [ndim - len(part.replace("...", "")) for part, ndim in zip(parts, ndims, strict=True)]
    for part, count, ndim in zip(parts, dots, ndims, strict=True):
        if count < 0 or (count > 0 and "..." not in part):
            raise ValueError(
                f"einsum: expected a Tensor with {len(part)} dimensions for {part!r} in "
                f"{equation!r}, but got {ndim}. Give each axis a letter, or write '...'."
            )
    widest = "".join(unused_letters(parts, out))[: max(dots, default=0)]
    spelled = [
        part.replace("...", widest[len(widest) - count :])
        for part, count in zip(parts, dots, strict=True)
    ]
    if not arrow:
        once = sorted(set("".join(parts).replace(".", "")))
        out = "".join(letter for letter in once if left.count(letter) == 1)
        out = ("..." if "..." in left else "") + out
    out = out.replace("...", widest)
    unknown = [letter for letter in out if letter not in "".join(spelled)]
    if unknown:
        raise ValueError(
            f"einsum: expected letters of the inputs behind the arrow of {equation!r}, but got "
            f"{unknown}. Only letters on the left have a size."
        )
    return spelled, out


def unused_letters(parts, out):
    """Letters that don't occur."""
    return [letter for letter in LETTERS if letter not in "".join(parts) + out]
