# %% [markdown]
# # 1 · exercise: What a Program knows before it runs
#
# Two tasks, 8 points. You need lesson 1.1. Both are about things that can be known from the program alone: the shape of a result, and the moment when a variable dies.
# After each task there is a check that answers at once.
# Run All stops at the first check that fails; to do task 2 first, run its cells by hand (Shift+Enter).

# %% nbgrader={"grade_id": "setup"}
import re

import minipaddle as paddle
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
        slots = {slot: [name] for slot, name in zip(("X", "Y"), inputs)}
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
# **Where this leads.** `minipaddle/new_executor/instruction.py` has our version of task 2 (`last_uses`, it walks backwards), and `minipaddle/phi/infermeta/` those of task 1. The
# next lessons build on both: how an op finds its kernel, and how the Executor orders its instructions.
