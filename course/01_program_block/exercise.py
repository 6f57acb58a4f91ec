# %% [markdown]
# # 1 · exercise: What a Program knows before it runs
#
# Nine tasks, 36 points. No task needs your answer to another one. But each needs the cells that are given: run those from the top, once.
#
# | tasks | about | lesson |
# |---|---|---|
# | 1 | InferMeta: the shape of a result, before there are numbers | 1.1 |
# | 2 | the Executor: the moment when a variable dies | 1.1, 1.4 |
# | 3 | from an op to its kernel | 1.3 |
# | 4 | append_backward | 1.5 |
# | 5 | prune: only what the fetches need | 1.7 |
# | 6 | the description as bytes | 1.2 |
# | 7 | while: a block within a block | 1.6 |
# | 8, 9 | **contributor exercise**: a new API from end to end, and the unit tests for it | all |
#
# After each task there is a check that answers at once. An answer can use what the given cells define, but nothing that a check defines: when your work is graded, that is not there.
# Run All stops at the first check that fails; to do a later task first, run its cells by hand (Shift+Enter).

# %% nbgrader={"grade_id": "setup"}
import re

import numpy as np

import minipaddle as paddle
from minipaddle import viz
from minipaddle.phi import OPS, op
from minipaddle.phi.core.meta_tensor import MetaTensor


def meta(*shape, dtype="float32"):
    """A shape and a dtype: what InferMeta takes and gives."""
    return MetaTensor(shape, dtype)


# %% [markdown]
# ## Task 1 · The InferMeta of an op   (4 points)
# In a picture batch `x [N, C, H, W]` you want to add one number per channel, `y [C]`. numpy lines shapes up at the **right** end, so `x + y` would take W for C. Paddle's
# classic elementwise ops have an attribute for this, `axis`: *the axis of the longer shape at which the shorter one starts*. `axis=-1` means numpy's way.
#
#         x   [N, C, H, W]                x   [N, C, H, W]
#         y      [C]         axis=1       y            [W]     axis=-1
#         as  [1, C, 1, 1]                as  [1, 1, 1, W]
#
# The op `channel_add` below has a kernel, but no program accepts it yet: nobody can say which shape comes out. Write its InferMeta function. `x` and `y` are
# MetaTensors (`.shape`, `.ndim`, `.dtype`); return a `MetaTensor(shape, dtype)`.
#
# 1. Either input may be the shorter one. Put it into the longer one as in the picture; missing axes count as 1.
# 2. Each pair of sizes gives one size: equal sizes stay; 1 gives way to the other size; -1 (*not known yet*) gives way to a known size other than 1;
#    -1 beside 1 is -1. Everything else: `ValueError`.
# 3. `axis` is -1, or a place where the shorter shape fits into the longer one. Else: `ValueError`.
# 4. The dtype is that of the inputs. If they differ: `TypeError`.
#
# | x | y | axis | answer |
# |---|---|---|---|
# | `[2, 3, 4, 5]` | `[3]` | 1 | `[2, 3, 4, 5]` |
# | `[2, 3, 4]` | `[4]` | -1 | `[2, 3, 4]` |
# | `[-1, 3]` | `[8, 1]` | -1 | `[8, 3]` |
# | `[-1, 3]` | `[1, 3]` | -1 | `[-1, 3]` |
# | `[2, 3]` | `[3]` | 0 | `ValueError`: 3 stands beside 2 |
#
# Why Paddle has it: `ElementwiseRawInferMeta` in `paddle/phi/infermeta/binary.cc` does this for all elementwise ops. A new op needs such a function before a Program
# can hold it.
#
# <details><summary>Hint 1</summary>First make both shapes equally long, by ones on the left and on the right of the shorter one. Then forget about axis.</details>
#
# <details><summary>Hint 2</summary>How many ones on the left? axis of them; for axis=-1, the difference of the lengths. The rest goes to the right. When is one of the two
# numbers negative?</details>
#
# <details><summary>Hint 3</summary>Go over the pairs with zip. Ask for 1 before you ask for -1: then 1 beside -1 gives -1, and what is left of the -1 cases gives the known
# size.</details>


# %% nbgrader={"grade_id": "task1_setup"}
OPS.pop("channel_add", None)  # an op is declared once; so this cell can be run again


@op(source="paddle/phi/infermeta/binary.cc: ElementwiseRawInferMeta")
def channel_add(xp, x, y, *, axis: int = -1):
    """x + y, where the input with fewer axes starts at the other's axis `axis`."""
    shorter, longer = (x, y) if x.ndim < y.ndim else (y, x)
    behind = 0 if axis == -1 else longer.ndim - shorter.ndim - axis
    return longer + shorter.reshape(shorter.shape + (1,) * behind)


# %% nbgrader={"grade_id": "task1", "solution": true}
@channel_add.infer_meta
def channel_add_infer_meta(x, y, *, axis):
    ### BEGIN SOLUTION
    if x.dtype is not y.dtype:
        raise TypeError(f"channel_add: expected one dtype, but got {x.dtype} and {y.dtype}.")
    shorter, longer = (x, y) if x.ndim < y.ndim else (y, x)
    left = longer.ndim - shorter.ndim if axis == -1 else axis
    right = longer.ndim - shorter.ndim - left
    if left < 0 or right < 0:
        raise ValueError(f"channel_add: expected {shorter} to fit into {longer} at axis {axis}.")
    sizes = []
    for a, b in zip((1,) * left + shorter.shape + (1,) * right, longer.shape, strict=True):
        if a != b and 1 not in (a, b) and -1 not in (a, b):
            raise ValueError(f"channel_add: expected sizes that go together, but got {a} and {b}.")
        sizes.append(b if a == 1 else a if b == 1 else max(a, b))
    return MetaTensor(sizes, x.dtype)
    ### END SOLUTION


# %% nbgrader={"grade_id": "task1_check", "points": 2}
import numpy as np

from grader.checks import Checks, experiment


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def outcome(x, y, axis):
    """What your function says: a MetaTensor, or the name of the error that it raises."""
    try:
        return channel_add_infer_meta(x, y, axis=axis)
    except (ValueError, TypeError) as error:
        return type(error).__name__


@experiment
def program_with(x_shape, y_shape, axis):
    """A Program with one channel_add: your function says which shape its output has."""
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main):
                first = paddle.static.data("x", x_shape, "float32")
                second = paddle.static.data("y", y_shape, "float32")
                channel_add(first, second, axis=axis)
        return main
    finally:
        paddle.disable_static()


def shapes_of(program, **sizes):
    """The shape that a Program gives to its result, and the shape of a real run."""
    block = program.global_block()
    (out,) = block.ops[-1].output_arg_names
    feed = {name: np.ones(size, "float32") for name, size in sizes.items()}
    (result,) = paddle.static.Executor().run(program, feed=feed, fetch_list=[out])
    return list(block.var(out).shape), list(result.shape)


with Checks("Task 1") as check:
    check.equal(
        "one number per channel",
        lambda: [
            channel_add_infer_meta(meta(2, 3, 4, 5), meta(3), axis=1),
            channel_add_infer_meta(meta(3), meta(2, 1, 4, 5), axis=1),
        ],
        [meta(2, 3, 4, 5), meta(2, 3, 4, 5)],
        look="[3] counts as [1, 3, 1, 1]: axis ones on the left, the rest on the right.",
    )
    check.equal(
        "numpy's way",
        lambda: [
            channel_add_infer_meta(meta(2, 3, 4), meta(4), axis=-1),
            channel_add_infer_meta(meta(4), meta(2, 3, 1), axis=-1),
        ],
        [meta(2, 3, 4), meta(2, 3, 4)],
        look="axis=-1: all missing ones stand on the left.",
    )
    check.equal(
        "an unknown size and a known one",
        lambda: channel_add_infer_meta(meta(-1, 3), meta(8, 1), axis=-1),
        meta(8, 3),
        look="-1 gives way to 8, and 1 gives way to 3.",
    )
    check.equal(
        "an unknown size and 1",
        lambda: [
            channel_add_infer_meta(meta(-1, 3), meta(1, 3), axis=-1),
            channel_add_infer_meta(meta(1, 3), meta(-1, 3), axis=-1),
        ],
        [meta(-1, 3), meta(-1, 3)],
        look="Whatever the unknown size will be, 1 is repeated to it.",
    )
    check.equal(
        "sizes that don't go together, and sizes that do",
        lambda: [outcome(meta(2, 3), meta(3), axis=0), outcome(meta(2, 3), meta(2), axis=0)],
        ["ValueError", meta(2, 3)],
        look="At axis 0, the first number of y stands beside the 2 of x.",
    )
    check.equal(
        "an axis without a place, and one with a place",
        lambda: [outcome(meta(2, 3, 4), meta(4), axis=3), outcome(meta(2, 3, 4), meta(4), axis=2)],
        ["ValueError", meta(2, 3, 4)],
        look="Rule 3: x has the axes 0, 1 and 2. Ask for the place before you compare sizes.",
    )
    check.equal(
        "two dtypes, and one dtype",
        lambda: [
            outcome(meta(3), meta(3, dtype="int64"), axis=-1),
            outcome(meta(3, dtype="int64"), meta(3, dtype="int64"), axis=-1),
        ],
        ["TypeError", meta(3, dtype="int64")],
        look="Rule 4: float32 and int64 differ. The result has the dtype of the inputs.",
    )
    check.equal(
        "a Program accepts the op, and a run gives that shape",
        lambda: shapes_of(program_with([None, 1, 4], [3], axis=1), x=[7, 1, 4], y=[3]),
        ([-1, 3, 4], [7, 3, 4]),
        look="The first is what your function says, the second comes from the kernel.",
    )

# %% nbgrader={"grade_id": "task1_hidden", "points": 2}
# Hidden checks, run when your work is graded: rules 1 to 4 on other shapes, and many random ones beside what the kernel gives.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment

secret_rng = np.random.default_rng(11)


def secret_case():
    """Two shapes that go together, and an axis; sometimes x is the shorter one."""
    longer = [int(n) for n in secret_rng.integers(1, 5, secret_rng.integers(1, 5))]
    length = int(secret_rng.integers(0, len(longer) + 1))
    start = int(secret_rng.integers(0, len(longer) - length + 1))
    shorter = [n if secret_rng.random() < 0.7 else 1 for n in longer[start : start + length]]
    longer = [n if secret_rng.random() < 0.8 else 1 for n in longer]
    axis = -1 if start == len(longer) - length else start
    return (longer, shorter, axis) if secret_rng.random() < 0.5 else (shorter, longer, axis)


def secret_real(x, y, axis):
    """The shape that the kernel gives."""
    return meta(*channel_add.run(np, np.ones(x), np.ones(y), axis=axis).shape)


@experiment
def secret_outcomes(cases):
    """The outcome of each case: two shapes, an axis, and a dtype for each of the two."""
    return [
        outcome(meta(*one, dtype=kinds[0]), meta(*two, dtype=kinds[1]), axis=place)
        for one, two, place, kinds in cases
    ]


secret_same = ["float32", "float32"]
secret_cases = [secret_case() for _ in range(200)]

