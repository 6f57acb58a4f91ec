"""Cases that hypothesis draws: shapes (0-D, empty, broadcast), layouts in memory, dtypes, axes.

A strategy gives cases: (inputs, attributes), as the fixed CALLS of the files beside this one. DRAWN
says which op gets which. Ops whose inputs are special (convolutions, losses, optimizers, indices)
have fixed cases only.

Numbers stay away from the points where a function has no slope, and no two of an array are equal:
at a tie the gradient of a maximum is a matter of taste.
"""

import numpy as np
from hypothesis import strategies as st

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int64", "int32")
NUMBERS = FLOATS + INTEGERS
ALL = (*NUMBERS, "bool")

# -- arrays ----------------------------------------------------------------------------------------

shapes = st.lists(st.sampled_from((2, 3, 1, 0)), max_size=3).map(tuple)
full_shapes = st.lists(st.sampled_from((2, 3, 1)), min_size=1, max_size=3).map(tuple)


def numbers(rng, shape, dtype, domain):
    """An array of `shape`: different numbers, in random order, spread over the domain."""
    count = int(np.prod(shape, dtype=int))
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind == "i":
        low, high = (1, 5) if domain in ("positive", "above one") else (-4, 5)
        return rng.integers(low, high, shape).astype(dtype)
    steps = rng.permutation(count).reshape(shape) + 0.5
    if domain == "any":  # both signs, at least 0.2 away from 0, not at 1, 2, 3
        values = (0.2 + 0.7 * steps / max(count, 1)) * np.where(steps.astype(int) % 2, 1.0, -1.0)
    else:
        low, high = {"positive": (0.5, 1.45), "above one": (1.1, 1.9), "unit": (-0.85, 0.85)}[
            domain
        ]
        values = low + (high - low) * steps / max(count, 1)
    return np.asarray(values, dtype)


def in_layout(array, layout):
    """The same numbers, another way of lying in memory."""
    if layout == "transposed":
        return np.asarray(array.T.copy().T)
    if layout == "strided" and array.ndim:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    return array


@st.composite
def arrays(draw, shape=shapes, dtypes=FLOATS, domain="any"):
    """One array."""
    size = draw(shape) if isinstance(shape, st.SearchStrategy) else shape
    dtype = draw(st.sampled_from(dtypes))
    layout = draw(st.sampled_from(("contiguous", "transposed", "strided")))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    return in_layout(numbers(rng, size, dtype, domain), layout)


# -- kinds of cases --------------------------------------------------------------------------------

no_attributes = st.just({})


def options(**choices):
    """Attributes, each one of the given choices."""
    return st.fixed_dictionaries(
        {name: st.sampled_from(values) for name, values in choices.items()}
    )


def unary(dtypes=FLOATS, domain="any", attrs=no_attributes):
    """One Tensor of any shape."""
    return st.tuples(arrays(dtypes=dtypes, domain=domain).map(lambda x: [x]), attrs)


@st.composite
def binary(draw, dtypes=FLOATS, domain="any", second=None, attrs=no_attributes):
    """Two Tensors that broadcast."""
    whole = draw(shapes)
    dtype = draw(st.sampled_from(dtypes))
    inputs = []
    for kind in (domain, second or domain):
        start = draw(st.integers(0, len(whole)))
        thin = draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole)))
        shape = tuple(
            1 if one else size for size, one in zip(whole[start:], thin[start:], strict=True)
        )
        inputs.append(draw(arrays(shape, (dtype,), kind)))
    if dtype in FLOATS and kind == "any":  # no number of x is one of y
        inputs[1] = inputs[1] * inputs[1].dtype.type(1.0625)
    return inputs, draw(attrs)


def some_axes(draw, ndim):
    """Different axes, some of them counted from the end."""
    chosen = draw(st.lists(st.integers(0, ndim - 1), unique=True, max_size=ndim)) if ndim else []
    return tuple(axis - ndim if draw(st.booleans()) else axis for axis in chosen)


def one_axis(draw, ndim):
    return draw(st.integers(-ndim, ndim - 1)) if ndim else draw(st.sampled_from((0, -1)))


