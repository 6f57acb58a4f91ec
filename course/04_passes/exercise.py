# %% [markdown]
# # 4 · exercise: Erase what is dead, fold what is double
#
# Two tasks, 8 points. You need lessons 3.1 and 4.1. After each task there is a check that answers at once.
#
# In the checks, `@experiment` marks a function that runs together with your answer. When your work is graded, that is a process of its own: the program that comes back is read, run and
# judged outside of it.
#
# *Run All* stops at the first check that fails. To do task 2 first, run its cells by hand (Shift+Enter).

# %% nbgrader={"grade_id": "setup"}
import numpy as np

import minipaddle as paddle
import minipaddle.nn.functional as F
from minipaddle import viz

paddle.enable_static()


def new_program():
    """An empty PIR program, and the guard inside which ops are added to it."""
    program = paddle.static.Program()
    return program, paddle.static.program_guard(program, paddle.static.Program())


def names(program):
    """The operations of a program, by name, without the dialect."""
    return [op.name().partition(".")[2] for op in program.global_block().ops]


# %% [markdown]
# ## Task 1 · Dead code, by all the rules   (4 points)
# Write
#
#     eliminate_dead_code(program) -> (int, set[str])
#
# It erases every operation that is not needed, in place. It returns how many it erased, and the names of the parameters among them.
#
# | operation | rule |
# |---|---|
# | `builtin.parameter` | goes when nobody reads it; its name, `op.attributes["parameter_name"].value`, is returned |
# | has the trait `"SideEffect"` | stays |
# | has the trait `"Random"` | stays: each random op takes numbers from one generator. Without it, all later ones would draw others |
# | any other | goes when nobody reads **any** of its results |
#
# Traits are in `op.info.traits`. A parameter has the trait `"SideEffect"` in minipaddle, so its rule comes first. What only erased operations read is dead too.
#
# *Why Paddle has it*: `paddle/fluid/pir/transforms/general/dead_code_elimination_pass.cc`. There the names are used to free the memory of parameters that are
# no longer read. (Random operations carry Paddle's `SideEffectTrait`; here they have a trait of their own.)
#
# Example: in the program below, four operations go: `softmax`, `exp`, the `matmul` that they read, and the parameter `old_w`.
#
# <details><summary>Hint 1</summary>In which order did the walk in lesson 4.1 go, and why was one walk enough?</details>
#
# <details><summary>Hint 2</summary>Walk over <code>reversed(list(program.global_block().ops))</code>: a copy, because the block changes. <code>op.erase()</code> updates the use lists for you.</details>
#
# <details><summary>Hint 3</summary>First decide whether the operation <i>may</i> go (a parameter, or neither of the two traits). Then: <code>all(r.use_empty() for r in
# op.results())</code>.</details>


# %% nbgrader={"grade_id": "example"}
def half_finished(dead=True):
    """A loss that is fetched, and with `dead` also operations that nobody needs."""
    program, guard = new_program()
    with guard:
        x = paddle.static.data("x", [2, 3], "float32")
        w = paddle.static.create_parameter([3, 4], "float32", name="w")
        if dead:
            old_w = paddle.static.create_parameter([4, 4], "float32", name="old_w")
        label = paddle.static.data("label", [2, 1], "int64")
        scores = paddle.matmul(x, w)
        paddle.rand([2, 2])
        if dead:
            F.softmax(paddle.exp(paddle.matmul(scores, old_w)))
        paddle._pir_ops.fetch(F.cross_entropy(scores, label), "loss", 0)
    return program


viz.Player(viz.ProgramFilm(half_finished()).take("old_w, exp and softmax lead nowhere"))


# %% nbgrader={"grade_id": "task1", "solution": true}
def eliminate_dead_code(program):
    ### BEGIN SOLUTION
    erased, parameters = 0, set()
    for op in reversed(list(program.global_block().ops)):
        is_parameter = op.name() == "builtin.parameter"
        may_go = is_parameter or not op.info.traits & {"SideEffect", "Random"}
        if may_go and all(result.use_empty() for result in op.results()):
            if is_parameter:
                parameters.add(op.attributes["parameter_name"].value)
            op.erase()
            erased += 1
    return erased, parameters
    ### END SOLUTION


# %% nbgrader={"grade_id": "task1_check", "points": 2}
from grader.checks import Checks, experiment


@experiment
def cleaned(make, *args):
    """Your answer on a program that `make` builds: what it returned, and the program afterwards."""
    program = make(*args)
    answer = eliminate_dead_code(program)
    return answer, program


@experiment
def cleaned_twice(make):
    """What two calls on the same program return."""
    program = make()
    return [eliminate_dead_code(program) for _ in range(2)]


