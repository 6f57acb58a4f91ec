# %% [markdown]
# # 5 · exercise: Teach the symbolic run
#
# Two tasks, 8 points. You need lesson 5.1. Both use the real parts of minipaddle's SOT, in `minipaddle/jit/sot/`.
# After each task there is a check that answers at once.
#
# To read how the executor handles an opcode: `import inspect; print(inspect.getsource(OpcodeExecutor.COMPARE_OP))`.
#
# *Run All* stops at the first check that fails. To do task 2 first, run its cells by hand (Shift+Enter).

# %% nbgrader={"grade_id": "setup"}
import minipaddle as paddle
from minipaddle.jit.sot import symbolic_translate
from minipaddle.jit.sot.guard import Frame, Guard
from minipaddle.jit.sot.opcode_executor import OpcodeExecutor
from minipaddle.jit.sot.tracker import GetItemTracker, LocalTracker
from minipaddle.jit.sot.variables import (
    ContainerVariable,
    ObjectVariable,
    TensorVariable,
    to_python,
)

Tensor = paddle.Tensor


def translate(function, *args):
    """Runs `function` by way of your executor: its result, and why the graph broke ("": it did not)."""
    translated = symbolic_translate(function)
    translated.executor_class = MoreOpcodes
    result = translated(*args)
    return result.numpy().tolist(), translated.cache[-1].break_reason


# %% [markdown]
# ## Task 1 · An opcode that is missing   (4 points)
# `mode in ("train", "both")` compiles to the opcode `CONTAINS_OP`. The executor does not know it, so such a function is not captured:
#
#     graph break: the instruction CONTAINS_OP is not supported
#
# **Write the method `CONTAINS_OP`.** The executor calls it when it meets that opcode.
#
# | before | `instruction.arg` | after |
# |---|---|---|
# | stack: ..., item, container (on top) | 0, for `in` | stack: ..., answer |
# | the same | 1, for `not in` | stack: ..., the opposite answer |
#
# On the stack lie *variables*, not objects:
#
# | variable | stands for | |
# |---|---|---|
# | `ObjectVariable` | an object that is known | `.value` |
# | `ContainerVariable` | a tuple or list that the function has just built | `.items`: variables |
# | `TensorVariable` | a Tensor: no numbers | |
#
# If a Tensor takes part, as the item or as one of the container's items, the answer needs its numbers. Then call `self.break_graph("...")` with a short reason. It does not
# come back.
#
# Why Paddle has it: each opcode of each Python version needs such a method, in `OpcodeExecutorBase` in `python/paddle/jit/sot/opcode_translator/executor/opcode_executor.py`.
# The method for `not` is here as an example.
#
# <details><summary>Hint 1</summary>self.pop() takes the top off, so it gives the container first. The answer goes on the stack as ObjectVariable(answer).</details>
#
# <details><summary>Hint 2</summary>to_python(variable) gives the object for a variable, also for a container that was just built. Use it when you know that no Tensor takes part.</details>
#
# <details><summary>Hint 3</summary>Two questions about Tensors: isinstance(item, TensorVariable), and the same for each of container.items if the container is a ContainerVariable. And a Tensor itself can stand where the container should be.</details>


# %% nbgrader={"grade_id": "task1", "solution": true}
class MoreOpcodes(OpcodeExecutor):
    def UNARY_NOT(self, instruction):  # an example: `not x`
        value = self.pop()
        if isinstance(value, TensorVariable):
            self.break_graph("`not` needs the value of a Tensor")
        self.push(ObjectVariable(not to_python(value)))

    def CONTAINS_OP(self, instruction):
        ### BEGIN SOLUTION
        container, item = self.pop(), self.pop()
        involved = [item, container]
        if isinstance(container, ContainerVariable):
            involved += container.items
        if any(isinstance(variable, TensorVariable) for variable in involved):
            self.break_graph("`in` needs the value of a Tensor")
        found = to_python(item) in to_python(container)
        self.push(ObjectVariable(found != bool(instruction.arg)))
        ### END SOLUTION


