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


# %% nbgrader={"grade_id": "task1", "solution": true}
OPS.pop("channel_add", None)  # an op is declared once; so this cell can be run again


@op(source="paddle/phi/infermeta/binary.cc: ElementwiseRawInferMeta")
def channel_add(xp, x, y, *, axis: int = -1):
    """x + y, where the input with fewer axes starts at the other's axis `axis`."""
    shorter, longer = (x, y) if x.ndim < y.ndim else (y, x)
    behind = 0 if axis == -1 else longer.ndim - shorter.ndim - axis
    return longer + shorter.reshape(shorter.shape + (1,) * behind)


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

from grader.checks import Checks


def in_a_program(x_shape, y_shape, axis):
    """The shape that a Program gives to the output of channel_add, and the shape of a real run."""
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main):
                x = paddle.static.data("x", x_shape, "float32")
                y = paddle.static.data("y", y_shape, "float32")
                out = channel_add(x, y, axis=axis)
        sizes = [[7 if size is None else size for size in shape] for shape in (x_shape, y_shape)]
        feed = {name: np.ones(s, "float32") for name, s in zip("xy", sizes)}
        (result,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[out])
        return list(out.shape), list(result.shape)
    finally:
        paddle.disable_static()


with Checks("Task 1") as check:
    check.equal(
        "one number per channel",
        lambda: channel_add_infer_meta(meta(2, 3, 4, 5), meta(3), axis=1),
        meta(2, 3, 4, 5),
        look="[3] counts as [1, 3, 1, 1]: axis ones on the left, the rest on the right.",
    )
    check.equal(
        "numpy's way",
        lambda: channel_add_infer_meta(meta(2, 3, 4), meta(4), axis=-1),
        meta(2, 3, 4),
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
        lambda: channel_add_infer_meta(meta(-1, 3), meta(1, 3), axis=-1),
        meta(-1, 3),
        look="Whatever the unknown size will be, 1 is repeated to it.",
    )
    check.raises(
        "sizes that don't go together",
        lambda: channel_add_infer_meta(meta(2, 3), meta(3), axis=0),
        ValueError,
        look="At axis 0, the 3 of y stands beside the 2 of x.",
    )
    check.raises(
        "an axis without a place",
        lambda: channel_add_infer_meta(meta(2, 3, 4), meta(4), axis=3),
        ValueError,
        look="Rule 3: x has the axes 0, 1 and 2. Ask for the place before you compare sizes.",
    )
    check.raises(
        "two dtypes",
        lambda: channel_add_infer_meta(meta(3), meta(3, dtype="int64"), axis=-1),
        TypeError,
        look="Rule 4: x is float32, y is int64.",
    )
    check.equal(
        "a Program accepts the op, and a run gives that shape",
        lambda: in_a_program([None, 3, 4], [3], axis=1),
        ([-1, 3, 4], [7, 3, 4]),
        look="The first is what your function says, the second comes from the kernel.",
    )

# %% nbgrader={"grade_id": "task1_hidden", "points": 2}
# Hidden checks, run when your work is graded: rules 1 to 4 on other shapes, and many random ones beside what the kernel gives.
### BEGIN HIDDEN TESTS
import numpy as np

from grader.checks import Checks

secret_kernel = OPS["channel_add"].kernels.select("cpu", None)
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


def secret_agrees():
    for _ in range(200):
        x, y, axis = secret_case()
        got = channel_add_infer_meta(meta(*x), meta(*y), axis=axis)
        real = secret_kernel(np, np.zeros(x, "float32"), np.zeros(y, "float32"), axis=axis)
        if got != meta(*real.shape):
            return False
    return True


