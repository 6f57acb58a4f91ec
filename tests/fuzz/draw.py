"""Draws programs: lines of text, each run on minipaddle while it is drawn, so that the next line
knows which Tensors there are and what shapes they have.

A line is a template with holes, `{x}.reshape({shape})`; the class Holes fills them.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

from tests.fuzz.run import Run

WRONG = 0.015  # how often a hole gets what does not fit

# What {x} should be: a Tensor of floats, of anything, of ints or of bools.
FLOATS = """
paddle.{unary}({x})
{x}.{unary}()
F.{activation}({x})
F.elu({x}, {number})
F.leaky_relu({x}, {number})
F.softmax({x}, axis={axis})
F.log_softmax({x}, axis={axis})
F.gelu({x}, approximate={flag})
F.hardtanh({x}, -1.0, 0.5)
F.softplus({x}, beta=2.0)
paddle.logsumexp({x}, axis={axes}, keepdim={flag})
paddle.{reduction}({x})
paddle.{reduction}({x}, axis={axes})
{x}.{reduction}(axis={axes}, keepdim={flag})
{x}.std({axes}, unbiased={flag})
{x}.var({axes}, unbiased={flag})
paddle.norm({x})
paddle.norm({x}, 2, {axis})
paddle.norm({x}, 1, {axis}, keepdim={flag})
paddle.pow({x}, {power})
{x} ** {y}
{x} @ {matrix}
paddle.matmul({matrix}, {x})
paddle.matmul({x}, {like}, transpose_y=True)
paddle.matmul({x}, {like}, True)
paddle.dot({x}, {like})
paddle.mm({x}, {matrix})
F.linear({x}, {matrix})
F.mse_loss({x}, {like}, reduction={how})
F.l1_loss({x}, {like}, reduction={how})
F.smooth_l1_loss({x}, {like}, reduction={how}, delta=0.5)
F.square_error_cost({x}, {like})
F.binary_cross_entropy_with_logits({x}, {like}, reduction={how})
F.binary_cross_entropy(F.sigmoid({x}), F.sigmoid({like}), reduction={how})
F.kl_div({x}, {like}, reduction={how})
F.cross_entropy({x}, {labels}, reduction={how})
F.cross_entropy({x}, {x}, soft_label=True, axis={axis})
F.nll_loss(F.log_softmax({x}), {labels})
F.layer_norm({x}, {lastsize})
F.dropout({x}, 0.0)
F.dropout({x}, 0.5, training=False)
F.label_smooth({x})
paddle.isnan({x})
paddle.isfinite({x})
paddle.isclose({x}, {like})
paddle.allclose({x}, {like})
paddle.clip({x}, -1.0, {number})
"""
ANYTHING = """
{x} + {y}
{x} - {y}
{x} * {y}
{x} / {y}
{x} + {number}
{x} - {number}
{x} * {number}
{x} / {number}
{number} + {x}
{number} - {x}
{number} * {x}
{number} / {x}
{x} ** {power}
{number} ** {x}
{x} // {y}
{x} % {y}
{x} // {number}
{x} % {number}
-{x}
abs({x})
{x} {compare} {y}
{x} {compare} {number}
paddle.{binary}({x}, {y})
{x}.{binary}({y})
{x}.scale({number}, {number}, {flag})
{x}.reshape({shape})
paddle.reshape({x}, {shape})
{x}.flatten()
{x}.flatten({axis})
{x}.flatten({axis}, {axis})
{x}.squeeze()
{x}.squeeze({axis})
{x}.unsqueeze({axis})
{x}.unsqueeze([0, -1])
{x}.transpose({perm})
{x}.T
{x}.t()
paddle.moveaxis({x}, {axis}, {axis})
paddle.swapaxes({x}, {axis}, {axis})
{x}.expand({grown})
{x}.expand_as({y})
{x}.tile({repeats})
paddle.broadcast_to({x}, {grown})
paddle.broadcast_tensors([{x}, {y}])
paddle.flip({x}, {axis})
paddle.roll({x}, {int}, {axis})
paddle.roll({x}, {int})
paddle.concat([{x}, {like}], axis={axis})
paddle.concat([{x}, {like}, {x}])
paddle.stack([{x}, {like}], axis={axis})
paddle.add_n([{x}, {like}])
paddle.add_n([{x}, {y}, {x}])
paddle.split({x}, {int}, axis={axis})
paddle.split({x}, [1, -1], axis={axis})
paddle.chunk({x}, {int}, axis={axis})
paddle.unbind({x}, {axis})
paddle.unstack({x}, {axis})
{x}[{index}]
{x}[{index}]
{x}[{index}]
{x}[{mask}]
paddle.gather({x}, {rows})
paddle.gather({x}, {rows}, axis={axis})
paddle.index_select({x}, {rows}, {axis})
paddle.gather_nd({x}, {points})
paddle.masked_select({x}, {mask})
paddle.where({mask}, {x}, {like})
paddle.where({mask}, {x}, {y})
paddle.where({mask}, {x}, {number})
paddle.masked_fill({x}, {mask}, {number})
paddle.take_along_axis({x}, {places}, {axis})
paddle.index_add({x}, {rows}, 0, {x}[{rows}])
paddle.slice({x}, [0], [{int}], [{int}])
paddle.strided_slice({x}, [0], [{int}], [{int}], [2])
{x}.cumsum()
{x}.cumsum({axis})
{x}.astype({dtype})
paddle.cast({x}, {dtype})
{x}.clone()
{x}.detach()
paddle.assign({x})
paddle.zeros_like({x})
paddle.ones_like({x}, {dtype})
paddle.full_like({x}, {number})
paddle.tril({x}, {int})
paddle.triu({x})
paddle.diagonal({x})
{x}.diagonal({int}, {axis}, {axis})
F.pad({x}, {widths})
F.pad({x}, [1, 0])
paddle.clip({x}, {number}, 2)
paddle.sort({x}, axis={axis}, descending={flag})
paddle.argsort({x}, axis={axis})
paddle.topk({x}, 1, axis={axis})
paddle.argmax({x}, axis={axis}, keepdim={flag})
paddle.argmin({x})
paddle.max({x}, axis={axes}, keepdim={flag})
paddle.sum({x}, axis={axes}, dtype={dtype})
paddle.nonzero({x})
paddle.unique({x})
paddle.numel({x})
paddle.equal_all({x}, {like})
paddle.meshgrid({x}, {x})
paddle.{unary}({x})
paddle.{reduction}({x}, axis={axes})
"""
INTS = """
{x} & {like}
{x} | {like}
{x} ^ {like}
~{x}
{x}.sum(axis={axes})
{x}.mean()
{x}.var()
{x}.std()
F.one_hot({x}, 4)
F.embedding({x}, {matrix})
paddle.{unary}({x})
"""
BOOLS = """
paddle.logical_and({x}, {like})
paddle.logical_or({x}, {like})
paddle.logical_not({x})
paddle.logical_xor({x}, {like})
{x}.all(axis={axes}, keepdim={flag})
{x}.any(axis={axes})
{x} & {like}
{x} | {like}
~{x}
{x}.astype({dtype})
{x}.sum()
"""
IN_PLACE = """
{x}.add_({like})
{x}.subtract_({y})
{x}.multiply_({y})
{x}.divide_({like})
{x}.scale_({number})
{x}.{unary}_()
{x}.clip_(-1.0, 1.0)
{x}.pow_({power})
{x}.reshape_({shape})
{x}.squeeze_()
{x}.unsqueeze_({axis})
{x}.flatten_()
{x}.transpose_({perm})
{x}.cast_({dtype})
{x}.fill_({number})
{x}.zero_()
{x}.cumsum_({axis})
{x}.masked_fill_({mask}, {number})
{x}.set_value({like})
{x}.tril_()
F.relu_({x})
F.elu_({x})
F.tanh_({x})
F.softmax_({x})
F.leaky_relu_({x})
{x}[{index}] = {number}
{x}[{index}] = {x}[{index}]
{x}[{index}] = {number}
{x}[{mask}] = {number}
{x}[{mask}] = {y}
paddle.scatter_({x}, {rows}, {x}[{rows}])
{x}.index_put_([{rows}], t({number}, dtype={x}.dtype))
paddle.increment({x})
"""
MARKS = """
{x}.stop_gradient = {flag}
{x}.retain_grads()
{x}.retain_grads()
{x}.register_hook(hook('{x}', {factor}))
{x}.register_hook(hook('{x} again', {factor}))
{x}.clear_grad()
{x}.clear_gradient(False)
"""
BACKWARD = """
{x}.backward()
{x}.backward(retain_graph=True)
{x}.sum().backward()
({x} * {y}).sum().backward(retain_graph=True)
{x}.backward({like})
paddle.autograd.backward([{x}, {other}])
paddle.autograd.backward([{x}, {other}], [None, None], True)
"""
GRADS = """
paddle.grad({x}, {z})
paddle.grad({x}.sum(), {z}, retain_graph=True)
paddle.grad({x}, {z}, create_graph=True)
paddle.grad([{x}.sum()], [{z}, {y}], create_graph=True, allow_unused=True)
paddle.grad([{x}], [{z}], [{like}], create_graph=True, allow_unused=True)
paddle.grad([{x}, {z}], [{w}], create_graph=True, allow_unused=True)
paddle.grad({x}, {z}, create_graph=True, allow_unused=True, no_grad_vars=[{w}])
"""
UNARY = """
abs sign square sqrt rsqrt reciprocal exp expm1 log log2 log10 log1p erf sin cos tan floor
ceil round sigmoid tanh neg
"""
ACTIVATIONS = """
elu gelu hardsigmoid hardswish hardtanh leaky_relu log_sigmoid relu relu6 silu softplus
swish sigmoid tanh softmax
"""
REDUCTIONS = """
sum sum mean mean max min amax amin prod std var
"""
BINARY = """
add subtract multiply divide maximum minimum fmax fmin floor_divide mod pow equal
less_than greater_equal
"""
SHAPES = [
    *([], [1], [2], [3], [2, 3], [2, 3], [3, 1], [1, 3], [2, 2], [3, 3], [2, 1, 3], [2, 3, 2]),
    *([0], [0, 3], [2, 0]),
]
KINDS = {  # templates, weight, which dtypes {x} has
    "float": (FLOATS, 30, "f"),
    "any": (ANYTHING, 40, "fiub"),
    "int": (INTS, 4, "iu"),
    "bool": (BOOLS, 4, "b"),
    "in place": (IN_PLACE, 14, "fiub"),
    "mark": (MARKS, 12, "f"),
    "backward": (BACKWARD, 7, "f"),
    "grad": (GRADS, 7, "f"),
    "leaf": ("leaf", 6, ""),
}


class Holes:
    """Fills the holes of one template, for the Tensor that is chosen as x."""

    def __init__(self, rng: random.Random, tensors: dict[str, Any], dtypes: str) -> None:
        self.rng = rng
        self.tensors = tensors
        fitting = [name for name, x in tensors.items() if x.numpy().dtype.kind in dtypes]
        if not fitting or rng.random() < WRONG:
            fitting = list(tensors)
        self.name = self.later(fitting)
        self.array = tensors[self.name].numpy()
        self.shape_of_x, self.ndim = list(self.array.shape), self.array.ndim

    def __getitem__(self, hole: str) -> str:
        if hole == "x":
            return self.name
        return str(getattr(self, f"_{hole}")())

    def later(self, names: list[str]) -> str:
        """One of the names, rather a late one: programs get deep."""
        return names[int(len(names) * self.rng.random() ** 0.6)]

    def wrong(self) -> bool:
        return self.rng.random() < WRONG

    def among(self, wanted: Any) -> str:
        """A Tensor for which `wanted(array)` holds, or a new one like x."""
        names = [name for name, x in self.tensors.items() if wanted(x.numpy())]
        if self.wrong():
            return self.later(list(self.tensors))
        if not names or self.rng.random() < 0.2:
            return literal(self.rng, self.shape_of_x, str(self.array.dtype))
        return self.later(names)

    # -- Tensors

    def _y(self) -> str:
        def broadcasts(array: np.ndarray) -> bool:
            pairs = zip(reversed(array.shape), reversed(self.shape_of_x))
            mixes = array.dtype == self.array.dtype or self.rng.random() < 0.2
            return mixes and all(a == b or 1 in (a, b) for a, b in pairs)

        return self.among(broadcasts)

    def _like(self) -> str:
        shape, dtype = self.array.shape, self.array.dtype
        mixed = self.rng.random() < 0.05
        return self.among(lambda a: a.shape == shape and (mixed or a.dtype == dtype))

    def _z(self) -> str:
        names = [n for n, x in self.tensors.items() if not x.stop_gradient]
        return self.rng.choice(names or list(self.tensors))

    _w = _z

    def _other(self) -> str:
        names = [n for n, x in self.tensors.items() if not x.stop_gradient and n != self.name]
        return self.rng.choice(names or list(self.tensors))

    def _matrix(self) -> str:
        rows = self.shape_of_x[-1] if self.shape_of_x else 1
        dtype = "float32" if self.array.dtype.kind != "f" else str(self.array.dtype)
        if self.wrong():
            rows += 1
        return literal(self.rng, [rows, self.rng.choice([1, 2, rows])], dtype)

    def _mask(self) -> str:
        if self.wrong():
            return literal(self.rng, [2], "bool")
        return literal(self.rng, self.shape_of_x, "bool")

    def _rows(self) -> str:
        return self.indices([self.rng.choice([0, 1, 2, 2])], min(self.shape_of_x or [1]))

    def _points(self) -> str:
        depth = self.rng.randint(1, max(self.ndim, 1))
        return self.indices([2, depth], min(self.shape_of_x[:depth] or [1]))

    def _places(self) -> str:
        return self.indices([1] * self.ndim, min(self.shape_of_x or [1]))

    def _labels(self) -> str:
        rows = self.shape_of_x[:-1]
        return self.indices(rows, self.shape_of_x[-1] if self.shape_of_x else 1)

    def indices(self, shape: list[int], size: int) -> str:
        below = max(size, 1) + (1 if self.wrong() else 0)
        numbers = np.array([self.rng.randrange(below) for _ in range(int(np.prod(shape)))], int)
        return f"t(np.array({numbers.reshape(shape).tolist()}, 'int64').reshape({shape}))"

    # -- attributes

    def _unary(self) -> str:
        return self.rng.choice(UNARY.split())

    def _activation(self) -> str:
        return self.rng.choice(ACTIVATIONS.split())

    def _reduction(self) -> str:
        return self.rng.choice(REDUCTIONS.split())

    def _binary(self) -> str:
        return self.rng.choice(BINARY.split())

    def _compare(self) -> str:
        return self.rng.choice(["<", ">", "<=", ">=", "==", "!="])

    def _number(self) -> str:
        if self.array.dtype.kind in "iub":
            return str(self.rng.choice([0, 1, 2, 3, -1, 2, 0.5]))
        return str(self.rng.choice([0.5, 2.0, -1.0, 1.5, 0.0, 2, 3, 1]))

    def _power(self) -> str:
        # an integer to the power -1 makes real Paddle hang
        return str(self.rng.choice([0, 1, 2, 3, 0.5] + [-1.0] * (self.array.dtype.kind == "f")))

    def _factor(self) -> str:
        return str(self.rng.choice([None, None, 2.0, 0.5]))

    def _flag(self) -> str:
        return str(self.rng.random() < 0.5)

    def _int(self) -> str:
        return str(self.rng.choice([0, 1, 1, 2, 2, 3, -1]))

    def _dtype(self) -> str:
        return repr(self.rng.choice(["float32", "float64", "float64", "int64", "int32", "bool"]))

    def _how(self) -> str:
        return repr(self.rng.choice(["mean", "sum", "none"]))

    def _axis(self) -> str:
        most = max(self.ndim, 1) + (1 if self.wrong() else 0)
        return str(self.rng.randrange(-most, most))

    def _axes(self) -> str:
        choice = self.rng.random()
        if choice < 0.3 or not self.ndim:
            return "None"
        if choice < 0.8:
            return self._axis()
        return str(self.rng.sample(range(self.ndim), self.rng.randint(1, self.ndim)))

    def _perm(self) -> str:
        return str(self.rng.sample(range(self.ndim), self.ndim))

    def _lastsize(self) -> str:
        return str(self.shape_of_x[-1] if self.shape_of_x else 1)

    def _shape(self) -> str:
        size = self.array.size
        shapes = [[-1], [size], [1, size], [size, 1], [-1, 1], [1, -1]]
        shapes += [[2, -1], [-1, 2]] if size % 2 == 0 else [[-1, size, 1]]
        shapes += [self.shape_of_x] + ([[4, -1]] if self.wrong() else [])
        return str(self.rng.choice(shapes))

    def _grown(self) -> str:
        sizes = [3 if size == 1 else self.rng.choice([size, -1]) for size in self.shape_of_x]
        return str(self.rng.choice([[2, *sizes], sizes]))

    def _repeats(self) -> str:
        return str([self.rng.choice([1, 2]) for _ in range(self.ndim or 1)])

    def _widths(self) -> str:
        return str([self.rng.choice([0, 1, 1, 2]) for _ in range(2 * (self.ndim or 1))])

    def _index(self) -> str:
        rng, items = self.rng, []
        for size in self.shape_of_x[: rng.randint(0, self.ndim)]:
            places = [":", "1:", ":1", "::2", "::-1", "-1:", "0:1", "None", "..."]
            if size or self.wrong():
                places += [*(str(rng.randrange(-size, max(size, 1))) for _ in range(5)), "[0, 0]"]
            items.append(rng.choice(places))
        return ", ".join(items) or rng.choice(["...", ":", "None"])


def literal(rng: random.Random, shape: list[int], dtype: str, rest: str = "") -> str:
    """The text of a new Tensor."""
    count = int(np.prod(shape))
    if dtype == "bool":
        numbers: list[Any] = [rng.random() < 0.5 for _ in range(count)]
    elif "int" in dtype:
        numbers = [rng.randint(-2, 3) for _ in range(count)]
    else:
        numbers = [rng.randint(-8, 12) / 4 for _ in range(count)]
    values = np.array(numbers, dtype).reshape(shape).tolist()
    if not count:
        return f"t(np.zeros({shape}, '{dtype}'){rest})"
    return f"t({values}, dtype='{dtype}'{rest})"


def leaf(rng: random.Random) -> str:
    """The text of a new leaf."""
    dtype = rng.choice(["float32"] * 5 + ["float64"] * 3 + ["int64"] * 2 + ["int32", "bool"])
    stop = rng.random() < (0.15 if "float" in dtype else 0.8)
    return literal(rng, rng.choice(SHAPES), dtype, f", stop_gradient={stop}")


def draw(seed: int, paddle: Any) -> list[str]:
    """The lines of one program."""
    rng = random.Random(seed)
    running = Run(paddle)
    lines: list[str] = []
    kinds = list(KINDS)
    weights = [KINDS[kind][1] for kind in kinds]
    length = rng.randint(3, 14)

    def add(kind: str) -> None:
        templates, _, dtypes = KINDS[kind]
        if kind == "leaf":
            line = leaf(rng)
        else:
            holes = Holes(rng, running.tensors(), dtypes)
            line = rng.choice(templates.strip().split("\n")).format_map(holes)
        if kind not in ("in place", "mark", "backward"):
            line = f"v{len(lines)} = {line}"
        if kind in ("float", "any", "in place") and rng.random() < 0.04:
            line = f"with paddle.no_grad(): {line}"
        running.do(len(lines), line)
        lines.append(line)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        add("leaf")
        add("leaf")
        while len(lines) < length:
            add(rng.choices(kinds, weights)[0])
        add("backward")
    return lines