# %% nbgrader={"grade_id": "task1_check", "points": 2}
from grader.checks import Checks


def scaled(x, mode):
    if mode in ("train", "both"):
        return x * 2
    return x + 1


def shifted(x, mode):
    if mode not in ("train", "both"):
        return x * 2
    return x + 1


def searched(x):
    if x in (3, 4):
        return x * 2
    return x + 1


pair = paddle.to_tensor([1.0, 5.0])

with Checks("Task 1") as check:
    check.equal(
        "`in`, and it is",
        lambda: translate(scaled, pair, "train"),
        ([2.0, 10.0], ""),
        look="The second part is the reason of a graph break. It is empty if you push the answer.",
    )
    check.equal(
        "`in`, and it is not",
        lambda: translate(scaled, pair, "eval"),
        ([2.0, 6.0], ""),
        look="Which of the two lies on top of the stack: the item or the container?",
    )
    check.equal(
        "`not in`",
        lambda: translate(shifted, pair, "eval"),
        ([2.0, 10.0], ""),
        look="instruction.arg is 1 for `not in`.",
    )
    check.true(
        "a Tensor is the item",
        lambda: "CONTAINS_OP" in translate(searched, paddle.to_tensor([3.0]))[1],
        "a graph break at CONTAINS_OP",
        look="A TensorVariable has no numbers: self.break_graph(...).",
    )

# %% nbgrader={"grade_id": "task1_hidden", "points": 2}
# Hidden checks, run when your work is graded: other containers, and Tensors in other places.
### BEGIN HIDDEN TESTS
from grader.checks import Checks

SECRET = {"a": 1, "b": 2}


def secret_built(x, n, m):
    if 3 in (n, m):
        return x * 2
    return x + 1


def secret_dict(x, key):
    missing = key not in SECRET
    if not missing:
        return x * 2
    return x + 1


def secret_text(x, part):
    return x * 2 if part in "train" else x + 1


def secret_inner(x, mode):
    return scaled(x, mode) + 0.5


def secret_tensor_inside(x, n):
    if n in (x, 3):
        return x * 2
    return x + 1


