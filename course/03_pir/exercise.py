# %% [markdown]
# # 3 · exercise: Follow the chains, move the uses
#
# Two tasks, 8 points. You need lesson 3.1. After each task there is a check that answers at once.
# Run All stops at the first check that fails; to do task 2 first, run its cells by hand (Shift+Enter).

# %% nbgrader={"grade_id": "setup"}
import numpy as np

import minipaddle as paddle
from minipaddle import viz

paddle.enable_static()


def new_program():
    """An empty PIR program, and the guard inside which ops are added to it."""
    program = paddle.static.Program()
    return program, paddle.static.program_guard(program)


def places(operations):
    """Where operations stand in their block: [0, 2] is the first and the third."""
    return [op.get_parent_block().ops.index(op) for op in operations]


def names(program):
    """The operations of a program, by name, without the dialect."""
    return [op.name().partition(".")[2] for op in program.global_block().ops]


# %% [markdown]
# ## Task 1 · Which operations lie between?   (4 points)
# `paddle.grad(y, x)` asks how `y` depends on `x`. Only some operations matter: those on a **path** from `x` to `y`. The others get no gradient operation. Write
#
#     effective_ops(inputs, outputs) -> list[Operation]
#
# for two lists of Values of one program. An operation is effective if
#
# 1. it reads one of `inputs`, or a result of an operation that is reached from `inputs` (it is *downstream*), and
# 2. one of its results is in `outputs`, or is read by an operation that leads to `outputs` (it is *upstream*).
#
# The answer has each operation once, in program order. An operand can be missing (`None`): some inputs are optional. Keep Values in **sets**: `value in a_list` asks `==`,
# and `==` on two Values adds an `equal` operation to a program. (It is so in Paddle, too.)
#
# *Why Paddle has it*: `prune_ops` in `python/paddle/autograd/ir_backward.py`; its result has the same name there. (Paddle's answer also holds the operation that makes the input itself.)
#
# The cell below draws an example. Answers for it, as places in the program:
#
# | inputs | outputs | answer |
# |---|---|---|
# | `[x]` | `[c]` | `[2, 4]`: exp, multiply |
# | `[w]` | `[c]` | `[3, 4]`: tanh, multiply |
# | `[x, w]` | `[d]` | `[2, 3, 4, 5]`: not relu, it does not lead to `d` |
# | `[a]` | `[c]` | `[4]`: exp makes `a`, but it does not read it |
# | `[b]` | `[a]` | `[]` |
#
# <details><summary>Hint 1</summary>There are two questions: who is downstream of the inputs, who is upstream of the outputs? The answer is in both.</details>
#
# <details><summary>Hint 2</summary>One walk over the block's operations from the first to the last is enough for downstream: a value is made before it is read. For upstream walk from
# the last to the first. The block is <code>value.get_defining_op().get_parent_block()</code>.</details>
#
# <details><summary>Hint 3</summary>Keep a set of Values: at first the inputs. Where an operation reads a value of the set, add its results to the set, and note the operation. Then the
# same backwards, from a set of the outputs.</details>


# %% nbgrader={"grade_id": "example"}
def example():
    """The program of the table, and its Values by name."""
    program, guard = new_program()
    with guard:
        x = paddle.static.data("x", [2, 2], "float32")
        w = paddle.static.data("w", [2, 2], "float32")
        a = paddle.exp(x)
        b = paddle.tanh(w)
        c = a * b
        d = c + a
        side = paddle.nn.functional.relu(a)
    return program, {"x": x, "w": w, "a": a, "b": b, "c": c, "d": d, "side": side}


viz.Player(viz.ProgramFilm(example()[0]).take("The example"))


# %% nbgrader={"grade_id": "task1", "solution": true}
def effective_ops(inputs, outputs):
    ### BEGIN SOLUTION
    ops = outputs[0].get_defining_op().get_parent_block().ops
    reached = set(inputs)
    downstream = set()
    for op in ops:
        if not reached.isdisjoint(op.operands_source()):
            downstream.add(op)
            reached.update(op.results())
    needed = set(outputs)
    answer = []
    for op in reversed(ops):
        if not needed.isdisjoint(op.results()):
            needed.update(v for v in op.operands_source() if v is not None)
            if op in downstream:
                answer.append(op)
    return answer[::-1]
    ### END SOLUTION


# %% nbgrader={"grade_id": "task1_check", "points": 2}
from grader.checks import Checks, experiment


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def effective(make, inputs, outputs, *args):
    """Your answer for a program, as places. `make` makes it; inputs and outputs are names."""
    _, values = make(*args)
    return places(effective_ops([values[n] for n in inputs], [values[n] for n in outputs]))


