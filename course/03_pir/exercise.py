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
program, guard = new_program()
with guard:
    x = paddle.static.data("x", [2, 2], "float32")
    w = paddle.static.data("w", [2, 2], "float32")
    a = paddle.exp(x)
    b = paddle.tanh(w)
    c = a * b
    d = c + a
    side = paddle.nn.functional.relu(a)
viz.Player(viz.ProgramFilm(program).take("The example"))


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
from grader.checks import Checks

with Checks("Task 1") as check:
    for name, start, end, expected, look in (
        ("from x to c", [x], [c], [2, 4], "exp and multiply: tanh does not depend on x."),
        ("from w to c", [w], [c], [3, 4], "tanh and multiply."),
        ("both inputs", [x, w], [d], [2, 3, 4, 5], "relu is downstream, but leads nowhere."),
        ("an input in the middle", [a], [c], [4], "exp makes a; it does not read it."),
        ("no path", [b], [a], [], "a does not depend on b."),
        ("two outputs", [a], [d, side], [4, 5, 6], "A path to one of the outputs is enough."),
    ):
        check.equal(name, lambda: places(effective_ops(start, end)), expected, look=look)
    check.equal(
        "each operation once",
        lambda: len(effective_ops([x, w], [c, d])),
        4,
        look="There are two ways from a to d.",
    )

# %% nbgrader={"grade_id": "task1_hidden", "points": 2}
# Hidden checks, run when your work is graded: random programs, a long one, a missing operand.
### BEGIN HIDDEN TESTS
from grader.checks import Checks


def secret_paths(ops, start, end):
    """By the definition: reachability, as powers of a matrix."""
    count = len(ops)
    step = np.zeros((count, count), bool)
    for i, reader in enumerate(ops):
        for value in reader.operands_source():
            if value is not None:
                step[ops.index(value.get_defining_op()), i] = True
    reach = np.eye(count, dtype=bool)
    for _ in range(count):
        reach = reach | (reach @ step)
    first = [i for i, op in enumerate(ops) if not {*start}.isdisjoint(op.operands_source())]
    last = [i for i, op in enumerate(ops) if not {*end}.isdisjoint(op.results())]
    return [i for i in range(count) if reach[first, i].any() and reach[i, last].any()]


def secret_random(seed):
    secret_rng = np.random.default_rng(seed)
    secret_program, secret_guard = new_program()
    with secret_guard:
        values = [paddle.static.data(f"x{i}", [2, 2], "float32") for i in range(3)]
        for _ in range(14):
            one, two = (values[secret_rng.integers(len(values))] for _ in range(2))
            kind = secret_rng.integers(3)
            values.append(paddle.exp(one) if kind == 0 else one + two if kind == 1 else one * two)
    chosen = [values[secret_rng.integers(len(values))] for _ in range(2)]
    ends = [values[-1 - secret_rng.integers(4)] for _ in range(2)]
    return list(secret_program.global_block().ops), chosen, ends