with Checks("Task 1", hidden=True) as check:
    secret_x = paddle.to_tensor([1.0, 5.0])
    secret_yes, secret_no = ([2.0, 10.0], ""), ([2.0, 6.0], "")
    for secret_name, secret_function, secret_args, secret_result in (
        ("a tuple built in the function, and it is", secret_built, (1, 3), secret_yes),
        ("a tuple built in the function, and it is not", secret_built, (1, 2), secret_no),
        ("a dict, and it is", secret_dict, ("a",), secret_yes),
        ("a dict, and it is not", secret_dict, ("c",), secret_no),
        ("a part of a text", secret_text, ("rai",), secret_yes),
        ("no part of a text", secret_text, ("x",), secret_no),
        ("in a function that is inlined", secret_inner, ("both",), ([2.5, 10.5], "")),
    ):
        check.equal(
            secret_name,
            lambda: translate(secret_function, secret_x, *secret_args),
            secret_result,
            look="The answer is right in plain Python: to_python gives the objects.",
        )
    check.true(
        "a Tensor in a container that was just built",
        lambda: "CONTAINS_OP" in translate(secret_tensor_inside, paddle.to_tensor([3.0]), 4)[1],
        "a graph break",
        look="Look at the container's items too.",
    )
    check.equal(
        "after the break the function runs as plain Python",
        lambda: translate(secret_tensor_inside, paddle.to_tensor([4.0]), 4)[0],
        [8.0],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 2 · When is the graph still right?   (4 points)
# A graph was captured for one argument. **Write `add(guard, tracker, value)`: it adds the conditions under which the graph may be used again.**
#
# | `value` was | the graph is right for |
# |---|---|
# | a Tensor | any Tensor with the same shape, dtype and `stop_gradient`; its numbers do not matter |
# | a number, a text, True, False, None | an equal value **of the same type**: `1`, `1.0` and `True` are equal in Python, but not the same here |
# | a list or a tuple | the same type, the same length, and for each item the rule of that item |
# | anything else | the same object |
#
# And one thing more: a guard lives as long as the program. It must not keep the Tensors alive that it has seen.
#
# Conditions are Python text, as in lesson 5.1. What you get:
#
# | | |
# |---|---|
# | `tracker.expression(guard.constants)` | where the value will be found, as text: `frame.f_locals['x']` |
# | `guard.require(text)` | adds a condition. All are joined by `and`, in your order; at the first that is false, the answer is no |
# | `guard.keep(thing)` | keeps a thing for use in conditions; returns the name to write there |
# | `GetItemTracker(tracker, 2)` | the tracker of item 2 of a list |
#
# Example: `guard.require(f"{where} is {guard.keep(thing)}")`. The name `Tensor` can be used as it is. Don't write values into the text, keep them:
# a shape as `f"{where}.shape == {guard.keep(value.shape)}"`. (Lesson 5.1 prints `== [2]` there, so that you can read it.)
#
# Why Paddle has it: `make_stringified_guard` of each kind of variable, in `python/paddle/jit/sot/opcode_translator/executor/variables/`. A condition that is missing there is the worst kind of bug:
# no error, a wrong number.
#
# <details><summary>Hint 1</summary>Start with where = tracker.expression(guard.constants), then one branch for each row of the table.</details>
#
# <details><summary>Hint 2</summary>Ask for the type before you ask for anything that only this type has: isinstance({where}, Tensor) before {where}.shape.</details>
#
# <details><summary>Hint 3</summary>Don't write a number into the text: some (inf) can't be read back. guard.keep(value) is safe. For a list, call add itself for each item, with GetItemTracker(tracker, number).</details>


# %% nbgrader={"grade_id": "guard"}
class BareGuard(Guard):
    """minipaddle's Guard without rules of its own: you write them."""

    add_tensor = add_object = add_alias = add_layer = None

    def __init__(self):
        super().__init__()
        self.constants["paddle"] = paddle  # a shape or a dtype is written as paddle.Size([2]), ...

    def require(self, condition):
        self.conditions[condition] = None

    def keep(self, thing):
        name = f"kept_{len(self.constants)}"
        self.constants[name] = thing
        return name


def accepts(seen, now):
    """Does a guard that was made for `seen` let `now` pass?"""
    guard = BareGuard()
    add(guard, LocalTracker("x"), seen)
    return guard.check(Frame({"x": now}, {}))


# %% nbgrader={"grade_id": "task2", "solution": true}
def add(guard, tracker, value):
    ### BEGIN SOLUTION
    where = tracker.expression(guard.constants)
    if isinstance(value, Tensor):
        guard.require(f"isinstance({where}, Tensor)")
        guard.require(f"{where}.shape == {list(value.shape)}")
        guard.require(f"{where}.dtype is {guard.keep(value.dtype)}")
        guard.require(f"{where}.stop_gradient is {value.stop_gradient}")
    elif isinstance(value, (list, tuple)):
        guard.require(f"type({where}) is {guard.keep(type(value))}")
        guard.require(f"len({where}) == {len(value)}")
        for number, item in enumerate(value):
            add(guard, GetItemTracker(tracker, number), item)
    elif value is None or isinstance(value, (bool, int, float, str)):
        guard.require(f"type({where}) is {guard.keep(type(value))}")
        guard.require(f"{where} == {guard.keep(value)}")
    else:
        guard.require(f"{where} is {guard.keep(value)}")
    ### END SOLUTION


# %% nbgrader={"grade_id": "task2_check", "points": 2}
from grader.checks import Checks

with Checks("Task 2") as check:
    check.equal(
        "a Tensor with other numbers",
        lambda: accepts(paddle.ones([2]), paddle.zeros([2])),
        True,
        look="The graph does not depend on the numbers.",
    )
    check.equal(
        "a longer Tensor",
        lambda: accepts(paddle.ones([2]), paddle.ones([3])),
        False,
        look="{where}.shape == {guard.keep(value.shape)}: don't write values into the text.",
    )
    check.equal(
        "a number where a Tensor was",
        lambda: accepts(paddle.ones([2]), 1.0),
        False,
        look="Ask first whether it is a Tensor at all.",
    )
    check.equal("the same number", lambda: accepts(3, 3), True, look="An equal value.")
    check.equal("another number", lambda: accepts(3, 4), False, look="An equal value.")
    check.equal(
        "1 is not True",
        lambda: accepts(1, True),
        False,
        look="1 == True in Python. Ask for the type too.",
    )
    check.equal(
        "a list with a Tensor in it",
        lambda: accepts([paddle.ones([2]), 3], [paddle.zeros([2]), 3]),
        True,
        look="Each item by its own rule: call add for it.",
    )
    check.equal(
        "its second item changed",
        lambda: accepts([paddle.ones([2]), 3], [paddle.ones([2]), 4]),
        False,
        look="GetItemTracker(tracker, 1) is the tracker of item 1.",
    )

# %% nbgrader={"grade_id": "task2_hidden", "points": 2}
# Hidden checks, run when your work is graded: pairs of values, and what a guard keeps.
### BEGIN HIDDEN TESTS
import gc
import random
import weakref

from grader.checks import Checks


def secret_values(chosen):
    """Pairs: a value, and one that is like it for a graph."""
    shape = [chosen.randint(1, 4) for _ in range(chosen.randint(0, 3))]
    number = chosen.randint(-9, 9)
    thing = object()
    return [
        (paddle.ones(shape), paddle.zeros(shape)),
        (paddle.ones([1, *shape]), paddle.zeros([1, *shape])),
        (paddle.ones([9, *shape]), paddle.zeros([9, *shape])),
        (paddle.ones(shape, dtype="int64"), paddle.zeros(shape, dtype="int64")),
        (number, number),
        (float(number), float(number)),
        (str(number), str(number)),
        (number % 2 == 0, number % 2 == 0),
        (None, None),
        (float("inf"), float("inf")),
        ([number, 2], [number, 2]),
        ((number, 2), (number, 2)),
        ([number, 2, 3], [number, 2, 3]),
        ([(number, [paddle.ones(shape)])], [(number, [paddle.zeros(shape)])]),
        ([[], None], [[], None]),
        (thing, thing),
        (object(), None),
    ]


def secret_wrong(chosen):
    """Where your guard says something else than the rule, in words."""
    found = []
    pairs = secret_values(chosen)
    for i, (seen, like) in enumerate(pairs):
        for j, (_, other) in enumerate(pairs):
            if i == len(pairs) - 1 and j == i:
                continue
            if i != j and j == len(pairs) - 1:
                continue  # None again
            if accepts(seen, other if i != j else like) is not (i == j):
                found.append((i, j))
    return found


def secret_kept():
    tensor = paddle.ones([2])
    guard = BareGuard()
    add(guard, LocalTracker("x"), [tensor, 1])
    guard.check(Frame({"x": [tensor, 1]}, {}))
    seen = weakref.ref(tensor)
    del tensor
    gc.collect()
    return seen() is None


def secret_gradient():
    wanted = paddle.to_tensor([1.0], stop_gradient=False)
    return accepts(wanted, paddle.to_tensor([1.0])), accepts(paddle.to_tensor([1.0]), wanted)


with Checks("Task 2", hidden=True) as check:
    for secret_seed in range(3):
        check.equal(
            f"many pairs of values, {secret_seed + 1}",
            lambda: secret_wrong(random.Random(secret_seed)),
            [],
            look="Go through the table again: types, lengths, dtypes, and numbers such as inf.",
        )
    check.equal("stop_gradient", secret_gradient, (False, False), look="It is part of the rule.")
    check.true(
        "Tensors are not kept alive",
        secret_kept,
        "the Tensor to be gone",
        look="Keep its shape and dtype, not the Tensor.",
    )
    check.equal(
        "a guard for one argument does not look at others",
        lambda: accepts("a", "a") and not accepts("a", "b"),
        True,
    )
### END HIDDEN TESTS