@st.composite
def reduction(draw, dtypes=FLOATS, shape=shapes, domain="any", attrs=no_attributes):
    """Attributes `axis` (none, one or several) and `keepdim`."""
    x = draw(arrays(shape, dtypes, domain))
    axes = {"axis": some_axes(draw, x.ndim), "keepdim": draw(st.booleans())}
    return [x], {**axes, **draw(attrs)}


@st.composite
def along_axis(draw, dtypes=FLOATS, shape=full_shapes, name="axis", attrs=no_attributes):
    """One axis, under the attribute `name`."""
    x = draw(arrays(shape, dtypes))
    return [x], {name: one_axis(draw, x.ndim), **draw(attrs)}


@st.composite
def with_axes(draw, dtypes=ALL, name="axis"):
    """Several axes, for ops that only move numbers."""
    x = draw(arrays(dtypes=dtypes))
    return [x], {name: some_axes(draw, x.ndim)}


@st.composite
def reshapes(draw):
    """Another shape with as many numbers, perhaps with -1 or 0 in it."""
    x = draw(arrays(dtypes=ALL))
    sizes = [size for size in x.shape if size != 1]
    shape = draw(st.permutations(sizes)) + [1] * draw(st.integers(0, 2))
    if shape and x.size and draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    if not x.size:
        shape = draw(st.sampled_from(([0, 2], [0], [3, 0, 1])))
    return [x], {"shape": tuple(shape)}


@st.composite
def transposes(draw):
    x = draw(arrays(dtypes=ALL))
    perm = draw(st.permutations(range(x.ndim)))
    return [x], {"perm": tuple(perm)}


@st.composite
def unsqueezes(draw):
    x = draw(arrays(dtypes=ALL))
    axes, ndim = [], x.ndim
    for _ in range(draw(st.integers(1, 2))):
        ndim += 1
        axes.append(draw(st.integers(-ndim, ndim - 1)))
    return [x], {"axis": tuple(axes)}


@st.composite
def flattens(draw):
    x = draw(arrays(dtypes=ALL))
    start = draw(st.integers(0, max(x.ndim - 1, 0)))
    stop = draw(st.integers(start, max(x.ndim - 1, 0)))
    if draw(st.booleans()) and x.ndim:
        stop -= x.ndim
    return [x], {"start_axis": start, "stop_axis": stop}


@st.composite
def expands(draw, name="shape"):
    """Sizes of 1 grow, and axes come in front; -1 keeps a size."""
    x = draw(arrays(dtypes=ALL))
    shape = [draw(st.sampled_from((1, 2, 3))) if size == 1 else size for size in x.shape]
    shape = [
        -1 if size == old and draw(st.booleans()) else size for size, old in zip(shape, x.shape)
    ]
    front = draw(st.lists(st.sampled_from((2, 1)), max_size=1))
    return [x], {name: (*front, *shape)}


@st.composite
def tiles(draw):
    x = draw(arrays(dtypes=ALL))
    count = draw(st.integers(0, x.ndim + 1))
    return [x], {"repeat_times": tuple(draw(st.integers(1, 2)) for _ in range(count))}


@st.composite
def rolls(draw):
    x = draw(arrays(full_shapes, ALL))
    axes = some_axes(draw, x.ndim)
    count = len(axes) or 1
    return [x], {"shifts": tuple(draw(st.integers(-4, 4)) for _ in range(count)), "axis": axes}


@st.composite
def concats(draw):
    """Tensors that differ only along the axis."""
    shape = draw(full_shapes)
    dtype = draw(st.sampled_from(ALL))
    axis = draw(st.integers(0, len(shape) - 1))
    pieces = []
    for _ in range(draw(st.integers(1, 3))):
        own = list(shape)
        own[axis] = draw(st.integers(0, 3))
        pieces.append(draw(arrays(tuple(own), (dtype,))))
    return [pieces], {"axis": axis - len(shape) if draw(st.booleans()) else axis}