with Checks("Task 1") as check:
    check.equal(
        "what is left",
        lambda: names(cleaned(half_finished)[1]),
        names(half_finished(dead=False)),
        look="exp, softmax, their matmul and old_w go. The random op and what it reads stay.",
    )
    check.equal(
        "how many, and which parameters",
        lambda: cleaned(half_finished)[0],
        (4, {"old_w"}),
        look="Return a number and a set of names.",
    )
    check.equal(
        "a first and a second time",
        lambda: cleaned_twice(half_finished),
        [(4, {"old_w"}), (0, set())],
        look="One call must do all the work.",
    )

# %% nbgrader={"grade_id": "task1_hidden", "points": 2}
# Hidden checks, run when your work is graded: random programs, training, operations with two results.
### BEGIN HIDDEN TESTS
from grader.checks import Checks


def secret_cleaned(program):
    """The other way round: all that an operation which must stay depends on. What is returned, and
    the program that is left, as text.
    """
    ops = program.global_block().ops
    needed = {
        op
        for op in ops
        if op.name() != "builtin.parameter" and op.info.traits & {"SideEffect", "Random"}
    }
    todo = list(needed)
    while todo:
        for value in todo.pop().operands_source():
            if value is not None and value.get_defining_op() not in needed:
                needed.add(value.get_defining_op())
                todo.append(value.get_defining_op())
    gone = [op for op in ops if op not in needed]
    attributes = [op.attributes for op in gone if op.name() == "builtin.parameter"]
    for op in reversed(gone):
        op.erase()
    return (len(gone), {each["parameter_name"].value for each in attributes}), str(program)


def secret_text(answer, program):
    return answer, str(program)


def secret_random(seed):
    secret_rng = np.random.default_rng(seed)
    secret_program, secret_guard = new_program()
    with secret_guard:
        values = [paddle.static.create_parameter([2, 2], "float32", name=f"p{i}") for i in range(4)]
        values.append(paddle.static.data("x", [2, 2], "float32"))
        for number in range(16):
            one, two = (values[secret_rng.integers(len(values))] for _ in range(2))
            kinds = [
                lambda: paddle.exp(one),
                lambda: paddle.rand([2, 2]),
                lambda: paddle.add_n([one, two]),
                lambda: paddle.scale(one, 2.0),
                lambda: one * two,
            ]
            made = kinds[secret_rng.integers(len(kinds))]()
            if number % 6 == 5:
                paddle._pir_ops.fetch(made, f"out{number}", 0)
            values.append(made)
    return secret_program


def secret_training():
    secret_program, secret_guard = new_program()
    with secret_guard:
        secret_x = paddle.static.data("x", [2, 3], "float32")
        secret_w = paddle.static.create_parameter([3, 3], "float32", name="w")
        secret_old = paddle.static.create_parameter([3, 2], "float32", name="old")
        secret_scores = paddle.matmul(secret_x, secret_w)
        paddle.matmul(secret_scores, secret_old)
        with paddle.utils.unique_name.guard():  # the learning rate has the same name each time
            paddle.optimizer.SGD(0.1).minimize(paddle.mean(secret_scores))
    return secret_program


def secret_startup():
    secret_program = paddle.static.Program()
    with paddle.static.program_guard(paddle.static.Program(), secret_program):
        paddle.static.create_parameter([2, 2], "float32", name="w")
    with paddle.static.program_guard(secret_program, paddle.static.Program()):
        paddle.exp(paddle.full([3], 1.0))
    return secret_program


def secret_two_results():
    """An operation with two results, and nobody reads either."""
    secret_program, secret_guard = new_program()
    with secret_guard:
        secret_x = paddle.static.data("x", [2, 3], "float32")
        F.cross_entropy(secret_x, paddle.static.data("label", [2, 1], "int64"))
    return secret_program


with Checks("Task 1", hidden=True) as check:
    secret_stays = "What stays is what an operation that must stay depends on."
    for secret_name, secret_make, secret_args, secret_look in (
        *((f"random program {n}", secret_random, (n,), secret_stays) for n in range(8)),
        ("training", secret_training, (), "sgd_ has a result that nobody reads; it stays."),
        ("a startup program", secret_startup, (), "set_parameter has no result at all; it stays."),
        ("two results", secret_two_results, (), "Neither result is read: it goes."),
    ):
        check.equal(
            secret_name,
            lambda: secret_text(*cleaned(secret_make, *secret_args)),
            secret_cleaned(secret_make(*secret_args)),
            look=secret_look,
        )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 2 · Two scales are one   (4 points)