with Checks("Task 1") as check:
    for name, inputs, outputs, expected, look in (
        ("from x to c", "x", "c", [2, 4], "exp and multiply: tanh does not depend on x."),
        ("from w to c", "w", "c", [3, 4], "tanh and multiply."),
        ("both inputs", "xw", "d", [2, 3, 4, 5], "relu is downstream, but leads nowhere."),
        ("an input in the middle", "a", "c", [4], "exp makes a; it does not read it."),
    ):
        check.equal(
            name, lambda: effective(example, list(inputs), list(outputs)), expected, look=look
        )
    check.equal(
        "no path from b to a, but one from b to c",
        lambda: [effective(example, ["b"], ["a"]), effective(example, ["b"], ["c"])],
        [[], [4]],
        look="a does not depend on b.",
    )
    check.equal(
        "two outputs",
        lambda: effective(example, ["a"], ["d", "side"]),
        [4, 5, 6],
        look="A path to one of the outputs is enough.",
    )
    check.equal(
        "each operation once",
        lambda: effective(example, ["x", "w"], ["c", "d"]),
        [2, 3, 4, 5],
        look="There are two ways from a to d.",
    )

# %% nbgrader={"grade_id": "task1_hidden", "points": 2}
# Hidden checks, run when your work is graded: random programs, a long one, a missing operand.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment


def secret_paths(made, inputs, outputs):
    """By the definition: reachability, as powers of a matrix."""
    program, values = made
    ops = program.global_block().ops
    start, end = {values[n] for n in inputs}, {values[n] for n in outputs}
    count = len(ops)
    step = np.zeros((count, count), bool)
    for i, reader in enumerate(ops):
        for value in reader.operands_source():
            if value is not None:
                step[ops.index(value.get_defining_op()), i] = True
    reach = np.eye(count, dtype=bool)
    for _ in range(count):
        reach = reach | (reach @ step)
    first = [i for i, op in enumerate(ops) if not start.isdisjoint(op.operands_source())]
    last = [i for i, op in enumerate(ops) if not end.isdisjoint(op.results())]
    return [i for i in range(count) if reach[first, i].any() and reach[i, last].any()]


def secret_random(seed):
    """Three inputs and 14 operations; the Values are named 0, 1, 2 ..."""
    rng = np.random.default_rng(seed)
    program, guard = new_program()
    with guard:
        values = [paddle.static.data(f"x{i}", [2, 2], "float32") for i in range(3)]
        for _ in range(14):
            one, two = (values[rng.integers(len(values))] for _ in range(2))
            kind = rng.integers(3)
            values.append(paddle.exp(one) if kind == 0 else one + two if kind == 1 else one * two)
    return program, dict(enumerate(values))


def secret_sides(length):
    """For each operation of a long program: does it lead nowhere?"""
    return (np.random.default_rng(length).random(length) < 0.2).tolist()


def secret_long(length):
    """A chain of operations; beside it some whose result nobody reads."""
    program, guard = new_program()
    with guard:
        first = value = paddle.static.data("x", [1], "float32")
        for side in secret_sides(length):
            result = paddle.nn.functional.relu(value)
            value = value if side else result
    return program, {"first": first, "last": value}


def secret_training():
    """A step of SGD, whose operation has operands that are not given."""
    program, guard = new_program()
    with guard:
        w = paddle.static.create_parameter([2, 2], "float32")
        x = paddle.static.data("x", [2, 2], "float32")
        loss = paddle.mean(w * x)
        paddle.optimizer.SGD(0.1).minimize(loss)
    (sgd,) = (op for op in program.global_block().ops if op.name() == "pd_op.sgd_")
    return program, {"w": w, "x": x, "new w": sgd.result(0)}


secret_rng = np.random.default_rng(31)
secret_cases = [
    (secret_rng.integers(0, 14, 2).tolist(), secret_rng.integers(13, 17, 2).tolist(), seed)
    for seed in range(40)
]


@experiment
def secret_effective(cases):
    return [effective(secret_random, *case) for case in cases]