@st.composite
def same_shapes(draw, dtypes=ALL, most=3, with_axis=False):
    """A list of Tensors of one shape; `with_axis`: and where a new axis goes."""
    shape = draw(shapes)
    dtype = draw(st.sampled_from(dtypes))
    pieces = [draw(arrays(shape, (dtype,))) for _ in range(draw(st.integers(1, most)))]
    ndim = len(shape) + 1
    return [pieces], {"axis": draw(st.integers(-ndim, ndim - 1))} if with_axis else {}


@st.composite
def splits(draw, equal):
    """Along one axis: into `num` equal parts, or into sections (one may be -1)."""
    shape = list(draw(full_shapes))
    axis = draw(st.integers(0, len(shape) - 1))
    sections = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    if equal:
        sections = [sections[0]] * len(sections)
    shape[axis] = sum(sections)
    x = draw(arrays(tuple(shape), ALL))
    at = axis - len(shape) if draw(st.booleans()) else axis
    if equal:
        return [x], {"num": len(sections), "axis": at}
    if draw(st.booleans()):
        sections[draw(st.integers(0, len(sections) - 1))] = -1
    return [x], {"sections": tuple(sections), "axis": at}


@st.composite
def matrices(draw):
    """x @ y, with batches that broadcast, vectors, and transposed sides."""
    rows, inner, columns = (draw(st.integers(1, 3)) for _ in range(3))
    dtype = draw(st.sampled_from(("float32", "float64")))
    flip_x, flip_y = draw(st.booleans()), draw(st.booleans())
    batch = draw(st.sampled_from(((), (2,), (3, 2))))
    left = (*batch, *((inner, rows) if flip_x else (rows, inner)))
    right = (*batch[1:], *((columns, inner) if flip_y else (inner, columns)))
    left = (inner,) if draw(st.integers(0, 4)) == 0 else left
    right = (inner,) if draw(st.integers(0, 4)) == 0 else right
    return [draw(arrays(left, (dtype,))), draw(arrays(right, (dtype,)))], {
        "transpose_x": flip_x and len(left) > 1,
        "transpose_y": flip_y and len(right) > 1,
    }


@st.composite
def triangles(draw):
    x = draw(arrays(full_shapes.filter(lambda s: len(s) > 1), ALL))
    return [x], {"diagonal": draw(st.integers(-3, 3))}


@st.composite
def choices(draw):
    """condition, x, y of one shape."""
    shape = draw(shapes)
    dtype = draw(st.sampled_from(NUMBERS))
    kinds = (("bool",), (dtype,), (dtype,))
    return [draw(arrays(shape, kind)) for kind in kinds], {}


@st.composite
def casts(draw):
    x = draw(arrays(dtypes=ALL))
    return [x], {"dtype": draw(st.sampled_from(ALL))}


@st.composite
def likes(draw, first_grows):
    """x and a target: x's shape broadcasts to the target's, or the other way round."""
    (small, large), _ = draw(binary(dtypes=FLOATS))
    whole = np.broadcast_shapes(small.shape, large.shape)
    target = draw(arrays(whole, (small.dtype.name,)))
    return ([small, target] if first_grows else [target, small]), {}


@st.composite
def fills(draw):
    """x, a mask that broadcasts to it, and one number."""
    (x, mask), _ = draw(likes(first_grows=False))
    value = draw(arrays((), (x.dtype.name,)))
    return [x, np.asarray(mask > 0), value], {}


@st.composite
def batches(draw):
    """x [B, M, K] and y [B, K, N]."""
    b, m, k, n = (draw(st.integers(1, 3)) for _ in range(4))
    dtype = draw(st.sampled_from(("float32", "float64")))
    return [draw(arrays((b, m, k), (dtype,))), draw(arrays((b, k, n), (dtype,)))], {}


@st.composite
def dots(draw):
    """Two vectors, or two stacks of them."""
    shape = draw(st.sampled_from(((3,), (2, 3), (1,))))
    dtype = draw(st.sampled_from(("float32", "float64", "int64")))
    return [draw(arrays(shape, (dtype,))), draw(arrays(shape, (dtype,)))], {}