# `scale` multiplies by a number and adds another, in one of two orders:
#
# | `bias_after_scale` | computes |
# |---|---|
# | `True` | `scale * x + bias` |
# | `False` | `scale * (x + bias)` |
#
# One after the other, they are again a scale: `3 * (2x + 1) + 5` is `6x + 8`. Write the pattern that folds them:
#
#     fold_scales() -> DrrPatternContext
#
# The result is one `pd_op.scale` with `bias_after_scale=True`. All four combinations of the two orders must come out right. The attributes of `pd_op.scale` are `scale`, `bias` and
# `bias_after_scale`. A chain of five scales is folded to one: DRR starts again until nothing matches.
#
# **Only for floating dtypes.** On an int64 tensor, `scale` first turns its numbers into whole ones: 0.5 becomes 0. Folded with 3.0 it is 1.5, which becomes 1: another answer. A constraint has to
# say so.
#
# *Why Paddle has it*: `RemoveRedundantScalePattern` in `paddle/fluid/pir/transforms/general/identity_op_clean_pass.cc`. It has no such constraint: on Paddle 3.3.1, `scale(scale(n, 0.5), 3.0)` of the int64 tensor
# `n = [1, 2, 3, 4]` gives `[0, 0, 0, 0]` before the pass and `[1, 2, 3, 4]` after it. Yours will be better.
#
# In a pattern, write `scale` with **one** input. Its number is the `full` operand (lesson 3.1), but DRR lets you capture it as an attribute, under the name `"scale"`.
# How to capture attributes, and how to compute one (`match.Attr` gives the captured value, `match.Tensor` the value in the program):
#
#     # in the source pattern: m is a scale of x
#     pat.Op("pd_op.scale", {"scale": pat.Attr("s"), "bias": pat.Attr("b")})([pat.Tensor("x")], [pat.Tensor("m")])
#     # in the result
#     res.Op("pd_op.scale", {"bias": lambda match: match.Attr("b") * 2})
#
# <details><summary>Hint 1</summary>Lesson 4.1 draws a chain of three operations. Yours has two, and the same name of operation twice: call <code>pat.Op</code> twice.</details>
#
# <details><summary>Hint 2</summary>Bring each scale to the form s·x + b first: with bias_after_scale the b is the bias, without it is s·bias. Then (s2·s1)·x + (s2·b1 + b2).</details>
#
# <details><summary>Hint 3</summary><code>pat.AddConstraint(lambda match: match.Tensor("x").dtype in (paddle.float32, paddle.float64))</code>. The result's
# <code>bias_after_scale</code> is <code>True</code>.</details>


# %% nbgrader={"grade_id": "task2", "solution": true}
def fold_scales():
    ### BEGIN SOLUTION
    context = paddle.pir.DrrPatternContext()
    pat = context.SourcePattern()

    def drawn(number):
        attributes = ("scale", "bias", "bias_after_scale")
        return pat.Op("pd_op.scale", {name: pat.Attr(f"{name}{number}") for name in attributes})

    drawn(1)([pat.Tensor("x")], [pat.Tensor("between")])
    drawn(2)([pat.Tensor("between")], [pat.Tensor("out")])
    floats = (paddle.float16, paddle.float32, paddle.float64)
    pat.AddConstraint(lambda match: match.Tensor("x").dtype in floats)

    def shift(match, number):
        bias = match.Attr(f"bias{number}")
        after = match.Attr(f"bias_after_scale{number}")
        return bias if after else match.Attr(f"scale{number}") * bias

    res = pat.ResultPattern()
    attributes = {
        "scale": lambda match: match.Attr("scale1") * match.Attr("scale2"),
        "bias": lambda match: match.Attr("scale2") * shift(match, 1) + shift(match, 2),
        "bias_after_scale": True,
    }
    res.Op("pd_op.scale", attributes)([res.Tensor("x")], [res.Tensor("out")])
    return context
    ### END SOLUTION


# %% nbgrader={"grade_id": "task2_check", "points": 2}
from grader.checks import Checks, experiment


def scales(*each, dtype="float32"):
    """data, then one scale for each (scale, bias, bias_after_scale), then fetch."""
    program, guard = new_program()
    with guard:
        value = paddle.static.data("x", [4], dtype)
        for scale, bias, after in each:
            value = paddle.scale(value, scale, bias, bias_after_scale=after)
        paddle._pir_ops.fetch(value, "out", 0)
    return program


@experiment
def folded(make, *args, **options):
    """The program that `make` builds, after your pattern and dead-code elimination."""
    program = make(*args, **options)
    manager = paddle.pir.PassManager()
    manager.register_pass("fold_scales", fold_scales())
    manager.add_pass("dead_code_elimination_pass", {})
    manager.run(program)
    return program


def outcome(program):
    """How many scales a program has, and what comes out for x = [1, -2, 3, 5]."""
    dtype = program.global_block().ops[0].result(0).dtype.name
    feed = {"x": np.array([1, -2, 3, 5], dtype)}
    (out,) = paddle.static.Executor().run(program, feed=feed, fetch_list=["out"])
    return names(program).count("scale"), out


single = (2.0, 1.0, False)