with Checks("Task 1", hidden=True) as check:
    check.equal(
        "200 random pairs, beside the kernel",
        lambda: secret_outcomes([[*case, secret_same] for case in secret_cases]),
        [secret_real(*case) for case in secret_cases],
        look="Expected is the shape of the real result.",
    )
    for secret_name, secret_x, secret_y, secret_axis, secret_out in (
        ("x is the shorter one", [3, 4], [2, 1, 1, 7], 1, [2, 3, 4, 7]),
        ("both unknown", [-1, 3], [-1, 1], -1, [-1, 3]),
        ("a known size in the shorter one", [-1, -1, 4], [6], 1, [-1, 6, 4]),
        ("1 in the longer one, unknown in the shorter", [2, 1, 4], [-1], 1, [2, -1, 4]),
        ("a size of 0", [1, 3], [0, 3], -1, [0, 3]),
    ):
        check.equal(
            secret_name,
            lambda: secret_outcomes(
                [
                    [secret_x, secret_y, secret_axis, secret_same],
                    [secret_y, secret_x, secret_axis, secret_same],
                ]
            ),
            [meta(*secret_out), meta(*secret_out)],
            look="x and y may also change places.",
        )
    for secret_name, secret_wrong, secret_right, secret_out in (
        ("no place at this axis", ([2, 3, 4], [3, 4], 2), ([2, 1, 4], [3, 4], 1), [2, 3, 4]),
        ("an axis behind the end", ([2, 3], [1], 5), ([2, 1], [3], 1), [2, 3]),
        ("a negative axis", ([2, 3, 1], [3], -2), ([2, 3, 1], [3], -1), [2, 3, 3]),
        ("a size of 0 beside 2", ([0, 3], [2, 3], -1), ([0, 1], [1, 3], -1), [0, 3]),
    ):
        check.equal(
            f"{secret_name}, and a case that is right",
            lambda: secret_outcomes(
                [[*case, secret_same] for case in (secret_wrong, secret_right)]
            ),
            ["ValueError", meta(*secret_out)],
        )
    check.equal(
        "dtypes: two, and one",
        lambda: secret_outcomes(
            [
                [[2], [2], -1, ["float32", "float64"]],
                [[2, 1], [3], -1, ["float64", "float64"]],
                [[3], [2, 1], -1, ["int64", "int64"]],
            ]
        ),
        ["TypeError", meta(2, 3, dtype="float64"), meta(2, 3, dtype="int64")],
        look="The dtype of the result is that of the inputs.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 2 · When does each variable die?   (4 points)
# While a program runs, arrays pile up. A variable that no later op needs can be freed. Which ones after which op? That can be read off the program, once, before the
# first run. Write
#
#     free_list(block, fetch) -> list[list[str]]
#
# For each op of `block.ops`, in order: the names of the variables that can be freed right after it, **sorted, each name once**.
#
# 1. An op *touches* the names that it reads (`op.input_arg_names`) and writes (`op.output_arg_names`). A variable dies after the **last** op that touches it.
# 2. So a result that nobody reads dies right after the op that wrote it.
# 3. The names in `fetch` never die: the user gets them. Persistable variables (`block.var(name).persistable`) never die either: the next run needs them.
# 4. Every op runs: nothing is left out.
#
# An example, with `fetch=["loss"]`, where `w` is persistable:
#
# | op | touches | frees after it |
# |---|---|---|
# | `h = matmul(x, w)` | x, w, h | x |
# | `r = relu(h)` | h, r | |
# | `t = tanh(h)` | h, t | t (nobody reads it) |
# | `s = add(r, h)` | r, h, s | h, r |
# | `loss = mean(s)` | s, loss | s |
#
# Why Paddle has it: the interpreter in `paddle/fluid/framework/new_executor/` keeps such a list for every op (`last_live_ops_`), and its garbage collector follows it. Without
# it, a large model would not fit into the memory of a GPU.
#
# The helper `block_of` makes a real Block from such lines; names that nobody has written before are inputs.
#
# <details><summary>Hint 1</summary>For one name: which op is the last that touches it? You can find that for all names in one walk, with a dict.</details>
#
# <details><summary>Hint 2</summary>Walk from the first op to the last and write last[name] = number of the op, for reads and for writes. A later op overwrites what an
# earlier one wrote.</details>
#
# <details><summary>Hint 3</summary>Make one empty list for each op. Then go over the dict and put each name into the list of its last op, unless it is fetched or
# persistable. Sort the lists.</details>


# %% nbgrader={"grade_id": "task2_setup"}
OP_TYPES = {
    "add": "elementwise_add",
    "multiply": "elementwise_mul",
    "matmul": "matmul_v2",
    "mean": "reduce_mean",
}


def block_of(*lines, persistable=()):
    """A Block from lines such as "c = add(a, b)". All variables have shape [2, 2]."""
    block = paddle.base.Program().global_block()
    for line in lines:
        out, kind, *inputs = re.findall(r"\w+", line)
        for name in [*inputs, out]:
            if not block.has_var(name):
                block.create_var(name, [2, 2], "float32", persistable=name in persistable)
        names = ("In",) if kind == "print" else ("X", "Y")
        slots = {slot: [name] for slot, name in zip(names, inputs)}
        block.append_op(OP_TYPES.get(kind, kind), slots, {"Out": [out]})
    return block


EXAMPLE = ["h = matmul(x, w)", "r = relu(h)", "t = tanh(h)", "s = add(r, h)", "loss = mean(s)"]

example = block_of(*EXAMPLE, persistable=["w"])
for one in example.ops:
    print(one.type, "reads", one.input_arg_names, "writes", one.output_arg_names)


# %% nbgrader={"grade_id": "task2", "solution": true}
def free_list(block, fetch):
    ### BEGIN SOLUTION
    last = {}
    for number, operator in enumerate(block.ops):
        for name in [*operator.input_arg_names, *operator.output_arg_names]:
            last[name] = number
    freed = [[] for _ in block.ops]
    for name, number in sorted(last.items()):
        if name not in fetch and not block.var(name).persistable:
            freed[number].append(name)
    return freed
    ### END SOLUTION


# %% nbgrader={"grade_id": "task2_check", "points": 2}
from grader.checks import Checks, experiment


@experiment
def freed(lines, fetch, persistable=()):
    """Your answer for the block of some lines."""
    return free_list(block_of(*lines, persistable=persistable), fetch)


def executors_list(lines, feeds, fetch):
    """What our Executor does with the same program."""
    program = block_of(*lines).program
    plan = paddle.static.Executor().interpreter(program, tuple(feeds), fetch).plan
    return [sorted(plan.names[variable] for variable in dead) for dead in plan.last_uses()]


with Checks("Task 2") as check:
    check.equal(
        "the example",
        lambda: freed(EXAMPLE, ["loss"], persistable=["w"]),
        [["x"], [], ["t"], ["h", "r"], ["s"]],
        look="Compare with the table, line by line.",
    )
    layer = ["h = matmul(x, w)", "y = add(h, b)"]
    check.equal(
        "persistable variables",
        lambda: freed(layer, ["y"], persistable=["w", "b"]),
        [["x"], ["h"]],
        look="Rule 3: w and b are persistable, so they are in no list.",
    )
    plain = ["h = exp(x)", "r = relu(h)", "t = tanh(h)", "s = add(r, h)"]
    check.equal(
        "fetching more keeps more",
        lambda: freed(plain, ["s", "h", "t"]),
        [["x"], [], [], ["r"]],
        look="s, h and t are fetched: they are in no list.",
    )
    chain = ["a = relu(x)", "b = multiply(a, x)", "c = add(b, a)", "d = mean(c)"]
    check.equal(
        "as our Executor does it",
        lambda: freed(chain, ["d"]),
        executors_list(chain, ["x"], ["d"]),
        look="x is read by two ops; it dies after the second.",
    )

# %% nbgrader={"grade_id": "task2_hidden", "points": 2}
# Hidden checks, run when your work is graded: rules 1 to 4 on other programs, and on many random ones.
### BEGIN HIDDEN TESTS
import numpy as np

from grader.checks import Checks, experiment

secret_rng = np.random.default_rng(12)


def secret_definition(lines, fetch, persistable):
    """Rule by rule: slow, and easy to believe."""
    block = block_of(*lines, persistable=persistable)
    touched = [{*o.input_arg_names, *o.output_arg_names} for o in block.ops]
    kept = {*fetch, *persistable}
    return [
        sorted(n for n in names if n not in kept and not any(n in t for t in touched[i + 1 :]))
        for i, names in enumerate(touched)
    ]


def secret_random():
    """A random program: names are read twice, written again, and left unread."""
    names = [f"v{n}" for n in range(6)]
    lines = []
    for _ in range(int(secret_rng.integers(1, 12))):
        out, a, b = secret_rng.choice(names, 3)
        lines.append(
            f"{out} = relu({a})" if secret_rng.random() < 0.4 else f"{out} = add({a}, {b})"
        )
    persistable = [n for n in names if secret_rng.random() < 0.2]
    fetch = [n for n in names if secret_rng.random() < 0.2]
    return lines, fetch, persistable


@experiment
def secret_freed(cases):
    return [freed(*case) for case in cases]


secret_cases = [secret_random() for _ in range(100)]

with Checks("Task 2", hidden=True) as check:
    check.equal(
        "100 random programs",
        lambda: secret_freed(secret_cases),
        [secret_definition(*case) for case in secret_cases],
        look="Expected is the list that the rules give.",
    )
    check.equal(
        "both inputs are the same variable; an empty block",
        lambda: [freed(["y = multiply(x, x)"], ["y"]), freed([], [])],
        [[["x"]], []],
        look="Each name once. No ops, no lists.",
    )
    check.equal(
        "a name that is written again after its last read",
        lambda: freed(["h = relu(x)", "y = tanh(h)", "h = relu(y)"], []),
        [["x"], [], ["h", "y"]],
        look="Writing touches a variable, too.",
    )
    check.equal(
        "an op whose result nobody needs",
        lambda: freed(["a = relu(x)", "b = tanh(x)", "c = mean(a)"], ["c"]),
        [[], ["b", "x"], ["a"]],
        look="Every op runs, so each has its list, and x must wait for the second.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 3 · Which kernel?   (4 points)
# An op can have many kernels: one for float32 on the CPU, one for float32 on the GPU, one for float16 by way of cuDNN ... Each is registered under a **KernelKey**: a backend, a
# layout and a dtype. When the op is called, the inputs say which key is wanted, and the nearest one that is there must be found. Write
#
#     select(kernels, wanted) -> (kernel, moves)
#
# `kernels` is a dict, KernelKey to kernel. `wanted` is a KernelKey; its parts are `wanted.backend`, `wanted.layout` and `wanted.dtype`. `kernel` is the one that is taken out
# of the dict. `moves` is True if the data has to be moved to the CPU for it.
#
# 1. The dtype must be the one that is wanted, always: nobody converts numbers in secret.
# 2. For one backend: first a kernel with the wanted layout. If there is none, a kernel for `"ALL_LAYOUT"`, which takes data in any layout. Never one for another layout.
# 3. First the wanted backend is asked. cuDNN is a library on the GPU: after `"gpudnn"` comes `"gpu"`, its data is there already. After `"gpu"` comes `"cpu"`, but for that the
#    data moves. After `"cpu"` comes nothing.
# 4. No kernel at all: `RuntimeError`. Its message names the dtype that was wanted, and each dtype for which the op has kernels.
#
# An example. The op has four kernels:
#
#         A  (gpudnn, ALL_LAYOUT, float16)     C  (cpu, ALL_LAYOUT, float32)
#         B  (gpu,    NHWC,       float32)     D  (cpu, NCHW,       float32)
#
# | wanted | answer | why |
# |---|---|---|
# | `(cpu, NCHW, float32)` | D, False | the wanted layout |
# | `(cpu, NHWC, float32)` | C, False | any layout |
# | `(gpudnn, NHWC, float32)` | B, False | gpudnn has no float32, gpu has |
# | `(gpu, NCHW, float32)` | D, **True** | B wants NHWC; so the data moves to the CPU |
# | `(cpu, NCHW, float16)` | `RuntimeError` | nothing leads from the CPU to the GPU |
#
# Why Paddle has it: `KernelFactory::SelectKernelOrThrowError` in `paddle/phi/core/kernel_factory.cc`. There the move to the CPU can be switched off
# (`FLAGS_enable_api_kernel_fallback`), because it can make a model slow without a word. minipaddle never does it.
#
# <details><summary>Hint 1</summary>Write down the backends to be asked as a list, in their order. It starts at the wanted one. For each: two keys to look up.</details>
#
# <details><summary>Hint 2</summary>The order is always the end of ["gpudnn", "gpu", "cpu"]. order[order.index(wanted.backend):] is that end.</details>
#
# <details><summary>Hint 3</summary>KernelKey(backend, layout, dtype) makes a key; two keys with the same parts are equal, so `key in kernels` works. Data moves if the backend
# that was found is the CPU, but the wanted one is not.</details>


# %% nbgrader={"grade_id": "task3_setup"}
from minipaddle.phi.core.kernel import KernelKey

FOUR_KERNELS = [
    ("gpudnn", "ALL_LAYOUT", "float16"),
    ("gpu", "NHWC", "float32"),
    ("cpu", "ALL_LAYOUT", "float32"),
    ("cpu", "NCHW", "float32"),
]


# %% nbgrader={"grade_id": "task3", "solution": true}
def select(kernels, wanted):
    ### BEGIN SOLUTION
    order = ["gpudnn", "gpu", "cpu"]
    for backend in order[order.index(wanted.backend) :]:
        for layout in (wanted.layout, "ALL_LAYOUT"):
            key = KernelKey(backend, layout, wanted.dtype)
            if key in kernels:
                return kernels[key], backend == "cpu" and wanted.backend != "cpu"
    known = sorted({key.dtype for key in kernels})
    raise RuntimeError(
        f"select: expected a kernel for {wanted.dtype}, but got kernels for {known} only."
    )
    ### END SOLUTION


# %% nbgrader={"grade_id": "task3_check", "points": 2}
from grader.checks import Checks, experiment


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def selected(keys, *wanted):
    """For each wanted key: (the key of the kernel that select gives, moves); or the name of the
    error, with the dtypes that its message names.
    """
    kernels = {KernelKey(*key): object() for key in keys}
    found = []
    for one in wanted:
        try:
            kernel, moves = select(kernels, KernelKey(*one))
        except RuntimeError as error:
            if isinstance(error, NotImplementedError):
                raise  # not written yet
            found.append(("RuntimeError", sorted(set(re.findall(r"[a-z]+\d+", str(error))))))
        else:
            found.append(([key for key, k in zip(keys, kernels.values()) if k is kernel], moves))
    return found


A, B, C, D = FOUR_KERNELS
with Checks("Task 3") as check:
    check.equal(
        "the wanted layout, and any layout",
        lambda: selected(FOUR_KERNELS, ("cpu", "NCHW", "float32"), ("cpu", "NHWC", "float32")),
        [([D], False), ([C], False)],
        look="Rule 2: first the wanted layout, then ALL_LAYOUT.",
    )
    check.equal(
        "cuDNN, and its way to the GPU",
        lambda: selected(
            FOUR_KERNELS, ("gpudnn", "NCHW", "float16"), ("gpudnn", "NHWC", "float32")
        ),
        [([A], False), ([B], False)],
        look="Rule 3: after gpudnn comes gpu. Nothing moves.",
    )
    check.equal(
        "from the GPU to the CPU",
        lambda: selected(FOUR_KERNELS, ("gpu", "NCHW", "float32"), ("gpudnn", "NCHW", "float32")),
        [([D], True), ([D], True)],
        look="B is for another layout. On the CPU there are C and D; which one comes first?",
    )
    two_kernels = [("cpu", "NCHW", "float32"), ("gpu", "ALL_LAYOUT", "float32")]
    check.equal(
        "from any layout, and to any layout",
        lambda: [
            selected(FOUR_KERNELS, ("gpu", "ALL_LAYOUT", "float32")),
            selected(two_kernels, ("gpu", "NCHW", "float32")),
        ],
        [[([C], True)], [([two_kernels[1]], False)]],
        look="B and D each want a layout of their own. In the second case there is no need to leave the GPU.",
    )
    check.equal(
        "no kernel, and a kernel",
        lambda: selected(FOUR_KERNELS, ("cpu", "NCHW", "float64"), ("cpu", "NCHW", "float32")),
        [("RuntimeError", ["float16", "float32", "float64"]), ([D], False)],
        look="Rule 4: the message names float64, and the dtypes that the op has.",
    )
    check.equal(
        "nothing leads from the CPU to the GPU",
        lambda: selected(FOUR_KERNELS, ("cpu", "NCHW", "float16"), ("gpu", "NHWC", "float32")),
        [("RuntimeError", ["float16", "float32"]), ([B], False)],
        look="Rule 3: after cpu comes nothing.",
    )

# %% nbgrader={"grade_id": "task3_hidden", "points": 2}
# Hidden checks, run when your work is graded: many random sets of kernels, and those of one op with many dtypes.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment

SECRET_BACKENDS = ["gpudnn", "gpu", "cpu"]
SECRET_LAYOUTS = ["NCHW", "NHWC", "ALL_LAYOUT"]


def secret_definition(keys, wanted):
    """By rank: the smaller, the nearer. None: it can't be taken."""

    def rank(key):
        backend = SECRET_BACKENDS.index(key[0]) - SECRET_BACKENDS.index(wanted[0])
        layout = 0 if key[1] == wanted[1] else 1 if key[1] == "ALL_LAYOUT" else None
        fits = key[2] == wanted[2] and backend >= 0 and layout is not None
        return (backend, layout) if fits else None

    fitting = [key for key in keys if rank(key) is not None]
    if not fitting:
        return ("RuntimeError", sorted({wanted[2], *(key[2] for key in keys)}))
    key = min(fitting, key=rank)
    return ([key], key[0] == "cpu" and wanted[0] != "cpu")


secret_rng = np.random.default_rng(13)


def secret_key(dtypes):
    choose = secret_rng.choice
    return tuple(str(choose(names)) for names in (SECRET_BACKENDS, SECRET_LAYOUTS, dtypes))


def secret_case(dtypes, most):
    keys = sorted({secret_key(dtypes) for _ in range(int(secret_rng.integers(1, most)))})
    order = secret_rng.permutation(len(keys))
    return [keys[n] for n in order], [secret_key(dtypes) for _ in range(10)]


@experiment
def secret_selected(cases):
    return [selected(keys, *wanted) for keys, wanted in cases]


def secret_check(name, cases, look):
    check.equal(
        name,
        lambda: secret_selected(cases),
        [[secret_definition(keys, one) for one in wanted] for keys, wanted in cases],
        look=look,
    )


with Checks("Task 3", hidden=True) as check:
    secret_check(
        "40 ops with float32 kernels",
        [secret_case(["float32"], 8) for _ in range(40)],
        "The backend counts before the layout.",
    )
    secret_check(
        "40 ops with kernels for two dtypes",
        [secret_case(["float32", "float16"], 14) for _ in range(40)],
        "The dtype must always be the wanted one.",
    )
    secret_check(
        "20 ops with one kernel",
        [secret_case(["float64", "float32", "int64", "int32"], 2) for _ in range(20)],
        "The message names the dtype that is wanted, and those that the op has.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 4 · append_backward   (4 points)
# A program that computes a loss gets more ops, which compute the gradients: that is what `append_backward` does. It looks at no number; it only goes over the list of ops, from the last one
# to the first. Write this walk:
#
#     backward_ops(ops, loss, stopped) -> list of ops
#
# To keep it short, an op is a tuple here: `Op(type, inputs, outputs)`, with lists of names. Each op of `ops` has one output, and each name is written once. `loss` is a name;
# `stopped` is a set of names whose `stop_gradient` is set. The gradient of `x` is called `x@GRAD`.
#
# 1. The first op of the answer is `Op("ones_like", [loss], [loss@GRAD])`: the gradient of the loss is 1.
# 2. **Which names need a gradient?** Those of `stopped` don't. A result doesn't need one either if no input of its op needs one. All others do. If the loss doesn't: `ValueError`.
# 3. **Which ops get a gradient op?** Those from which a way leads to the loss, only through names that need a gradient, and of which at least one input needs one. `grad_op(op, in_grads)` makes the gradient op.
#    `in_grads` are the names that it writes: one per input of `op`, `""` for an input that needs none. The type of an op doesn't matter: all are treated alike.
# 4. **Fan-out**: if a name gets only one gradient, that is `x@GRAD`. If it gets more, because several inputs of those ops have this name, each is a *piece*: `x@GRAD@RENAME@0`, `x@GRAD@RENAME@1`, ...,
#    in the order of the answer. `Op("sum", pieces, [x@GRAD])` adds them, before `x@GRAD` is read.
# 5. Nothing else is in the answer.
#
# An example: `h = relu(x)`, `m = multiply(h, w)`, `s = add(m, h)`, `loss = mean(s)`, with `stopped={"w"}`. The answer:
#
# | op | writes |
# |---|---|
# | `ones_like(loss)` | `loss@GRAD` |
# | `mean_grad` | `s@GRAD` |
# | `add_grad` | `m@GRAD`, `h@GRAD@RENAME@0` |
# | `multiply_grad` | `h@GRAD@RENAME@1`, and nothing for w |
# | `sum` of the two pieces | `h@GRAD` |
# | `relu_grad` | `x@GRAD` |
#
# Why Paddle has it: `append_backward` in `python/paddle/base/backward.py`; the pieces and their sums are made in `_addup_repetitive_outputs_`. There a piece is called
# `h@GRAD@RENAME@block0@0`. Where each name gets its sum differs a little; the numbers don't.
#
# <details><summary>Hint 1</summary>Three walks: forward for rule 2 (which names need a gradient?), backward for rule 3 (which ops?), and over those ops for rule 4. With the second walk's list
# you can count, before the third, how many gradients each name will get.</details>
#
# <details><summary>Hint 2</summary>reached = {loss}: names from which a way leads to the loss. An op whose output is in reached, and that has an input which needs a gradient, joins the list; those
# inputs join reached. Counter counts.</details>
#
# <details><summary>Hint 3</summary>pieces = {} from a name to its list of pieces. In the third walk, the sum comes right after the op that wrote the last piece, that is, when len(pieces[name]) is the
# count. multiply(x, x) writes two pieces in one op.</details>


# %% nbgrader={"grade_id": "task4_setup"}
from collections import Counter
from typing import NamedTuple


class Op(NamedTuple):
    """An op as a tuple. `body`: the ops of a block of its own (task 7), or empty."""

    type: str
    inputs: list
    outputs: list
    body: list = []


def ops_of(*lines):
    """Ops from lines such as "c = add(a, b)"; lines that are indented become the body of the line
    above them, which is "while go:" or "if go:".
    """
    ops, stack = [], []
    for line in lines:
        level = (len(line) - len(line.lstrip())) // 4
        words = re.findall(r"\w+", line)
        is_block = words[0] in ("while", "if")
        op = Op(words[0], words[1:], [], []) if is_block else Op(words[1], words[2:], words[:1])
        stack = [*stack[:level], op]
        (stack[level - 1].body if level else ops).append(op)
    return ops


def grad_op(op, in_grads):
    """The gradient op of an op: it reads all that the op knew, and the gradient of its output."""
    (out,) = op.outputs
    return Op(f"{op.type}_grad", [*op.inputs, out, f"{out}@GRAD"], in_grads)


ATTRIBUTES = {  # of ops and of their gradient ops, where there are any
    "ones_like": {"value": 1.0, "dtype": paddle.float64.proto_number},
    "mean": {"dim": [], "keep_dim": False, "reduce_all": True},
}


def program_of(ops):
    """A real Program with these ops. All variables are float64, of shape [2, 2]."""
    block = paddle.base.Program().global_block()
    for one in ops:
        for name in [*one.inputs, *one.outputs]:
            if name and not block.has_var(name):
                block.create_var(name, [2, 2], "float64")
        kind = one.type.removesuffix("_grad")
        if kind == one.type:
            slots = (
                {"X": one.inputs} if kind == "sum" else {s: [n] for s, n in zip("XY", one.inputs)}
            )
            made = {"Out": one.outputs}
        else:
            names = [*"XY"[: len(one.outputs)], "Out", "Out@GRAD"]
            slots = {slot: [name] for slot, name in zip(names, one.inputs)}
            made = {f"{s}@GRAD": [name] * bool(name) for s, name in zip("XY", one.outputs)}
        full = {**OP_TYPES, "ones_like": "fill_any_like"}.get(kind, kind) + one.type[len(kind) :]
        block.append_op(full, slots, made, ATTRIBUTES.get(kind))
    return block.program


FANS_OUT = ["h = relu(x)", "m = multiply(h, w)", "s = add(m, h)", "loss = mean(s)"]
for one in ops_of(*FANS_OUT):
    print(one.type, one.inputs, one.outputs)

example = program_of(ops_of(*FANS_OUT)).global_block()
example.var("w").stop_gradient = True
paddle.static.append_backward(example.var("loss"))
viz.append_backward_steps(example.program)  # minipaddle's walk over the example: step through it


# %% nbgrader={"grade_id": "task4", "solution": true}
def backward_ops(ops, loss, stopped):
    ### BEGIN SOLUTION
    from collections import Counter, defaultdict

    stopped = set(stopped)
    for one in ops:
        if stopped.issuperset(one.inputs):
            stopped.update(one.outputs)
    if loss in stopped:
        raise ValueError(f"backward_ops: expected a loss that needs a gradient, but got {loss!r}.")
    path, reached = [], {loss}
    for one in reversed(ops):
        if reached.issuperset(one.outputs) and not stopped.issuperset(one.inputs):
            path.append(one)
            reached.update(name for name in one.inputs if name not in stopped)
    expected = Counter(name for one in path for name in one.inputs if name not in stopped)
    pieces = defaultdict(list)

    def piece(name):
        if name in stopped:
            return ""
        grad = f"{name}@GRAD"
        if expected[name] > 1:
            grad += f"@RENAME@{len(pieces[name])}"
        pieces[name].append(grad)
        return grad

    made = [Op("ones_like", [loss], [f"{loss}@GRAD"])]
    for one in path:
        made.append(grad_op(one, [piece(name) for name in one.inputs]))
        for name in dict.fromkeys(one.inputs):
            if expected[name] > 1 and len(pieces[name]) == expected[name]:
                made.append(Op("sum", pieces[name], [f"{name}@GRAD"]))
    return made
    ### END SOLUTION


# %% nbgrader={"grade_id": "task4_check", "points": 2}
from collections import Counter

import numpy as np

from grader.checks import Checks, experiment


@experiment
def backward_of(lines, loss, stopped):
    """Your ops, as plain tuples; or the name of the error."""
    try:
        made = backward_ops(ops_of(*lines), loss, set(stopped))
    except ValueError as error:
        return type(error).__name__
    return [(op.type, list(op.inputs), list(op.outputs)) for op in made]


def leaves_of(ops):
    """The names that no op writes: they are fed."""
    return list(dict.fromkeys(n for o in ops for n in o.inputs if n not in written_by(ops)))


def written_by(ops):
    return [name for op in ops for name in op.outputs if name]


def numbers_for(names, seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(0.5, 1.5, (2, 2)) for name in sorted(names)}


def slopes(lines, made):
    """What the gradient ops compute for the leaves, by our Executor: name -> gradient."""
    ops = [*ops_of(*lines), *(Op(*one) for one in made)]
    feed = numbers_for(leaves_of(ops_of(*lines)))
    names = [name for name in feed if f"{name}@GRAD" in written_by(ops)]
    fetch = [f"{name}@GRAD" for name in names]
    found = paddle.static.Executor().run(program_of(ops), feed=feed, fetch_list=fetch)
    return dict(zip(names, found))


def by_dygraph(lines, loss, stopped):
    """The same gradients by loss.backward()."""
    ops = ops_of(*lines)
    tensors = {
        name: paddle.to_tensor(array, stop_gradient=name in stopped)
        for name, array in numbers_for(leaves_of(ops)).items()
    }
    leaves = list(tensors.items())
    for one in ops:
        function = getattr(paddle.nn.functional if one.type == "relu" else paddle, one.type)
        out = function(*(tensors[name] for name in one.inputs))
        tensors[one.outputs[0]] = out.detach() if one.outputs[0] in stopped else out
    tensors[loss].backward()
    return {name: leaf.grad.numpy() for name, leaf in leaves if leaf.grad is not None}


def kinds(made):
    """How many ops there are of each type, and all names that are written."""
    return dict(Counter(op[0] for op in made)), sorted(written_by([Op(*one) for one in made]))


with Checks("Task 4") as check:
    straight = ["h = tanh(x)", "y = matmul(h, w)", "loss = mean(y)"]
    check.equal(
        "no fan-out",
        lambda: backward_of(straight, "loss", []),
        [
            ("ones_like", ["loss"], ["loss@GRAD"]),
            ("mean_grad", ["y", "loss", "loss@GRAD"], ["y@GRAD"]),
            ("matmul_grad", ["h", "w", "y", "y@GRAD"], ["h@GRAD", "w@GRAD"]),
            ("tanh_grad", ["x", "h", "h@GRAD"], ["x@GRAD"]),
        ],
        look="From the last op to the first; grad_op makes each gradient op.",
    )
    check.equal(
        "the example: which ops, which names",
        lambda: kinds(backward_of(FANS_OUT, "loss", ["w"])),
        (
            dict.fromkeys(
                ["ones_like", "mean_grad", "add_grad", "multiply_grad", "sum", "relu_grad"], 1
            ),
            [
                "h@GRAD",
                "h@GRAD@RENAME@0",
                "h@GRAD@RENAME@1",
                "loss@GRAD",
                "m@GRAD",
                "s@GRAD",
                "x@GRAD",
            ],
        ),
        look="Compare with the table. w is stopped, and h has two pieces.",
    )
    check.equal(
        "the example: its numbers",
        lambda: slopes(FANS_OUT, backward_of(FANS_OUT, "loss", ["w"])),
        by_dygraph(FANS_OUT, "loss", ["w"]),
        look="Your ops were run after the forward ops, as they stand. Is h@GRAD summed before relu_grad reads it?",
    )
    squares = ["y = multiply(x, x)", "loss = mean(y)"]
    check.equal(
        "both inputs are the same variable",
        lambda: (
            kinds(backward_of(squares, "loss", []))[0],
            slopes(squares, backward_of(squares, "loss", [])),
        ),
        (
            {"ones_like": 1, "mean_grad": 1, "multiply_grad": 1, "sum": 1},
            by_dygraph(squares, "loss", []),
        ),
        look="multiply_grad writes two pieces; their sum is 2x / 4.",
    )
    beside = ["h = blend(x, x, a)", "t = glow(h)", "loss = mean(h)", "u = add(t, h)"]
    check.equal(
        "ops beside the way to the loss",
        lambda: kinds(backward_of(beside, "loss", ["a"])),
        (
            {"ones_like": 1, "mean_grad": 1, "blend_grad": 1, "sum": 1},
            ["h@GRAD", "loss@GRAD", "x@GRAD", "x@GRAD@RENAME@0", "x@GRAD@RENAME@1"],
        ),
        look="Rule 3: from t and u no way leads to the loss, so h gets one gradient only. An op can have any type, and three inputs.",
    )
    constants = ["c = tanh(a)", "d = add(c, b)", "y = multiply(d, x)", "loss = mean(y)"]
    only_x = (
        {"ones_like": 1, "mean_grad": 1, "multiply_grad": 1},
        ["loss@GRAD", "x@GRAD", "y@GRAD"],
    )
    check.equal(
        "what depends on stopped names only, and a loss that does",
        lambda: (
            kinds(backward_of(constants, "loss", ["a", "b"])),
            backward_of(constants, "loss", ["a", "b", "x"]),
        ),
        (only_x, "ValueError"),
        look="Rule 2: c and d need no gradient, though they aren't in stopped.",
    )
    check.equal(
        "a result that is stopped, and one that isn't",
        lambda: [
            kinds(backward_of(constants, "loss", ["d"])),
            kinds(backward_of(constants, "loss", ["c", "b"])),
        ],
        [only_x, only_x],
        look="Rule 3: no way goes through a stopped name. First that is d, then it is c; only x is left.",
    )

# %% nbgrader={"grade_id": "task4_hidden", "points": 2}
# Hidden checks, run when your work is graded: random programs with much fan-out and many stopped names.
### BEGIN HIDDEN TESTS
import itertools

from grader.checks import Checks, experiment


def secret_needing(ops, loss, stopped):
    """Rules 2 and 3 by search: the names that need a gradient, and the ops that get one."""
    writer = {op.outputs[0]: op for op in ops}

    def needs(name):
        return name not in stopped and (
            name not in writer or any(needs(n) for n in writer[name].inputs)
        )

    def on_the_way(name):
        found = [writer[name]] if name in writer and any(map(needs, writer[name].inputs)) else []
        return found + [o for op in found for n in op.inputs if needs(n) for o in on_the_way(n)]

    return needs, [op for op in ops if op in on_the_way(loss)]


def secret_kinds(lines, loss, stopped):
    """The ops and names that the rules give, counted."""
    needs, chosen = secret_needing(ops_of(*lines), loss, set(stopped))
    if not needs(loss):
        return "ValueError"
    counts = Counter(n for op in chosen for n in op.inputs if needs(n))
    types = Counter(f"{op.type}_grad" for op in chosen) + Counter(["ones_like"])
    types += Counter({"sum": sum(count > 1 for count in counts.values())})
    names = [f"{loss}@GRAD", *(f"{name}@GRAD" for name in counts)]
    names += [f"{n}@GRAD@RENAME@{i}" for n, c in counts.items() if c > 1 for i in range(c)]
    return dict(types), sorted(names)


def secret_lines(rng, known):
    """A random program; most results are read more than once. `known`: ops that can be run."""
    names = ["a", "b", "c"]
    lines = []
    kinds_of = ["add", "multiply", "tanh", "relu"] if known else ["blend", "mix", "bend", "glow"]
    for number in range(int(rng.integers(2, 9))):
        count = {"add": 2, "multiply": 2, "blend": 3, "mix": 2}
        kind = str(rng.choice(kinds_of))
        inputs = ", ".join(rng.choice(names[-4:], count.get(kind, 1)))
        lines.append(f"v{number} = {kind}({inputs})")
        names.append(f"v{number}")
    lines.append(f"loss = mean({names[-1] if rng.random() < 0.7 else names[-2]})")
    stopped = [n for n in names if rng.random() < 0.25]
    return lines, "loss", stopped


@experiment
def secret_backward(cases):
    return [backward_of(*case) for case in cases]


def secret_counted(found):
    return [one if isinstance(one, str) else kinds(one) for one in found]


def secret_sum_numbers(cases):
    return [slopes(case[0], made) for case, made in zip(cases, secret_backward(cases))]


def secret_in_order(made):
    """Are the pieces numbered in the order in which they are written?"""
    pieces = [n for n in written_by([Op(*one) for one in made]) if "@RENAME@" in n]
    numbers = {}
    for piece in pieces:
        name, _, number = piece.rpartition("@")
        numbers.setdefault(name, []).append(int(number))
    return [numbers[name] for name in sorted(numbers)]


secret_rng = np.random.default_rng(14)
secret_cases = [secret_lines(secret_rng, known=False) for _ in range(60)]
secret_needed = [case for case in secret_cases if secret_kinds(*case) != "ValueError"]
secret_good = [
    case
    for case in [secret_lines(secret_rng, known=True) for _ in range(40)]
    if secret_kinds(*case) != "ValueError"
]
secret_deep = ["v0 = bend(x)", *(f"v{n} = mix(v{n - 1}, v{n - 1})" for n in range(1, 30))]
secret_deep.append("loss = mean(v29)")
with Checks("Task 4", hidden=True) as check:
    check.equal(
        "60 random programs: ops and names",
        lambda: secret_counted(secret_backward(secret_cases)),
        [secret_kinds(*case) for case in secret_cases],
        look="Rules 2 to 5: what needs a gradient, which ops, how many pieces.",
    )
    check.equal(
        "random programs: numbers",
        lambda: secret_sum_numbers(secret_good[:25]),
        [by_dygraph(*case) for case in secret_good[:25]],
        look="The ops must be in an order in which they can run.",
    )
    check.equal(
        "pieces are numbered as they come",
        lambda: [secret_in_order(made) for made in secret_backward(secret_needed)],
        [
            [list(range(c)) for _, c in sorted(secret_pieces.items())]
            for case in secret_needed
            for secret_pieces in [
                Counter(n.rpartition("@")[0] for n in secret_kinds(*case)[1] if "@RENAME@" in n)
            ]
        ],
        look="Rule 4: 0, 1, 2 in the order of the answer.",
    )
    check.equal(
        "many paths",
        lambda: kinds(backward_of(secret_deep, "loss", [])),
        (
            {"ones_like": 1, "mean_grad": 1, "bend_grad": 1, "mix_grad": 29, "sum": 29},
            sorted(
                [
                    "loss@GRAD",
                    "x@GRAD",
                    *(f"v{n}@GRAD" for n in range(30)),
                    *(f"v{n}@GRAD@RENAME@{i}" for n, i in itertools.product(range(29), (0, 1))),
                ]
            ),
        ),
        look="Each op once, however many ways lead through it.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 5 · Only what the fetches need   (4 points)
# A training program has a hundred ops, and somebody fetches one prediction. Which ops must run? And which variables must be there before the first of them: fed, or in the scope from the run
# before? Write
#
#     prune(block, fetch) -> (kept, needed)
#
# `kept` is the list of the numbers of the ops that must run, in order (the first op of `block.ops` has number 0). `needed` is the sorted list of the names that must be there before the first
# of them.
#
# 1. **At the end** of the run, some variables are needed: those of `fetch`, and those persistable variables (`block.var(name).persistable`) that the block writes: the next run reads them.
# 2. An op is kept if it writes a variable that is needed *at this moment*; or if its type is in `SIDE_EFFECTS`: it does something that no variable shows, such as printing.
# 3. A variable can be written more than once, and an op can write what it reads (`w = subtract(w, g)`). Before an op that is kept, what it writes isn't needed any more, but all that it reads is.
# 4. The block stays as it is.
#
# Three programs (`w` is persistable):
#
# | program | fetch | kept | needed |
# |---|---|---|---|
# | `h = relu(x)`, `t = tanh(h)`, `y = add(h, b)` | y | 0, 2 | b, x |
# | `h = relu(x)`, `h = tanh(z)`, `y = mean(h)` | y | 1, 2: what op 0 wrote, nobody reads | z |
# | `g = multiply(w, x)`, `w = subtract(w, g)`, `y = tanh(x)` | y | 0, 1, 2: the next run needs the new w | w, x |
#
# Why Paddle has it: `Program._prune_with_input` in `python/paddle/base/framework.py`, with `paddle/fluid/framework/prune.cc` below it. `save_inference_model` uses it to make the small program that serves users from the large one
# that was trained. (It keeps a little more than yours: in the second program op 0, too. There, a name that was needed once stays needed.)
#
# <details><summary>Hint 1</summary>Walk from the last op to the first, and keep one set: the names that are needed now.</details>
#
# <details><summary>Hint 2</summary>At an op that is kept, the set changes twice: first the names that it writes go, then the names that it reads come. The order matters for an op that writes what it
# reads.</details>
#
# <details><summary>Hint 3</summary>The set starts as fetch, plus each persistable name among the outputs of all ops. What is left in it at the end is the second
# answer.</details>


# %% nbgrader={"grade_id": "task5_setup"}
SIDE_EFFECTS = {"print", "assert", "send"}
OP_TYPES["subtract"] = "elementwise_sub"

update = block_of("g = multiply(w, x)", "w = subtract(w, g)", "y = tanh(x)", persistable=["w"])
for number, one in enumerate(update.ops):
    print(number, one.type, "reads", one.input_arg_names, "writes", one.output_arg_names)


# %% nbgrader={"grade_id": "task5", "solution": true}
def prune(block, fetch):
    ### BEGIN SOLUTION
    written = {name for one in block.ops for name in one.output_arg_names}
    needed = {*fetch, *(name for name in written if block.var(name).persistable)}
    kept = []
    for number in reversed(range(len(block.ops))):
        one = block.ops[number]
        if one.type in SIDE_EFFECTS or needed.intersection(one.output_arg_names):
            kept.append(number)
            needed.difference_update(one.output_arg_names)
            needed.update(one.input_arg_names)
    return kept[::-1], sorted(needed)
    ### END SOLUTION


# %% nbgrader={"grade_id": "task5_check", "points": 2}
from grader.checks import Checks, experiment


@experiment
def pruned(lines, fetch, persistable=()):
    """Your answer for the block of some lines."""
    return prune(block_of(*lines, persistable=persistable), list(fetch))


def run_lines(lines, fetch, names=None):
    """The fetched numbers of these lines, by our Executor, with feeds of these names (all)."""
    program = block_of(*lines).program
    fed = [n for n in program.global_block().vars if names is None or n in names]
    feed = {n: np.full((2, 2), 0.1 + ord(n[0]) % 7, "float32") for n in fed}
    return paddle.static.Executor().run(program, feed=feed, fetch_list=list(fetch))


def run_kept(lines, fetch):
    """The same, with only the lines that you keep, and only the feeds that you ask for."""
    kept, needed = pruned(lines, fetch)
    return run_lines([lines[number] for number in kept], fetch, needed)


with Checks("Task 5") as check:
    first = ["h = relu(x)", "t = tanh(h)", "y = add(h, b)"]
    check.equal(
        "an op that nobody needs",
        lambda: [pruned(first, ["y"]), pruned(first, ["t", "y"])],
        [([0, 2], ["b", "x"]), ([0, 1, 2], ["b", "x"])],
        look="From the last op to the first: keep an op if it writes a needed name.",
    )
    twice = ["h = relu(x)", "h = tanh(z)", "y = mean(h)"]
    check.equal(
        "a variable that is written twice",
        lambda: pruned(twice, ["y"]),
        ([1, 2], ["z"]),
        look="Rule 3: before op 1, h isn't needed any more.",
    )
    in_place = ["h = relu(x)", "h = tanh(h)", "y = mean(h)"]
    check.equal(
        "an op that writes what it reads",
        lambda: pruned(in_place, ["y"]),
        ([0, 1, 2], ["x"]),
        look="Op 1 reads h before it writes it: so h is needed before op 1.",
    )
    training = ["g = multiply(w, x)", "w = subtract(w, g)", "y = tanh(x)"]
    check.equal(
        "a parameter that is updated, and one that isn't persistable",
        lambda: [
            pruned(training, ["y"], persistable=["w"]),
            pruned(training, ["y"]),
            pruned(["y = tanh(w)", "z = exp(x)"], ["z"], persistable=["w"]),
        ],
        [([0, 1, 2], ["w", "x"]), ([2], ["x"]), ([1], ["x"])],
        look="Rule 1: what the next run reads is needed at the end, if the block writes it.",
    )
    talking = ["h = relu(x)", "p = print(h)", "t = tanh(h)", "y = mean(z)"]
    check.equal(
        "an op with a side effect",
        lambda: pruned(talking, ["y"]),
        ([0, 1, 3], ["x", "z"]),
        look="Rule 2: print stays, and so does all that it reads.",
    )
    longer = ["h = relu(a)", "k = add(h, b)", "h = tanh(h)", "m = exp(k)", "y = multiply(h, a)"]
    check.equal(
        "the kept ops, run by our Executor",
        lambda: run_kept(longer, ["y"]),
        run_lines(longer, ["y"], ["a", "b"]),
        look="Only the kept ops ran, fed with the needed names: the numbers must be those of the whole program.",
    )

# %% nbgrader={"grade_id": "task5_hidden", "points": 2}
# Hidden checks, run when your work is graded: random programs, in which names are written again and again.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment


def secret_definition(lines, fetch, persistable):
    """By the way of each number: who wrote what an op reads? All that can be reached is needed."""
    ops = [(re.findall(r"\w+", line)) for line in lines]
    latest, reads = {}, []  # who wrote a name last; for each op, the writers of what it reads
    for number, (out, _, *inputs) in enumerate(ops):
        reads.append([latest.get(name, name) for name in inputs])
        latest[out] = number
    wanted = [latest.get(n, n) for n in (*fetch, *(n for n in persistable if n in latest))]
    wanted += [number for number, one in enumerate(ops) if one[1] in SIDE_EFFECTS]
    found = set()
    while wanted:
        one = wanted.pop()
        if one not in found:
            found.add(one)
            wanted += reads[one] if isinstance(one, int) else []
    numbers = sorted(one for one in found if isinstance(one, int))
    return numbers, sorted(one for one in found if isinstance(one, str))


secret_rng = np.random.default_rng(15)


def secret_random():
    names = [f"v{n}" for n in range(7)]
    kinds_of = ["relu", "add", "add", "tanh", "print"]
    lines = []
    for _ in range(int(secret_rng.integers(1, 14))):
        kind = str(secret_rng.choice(kinds_of, p=[0.3, 0.25, 0.15, 0.25, 0.05]))
        out, a, b = secret_rng.choice(names, 3)
        if kind == "print":
            out = f"p{len(lines)}"
        lines.append(f"{out} = {kind}({a}, {b})" if kind == "add" else f"{out} = {kind}({a})")
    used = sorted({name for line in lines for name in re.findall(r"v\d", line)})
    persistable = [n for n in names if secret_rng.random() < 0.15]
    return lines, [n for n in used if secret_rng.random() < 0.3], persistable


@experiment
def secret_pruned(cases):
    return [pruned(*case) for case in cases]


@experiment
def secret_afterwards(lines, fetch, persistable):
    """The answer; then the program, and what was to be fetched, as they are after it."""
    block, wanted = block_of(*lines, persistable=persistable), list(fetch)
    return prune(block, wanted), [one.type for one in block.ops], wanted


secret_cases = [secret_random() for _ in range(120)]
secret_plain = [case for case in secret_cases if not any("print" in line for line in case[0])]
secret_long = [f"v{n + 1} = relu(v{n})" for n in range(60)]
with Checks("Task 5", hidden=True) as check:
    check.equal(
        "120 random programs",
        lambda: secret_pruned(secret_cases),
        [secret_definition(*case) for case in secret_cases],
        look="Names that are written again, updates, side effects.",
    )
    check.equal(
        "random programs without side effects: only the names that are needed",
        lambda: [needed for _, needed in secret_pruned(secret_plain)],
        [secret_definition(*case)[1] for case in secret_plain],
        look="What is left in the set when the walk has come to the first op.",
    )
    check.equal(
        "a parameter that is written twice, or only fetched",
        lambda: [
            pruned(["w = relu(x)", "w = tanh(z)", "y = exp(w)"], [], ["w"]),
            pruned(["y = multiply(w, x)"], ["w", "y"], ["w"]),
            pruned(["y = multiply(w, x)"], [], ["w", "x"]),
        ],
        [([1], ["z"]), ([0], ["w", "x"]), ([], [])],
        look="Persistable variables count if the block writes them.",
    )
    check.equal(
        "the block afterwards",
        lambda: [secret_afterwards(secret_long, ["v60"], []), secret_afterwards(*secret_plain[0])],
        [
            ((list(range(60)), ["v0"]), ["relu"] * 60, ["v60"]),
            (
                secret_definition(*secret_plain[0]),
                [one.type for one in block_of(*secret_plain[0][0]).ops],
                secret_plain[0][1],
            ),
        ],
        look="Take nothing out of the block, and put nothing into fetch.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 6 · A name in the bytes   (4 points)
# A Program is stored as bytes, in protobuf's format. These bytes are the contract: a program that was saved years ago, or by a newer version, must still be read. So a tool that
# changes one thing must leave everything else as it is, **byte for byte, also what it doesn't know**. Write such a tool:
#
#     rename(data, old, new) -> bytes
#
# `data` holds a ProgramDesc. The variable `old` gets the name `new` wherever it is named: where it is described, and in the inputs and outputs of all ops, in all blocks.
#
# A message is a row of **fields**. Each field starts with a key, `number * 8 + kind`. Then comes, by its kind:
#
# | kind | what follows |
# |---|---|
# | 0 | one varint: an int, a bool |
# | 1 | 8 bytes |
# | 2 | a varint, the length, and then so many bytes: a text, or **a whole message** |
# | 5 | 4 bytes: a float |
#
# A *varint* is a number that takes only as many bytes as it needs. `read_varint(data, place)` gives the number at `place`, and the place behind it; `write_varint(number)` gives its bytes. The key is a
# varint, too. For example, `0a 01 68` is a whole field: the key 0a is 1 · 8 + 2, so field 1 of kind 2; the length is 1; and then comes the text `h`.
#
# Which field holds what is fixed by number; these lead to names (all of kind 2):
#
#         ProgramDesc   1 blocks  ->  BlockDesc
#         BlockDesc     3 vars    ->  VarDesc           4 ops      ->  OpDesc
#         VarDesc       1 name, a text
#         OpDesc        1 inputs  ->  OpDesc.Var        2 outputs  ->  OpDesc.Var
#         OpDesc.Var    1 the slot's word, "X", say     2 arguments, the names of variables: texts
#
# 1. Only a text that is `old` as a whole is changed, and only where a variable is named. A slot, an op's type or an attribute may have the same text: they stay.
# 2. The length of a message counts all bytes in it. If a name in it gets longer, so does each message around it.
# 3. All other fields stay, in their order, with their bytes, whatever their numbers are.
# 4. If the data ends inside a field, or a kind is none of these four: `ValueError`.
#
# The paths of numbers that lead to names are given: `NAMES`. So a field of kind 2 is a name, or a message on the way to one, or something that stays.
#
# Why Paddle has it: the messages are declared in `paddle/fluid/framework/framework.proto`. A program that one version has saved is read by the others, because protobuf keeps fields that it
# doesn't know. (Protobuf's own classes don't keep the *order* of all bytes. That is why they are no help in this task.)
#
# <details><summary>Hint 1</summary>Write a function for one message: it gets its bytes and the path that leads to it, () for the whole program, and gives its new bytes. For a message inside it, it calls
# itself.</details>
#
# <details><summary>Hint 2</summary>number, kind = key >> 3, key & 7. For kinds 0, 1 and 5 find the place behind the field and take over data[start:place]. For kind 2 take over the key, and
# write the length anew.</details>
#
# <details><summary>Hint 3</summary>here = (*path, number). If here is in NAMES, compare content with old.encode(). If any path in NAMES starts with here (one[: len(here)] == here), it is a message:
# call yourself. In Python data[a:b] is short where the data ends: compare the lengths.</details>


# %% nbgrader={"grade_id": "task6_setup"}
NAMES = {(1, 3, 1), (1, 4, 1, 2), (1, 4, 2, 2)}


def read_varint(data, place):
    """The number that starts at `place`, and the place behind it. ValueError if the data ends."""
    number = 0
    for shift in range(0, 70, 7):  # 7 bits in each byte, the lowest first
        if place >= len(data):
            raise ValueError("read_varint: expected more bytes, but got the end of the data.")
        byte = data[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < 128:  # the eighth bit says: there is more
            return number, place
    raise ValueError("read_varint: expected at most 10 bytes, but got more.")


def write_varint(number):
    """The bytes of a number of 0 or more."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


data = block_of("h = relu(x)").program.serialize_to_string()
print(len(data), "bytes, which start with", data[:24].hex(" "))


# %% nbgrader={"grade_id": "task6", "solution": true}
def rename(data, old, new):
    ### BEGIN SOLUTION
    old, new = old.encode(), new.encode()

    def renamed(data, path):
        made, place = [], 0
        while place < len(data):
            start = place
            key, place = read_varint(data, place)
            number, kind = key >> 3, key & 7
            if kind == 0:
                _, place = read_varint(data, place)
            elif kind in (1, 5):
                place += 8 if kind == 1 else 4
            elif kind != 2:
                raise ValueError(f"rename: expected a kind of field that is known, but got {kind}.")
            else:
                length, place = read_varint(data, place)
                content, here = data[place : place + length], (*path, number)
                place += length
                if place <= len(data) and any(name[: len(here)] == here for name in NAMES):
                    if here not in NAMES:
                        content = renamed(content, here)
                    elif content == old:
                        content = new
                    made += [write_varint(key), write_varint(len(content)), content]
                    continue
            if place > len(data):
                raise ValueError("rename: expected more bytes, but got the end of the data.")
            made.append(data[start:place])
        return b"".join(made)

    return renamed(data, ())
    ### END SOLUTION


# %% nbgrader={"grade_id": "task6_check", "points": 2}
from grader.checks import Checks, experiment


@experiment
def renamed_bytes(data, old, new):
    """Your bytes, or the name of the error."""
    try:
        return rename(data, old, new)
    except ValueError as error:
        return type(error).__name__


def program_bytes(*lines):
    return block_of(*lines).program.serialize_to_string()


def listing(data):
    """All names in the Program that these bytes describe."""
    block = paddle.base.Program.parse_from_string(data).global_block()
    ops = [
        (
            one.type,
            {slot: one.input(slot) for slot in one.input_names},
            {slot: one.output(slot) for slot in one.output_names},
        )
        for one in block.ops
    ]
    return sorted(block.vars), ops


def field(number, kind, content):
    """The bytes of a field."""
    length = write_varint(len(content)) if kind == 2 else b""
    return write_varint(number << 3 | kind) + length + content


with Checks("Task 6") as check:
    lines = ["h = relu(x)", "y = add(h, h)", "z = tanh(hh)"]
    check.equal(
        "a name of the same length",
        lambda: listing(renamed_bytes(program_bytes(*lines), "h", "k")),
        (
            ["hh", "k", "x", "y", "z"],
            [
                ("relu", {"X": ["x"]}, {"Out": ["k"]}),
                ("elementwise_add", {"X": ["k"], "Y": ["k"]}, {"Out": ["y"]}),
                ("tanh", {"X": ["hh"]}, {"Out": ["z"]}),
            ],
        ),
        look="A variable is named in vars, and in the inputs and outputs of ops. hh is another one.",
    )
    longer = "a_much_longer_name" * 12
    check.equal(
        "a longer and a shorter name",
        lambda: [
            listing(renamed_bytes(program_bytes("h = relu(x)"), "h", longer)),
            listing(renamed_bytes(program_bytes(f"{longer} = relu(x)"), longer, "h")),
        ],
        [
            ([longer, "x"], [("relu", {"X": ["x"]}, {"Out": [longer]})]),
            (["h", "x"], [("relu", {"X": ["x"]}, {"Out": ["h"]})]),
        ],
        look="Rule 2: the lengths of all messages around it. A length over 127 takes two bytes: write_varint.",
    )
    check.equal(
        "the same text in other places",
        lambda: [
            listing(renamed_bytes(program_bytes("relu = relu(X)", "Out = tanh(X)"), "X", "x")),
            listing(renamed_bytes(program_bytes("relu = relu(X)"), "relu", "r")),
        ],
        [
            (
                ["Out", "relu", "x"],
                [
                    ("relu", {"X": ["x"]}, {"Out": ["relu"]}),
                    ("tanh", {"X": ["x"]}, {"Out": ["Out"]}),
                ],
            ),
            (["X", "r"], [("relu", {"X": ["X"]}, {"Out": ["r"]})]),
        ],
        look="Rule 1: the slot X and the type relu are no variables. Go by the path, not by the text.",
    )
    unknown = field(77, 2, b"h") + field(99, 5, b"\x07\x02\x01\x68") + field(98, 1, b"12345678")
    variable = field(50, 0, b"\x05") + field(1, 2, b"h") + field(2, 2, b"\x08\x07")
    check.equal(
        "fields that nobody knows",
        lambda: renamed_bytes(unknown + field(1, 2, field(3, 2, variable)), "h", "heads"),
        unknown + field(1, 2, field(3, 2, variable.replace(b"\x01h", b"\x05heads"))),
        look="Rule 3: they stay where they are. A float takes 4 bytes, kind 1 takes 8.",
    )
    whole = program_bytes("h = relu(x)")
    check.equal(
        "data that ends too early, and the whole of it",
        lambda: [
            renamed_bytes(whole[:-1], "x", "x"),
            renamed_bytes(field(9, 5, b"123"), "x", "y"),
            renamed_bytes(field(9, 3, b""), "x", "y"),
            renamed_bytes(whole, "x", "x"),
        ],
        ["ValueError", "ValueError", "ValueError", whole],
        look="Rule 4: is each field as long as it says? Kind 3 is none of the four.",
    )

# %% nbgrader={"grade_id": "task6_hidden", "points": 2}
# Hidden checks, run when your work is graded: random bytes with many unknown fields, cut at many places.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment

SECRET_WORDS = ["h", "hh", "X", "relu", "h@GRAD", "w" * 130]


def secret_message(rng, path=()):
    """A random message as a list of (number, kind, content); content can be such a list."""
    fields = []
    ways = sorted({name[len(path)] for name in NAMES if name[: len(path)] == path})
    for _ in range(int(rng.integers(1, 6))):
        here = (*path, int(rng.choice([*ways, *ways, 1, 2, 6, 200])))
        if here in NAMES:
            fields.append((here[-1], 2, str(rng.choice(SECRET_WORDS)).encode()))
        elif any(name[: len(here)] == here for name in NAMES):
            fields.append((here[-1], 2, secret_message(rng, here)))
        else:
            kind = int(rng.choice([0, 1, 2, 5]))
            content = {
                0: write_varint(int(rng.integers(0, 2**40))),
                1: rng.bytes(8),
                2: str(rng.choice(SECRET_WORDS)).encode(),
                5: rng.bytes(4),
            }[kind]
            fields.append((here[-1], kind, content))
    return fields


def secret_bytes(fields, old="", new="", path=()):
    """The bytes of such a message, with one name for another."""
    made = b""
    for number, kind, content in fields:
        here = (*path, number)
        if isinstance(content, list):
            content = secret_bytes(content, old, new, here)
        elif here in NAMES and content == old.encode():
            content = new.encode()
        made += field(number, kind, content)
    return made


@experiment
def secret_renamed(cases):
    return [renamed_bytes(*case) for case in cases]


secret_rng = np.random.default_rng(16)
secret_messages = [secret_message(secret_rng) for _ in range(60)]
secret_pairs = [
    tuple(str(w) for w in secret_rng.choice([*SECRET_WORDS, "n" * 300], 2)) for _ in secret_messages
]
secret_fields = [one for message in secret_messages[:2] for one in message]
secret_cut = secret_bytes(secret_fields)
secret_borders = [len(secret_bytes(secret_fields[:n])) for n in range(len(secret_fields))]
secret_small = field(1, 2, field(3, 2, field(1, 2, b"h") + field(3, 0, b"\x01")))
with Checks("Task 6", hidden=True) as check:
    check.equal(
        "60 random messages",
        lambda: secret_renamed(
            [(secret_bytes(m), *pair) for m, pair in zip(secret_messages, secret_pairs)]
        ),
        [secret_bytes(m, *pair) for m, pair in zip(secret_messages, secret_pairs)],
        look="Only names change, and the lengths around them.",
    )
    check.equal(
        "cut at each place",
        lambda: secret_renamed([(secret_cut[:n], "h", "k") for n in range(len(secret_cut))]),
        [
            secret_bytes(secret_fields[: secret_borders.index(n)], "h", "k")
            if n in secret_borders
            else "ValueError"
            for n in range(len(secret_cut))
        ],
        look="Data may end between two fields of the program, but not inside one.",
    )
    check.equal(
        "a message that ends before its length says so",
        lambda: secret_renamed(
            [
                (field(1, 2, field(3, 2, field(1, 2, b"hh")[:-1])), "h", "k"),
                (field(1, 2, field(4, 2, field(7, 5, b"12"))) + b"", "h", "k"),
                (field(1, 2, field(4, 2, b"\x80")), "h", "k"),
                (field(1, 2, field(2, 6, b"")), "h", "k"),
                (secret_small, "h", "k"),
            ]
        ),
        ["ValueError"] * 4 + [secret_small.replace(b"\x01h", b"\x01k")],
        look="Each message has its own end.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 7 · What goes into a loop, and what comes out   (4 points)
# The body of a `while` is a block of its own. It uses variables of the block around it, and it has its own. In a Program, the `while` op says in its slots which variables of the outer block it
# reads (`X`) and writes (`Out`). Whoever frees memory or computes gradients can look at these two lists instead of the body. They are found by reading the body, once, when the
# loop has been written down. Write
#
#     complete(op, known) -> Op
#
# `op` is an `Op` of type `"while"` or `"if"`. It has one input, the condition, no outputs yet, and a `body`: a list of ops, among which can be more of this kind. `known` is the set of the
# names that are known where `op` stands. The answer is a new Op of the same type:
#
# 1. `outputs`: the known names that the body writes, sorted. They live on after the block. (Also those that a block within the body writes.)
# 2. `inputs`: the condition first; then, sorted, all other known names that the body reads or writes. *Written ones too*: if the body doesn't run, their old value is what comes out.
# 3. What the body writes and nobody knew is **local**: the ops behind it in the body may read it, nobody else. Each run of the body begins without it.
# 4. `body`: the same ops in their order. Those that have a body are complete, too; for them, known is what is known *where they stand*.
# 5. `ValueError`, with the name in quotes in its text (`{name!r}` writes it so), if an op reads a name that is not known there; and if a `while` never writes its condition: it would never end.
#
# An example, with `known = {"i", "n", "one", "s", "x", "go", "y"}`:
#
#         while go:
#             t = multiply(s, x)
#             s = add(s, t)
#             i = add(i, one)
#             go = less(i, n)
#
# | name | what it is | in inputs | in outputs |
# |---|---|---|---|
# | go | the condition, written | first | yes |
# | i, s | *carried* from one iteration to the next | yes | yes |
# | n, one, x | *captured*: only read | yes | |
# | t | local | | |
# | y | not used | | |
#
# So the answer has `inputs = ["go", "i", "n", "one", "s", "x"]` and `outputs = ["go", "i", "s"]`.
#
# Why Paddle has it: `While._complete` and `get_inputs_outputs_in_block` in `python/paddle/static/nn/control_flow.py`. When gradients are computed, carried and captured variables are treated in
# different ways: of a captured one, the pieces of all iterations are summed.
#
# <details><summary>Hint 1</summary>Go over the body once, in order, with a set of names that may be read here: at first a copy of known. What an op writes joins it.</details>
#
# <details><summary>Hint 2</summary>Complete an inner op when you come to it, with the set as it is then; after that, treat it as any other op: it reads its inputs and writes its
# outputs.</details>
#
# <details><summary>Hint 3</summary>Collect all names that are read, and all that are written. outputs = written & known; inputs = (read & known) | outputs, without the condition, which comes
# first. The condition itself is read, too.</details>


# %% nbgrader={"grade_id": "task7_setup"}
LOOP = [
    "while go:",
    "    t = multiply(s, x)",
    "    s = add(s, t)",
    "    i = add(i, one)",
    "    go = less(i, n)",
]

NUMBER_OPS = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "less": lambda a, b: a < b,
    "assign": lambda a: a,
}


def run_ops(ops, values):
    """Runs ops on numbers; `values` is a dict, name to number. A body sees only what stands in the
    inputs of its op, and only what stands in the outputs comes out. So it shows what is missing.
    """
    turns = 0
    for one in ops:
        if not one.body:
            (values[one.outputs[0]],) = [NUMBER_OPS[one.type](*(values[n] for n in one.inputs))]
            continue
        while values[one.inputs[0]]:
            turns += 1
            if turns > 1000:
                raise RuntimeError("run_ops: expected loops that end, but got 1,000 iterations.")
            inside = {name: values[name] for name in one.inputs}
            run_ops(one.body, inside)
            values.update({name: inside[name] for name in one.outputs})
            if one.type == "if":
                break


def real_loop():
    """The example by while_loop, as a real Program; its `while` op is the last of block 0."""
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main):
                i, n, one, s, x = (paddle.static.data(v, [1], "int64") for v in VALUES)
                paddle.static.nn.while_loop(
                    lambda i, s: i < n, lambda i, s: (i + one, s + s * x), [i, s]
                )
            return main
    finally:
        paddle.disable_static()


VALUES = {"i": 0, "n": 2, "one": 1, "s": 1, "x": 2}
(loop,) = ops_of(*LOOP)
print(loop.type, loop.inputs, loop.outputs)
for one in loop.body:
    print("   ", one.type, one.inputs, one.outputs)
feed = {name: np.array([value]) for name, value in VALUES.items()}
viz.executor_steps(real_loop(), feed, ["s"])  # the same loop as it runs, line by line


# %% nbgrader={"grade_id": "task7", "solution": true}
def complete(op, known):
    ### BEGIN SOLUTION
    seen, read, written, body = set(known), set(op.inputs), set(), []
    for one in op.body:
        if one.body:
            one = complete(one, seen)
        for name in one.inputs:
            if name not in seen:
                raise ValueError(f"complete: expected a known name, but {one.type} reads {name!r}.")
        body.append(one)
        read.update(one.inputs)
        written.update(one.outputs)
        seen.update(one.outputs)
    (condition,) = op.inputs
    if condition not in known:
        raise ValueError(f"complete: expected a known condition, but got {condition!r}.")
    outputs = written & set(known)
    if op.type == "while" and condition not in outputs:
        raise ValueError(f"complete: expected a body that writes {condition!r}. It never ends.")
    others = ((read & set(known)) | outputs) - {condition}
    return Op(op.type, [condition, *sorted(others)], sorted(outputs), body)
    ### END SOLUTION


# %% nbgrader={"grade_id": "task7_check", "points": 2}
from grader.checks import Checks, experiment


@experiment
def completed(lines, known, culprit=""):
    """Your answer for the block that these lines hold, as plain data; or the name of the error, and
    the culprit if its text has it in quotes, else the text.
    """
    (block_op,) = ops_of(*lines)
    try:
        found = complete(block_op, set(known))
    except ValueError as error:
        return type(error).__name__, culprit if repr(culprit) in str(error) else str(error)
    return plain(found)


def plain(one):
    return [one.type, list(one.inputs), list(one.outputs), [plain(each) for each in one.body]]


def as_ops(found):
    """Plain data as Ops."""
    kind, inputs, outputs, body = found
    return Op(kind, inputs, outputs, [as_ops(each) for each in body])


def slots(found):
    """Inputs and outputs of an op, and those of each op with a body in it."""
    if isinstance(found, tuple):
        return found
    return found[1:3] + [slots(each) for each in found[3] if each[3]]


def after(lines, values):
    """The numbers after a run of what you completed."""
    values = dict(values)
    run_ops([as_ops(completed(lines, sorted(values)))], values)
    return values


@experiment
def completed_program(program, condition):
    """X (without the condition) and Out that you find for the body in block 1."""
    outer, inner = program.block(0), program.block(1)
    body = [Op(one.type, one.input_arg_names, one.output_arg_names) for one in inner.ops]
    found = complete(Op("while", [condition], [], body), set(outer.vars))
    return sorted(found.inputs[1:]), sorted(found.outputs)


NUMBERS = {"i": 0, "n": 4, "one": 1, "s": 1, "x": 2, "go": True, "y": 7}
NESTED = [
    "while go:",
    "    j = assign(zero)",
    "    k = less(j, n)",
    "    while k:",
    "        t = add(s, j)",
    "        s = add(t, x)",
    "        j = add(j, one)",
    "        k = less(j, n)",
    "    i = add(i, one)",
    "    go = less(i, n)",
]
with Checks("Task 7") as check:
    check.equal(
        "the example",
        lambda: slots(completed(LOOP, sorted(NUMBERS))),
        [["go", "i", "n", "one", "s", "x"], ["go", "i", "s"]],
        look="Compare with the table. t is local, y isn't used.",
    )
    check.equal(
        "the example, run",
        lambda: after(LOOP, NUMBERS),
        {**NUMBERS, "i": 4, "s": 81, "go": False},
        look="A KeyError names what is missing in inputs; a number that didn't change is missing in outputs.",
    )
    branch = ["if c:", "    y = add(a, b)", "    t = assign(a)"]
    check.equal(
        "an if that writes what it never reads",
        lambda: slots(completed(branch, ["a", "b", "c", "y"])),
        [["c", "a", "b", "y"], ["y"]],
        look="Rule 2: where c is false, y keeps its old value, so it goes in as well. An if doesn't have to write its condition.",
    )
    check.equal(
        "a loop in a loop",
        lambda: slots(completed(NESTED, ["go", "i", "n", "one", "s", "x", "zero"])),
        [
            ["go", "i", "n", "one", "s", "x", "zero"],
            ["go", "i", "s"],
            [["k", "j", "n", "one", "s", "x"], ["j", "k", "s"]],
        ],
        look="j and k are local to the outer body. But for the inner loop they are known: it stands behind them.",
    )
    check.equal(
        "a name that is not known yet, and one that is",
        lambda: [
            completed(["if c:", "    u = add(t, a)", "    t = assign(a)"], ["a", "c"], "t")[:2],
            completed(["if c:", "    t = assign(a)", "    u = add(t, a)"], ["a", "c"])[:2],
        ],
        [("ValueError", "t"), ["if", ["c", "a"]]],
        look="Rule 5: t is local, and it is read before it is written. The text of the error names it, in quotes.",
    )
    endless = ["while go:", "    i = add(i, one)"]
    check.equal(
        "a while that never ends, and an if like it",
        lambda: [
            completed(endless, ["go", "i", "one"], "go"),
            slots(completed(["if go:", *endless[1:]], ["go", "i", "one"])),
        ],
        [("ValueError", "go"), [["go", "i", "one"], ["i"]]],
        look="Rule 5: nobody writes go. The text of the error names it, in quotes.",
    )
    program = real_loop()
    while_op = program.global_block().ops[-1]
    (condition,) = while_op.input("Condition")
    check.equal(
        "as our while_loop does it",
        lambda: completed_program(program, condition),
        (sorted(while_op.input("X")), sorted(while_op.output("Out"))),
        look="The example again, as a real Program; print(real_loop()) shows it. Has what the body made for itself come out?",
    )

# %% nbgrader={"grade_id": "task7_hidden", "points": 2}
# Hidden checks, run when your work is graded: random programs, blocks within blocks, names that have left their block.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment

secret_rng = np.random.default_rng(17)


def secret_body(rng, level, names, known):
    """Lines of a random body. `names`: what may be read; what is made here joins a copy of it."""
    names = list(names)
    lines = []
    for _ in range(int(rng.integers(1, 5))):
        number = int(rng.integers(0, 10**6))
        pad = "    " * level
        if level < 4 and rng.random() < 0.35:
            if rng.random() < 0.5:
                lines += [f"{pad}q{number} = less({rng.choice(names)}, {rng.choice(names)})"]
                lines += [f"{pad}if q{number}:"]
                lines += secret_body(rng, level + 1, names, known)
            else:
                lines += [f"{pad}k{number} = assign(zero)", f"{pad}q{number} = less(zero, one)"]
                lines += [f"{pad}while q{number}:"]
                lines += secret_body(rng, level + 1, names, known)
                lines += [f"{pad}    k{number} = add(k{number}, one)"]
                lines += [f"{pad}    q{number} = less(k{number}, two)"]
            continue
        out = str(rng.choice([*known[3:], *names[3:], f"v{number}"]))
        a, b = rng.choice(names, 2)
        lines.append(
            f"{pad}{out} = add({a}, {b})" if rng.random() < 0.7 else f"{pad}{out} = assign({a})"
        )
        names.append(out)
    return lines


def secret_after(lines, values):
    """What Python itself makes of the same text, for the names that are known."""
    scope = {**values, **NUMBER_OPS}
    exec("\n".join(lines), scope)
    return {name: scope[name] for name in values}


def secret_words(found):
    """The names that an op reads and writes in all its blocks: by a look at the text."""
    return {name for one in found for name in re.findall(r"[a-z]\w*", one)}


SECRET_KNOWN = ["zero", "one", "two", "a", "b", "c", "go"]
SECRET_VALUES = {"zero": 0, "one": 1, "two": 2, "a": 3, "b": -1, "c": 5, "go": True}
secret_cases = [
    ["if go:", *secret_body(secret_rng, 1, SECRET_KNOWN[:6], SECRET_KNOWN[:6])] for _ in range(60)
]
secret_loops = [
    [line.replace("if go", "while go", 1), *rest, "    go = less(one, zero)"]
    for line, *rest in secret_cases
]


@experiment
def secret_completed(cases, known):
    return [completed(lines, known) for lines in cases]


@experiment
def secret_afterwards(lines, names):
    """The slots that are found; then the names, and the op, as they are after it."""
    (block_op,) = ops_of(*lines)
    known = set(names)
    found = complete(block_op, known)
    kept = [block_op.type, block_op.inputs, block_op.outputs, len(block_op.body)]
    return plain(found)[1:3], sorted(known), kept


def secret_run(cases):
    """The numbers after a run of each."""
    found = []
    for one in secret_completed(cases, SECRET_KNOWN):
        values = dict(SECRET_VALUES)
        run_ops([as_ops(one)], values)
        found.append(values)
    return found


def secret_slots(lines):
    """Inputs and outputs by a look at the text."""
    written = {line.split("=")[0].strip() for line in lines if "=" in line}
    outputs = sorted(written & set(SECRET_KNOWN))
    condition = re.findall(r"\w+", lines[0])[1]
    used = secret_words(lines) & set(SECRET_KNOWN)
    return [[condition, *sorted(used - {condition})], outputs]


SECRET_WRONG = [
    (["if c:", "    if c:", "        t = assign(a)", "    y = assign(t)"], "t"),
    (["if c:", "    while d:", "        d = less(a, a)", "    d = assign(c)"], "d"),
    (["if c:", "    if c:", "        u = add(a, w)"], "w"),
    (["while q:", "    t = assign(a)", "    q = less(t, a)"], "q"),
    (["while c:", "    if c:", "        t = assign(c)"], "c"),
    (
        ["if c:", "    a = assign(t)", "    if a:", "        y = assign(a)", "    t = assign(y)"],
        "t",
    ),
]
with Checks("Task 7", hidden=True) as check:
    check.equal(
        "120 random programs, run",
        lambda: [secret_run(secret_cases), secret_run(secret_loops)],
        [
            [secret_after(lines, SECRET_VALUES) for lines in cases]
            for cases in (secret_cases, secret_loops)
        ],
        look="What a body needs goes in, what it changes comes out; in inner blocks, too.",
    )
    check.equal(
        "120 random programs: no name too many",
        lambda: [
            slots(one)[:2] for one in secret_completed(secret_cases + secret_loops, SECRET_KNOWN)
        ],
        [secret_slots(lines) for lines in secret_cases + secret_loops],
        look="Sorted, each once, the condition first; local names in neither.",
    )
    check.equal(
        "names that are not known where they are read; loops that never end",
        lambda: (
            [completed(lines, ["a", "c", "y"], name) for lines, name in SECRET_WRONG]
            + [slots(completed(["if c:", "    c = less(a, a)"], ["a", "c"]))]
        ),
        [("ValueError", name) for _, name in SECRET_WRONG] + [[["c", "a"], ["c"]]],
        look="A local name ends with its block. A condition must be known, and be written by the loop.",
    )
    check.equal(
        "known stays as it is, and so does the op",
        lambda: secret_afterwards(NESTED, ["go", "i", "n", "one", "s", "x", "zero"]),
        (
            [["go", "i", "n", "one", "s", "x", "zero"], ["go", "i", "s"]],
            ["go", "i", "n", "one", "s", "x", "zero"],
            ["while", ["go"], [], 5],
        ),
        look="Make a copy of the set; make a new Op.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 8 · Contributor exercise, part 1: a new API   (4 points)
# `paddle.logit(x)` gives `ln(x / (1 - x))`: the inverse of sigmoid, from a probability back to a score. minipaddle has it, but here you bring your own, from the kernel up to the docstring (the answer's first line takes the
# declaration of ours away, so that the name is free):
#
#     declare_logit() -> the API function, logit(x, eps=None, name=None)
#
# For probabilities of 0 and 1 the result is infinite. So there is `eps`: if it is given, `x` is first *clamped*: what is smaller than `eps` becomes `eps`, what is larger than `1 - eps`
# becomes `1 - eps`.
#
# 1. **The op**, with the name `logit`, the source `"paddle/phi/ops/yaml/ops.yaml: logit"`, and an attribute `eps: float = 1e-6`. Where `eps` is 0, nothing is clamped.
# 2. **A kernel for float16** beside the general one. It computes in float32 and rounds once, at the end: near 0.5, float16 alone loses half of the digits.
# 3. **InferMeta**: shape and dtype are those of `x`: `unchanged`.
# 4. **The gradient rule**, from `x`, `out_grad` and `eps`: `out_grad / (x · (1 - x))`, and 0 where `x` was clamped, *also where x is 0 or 1*. A rule is written with `+ - * /`, `<`, `<=`, `>`, `>=` (not with `==`)
#    and ops; `clip` and `cast` are imported below. Then it can be differentiated again.
# 5. **The API**: without `eps` nothing is clamped, so the op gets 0. If `x` holds no floats: `TypeError`. If `eps` is not from 0 to 0.5: `ValueError`. It works on Tensors and in both kinds of Program.
# 6. **The docstring** has the parts `Args:`, `Returns:`, `Raises:` and `Examples:`; the last with lines that start with `>>>` and the output below them, as in a Python console. They are run as a test, in
#    which `paddle` and `logit` are known.
#
# The next cell brings another API in this way, `bump`: a hill of height 1. Look at how its parts are put together.
#
# | x | eps | out | gradient for `out_grad = 1` |
# |---|---|---|---|
# | 0.25 | None | -1.098612 | 5.333333 |
# | 0 | None | -inf | inf |
# | 0 | 0.1 | -2.197225 | 0 |
#
# Why Paddle has it: an API there has its op in `paddle/phi/ops/yaml/ops.yaml` and `backward.yaml`, its kernels in `paddle/phi/kernels/`, and its Python function with the docstring, here in
# `python/paddle/tensor/math.py`. In Paddle 3.3.1, `logit` has no float16 kernel for the CPU, its gradient has no gradient, and `eps = 0.7` is taken without a word. Yours is better.
#
# <details><summary>Hint 1</summary>The kernel: if eps, clip x first, with xp.clip(x, low, high); low and high as numbers of x's dtype (x.dtype.type(eps)). Then xp.log(x / (1 - x)). For float16,
# the op's own run method finds the kernel for float32, as in bump.</details>
#
# <details><summary>Hint 2</summary>In the rule, a comparison such as x >= eps gives bools, and cast(x >= eps, dtype=x.dtype) gives 1 where x was kept, else 0. A product of two of
# these is 1 inside.</details>
#
# <details><summary>Hint 3</summary>inf times 0 is nan. So divide by c * (1.0 - c), where c = clip(x, min=eps, max=1.0 - eps), and then multiply by the 1 or 0 of hint 2. The result is a tuple:
# a comma behind it.</details>

# %% nbgrader={"grade_id": "task8_setup"}
from minipaddle.phi import OPS, op  # again: a loop over ops may have used the name
from minipaddle.phi.infermeta.unary import unchanged
from minipaddle.phi.ops.manipulation import cast
from minipaddle.phi.ops.math import clip


def declare_bump():
    """An example of all parts: bump(x) = 1 / (1 + (x / width)²)."""
    OPS.pop("bump", None)  # an op is declared once; so this function can be called again

    @op(source="an example, not in Paddle", name="bump")
    def bump_op(xp, x, *, width: float = 2.0):  # the kernel; what is after * are attributes
        ratio = x / x.dtype.type(width)  # a number of x's dtype: float32 stays float32
        return 1 / (1 + ratio * ratio)

    @bump_op.kernel(dtype="float16")  # the KernelKey says float16, and any backend
    def bump_float16(xp, x, *, width):
        return bump_op.run(xp, x.astype("float32"), width=width).astype("float16")

    bump_op.infer_meta(unchanged)

    @bump_op.vjp
    def bump_rule(x, out, out_grad, *, width: float):
        return (out_grad * out * out * x * (-2.0 / (width * width)),)

    def bump(x, width=None, name=None):
        """A hill of height 1: 1 / (1 + (x / width)²).

        Args:
            x: a Tensor of floats.
            width: where the hill has half of its height; more than 0. Default: 1.
            name: for the reader of a program only.

        Returns:
            A Tensor of the shape and dtype of x.

        Raises:
            TypeError: x holds no floats.
            ValueError: width is not more than 0.

        Examples:
            >>> bump(paddle.to_tensor([0.0, 3.0]), width=3.0).numpy().tolist()
            [1.0, 0.5]
        """
        if not x.dtype.is_floating:
            raise TypeError(f"bump: expected floats, but got {x.dtype.name}. Cast x first.")
        width = 1.0 if width is None else float(width)
        if not width > 0:
            raise ValueError(f"bump: expected a width over 0, but got {width}. Pass 1.0, say.")
        return bump_op(x, width=width)

    return bump


bump = declare_bump()
t = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
bump(t).sum().backward()
print(bump(t).numpy(), t.grad.numpy())

# %% nbgrader={"grade_id": "task8", "solution": true}
OPS.pop("logit", None)


def declare_logit():
    ### BEGIN SOLUTION
    @op(source="paddle/phi/ops/yaml/ops.yaml: logit", name="logit")
    def logit_op(xp, x, *, eps: float = 1e-6):
        if eps:
            x = xp.clip(x, x.dtype.type(eps), x.dtype.type(1.0 - eps))
        return xp.log(x / (1 - x))

    @logit_op.kernel(dtype="float16")
    def logit_float16(xp, x, *, eps):
        return logit_op.run(xp, x.astype("float32"), eps=eps).astype("float16")

    logit_op.infer_meta(unchanged)

    @logit_op.vjp
    def logit_rule(x, out_grad, *, eps: float):
        kept = cast(x >= eps, dtype=x.dtype) * cast(x <= 1.0 - eps, dtype=x.dtype)
        c = clip(x, min=eps, max=1.0 - eps)
        return (out_grad / (c * (1.0 - c)) * kept,)

    def logit(x, eps=None, name=None):
        """The inverse of sigmoid: ln(x / (1 - x)).

        Args:
            x: a Tensor of floats.
            eps: from 0 to 0.5. x is clamped to [eps, 1 - eps] first. Default: it is not.
            name: for the reader of a program only.

        Returns:
            A Tensor of the shape and dtype of x.

        Raises:
            TypeError: x holds no floats.
            ValueError: eps is not from 0 to 0.5.

        Examples:
            >>> logit(paddle.to_tensor([0.5, 1.5]), eps=0.5).numpy().tolist()
            [0.0, 0.0]
        """
        if not x.dtype.is_floating:
            raise TypeError(f"logit: expected floats, but got {x.dtype.name}. Cast x first.")
        eps = 0.0 if eps is None else float(eps)
        if not 0.0 <= eps <= 0.5:
            raise ValueError(f"logit: expected eps from 0 to 0.5, but got {eps}. Pass 1e-6, say.")
        return logit_op(x, eps=eps)

    return logit
    ### END SOLUTION


# %% nbgrader={"grade_id": "task8_check", "points": 2}
import doctest

from grader.checks import Checks, experiment


def by_numpy(array, eps=0.0):
    """logit, its slope, and the slope of the slope."""
    with np.errstate(all="ignore"):
        kept = (array >= eps) & (array <= 1 - eps) if eps else np.ones(array.shape, bool)
        c = np.clip(array, eps, 1 - eps) if eps else array
        area = c * (1 - c)
        second = np.where(kept, (2 * c - 1) / area**2, 0.0)
        return [np.log(c / (1 - c)), np.where(kept, 1 / area, 0.0), second]


def weights_like(array):
    """Some numbers: the gradient that arrives."""
    return 1.0 + np.arange(array.size, dtype="float64").reshape(array.shape) / 2


def new_logit():
    OPS.pop("logit", None)
    return declare_logit()


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def logit_of(array, *eps):
    """out; its gradient for weights_like(array); and the gradient of this gradient's sum."""
    x = paddle.to_tensor(array, stop_gradient=False)
    weights = paddle.to_tensor(weights_like(array).astype(array.dtype))
    with np.errstate(all="ignore"):
        out = new_logit()(x, *eps)
        (first,) = paddle.grad(out, x, weights, create_graph=True)
        (second,) = paddle.grad(first.sum(), x)
    return [out.numpy(), first.numpy(), second.numpy()]


def expected_of(array, eps=0.0):
    out, first, second = by_numpy(array, eps)
    weights = weights_like(array)
    return [np.asarray(one) for one in (out, weights * first, weights * second)]


@experiment
def outcome_of(array, **given):
    """(dtype, numbers), or the name of the error."""
    try:
        out = new_logit()(paddle.to_tensor(array), **given).numpy()
    except (TypeError, ValueError) as error:
        return type(error).__name__
    return str(out.dtype), out


@experiment
def in_programs(array, eps):
    """Shape, dtype and numbers by a classic Program, then by a PIR program; for the classic one
    the gradient of the mean, too.
    """
    logit, found = new_logit(), []
    paddle.enable_static()
    try:
        for classic in (True, False):
            with paddle.pir_utils.OldIrGuard() if classic else paddle.pir_utils.IrGuard():
                main = paddle.static.Program()
                with paddle.static.program_guard(main):
                    x = paddle.static.data("x", array.shape, str(array.dtype))
                    x.stop_gradient = False
                    out = logit(x, eps=eps)
                    if classic:
                        paddle.static.append_backward(paddle.mean(out))
                fetch = [out, "x@GRAD"] if classic else [out]
                numbers = paddle.static.Executor().run(main, {"x": array}, fetch)
                found.append((list(out.shape), out.dtype.name, *numbers))
    finally:
        paddle.disable_static()
    return found


@experiment
def docstring():
    return new_logit().__doc__ or ""


@experiment
def examples_that_fail():
    """How many lines of the docstring's examples there are, and how many fail."""
    logit = new_logit()
    test = doctest.DocTestParser().get_doctest(
        logit.__doc__ or "", {"paddle": paddle, "logit": logit, "np": np}, "logit", None, 0
    )
    result = doctest.DocTestRunner(verbose=False).run(test)
    return "some" if result.attempted else "none", result.failed


inner = np.array([0.25, 0.5, 0.9])
wide = np.array([[-1.0, 0.0, 0.05], [0.3, 1.0, 7.0]])
half = np.array([0.4998, 0.4993, 0.4963, 0.26, 0.999], "float16")
PARTS = ["Args:", "Returns:", "Raises:", "Examples:"]
with Checks("Task 8") as check:
    check.equal(
        "numbers and gradients",
        lambda: logit_of(inner),
        expected_of(inner),
        look="out, its gradient, and the gradient of that: in the rule + - * / and ops only.",
    )
    check.equal(
        "clamped",
        lambda: [logit_of(wide, 0.1), outcome_of(np.array([0.0, 0.5, 2.0]))],
        [expected_of(wide, 0.1), ("float64", np.array([-np.inf, 0.0, np.nan]))],
        look="If a gradient is nan: inf · 0, see hint 3. Without eps, nothing is clamped.",
    )
    check.equal(
        "float16",
        lambda: outcome_of(half),
        ("float16", by_numpy(half.astype("float64"))[0]),
        look="Rule 2: compute in float32. @logit_op.kernel(dtype='float16'), as in bump.",
        rtol=2e-3,
    )
    check.equal(
        "dtypes and eps that are refused, and others",
        lambda: [
            outcome_of(np.array([0, 1])),
            outcome_of(inner, eps=0.7),
            outcome_of(inner, eps=-0.1),
            outcome_of(inner.astype("float32"), eps=0.5),
        ],
        ["TypeError", "ValueError", "ValueError", ("float32", np.zeros(3))],
        look="Rule 5: the API looks at x.dtype.is_floating and at eps, before it calls the op.",
    )
    check.equal(
        "in both kinds of Program",
        lambda: in_programs(wide, 0.2),
        [
            ([2, 3], "float64", by_numpy(wide, 0.2)[0], by_numpy(wide, 0.2)[1] / 6),
            ([2, 3], "float64", by_numpy(wide, 0.2)[0]),
        ],
        look="The API only calls the op; then it works in each world.",
    )
    check.equal(
        "the docstring, and its examples",
        lambda: ([part for part in PARTS if part in docstring()], examples_that_fail()),
        (PARTS, ("some", 0)),
        look="Rule 6: four parts, and at least one >>> line, which is run.",
    )

# %% nbgrader={"grade_id": "task8_hidden", "points": 2}
# Hidden checks, run when your work is graded: other shapes and numbers, the declaration, and the docstring.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment

secret_rng = np.random.default_rng(18)


@experiment
def secret_batch(cases):
    return [logit_of(*case) for case in cases]


@experiment
def secret_declaration():
    """What the declaration says, and for which dtypes there are kernels."""
    new_logit()
    declared = OPS["logit"]
    dtypes = sorted({key.dtype for key in declared.kernels.kernels})
    return declared.signature, declared.source, dtypes


@experiment
def secret_promises(shapes):
    """Shape and dtype: by InferMeta, of a result, and of its gradient."""
    logit, found = new_logit(), []
    for shape, dtype in shapes:
        x = paddle.to_tensor(np.full(shape, 0.3, dtype), stop_gradient=False)
        out = logit(x)
        out.sum().backward()
        metas = [OPS["logit"].meta(MetaTensor(shape, dtype), eps=0.0), out, x.grad]
        found.append([(list(one.shape), one.dtype.name) for one in metas])
    return found


@experiment
def secret_outcomes(cases):
    return [outcome_of(array, **given) for array, given in cases]


secret_cases = [
    (np.asarray(secret_rng.uniform(0.02, 0.98, shape)), eps)
    for shape, eps in (((5,), 0.3), ((2, 3), 0.01), ((), 0.0), ((3, 1, 2), 0.45), ((4,), 0.0))
]
secret_half = secret_rng.uniform(0.49, 0.51, 40).astype("float16")
secret_shapes = [([2, 3], "float32"), ([], "float64"), ([4, 1], "float16"), ([0, 2], "float32")]
secret_wide = np.array([0.0, 1.0, 0.5, -3.0, 0.26])
with Checks("Task 8", hidden=True) as check:
    check.equal(
        "other shapes and numbers",
        lambda: [found[:2] for found in secret_batch(secret_cases)],
        [expected_of(*case)[:2] for case in secret_cases],
        look="out, and the gradient for the one that arrives.",
    )
    check.equal(
        "the gradient of the gradient; clamped numbers",
        lambda: [found[2] for found in secret_batch([*secret_cases, (secret_wide, 0.25)])],
        [expected_of(*case)[2] for case in [*secret_cases, (secret_wide, 0.25)]],
    )
    check.equal(
        "the gradient where numbers are clamped",
        lambda: [logit_of(secret_wide, 0.25)[1], logit_of(secret_wide, 1e-3)[1]],
        [expected_of(secret_wide, 0.25)[1], expected_of(secret_wide, 1e-3)[1]],
        look="0 there, also at 0 and 1; never nan.",
    )
    check.equal(
        "float16 near 0.5, and clamped",
        lambda: secret_outcomes([(secret_half, {}), (secret_half, {"eps": 0.497})]),
        [
            ("float16", by_numpy(secret_half.astype("float64"))[0]),
            ("float16", by_numpy(secret_half.astype("float64"), 0.497)[0]),
        ],
        look="Compute in float32, round at the end.",
        rtol=2e-3,
    )
    check.equal(
        "the declaration: signature, source, kernels",
        lambda: secret_declaration(),
        ("logit(x, eps=1e-06)", "paddle/phi/ops/yaml/ops.yaml: logit", ["ALL", "float16"]),
    )
    check.equal(
        "shapes and dtypes",
        lambda: secret_promises(secret_shapes),
        [[one] * 3 for one in secret_shapes],
        look="By InferMeta, of the result, and of its gradient.",
    )
    check.equal(
        "what is refused, and what is not",
        lambda: secret_outcomes(
            [
                (np.array([True]), {}),
                (np.array([1], "int32"), {"eps": 0.1}),
                (secret_wide, {"eps": 0.5001}),
                (secret_wide, {"eps": float("nan")}),
                (np.array([0.0, 0.1]), {"eps": 0, "name": "scores"}),
                (np.array([1e-9, 1.0]), {}),
                (secret_wide.astype("float32"), {"eps": 0.25}),
            ]
        ),
        [
            "TypeError",
            "TypeError",
            "ValueError",
            "ValueError",
            ("float64", by_numpy(np.array([0.0, 0.1]))[0]),
            ("float64", by_numpy(np.array([1e-9, 1.0]))[0]),
            ("float32", by_numpy(secret_wide, 0.25)[0]),
        ],
    )
    check.equal(
        "in both kinds of Program",
        lambda: in_programs(secret_wide[:3].astype("float32"), 0.125),
        [
            (
                [3],
                "float32",
                by_numpy(secret_wide[:3], 0.125)[0],
                by_numpy(secret_wide[:3], 0.125)[1] / 3,
            ),
            ([3], "float32", by_numpy(secret_wide[:3], 0.125)[0]),
        ],
    )
    check.equal(
        "the docstring names what it must",
        lambda: [
            word
            for word in [*PARTS, "x:", "eps:", "TypeError", "ValueError", ">>>", "logit("]
            if word in docstring()
        ],
        [*PARTS, "x:", "eps:", "TypeError", "ValueError", ">>>", "logit("],
        look="Each argument with a colon, each error, and an example that calls logit.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 9 · Contributor exercise, part 2: the unit tests   (4 points)
# A pull request with a new API needs unit tests, and a reviewer asks: *which mistakes would they find?* Write them. The checks hand in right versions of `logit`, and versions with one mistake.
#
#     check_logit(logit)
#
# It returns nothing if all is well, and raises an `AssertionError` if not (`assert` does, and so do numpy's testing functions). An error that comes out of `logit` itself counts as found, too. `logit` has
# the parameters `(x, eps=None, name=None)`, and these are its promises:
#
# 1. Numbers: `ln(x / (1 - x))`, for Tensors of all shapes. `logit(0)` is -inf: without `eps`, nothing is clamped.
# 2. With `eps`, numbers below `eps` count as `eps`, and numbers above `1 - eps` as `1 - eps`.
# 3. The gradient is `out_grad / (x · (1 - x))`; where x was clamped, it is 0. (Where `x` is exactly `eps` or `1 - eps`, nothing is promised.)
# 4. Shape and dtype of the result are those of `x`: float32 stays float32, float64 stays float64, and a Tensor without axes has none afterwards.
# 5. If `x` is not of floats: `TypeError`. If `eps` is not from 0 to 0.5: `ValueError`.
# 6. In a Program it gives the same numbers, shapes and dtypes as in dygraph.
#
# Two right versions can differ in the last digits: compare with a tolerance (`rtol=1e-5, atol=1e-6` for float32). And a classic Program keeps an attribute in 32 bits, so 0.1 becomes 0.10000000149: an eps of 0.125 fits exactly.
# The next cell has two helpers.
#
# Why Paddle has it: most APIs there have such a file under `test/legacy_test/`, with classes for dygraph, for static programs, and for errors. For `logit` it is `test_logit_op.py`.
#
# <details><summary>Hint 1</summary>Take the promises one by one, and ask of each: which input shows that it is broken? For promise 2, one number below and one above, and an eps that is no
# round number.</details>
#
# <details><summary>Hint 2</summary>An out_grad of ones hides a rule that forgets it. Ask for the gradient with different numbers in out_grad; once without eps, and once with numbers that are
# clamped.</details>
#
# <details><summary>Hint 3</summary>For an expected error: try logit(...); except TypeError: pass; else: raise AssertionError("..."). In a Program, test eps as well: what works in dygraph may be
# forgotten there.</details>


# %% nbgrader={"grade_id": "task9_setup"}
def gradient_of(logit, array, out_grad, **given):
    """The gradient of x that backward gives, as an array; `out_grad` is an array like x."""
    x = paddle.to_tensor(array, stop_gradient=False)
    with np.errstate(all="ignore"):
        logit(x, **given).backward(paddle.to_tensor(out_grad))
    return x.grad.numpy()


def in_a_program(logit, array, **given):
    """What a Program promises and gives: the shape, the name of the dtype, and the numbers."""
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main):
                x = paddle.static.data("x", array.shape, str(array.dtype))
                out = logit(x, **given)
            (numbers,) = paddle.static.Executor().run(main, {"x": array}, [out])
            return list(out.shape), out.dtype.name, numbers
    finally:
        paddle.disable_static()


# %% nbgrader={"grade_id": "task9", "solution": true}
def check_logit(logit):
    ### BEGIN SOLUTION
    def same(got, expected, rtol=1e-9):
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)

    def numbers(array, eps=0.0):
        c = np.clip(array, eps, 1 - eps)
        return np.log(c / (1 - c))

    def refuses(kind, array, **given):
        try:
            logit(paddle.to_tensor(array), **given)
        except kind:
            return
        raise AssertionError(f"logit: expected a {kind.__name__}.")

    array = np.array([[0.001, 0.1, 0.3], [0.55, 0.97, 0.9999]])
    with np.errstate(all="ignore"):
        edges = logit(paddle.to_tensor([0.0, 1.0])).numpy()
    assert edges[0] == -np.inf and edges[1] == np.inf
    for dtype, rtol in (("float64", 1e-9), ("float32", 1e-5)):
        for value in (array, array[0], array[1, 2]):
            for given in ({}, {"eps": 0.125}):
                value = np.asarray(value, dtype)
                out = logit(paddle.to_tensor(value), **given)
                assert list(out.shape) == list(value.shape) and out.dtype.name == dtype
                same(out.numpy(), numbers(value.astype("float64"), **given), rtol * 10)
                shape, name, found = in_a_program(logit, value, **given)
                assert shape == list(value.shape) and name == dtype and found.dtype == dtype
                same(found, out.numpy(), rtol * 10)
    out_grad = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, 0.25]])
    slope = out_grad / (array * (1 - array))
    same(gradient_of(logit, array, out_grad), slope)
    kept = (array > 0.125) & (array < 1 - 0.125)
    same(gradient_of(logit, array, out_grad, eps=0.125), np.where(kept, slope, 0.0))
    ends = np.array([0.0, 1.0, -2.0, 3.0])
    same(gradient_of(logit, ends, ends + 1.0, eps=0.2), ends * 0.0)
    refuses(TypeError, np.array([0, 1]))
    refuses(TypeError, np.array([True]))
    refuses(ValueError, array, eps=-0.1)
    refuses(ValueError, array, eps=0.6)
    ### END SOLUTION


# %% nbgrader={"grade_id": "task9_check", "points": 2}
from grader.checks import Checks, experiment


def logit_by_other_apis(x, eps, refuse=True):
    """A right version of logit, put together from other APIs."""
    if refuse and not x.dtype.is_floating:
        raise TypeError("logit: expected floats.")
    eps = 0.0 if eps is None else eps
    if refuse and not 0 <= eps <= 0.5:
        raise ValueError("logit: expected eps from 0 to 0.5.")
    x = paddle.clip(x, eps, 1 - eps) if eps else x
    return paddle.log(x / (1.0 - x))


def with_slope(rule):
    """An op that gives x itself, with this rule for its gradient."""
    OPS.pop("itself", None)

    @op(source="for the checks")
    def itself(xp, x):
        return x + 0

    itself.infer_meta(unchanged)
    itself.vjp(rule)
    return itself


def right(x, eps=None, name=None):
    return logit_by_other_apis(x, eps)


def ignores_eps(x, eps=None, name=None):
    return logit_by_other_apis(x, eps) if eps is None else right(x + 0.0 * eps)


def forgets_out_grad(x, eps=None, name=None):
    return with_slope(lambda x, out_grad: (out_grad * 0.0 + 1.0,))(right(x, eps))


def lets_gradients_through(x, eps=None, name=None):
    free = paddle.log(paddle.abs(x / (1.0 - x)) + 1e-30)
    return free + (right(x, eps) - free).detach() if eps else right(x)


def gives_float32(x, eps=None, name=None):
    return paddle.cast(right(x, eps), "float32")


def takes_any_eps(x, eps=None, name=None):
    return logit_by_other_apis(x, None if eps is None else min(abs(eps), 0.5))


def forgets_eps_in_programs(x, eps=None, name=None):
    return right(x, eps if paddle.in_dynamic_mode() else None)


def just_x(x, eps=None, name=None):
    return x + 0.0


@experiment
def judged(versions, with_reason=False):
    """What your test says about each version: "passes", or "fails" (with its error)."""
    found = []
    for version in versions:
        try:
            check_logit(version)
        except NotImplementedError:
            raise
        except Exception as error:
            reason = f" with {type(error).__name__}: {' '.join(str(error).split())}"
            found.append("fails" + reason * with_reason)
        else:
            found.append("passes")
    return found


def one_and_right(version):
    return lambda: judged([version, right])


with Checks("Task 9") as check:
    check.equal(
        "a right version, and one that gives x itself",
        lambda: judged([right], with_reason=True) + judged([just_x]),
        ["passes", "fails"],
        look="If the right one fails: is the test too strict, or does it ask for more than the promises?",
    )
    for version, look in (
        (ignores_eps, "Promise 2: does any test pass an eps?"),
        (forgets_out_grad, "Promise 3: pass different numbers as out_grad."),
        (lets_gradients_through, "Promise 3: the gradient is 0 where x was clamped."),
        (gives_float32, "Promise 4: float64 stays float64."),
        (takes_any_eps, "Promise 5: an eps below 0, and one above 0.5."),
        (forgets_eps_in_programs, "Promise 6: in a Program, test with eps, too."),
    ):
        check.equal(
            f"a version that {version.__name__.replace('_', ' ')}, and a right one",
            one_and_right(version),
            ["fails", "passes"],
            look=look,
        )

# %% nbgrader={"grade_id": "task9_hidden", "points": 2}
# Hidden checks, run when your work is graded: other versions, right ones and wrong ones, in a random order.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment


def secret_by_differences(x, eps=None, name=None):
    """Right: the same numbers, up to the last digits."""
    if not x.dtype.is_floating:
        raise TypeError("logit: no floats.")
    if eps is not None and not 0.0 <= eps <= 0.5:
        raise ValueError("logit: eps.")
    x = paddle.minimum(paddle.maximum(x, x * 0.0 + eps), x * 0.0 + (1.0 - eps)) if eps else x
    return paddle.log(x) - paddle.log(1.0 - x)


def secret_by_reciprocal(x, eps=None, name=None):
    """Right: -ln((1 - x) / x)."""
    right(x, eps)
    x = paddle.clip(x, eps, 1.0 - eps) if eps else x
    return 0.0 - paddle.log((1.0 - x) / x)


def secret_below_only(x, eps=None, name=None):
    return right(x) if eps is None else right(paddle.clip(x, eps, 1.0)) + 0.0 * right(x, eps)


def secret_above_only(x, eps=None, name=None):
    right(x, eps)
    return right(x) if eps is None else right(paddle.clip(x, 0.0, 1.0 - eps))


def secret_eps_by_default(x, eps=None, name=None):
    return right(x, 1e-6 if eps is None else eps)


def secret_log2(x, eps=None, name=None):
    return right(x, eps) * 1.4426950408889634


def secret_wrong_sign(x, eps=None, name=None):
    return 0.0 - right(x, eps)


def secret_slope_of_one(x, eps=None, name=None):
    return x + (right(x, eps) - x).detach()


def secret_slope_off_by_one_percent(x, eps=None, name=None):
    return with_slope(lambda x, out_grad: (out_grad * 1.01,))(right(x, eps))


def secret_squares_out_grad(x, eps=None, name=None):
    return with_slope(lambda x, out_grad: (out_grad * out_grad,))(right(x, eps))


def secret_no_slope_above(x, eps=None, name=None):
    """The gradient above one half is 0, clamped or not."""
    below = paddle.cast(x < 0.5, x.dtype)
    out = right(x, eps)
    return out * below + out.detach() * (1.0 - below) if eps else out


def secret_one_axis(x, eps=None, name=None):
    out = right(x, eps)
    return out if len(x.shape) else paddle.reshape(out, [1])


def secret_flat(x, eps=None, name=None):
    return paddle.reshape(right(x, eps), [-1]) if len(x.shape) > 1 else right(x, eps)


def secret_float64_results(x, eps=None, name=None):
    return paddle.cast(right(x, eps), "float64")


def secret_takes_ints(x, eps=None, name=None):
    floats = x if x.dtype.is_floating else paddle.cast(x, "float32")
    return right(floats, eps)


def secret_takes_large_eps(x, eps=None, name=None):
    return right(x, eps if eps is None or eps <= 0.5 else 0.5)


def secret_takes_negative_eps(x, eps=None, name=None):
    return right(x, eps if eps is None or eps >= 0 else None)


def secret_program_in_float32(x, eps=None, name=None):
    out = right(x, eps)
    return out if paddle.in_dynamic_mode() else paddle.cast(out, "float32")


def secret_program_squares(x, eps=None, name=None):
    return right(x if paddle.in_dynamic_mode() else x * x, eps)


def secret_program_doubles_eps(x, eps=None, name=None):
    return right(x, eps if eps is None or paddle.in_dynamic_mode() else min(2 * eps, 0.5))


def secret_nan_at_the_ends(x, eps=None, name=None):
    """inf · 0 in the gradient where x is 0 or 1."""

    def rule(x, out_grad):
        return (out_grad + 0.0 / (x * (1.0 - x)),)

    return right(with_slope(rule)(x), eps)


SECRET_RIGHT = [right, secret_by_differences, secret_by_reciprocal]
SECRET_WRONG = {
    "numbers": [secret_log2, secret_wrong_sign, secret_eps_by_default],
    "eps": [secret_below_only, secret_above_only],
    "gradients": [secret_slope_of_one, secret_slope_off_by_one_percent, secret_no_slope_above],
    "gradients, out_grad": [secret_squares_out_grad],
    "gradients, clamped": [secret_nan_at_the_ends, lets_gradients_through],
    "shapes and dtypes": [secret_one_axis, secret_flat, secret_float64_results],
    "errors": [secret_takes_ints, secret_takes_large_eps, secret_takes_negative_eps],
    "Programs": [secret_program_in_float32, secret_program_squares],
    "Programs with eps": [secret_program_doubles_eps],
}


@experiment
def secret_judged(versions):
    with np.errstate(all="ignore"):
        return judged(versions)


def secret_order(wrong, seed):
    """The versions of one kind with two right ones, in a random order; and what is expected."""
    rng = np.random.default_rng(seed)
    versions = [*wrong, *(SECRET_RIGHT[n] for n in rng.permutation(3)[:2])]
    versions = [versions[n] for n in rng.permutation(len(versions))]
    return versions, ["passes" if v in SECRET_RIGHT else "fails" for v in versions]


with Checks("Task 9", hidden=True) as check:
    for secret_seed, (secret_name, secret_wrong) in enumerate(SECRET_WRONG.items()):
        secret_versions, secret_expected = secret_order(secret_wrong, secret_seed)
        check.equal(
            f"right and wrong versions: {secret_name}",
            lambda: secret_judged(secret_versions),
            secret_expected,
            look="Each wrong version breaks one promise; each right one keeps all.",
        )
### END HIDDEN TESTS

# %% [markdown]
# **Where this leads.** `minipaddle/phi/infermeta/` has our versions of task 1, `minipaddle/new_executor/instruction.py` that of task 2 (`last_uses`, it walks backwards), `minipaddle/base/backward.py` that of task 4.
# And what you did in tasks 8 and 9 is what a pull request to Paddle needs: op, InferMeta, kernels, gradient, API with its docstring, and a test that would have found a mistake.