with Checks("Task 1", hidden=True) as check:
    for secret_seed in range(12):
        secret_ops, secret_start, secret_end = secret_random(secret_seed)
        check.equal(
            f"random program {secret_seed}",
            lambda: places(effective_ops(list(secret_start), list(secret_end))),
            secret_paths(secret_ops, secret_start, secret_end),
            look="Compare with the definition: a path from an input to an output.",
        )
    secret_program, secret_guard = new_program()
    with secret_guard:
        secret_first = secret_value = paddle.static.data("x", [1], "float32")
        for _ in range(1500):
            secret_value = paddle.nn.functional.relu(secret_value)
    check.equal(
        "a chain of 1500 operations",
        lambda: len(effective_ops([secret_first], [secret_value])),
        1500,
        look="Python's recursion ends at about 1000. Walk over the block instead.",
    )
    secret_program, secret_guard = new_program()
    with secret_guard:
        secret_w = paddle.static.create_parameter([2, 2], "float32", name="secret_w")
        secret_loss = paddle.mean(secret_w * secret_w)
        paddle.optimizer.SGD(0.1).minimize(secret_loss)
    secret_sgd = [op for op in secret_program.global_block().ops if op.name() == "pd_op.sgd_"][0]
    check.equal(
        "a missing operand",
        lambda: places(effective_ops([secret_w], [secret_sgd.result(0)])),
        secret_paths(secret_program.global_block().ops, [secret_w], [secret_sgd.result(0)]),
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
from grader.checks import Checks


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


def replaced(make, name, rule, look_at):
    program = make()
    count = replace_ops(program, name, rule)
    return look_at(program, count)


with Checks("Task 2") as check:
    check.equal(
        "how many",
        lambda: replaced(two_differences, "pd_op.subtract", subtract_rule, lambda p, n: n),
        2,
        look="Return the number of operations that were replaced.",
    )
    check.equal(
        "the operations afterwards",
        lambda: replaced(two_differences, "pd_op.subtract", subtract_rule, lambda p, n: names(p)),
        ["data", "data", "full", "scale", "add", "exp", "full", "scale", "add", "add", "fetch"],
        look="New operations stand where the old one stood; the old one is erased.",
    )
    check.equal(
        "it computes the same",
        lambda: replaced(two_differences, "pd_op.subtract", subtract_rule, lambda p, n: run(p)),
        run(two_differences()),
        look="Did all readers move to the new value?",
    )
    check.equal(
        "nothing to replace",
        lambda: replaced(two_differences, "pd_op.tanh", subtract_rule, lambda p, n: (n, str(p))),
        (0, str(two_differences())),
        look="The program must stay as it is.",
    )

# %% nbgrader={"grade_id": "task2_hidden", "points": 2}
# Hidden checks, run when your work is graded: other rules, other programs, a rule that is wrong.
### BEGIN HIDDEN TESTS
import contextlib

from grader.checks import Checks


def secret_copies():
    """exp of a copy of a copy, which is read twice."""
    secret_program, secret_guard = new_program()
    with secret_guard:
        secret_x = paddle.static.data("x", [2], "float32")
        paddle.static.data("y", [2], "float32")
        secret_copy = paddle.assign(paddle.assign(secret_x))
        paddle._pir_ops.fetch(secret_copy * secret_copy, "out", 0)
    return secret_program


def secret_neighbours():
    """Four operations of one name, one after the other."""
    secret_program, secret_guard = new_program()
    with secret_guard:
        secret_x = paddle.static.data("x", [2], "float32")
        secret_y = paddle.static.data("y", [2], "float32")
        secret_value = secret_x
        for _ in range(4):
            secret_value = secret_value - secret_y
        paddle._pir_ops.fetch(secret_value, "out", 0)
    return secret_program


secret_calls = []


def secret_same_name(op):
    """x - y as (x + 0) - y: the rule makes an operation of the same name."""
    secret_calls.append(op)
    if len(secret_calls) > 50:
        raise RuntimeError("the rule was called for operations that it made itself")
    secret_x, secret_y = op.operands_source()
    return [paddle.scale(secret_x, 1.0) - secret_y]


def secret_wrong_type(op):
    return [paddle.mean(op.operand_source(0))]


def secret_after_error(look_at):
    secret_program = two_differences()
    with contextlib.suppress(ValueError):
        replace_ops(secret_program, "pd_op.subtract", secret_wrong_type)
    return look_at(secret_program)


def secret_fresh(make, name, rule, look_at):
    secret_calls.clear()
    return replaced(make, name, rule, look_at)


with Checks("Task 2", hidden=True) as check:
    check.equal(
        "a rule that gives back its operand",
        lambda: replaced(secret_copies, "pd_op.assign", assign_rule, lambda p, n: (n, names(p))),
        (2, ["data", "data", "multiply", "fetch"]),
        look="The new value may be one that exists already. Both operands of multiply must move.",
    )
    check.equal(
        "copies gone, same numbers",
        lambda: replaced(secret_copies, "pd_op.assign", assign_rule, lambda p, n: run(p)),
        run(secret_copies()),
    )
    check.equal(
        "neighbours",
        lambda: replaced(
            secret_neighbours,
            "pd_op.subtract",
            subtract_rule,
            lambda p, n: (n, names(p).count("add")),
        ),
        (4, 4),
        look="Loop over a copy of the list: the block changes while you work.",
    )
    check.equal(
        "neighbours, same numbers",
        lambda: replaced(secret_neighbours, "pd_op.subtract", subtract_rule, lambda p, n: run(p)),
        run(secret_neighbours()),
    )
    check.equal(
        "a rule that makes an operation of the same name",
        lambda: secret_fresh(
            secret_neighbours,
            "pd_op.subtract",
            secret_same_name,
            lambda p, n: (n, len(secret_calls)),
        ),
        (4, 4),
        look="Only operations that were there at the beginning are replaced.",
    )
    check.raises(
        "a rule with a wrong type",
        lambda: replace_ops(two_differences(), "pd_op.subtract", secret_wrong_type),
        ValueError,
        look="The new value must have the old one's type.",
    )
    check.equal(
        "readers after a wrong rule",
        lambda: secret_after_error(run),
        run(two_differences()),
        look="Compare the types before you move the uses.",
    )
    check.equal(
        "where new operations go afterwards",
        lambda: replaced(
            two_differences, "pd_op.subtract", subtract_rule, lambda p, n: names(p)[-1]
        ),
        "fetch",
        look="The insertion point is before the operation, not at the end of the block.",
    )
### END HIDDEN TESTS