with Checks("Task 1", hidden=True) as check:
    check.true("200 random pairs, beside the kernel", secret_agrees, "the shape of the real result")
    for secret_name, secret_x, secret_y, secret_axis, secret_out in (
        ("x is the shorter one", [3, 1], [2, 3, 5, 7], 1, [2, 3, 5, 7]),
        ("no axes at all", [], [2, 3], -1, [2, 3]),
        ("both unknown", [-1, 3], [-1, 1], -1, [-1, 3]),
        ("a known size in the shorter one", [-1, -1, 4], [6], 1, [-1, 6, 4]),
        ("1 in the longer one, unknown in the shorter", [2, 1, 4], [-1], 1, [2, -1, 4]),
        ("a size of 0", [1, 3], [0, 3], -1, [0, 3]),
    ):
        check.equal(
            secret_name,
            lambda: channel_add_infer_meta(meta(*secret_x), meta(*secret_y), axis=secret_axis),
            meta(*secret_out),
        )
    check.equal(
        "another dtype",
        lambda: channel_add_infer_meta(meta(2, 3, dtype="int64"), meta(3, dtype="int64"), axis=-1),
        meta(2, 3, dtype="int64"),
        look="The dtype of the result is that of the inputs.",
    )
    for secret_name, secret_x, secret_y, secret_axis in (
        ("no place at this axis", [2, 3, 4], [3, 4], 2),
        ("an axis behind the end", [2, 3], [1], 5),
        ("a negative axis", [2, 3, 1], [3], -2),
        ("a size of 0 beside 2", [0, 3], [2, 3], -1),
    ):
        check.raises(
            secret_name,
            lambda: channel_add_infer_meta(meta(*secret_x), meta(*secret_y), axis=secret_axis),
            ValueError,
        )
    check.raises(
        "two dtypes",
        lambda: channel_add_infer_meta(meta(2), meta(2, dtype="float64"), axis=-1),
        TypeError,
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


example = block_of(
    "h = matmul(x, w)",
    "r = relu(h)",
    "t = tanh(h)",
    "s = add(r, h)",
    "loss = mean(s)",
    persistable=["w"],
)
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
from grader.checks import Checks


def executors_list(block, feeds, fetch):
    """What our Executor does with the same program."""
    plan = paddle.static.Executor().interpreter(block.program, tuple(feeds), fetch).plan
    return [sorted(plan.names[variable] for variable in dead) for dead in plan.last_uses()]


with Checks("Task 2") as check:
    check.equal(
        "the example",
        lambda: free_list(example, ["loss"]),
        [["x"], [], ["t"], ["h", "r"], ["s"]],
        look="Compare with the table, line by line.",
    )
    layer = block_of("h = matmul(x, w)", "y = add(h, b)", persistable=["w", "b"])
    check.equal(
        "persistable variables",
        lambda: free_list(layer, ["y"]),
        [["x"], ["h"]],
        look="Rule 3: w and b are persistable, so they are in no list.",
    )
    plain = block_of("h = exp(x)", "r = relu(h)", "t = tanh(h)", "s = add(r, h)")
    check.equal(
        "fetching more keeps more",
        lambda: free_list(plain, ["s", "h", "t"]),
        [["x"], [], [], ["r"]],
        look="s, h and t are fetched: they are in no list.",
    )
    chain = block_of("a = relu(x)", "b = multiply(a, x)", "c = add(b, a)", "d = mean(c)")
    check.equal(
        "as our Executor does it",
        lambda: free_list(chain, ["d"]),
        executors_list(chain, ["x"], ["d"]),
        look="x is read by two ops; it dies after the second.",
    )

# %% nbgrader={"grade_id": "task2_hidden", "points": 2}
# Hidden checks, run when your work is graded: rules 1 to 4 on other programs, and on many random ones.
### BEGIN HIDDEN TESTS
import numpy as np

from grader.checks import Checks

secret_rng = np.random.default_rng(12)


def secret_definition(block, fetch):
    """Rule by rule: slow, and easy to believe."""
    touched = [{*o.input_arg_names, *o.output_arg_names} for o in block.ops]
    kept = set(fetch) | {name for name in block.vars if block.var(name).persistable}
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
    fetch = [str(n) for n in names if secret_rng.random() < 0.2]
    return block_of(*lines, persistable=persistable), fetch


def secret_agrees():
    for _ in range(100):
        block, fetch = secret_random()
        if free_list(block, fetch) != secret_definition(block, fetch):
            return False
    return True


with Checks("Task 2", hidden=True) as check:
    check.true("100 random programs", secret_agrees, "the list that the rules give")
    check.equal(
        "both inputs are the same variable",
        lambda: free_list(block_of("y = multiply(x, x)"), ["y"]),
        [["x"]],
        look="Each name once.",
    )
    check.equal(
        "a name that is written again after its last read",
        lambda: free_list(block_of("h = relu(x)", "y = tanh(h)", "h = relu(y)"), []),
        [["x"], [], ["h", "y"]],
        look="Writing touches a variable, too.",
    )
    check.equal(
        "an op whose result nobody needs",
        lambda: free_list(block_of("a = relu(x)", "b = tanh(x)", "c = mean(a)"), ["c"]),
        [[], ["b", "x"], ["a"]],
        look="Every op runs, so each has its list, and x must wait for the second.",
    )
    check.equal("an empty block", lambda: free_list(block_of(), []), [])
### END HIDDEN TESTS

# %% [markdown]
# **Where this leads.** `minipaddle/new_executor/instruction.py` has our version of task 2 (`last_uses`, it walks backwards), and `minipaddle/phi/infermeta/` those of task 1. The
# next lessons build on both: how an op finds its kernel, and how the Executor orders its instructions.