with Checks("Task 1", hidden=True) as check:
    for secret_first in range(0, 40, 10):
        secret_ten = secret_cases[secret_first : secret_first + 10]
        check.equal(
            f"random programs {secret_first} to {secret_first + 9}",
            lambda: secret_effective(secret_ten),
            [secret_paths(secret_random(seed), start, end) for start, end, seed in secret_ten],
            look="Compare with the definition: a path from an input to an output.",
        )
    check.equal(
        "a chain of more than 1500 operations",
        lambda: effective(secret_long, ["first"], ["last"], 2000),
        [place for place, side in enumerate(secret_sides(2000), 1) if not side],
        look="Python's recursion ends at about 1000. Walk over the block instead.",
    )
    check.equal(
        "a missing operand",
        lambda: [effective(secret_training, [name], ["new w"]) for name in ("w", "x")],
        [secret_paths(secret_training(), [name], ["new w"]) for name in ("w", "x")],
        look="operands_source() has None where an optional input is not given.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 2 · Replace an operation by others   (4 points)
# A compiler for a new chip doesn't want to learn a thousand operations. So Paddle rewrites the large ones into small ones: *decomposition*. Write the engine:
#
#     replace_ops(program, name, rule) -> int
#
# For each operation called `name` (such as `"pd_op.subtract"`) that is in the program now:
#
# 1. Call `rule(op)` while the insertion point is **right before `op`**. The rule adds operations, and returns a list of new Values, one for each result of `op`.
# 2. Check the types: where a new value's type is not the old one's, raise `ValueError`. The old operation keeps its readers then.
# 3. Let everybody who reads an old result read the new value.
# 4. Erase `op`.
#
# Return how many were replaced. Operations that a rule adds are not replaced again, also if they have the same name.
#
# *Why Paddle has it*: `_decomp_fwd_op` in `python/paddle/decomposition/decomp.py`, with its check `_check_op_results`. For whole programs the same is done in C++:
# `DecompProgram` in `paddle/fluid/primitive/base/decomp_trans.cc`.
#
# | program | rule | afterwards |
# |---|---|---|
# | data, data, subtract, exp | `x - y` as `x + scale(y, -1)` | data, data, full, scale, add, exp |
# | data, assign, exp | `assign(x)` as `x` | data, exp |
#
# <details><summary>Hint 1</summary>Take a copy of the list of operations first: the block changes while you work.</details>
#
# <details><summary>Hint 2</summary>Operations are added to the program of the guard: <code>with paddle.static.program_guard(program):</code>, then <code>paddle.pir.set_insertion_point(op)</code>
# inside.</details>
#
# <details><summary>Hint 3</summary>After the rule: <code>zip(op.results(), new)</code>. First compare all <code>.type()</code>, then call <code>replace_all_uses_with</code> on each old result,
# then <code>op.erase()</code>.</details>


# %% nbgrader={"grade_id": "rules"}
def subtract_rule(op):
    """x - y as x + (-1) * y."""
    x, y = op.operands_source()
    return [x + paddle.scale(y, -1.0)]


def assign_rule(op):
    """A copy is not needed: the value itself will do."""
    return [op.operand_source(0)]


# %% nbgrader={"grade_id": "task2", "solution": true}
def replace_ops(program, name, rule):
    ### BEGIN SOLUTION
    chosen = [op for op in program.global_block().ops if op.name() == name]
    for op in chosen:
        with paddle.static.program_guard(program):
            paddle.pir.set_insertion_point(op)
            new = rule(op)
        for old, value in zip(op.results(), new, strict=True):
            if value.type() is not old.type():
                raise ValueError(
                    f"replace_ops: expected a value of type {old.type()}, but got {value.type()}. "
                    f"Correct the rule of {name}."
                )
        for old, value in zip(op.results(), new, strict=True):
            old.replace_all_uses_with(value)
        op.erase()
    return len(chosen)
    ### END SOLUTION


# %% nbgrader={"grade_id": "task2_check", "points": 2}
from grader.checks import Checks, experiment


def two_differences():
    """exp(x - y) and (x - y) - x."""
    program, guard = new_program()
    with guard:
        x = paddle.static.data("x", [2], "float32")
        y = paddle.static.data("y", [2], "float32")
        difference = x - y
        out = paddle.exp(difference) + (difference - x)
        paddle._pir_ops.fetch(out, "out", 0)
    return program


def run(program):
    """What the program computes; `verify` first, so that a broken program says what is wrong."""
    program.verify()
    feed = {"x": np.array([1.0, 2.0], "float32"), "y": np.array([3.0, 1.5], "float32")}
    return paddle.static.Executor().run(program, feed=feed, fetch_list=["out"])[0]


def computed(program):
    """How many subtracts are left, and what the program computes."""
    return names(program).count("subtract"), run(program)


@experiment
def replaced(make, rule, *old):
    """What replace_ops returns for each of the names `old`, and the program afterwards."""
    program = make()
    counts = [replace_ops(program, name, rule) for name in old]
    return counts, program


def after(result, look_at):
    """The counts, and what there is to see in the program."""
    counts, program = result
    return counts, look_at(program)


with Checks("Task 2") as check:
    check.equal(
        "the operations afterwards",
        lambda: after(replaced(two_differences, subtract_rule, "pd_op.subtract"), names),
        (
            [2],
            ["data", "data", "full", "scale", "add", "exp", "full", "scale", "add", "add", "fetch"],
        ),
        look="Two were replaced. New operations stand where the old one stood; the old one is erased.",
    )
    check.equal(
        "it computes the same",
        lambda: after(replaced(two_differences, subtract_rule, "pd_op.subtract"), computed),
        ([2], (0, run(two_differences()))),
        look="Did all readers move to the new value?",
    )
    check.equal(
        "nothing to replace, then one",
        lambda: after(replaced(two_differences, assign_rule, "pd_op.tanh", "pd_op.exp"), names),
        ([0, 1], ["data", "data", "subtract", "subtract", "add", "fetch"]),
        look="There is no tanh: the program stays as it is. Then exp goes, and its operand remains.",
    )

# %% nbgrader={"grade_id": "task2_hidden", "points": 2}
# Hidden checks, run when your work is graded: other rules, other programs, a rule that is wrong.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment


def secret_copies():
    """The product of a copy of a copy with itself."""
    program, guard = new_program()
    with guard:
        x = paddle.static.data("x", [2], "float32")
        paddle.static.data("y", [2], "float32")
        copy = paddle.assign(paddle.assign(x))
        paddle._pir_ops.fetch(copy * copy, "out", 0)
    return program


def secret_neighbours():
    """Four operations of one name, one after the other."""
    program, guard = new_program()
    with guard:
        value = paddle.static.data("x", [2], "float32")
        y = paddle.static.data("y", [2], "float32")
        for _ in range(4):
            value = value - y
        paddle._pir_ops.fetch(value, "out", 0)
    return program


def secret_negated(op):
    """x - y as -(y + (-1) * x)."""
    x, y = op.operands_source()
    return [paddle.scale(y + paddle.scale(x, -1.0), -1.0)]


def secret_same_name(op):
    """x - y as x * 1 - y: the rule makes an operation of the same name."""
    if len(op.get_parent_block().ops) > 200:
        raise RuntimeError("the rule was called for operations that it made itself")
    x, y = op.operands_source()
    return [paddle.scale(x, 1.0) - y]


def secret_wrong_type(op):
    """Right for the first subtract of two_differences, wrong for the second."""
    x, y = op.operands_source()
    again = x.get_defining_op().name() == "pd_op.add"
    return [paddle.mean(x) if again else x + paddle.scale(y, -1.0)]


def secret_seen(program):
    return names(program), run(program)


@experiment
def secret_tried(make, rule, name):
    """The number of replaced operations or the name of the error, and the program afterwards."""
    program = make()
    try:
        return replace_ops(program, name, rule), program
    except ValueError:
        return "ValueError", program


secret_scaled = ["full", "scale"]

with Checks("Task 2", hidden=True) as check:
    check.equal(
        "a rule that gives back its operand",
        lambda: after(replaced(secret_copies, assign_rule, "pd_op.assign"), secret_seen),
        ([2], (["data", "data", "multiply", "fetch"], run(secret_copies()))),
        look="The new value may be one that exists already. Both operands of multiply must move.",
    )
    check.equal(
        "neighbours",
        lambda: after(replaced(secret_neighbours, secret_negated, "pd_op.subtract"), secret_seen),
        (
            [4],
            (
                ["data", "data", *[*secret_scaled, "add", *secret_scaled] * 4, "fetch"],
                run(secret_neighbours()),
            ),
        ),
        look="Loop over a copy of the list: the block changes while you work.",
    )
    check.equal(
        "a rule that makes an operation of the same name",
        lambda: after(replaced(secret_neighbours, secret_same_name, "pd_op.subtract"), secret_seen),
        (
            [4],
            (
                ["data", "data", *[*secret_scaled, "subtract"] * 4, "fetch"],
                run(secret_neighbours()),
            ),
        ),
        look="Only operations that were there at the beginning are replaced.",
    )
    check.equal(
        "a rule with a wrong type, and the right one",
        lambda: [
            after(secret_tried(two_differences, rule, "pd_op.subtract"), run)
            for rule in (secret_wrong_type, subtract_rule)
        ],
        [("ValueError", run(two_differences())), (2, run(two_differences()))],
        look="The new value must have the old one's type. Compare before you move the uses.",
    )
    check.equal(
        "one name after the other",
        lambda: after(
            replaced(secret_copies, assign_rule, "pd_op.subtract", "pd_op.assign", "pd_op.assign"),
            secret_seen,
        ),
        ([0, 2, 0], (["data", "data", "multiply", "fetch"], run(secret_copies()))),
        look="Only operations with that name are replaced, and those that are not there can't be.",
    )
### END HIDDEN TESTS