@st.composite
def norms(draw):
    """Along one axis, or of all numbers."""
    x = draw(arrays(full_shapes, ("float32", "float64")))
    whole = draw(st.booleans())
    return [x], {
        "porder": draw(st.sampled_from((2.0, 1.0, 3.0))),
        "axis": -1 if whole else one_axis(draw, x.ndim),
        "keepdim": draw(st.booleans()),
        "asvector": whole,
    }


@st.composite
def gathers(draw, dtypes):
    """x and positions along one axis."""
    x = draw(arrays(full_shapes, dtypes))
    axis = draw(st.integers(0, x.ndim - 1))
    size = x.shape[axis]
    places = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3))
    index = np.array(places, draw(st.sampled_from(("int64", "int32"))))
    return [x, index], {"axis": axis}


@st.composite
def slices(draw):
    """x[start:end:stride] along some axes, also backwards."""
    x = draw(arrays(full_shapes, ALL))
    axes = draw(st.lists(st.integers(0, x.ndim - 1), min_size=1, unique=True))
    starts, ends, strides = [], [], []
    for axis in axes:
        size, back = x.shape[axis], draw(st.booleans())
        starts.append(size - 1 if back else draw(st.integers(0, size - 1)))
        ends.append(-size - 1 if back else draw(st.integers(starts[-1] + 1, size + 2)))
        strides.append(draw(st.integers(1, 2)) * (-1 if back else 1))
    return [x], {
        "axes": tuple(axes),
        "starts": tuple(starts),
        "ends": tuple(ends),
        "strides": tuple(strides),
    }


@st.composite
def normalized(draw, bias=True):
    """x [..., C], scale [C] and bias [C]; both may be missing."""
    x = draw(arrays(full_shapes.filter(lambda s: len(s) > 1 and s[-1] > 1), ("float32", "float64")))
    rest = [
        draw(arrays(x.shape[-1:], (x.dtype.name,))) if draw(st.booleans()) else None
        for _ in range(1 + bias)
    ]
    if bias:
        return [x, *rest], {"begin_norm_axis": x.ndim - 1}
    return [x, *rest], {"normalized_shape": x.shape[-1:]}


# -- which op gets which ---------------------------------------------------------------------------

with_dtypes = {
    "relu": (unary(), "relu6 sigmoid silu tanh logsigmoid erf swish elu "
             "gelu softplus thresholded_relu hardswish hardsigmoid leaky_relu"),
    "exp": (unary(NUMBERS), "expm1 sin cos square abs sign atan sinh cosh asinh i0 i0e i1 i1e"),
    "log": (unary(FLOATS + INTEGERS, "positive"), "log2 log10 log1p sqrt rsqrt reciprocal tan"),
    "lgamma": (unary(NUMBERS, "positive"), "digamma"),
    "asin": (unary(domain="unit"), "acos atanh"),
    "acosh": (unary(NUMBERS, "above one"), ""),
    "floor": (unary(), "ceil round"),
    "isnan": (unary(NUMBERS), "isinf isfinite"),
    "add": (binary(ALL), "multiply"),
    "subtract": (binary(NUMBERS), ""),
    "maximum": (binary(NUMBERS), "minimum fmax fmin"),
    "divide": (binary(NUMBERS, "any", "positive"), "remainder floor_divide"),
    "equal": (binary(ALL), "not_equal less_than less_equal greater_than greater_equal"),
    "logical_and": (binary(ALL), "logical_or logical_xor"),
    "gcd": (binary(INTEGERS), ""),
    "bitwise_and": (binary((*INTEGERS, "bool")), "bitwise_or bitwise_xor"),
    "max": (reduction(NUMBERS, full_shapes), "min amax amin"),
    "all": (reduction(("bool",)), "any"),
    "softmax": (along_axis(), "log_softmax"),
    "argmax": (along_axis(NUMBERS), "argmin"),
    "tril": (triangles(), "triu"),
}  # fmt: skip