with Checks("Task 2") as check:
    check.equal(
        "3 * (2x + 1) + 5 is one scale",
        lambda: names(folded(scales, (2.0, 1.0, True), (3.0, 5.0, True))),
        ["data", "full", "scale", "fetch"],
        look="Does your source pattern match a scale that reads a scale?",
    )
    check.equal(
        "3 * (2x + 1) + 5 is 6x + 8",
        lambda: outcome(folded(scales, (2.0, 1.0, True), (3.0, 5.0, True))),
        (1, np.array([14.0, -4.0, 26.0, 38.0], "float32")),
        look="One scale is left, and the first bias is multiplied by the second scale.",
    )
    check.equal(
        "3 * (2 * (x + 1) + 5)",
        lambda: outcome(folded(scales, (2.0, 1.0, False), (3.0, 5.0, False))),
        (1, np.array([27.0, 9.0, 39.0, 51.0], "float32")),
        look="With bias_after_scale=False, the scale multiplies the bias too.",
    )
    check.equal(
        "a single scale stays as it is; two become one",
        lambda: (str(folded(scales, single)), names(folded(scales, single, single))),
        (str(scales(single)), ["data", "full", "scale", "fetch"]),
        look="Your source pattern has two scales, the second of which reads the first.",
    )
    check.equal(
        "0.5, then 3.0: of whole numbers, and of others",
        lambda: [
            outcome(folded(scales, (0.5, 0.0, True), (3.0, 0.0, True), dtype=dtype))
            for dtype in ("int64", "float32")
        ],
        [
            (2, np.array([0, 0, 0, 0], "int64")),
            (1, np.array([1.5, -3.0, 4.5, 7.5], "float32")),
        ],
        look="Only for floating dtypes: add the constraint.",
    )

# %% nbgrader={"grade_id": "task2_hidden", "points": 2}
# Hidden checks, run when your work is graded: all orders, long chains, whole numbers, other readers.
### BEGIN HIDDEN TESTS
from grader.checks import Checks


def secret_other_reader():
    """Three scales. What stands between the first two is fetched as well."""
    secret_program, secret_guard = new_program()
    with secret_guard:
        secret_between = paddle.scale(paddle.static.data("x", [4], "float32"), 2.0, 1.0)
        secret_value = paddle.scale(paddle.scale(secret_between, 3.0), -1.5, 0.5)
        paddle._pir_ops.fetch(secret_value, "out", 0)
        paddle._pir_ops.fetch(secret_between, "between", 1)
    return secret_program


def secret_both(program):
    """How many scales a program has, and both values that are fetched."""
    feed = {"x": np.array([1, -2, 3, 5], "float32")}
    out = paddle.static.Executor().run(program, feed=feed, fetch_list=["out", "between"])
    return names(program).count("scale"), out


def secret_chain(rng, *orders):
    """A scale for each order, with random numbers."""
    return [(*(round(float(v), 2) for v in rng.uniform(-3, 3, 2)), after) for after in orders]


secret_rng = np.random.default_rng(7)
with Checks("Task 2", hidden=True) as check:
    for secret_number in range(8):
        secret_orders = [bool(secret_number & 1), bool(secret_number & 2)]
        secret_each = secret_chain(secret_rng, *secret_orders)
        check.equal(
            f"bias_after_scale {secret_orders}, numbers {secret_number // 4 + 1}",
            lambda: outcome(folded(scales, *secret_each)),
            (1, outcome(scales(*secret_each))[1]),
            look="Bring each of the two to the form s * x + b first.",
            rtol=1e-4,
            atol=1e-4,
        )
    for secret_name, secret_dtype, secret_look in (
        ("a chain of four", "float32", "The result must match the source pattern again."),
        ("double precision", "float64", "float64 is a floating dtype: folded too."),
    ):
        secret_each = secret_chain(secret_rng, True, False, True, False)
        check.equal(
            secret_name,
            lambda: outcome(folded(scales, *secret_each, dtype=secret_dtype)),
            (1, outcome(scales(*secret_each, dtype=secret_dtype))[1]),
            look=secret_look,
            rtol=1e-4,
            atol=1e-4,
        )
    secret_each = [(2.5, 0.0, True), (2.0, 1.0, False)]
    check.equal(
        "whole numbers, and others",
        lambda: [outcome(folded(scales, *secret_each, dtype=d)) for d in ("int64", "float32")],
        [
            (2, outcome(scales(*secret_each, dtype="int64"))[1]),
            (1, outcome(scales(*secret_each, dtype="float32"))[1]),
        ],
        look="Add the constraint on the dtype: whole numbers are left alone.",
    )
    check.equal(
        "a value between that is fetched",
        lambda: secret_both(folded(secret_other_reader)),
        (2, secret_both(secret_other_reader())[1]),
        look="The first scale stays for its other reader; the last two are folded.",
    )
### END HIDDEN TESTS