DRAWN = {
    **{op: strategy for op, (strategy, _) in with_dtypes.items()},
    **{op: strategy for strategy, ops in with_dtypes.values() for op in ops.split()},
    "logical_not": unary(ALL),
    "bitwise_not": unary((*INTEGERS, "bool")),
    "elementwise_pow": binary(FLOATS, "positive", "any"),
    "scale": unary(
        NUMBERS,
        attrs=options(scale=(2.0, -1.0, 0.5), bias=(0.0, 3.0), bias_after_scale=(True, False)),
    ),
    "logit": unary(domain="unit", attrs=options(eps=(0.125, 0.25))),
    "cumprod": along_axis(
        NUMBERS, name="dim", attrs=options(exclusive=(False, True), reverse=(False, True))
    ),
    "polygamma": unary(NUMBERS, "positive", options(n=(1, 2, 3))),
    "pow": unary(FLOATS, "positive", options(y=(2.0, 3.0, 0.5, -1.0, 0.0))),
    "clip": unary(FLOATS, attrs=options(min=(-0.35, -1.0), max=(0.55, 2.0))),
    "sum": reduction(ALL, attrs=options(dtype=("Undefined", "float64"))),
    "mean": reduction(),
    "prod": reduction(NUMBERS, attrs=options(reduce_all=(False,))),
    "logsumexp": reduction(FLOATS, full_shapes),
    "mean_all": unary(),
    "hardtanh": unary(attrs=options(t_min=(-0.75, 0.0), t_max=(0.55, 2.0))),
    "mish": unary(attrs=options(lambda_=(20.0,))),
    "increment": st.tuples(
        arrays(st.sampled_from(((), (1,), (1, 1)))).map(lambda x: [x]), options(value=(1.0, -2.0))
    ),
    "fill": unary(NUMBERS, attrs=options(value=(2, 0))),
    "topk": along_axis(
        FLOATS, attrs=options(k=(1,), largest=(True, False), sorted=(True,))
    ),
    "unstack": along_axis(ALL).map(
        lambda case: (case[0], {**case[1], "num": case[0][0].shape[case[1]["axis"]]})
    ),
    "masked_fill": fills(),
    "bmm": batches(),
    "dot": dots(),
    "p_norm": norms(),
    "frobenius_norm": reduction(shape=full_shapes).map(
        lambda case: (
            case[0],
            {
                "axis": case[1]["axis"],
                "keep_dim": case[1]["keepdim"],
                "reduce_all": not case[1]["axis"],
            },
        )
    ),
    "gather": gathers(ALL),
    "index_select": gathers(ALL),
    "strided_slice": slices(),
    "broadcast_tensors": binary(ALL).map(lambda case: ([case[0]], {})),
    "layer_norm": normalized(),
    "rms_norm": normalized(bias=False),
    "one_hot": unary(("int64", "int32"), "positive", options(num_classes=(5, 7))),
    "eye": st.tuples(st.just([]), options(num_rows=(0, 1, 3), num_columns=(2, 0), dtype=ALL)),
    "expand_as": likes(first_grows=True),
    "meshgrid": st.lists(arrays(st.just((2,)) | st.just((3,)), ("float32",)), min_size=2, max_size=3)
    .map(lambda pieces: ([pieces], {})),
    "squared_l2_norm": unary(),
    "cumsum": along_axis(
        NUMBERS, shapes, attrs=options(exclusive=(False, True), reverse=(False, True))
    ),
    "argsort": along_axis(FLOATS, attrs=options(descending=(False, True))),
    "reshape": reshapes(),
    "transpose": transposes(),
    "squeeze": with_axes(),
    "unsqueeze": unsqueezes(),
    "flatten": flattens(),
    "flip": with_axes(),
    "roll": rolls(),
    "expand": expands(),
    "tile": tiles(),
    "concat": concats(),
    "stack": same_shapes(with_axis=True),
    "add_n": same_shapes(NUMBERS),
    "split": splits(equal=False),
    "split_with_num": splits(equal=True),
    "unbind": along_axis(ALL),
    "matmul": matrices(),
    "where": choices(),
    "cast": casts(),
    "assign": unary(ALL),
    "full_like": unary(ALL, attrs=options(value=(1.0, 0.0), dtype=("float32", "int64", "bool", "Undefined"))),
    "reduce_as": likes(first_grows=False),
    "numel": unary(ALL),
    "shape64": unary(ALL),
}  # fmt: skip
