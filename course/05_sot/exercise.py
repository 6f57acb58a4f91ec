# %% [markdown]
# # 5 · exercise: Teach the symbolic run
#
# Two tasks, 8 points. You need lesson 5.1. Both use the real parts of minipaddle's SOT, in `minipaddle/jit/sot/`.
# After each task there is a check that answers at once.
#
# To read how the executor handles an opcode: `import inspect; print(inspect.getsource(OpcodeExecutor.COMPARE_OP))`.
#
# In the checks, `@experiment` marks a function that runs together with your answer. When your work is graded, that is a process of its own: what comes back, numbers or a captured program, is
# judged outside of it.
#
# *Run All* stops at the first check that fails. To do task 2 first, run its cells by hand (Shift+Enter).

# %% nbgrader={"grade_id": "setup"}
import minipaddle as paddle
from grader.checks import experiment
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


@experiment
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


def searched(x, item):
    if item in (3, 4):
        return x * 2
    return x + 1


def broke_there(result, reason):
    """The result, and whether the graph broke at our opcode."""
    return result, "CONTAINS_OP" in reason


pair = paddle.to_tensor([1.0, 5.0])

with Checks("Task 1") as check:
    check.equal(
        "`in`: it is there, it is not",
        lambda: [translate(scaled, pair, mode) for mode in ("train", "eval")],
        [([2.0, 10.0], ""), ([2.0, 6.0], "")],
        look="The text is the reason of a graph break: empty if you push the answer. Both results "
        "wrong: which of the two lies on top of the stack, the item or the container?",
    )
    check.equal(
        "`not in`: it is there, it is not",
        lambda: [translate(shifted, pair, mode) for mode in ("train", "eval")],
        [([2.0, 6.0], ""), ([2.0, 10.0], "")],
        look="instruction.arg is 1 for `not in`.",
    )
    check.equal(
        "the item is a number: no break; the item is a Tensor: a break",
        lambda: [
            broke_there(*translate(searched, pair, item)) for item in (5, paddle.to_tensor([3.0]))
        ],
        [([2.0, 6.0], False), ([2.0, 10.0], True)],
        look="A TensorVariable has no numbers: self.break_graph(...).",
    )

# %% nbgrader={"grade_id": "task1_hidden", "points": 2}
# Hidden checks, run when your work is graded: other containers, and Tensors in other places.
### BEGIN HIDDEN TESTS
import random

from grader.checks import Checks, experiment


@experiment
def secret_captured(function, *args):
    """The result, the reason of a graph break, and the program that was captured."""
    translated = symbolic_translate(function)
    translated.executor_class = MoreOpcodes
    result = translated(*args)
    entry = translated.cache[-1]
    return result, entry.break_reason, None if entry.graph is None else entry.graph.program


def secret_in(x, item, container, factor, term):
    return x * factor if item in container else x + term


def secret_not_in(x, item, container, factor, term):
    missing = item not in container
    if missing:
        return x * factor
    return x + term


def secret_built(x, item, first, second, factor, term):
    return x * factor if item in (first, second) else x + term


def secret_inlined(x, item, container, factor, term):
    return secret_in(x, item, container, factor, term) + 0.5


def secret_cases(chosen, kind):
    """Arguments for six calls: in three of them the item is in the container."""
    cases = []
    for number in range(6):
        numbers = chosen.sample(range(20), 6)
        container, items = numbers[:4], numbers[:4] if number % 2 else numbers[4:]
        item = chosen.choice(items)
        if kind == "text":
            container, item = "".join(chr(97 + n) for n in container), chr(97 + item)
        elif kind == "dict":
            container, item = {f"key {n}": True for n in container}, f"key {item}"
        elif kind != "built":
            container = {"list": list, "tuple": tuple, "set": set}[kind](container)
        given = [item, *container[:2]] if kind == "built" else [item, container]
        if kind == "built" and number % 2:
            given[0] = chosen.choice(given[1:])
        cases.append([*given, chosen.randint(2, 9), chosen.randint(1, 9)])
    chosen.shuffle(cases)
    return cases


def secret_run(program, x):
    """What a captured program gives for x."""
    out = program.global_block().ops[-1].result(0)
    return paddle.static.Executor().run(program, {"input_0": x.numpy()}, [out])[0]


def secret_judged(function, cases):
    """Of each case: the result, the reason, and what the captured program gives for another x."""
    found = []
    for args in cases:
        result, reason, program = secret_captured(function, secret_x, *args)
        found.append((result, reason, secret_run(program, secret_other)))
    return found


secret_x, secret_other = paddle.to_tensor([1.0, 5.0]), paddle.to_tensor([-2.0, 0.25])
secret_chosen = random.Random(5)

with Checks("Task 1", hidden=True) as check:
    for secret_name, secret_function, secret_kind in (
        ("a tuple", secret_in, "tuple"),
        ("a list, `not in`", secret_not_in, "list"),
        ("a set", secret_in, "set"),
        ("a dict, `not in`", secret_not_in, "dict"),
        ("a text", secret_in, "text"),
        ("a tuple built in the function", secret_built, "built"),
        ("in a function that is inlined", secret_inlined, "tuple"),
    ):
        secret_each = secret_cases(secret_chosen, secret_kind)
        check.equal(
            secret_name,
            lambda: secret_judged(secret_function, secret_each),
            [
                (secret_function(secret_x, *args), "", secret_function(secret_other, *args))
                for args in secret_each
            ],
            look="The answer is right in plain Python: to_python gives the objects.",
        )
    for secret_name, secret_function, secret_each in (
        (
            "a Tensor in a container that was just built",
            secret_built,
            [(4, 3, 7, 3, 1), (4, paddle.to_tensor([3.0]), 7, 6, 5), (8, 3, 8, 2, 9)],
        ),
        (
            "a Tensor in a list from outside",
            secret_not_in,
            [(4, [3, 4], 7, 3), (4, [3, paddle.to_tensor([4.0])], 5, 8), (5, [3, 4], 4, 6)],
        ),
        (
            "a Tensor as the container",
            secret_in,
            [(4, [3, 4], 7, 3), (5, paddle.to_tensor([5.0, 4.0]), 5, 8), (5, [3, 4], 4, 6)],
        ),
        (
            "a Tensor as the item",
            secret_in,
            [
                (13, (13, 14), 7, 3),
                (paddle.to_tensor([13.0]), (15, 13), 5, 8),
                (15, (13, 14), 4, 6),
            ],
        ),
    ):
        check.equal(
            secret_name,
            lambda: [
                broke_there(*translate(secret_function, secret_x, *args)) for args in secret_each
            ],
            [
                (secret_function(secret_x, *args).numpy().tolist(), number == 1)
                for number, args in enumerate(secret_each)
            ],
            look="A graph break, where a Tensor takes part: and only there.",
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


@experiment
def accepts(seen, *others):
    """A guard is made for `seen`. Which of the others does it let pass?"""
    guard = BareGuard()
    add(guard, LocalTracker("x"), seen)
    return [guard.check(Frame({"x": now}, {})) for now in others]


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
        "a Tensor: with other numbers; a longer one",
        lambda: accepts(paddle.ones([2]), paddle.zeros([2]), paddle.ones([3])),
        [True, False],
        look="The numbers don't matter, the shape does: {where}.shape == {guard.keep(value.shape)}.",
    )
    check.equal(
        "a Tensor: with other numbers; a number in its place",
        lambda: accepts(paddle.ones([2]), paddle.zeros([2]), 1.0),
        [True, False],
        look="Ask first whether it is a Tensor at all.",
    )
    check.equal(
        "3: the same number; another number",
        lambda: accepts(3, 3, 4),
        [True, False],
        look="An equal value.",
    )
    check.equal(
        "1: the same number; True; 1.0",
        lambda: accepts(1, 1, True, 1.0),
        [True, False, False],
        look="1 == True in Python. Ask for the type too.",
    )
    check.equal(
        "a list with a Tensor in it: other numbers in the Tensor; a longer Tensor",
        lambda: accepts([paddle.ones([2]), 3], [paddle.zeros([2]), 3], [paddle.ones([3]), 3]),
        [True, False],
        look="Each item by its own rule: call add for it.",
    )
    check.equal(
        "the same list: other numbers in the Tensor; another second item",
        lambda: accepts([paddle.ones([2]), 3], [paddle.zeros([2]), 3], [paddle.ones([2]), 4]),
        [True, False],
        look="GetItemTracker(tracker, 1) is the tracker of item 1.",
    )

# %% nbgrader={"grade_id": "task2_hidden", "points": 2}
# Hidden checks, run when your work is graded: pairs of values, and what a guard keeps.
### BEGIN HIDDEN TESTS
import gc
import random
import weakref

from grader.checks import Checks, experiment

SECRET_PLAIN = [1000, 1000.0, "1000", 1, 1.0, True, "1", 0, 0.0, False, None, "", "None", 2.5, "a"]
SECRET_PLAIN += [float("inf"), float("-inf")]


def secret_described(chosen, kind):
    """A random value of a kind, in words: a guard should let pass what has the same words."""
    if kind == "Tensor":
        shape = [chosen.choice([1, 2]) for _ in range(chosen.randint(0, 2))]
        return "Tensor", shape, chosen.choice(["float32", "float64", "int64"]), True
    if kind == "gradient":
        return "Tensor", chosen.choice([[2], [3]]), "float32", chosen.random() < 0.5
    if kind == "plain":
        return "plain", chosen.choice(SECRET_PLAIN)
    if kind == "object":
        return "object", chosen.randint(1, 5)
    if kind == "sequence":
        kinds = chosen.choices(["plain", "Tensor", "sequence"], [3, 2, 1], k=chosen.randint(0, 2))
        return chosen.choice(["list", "tuple"]), [secret_described(chosen, each) for each in kinds]
    return secret_described(chosen, chosen.choice(["Tensor", "gradient", "plain", "sequence"]))


def secret_all(chosen, kind):
    """Ten random values, and six of them once more, in any order. Of a list also the tuple."""
    found = [secret_described(chosen, kind) for _ in range(10)]
    if kind == "sequence":
        found += [({"list": "tuple", "tuple": "list"}[one], items) for one, items in found[:4]]
    found += chosen.sample(found, 6)
    chosen.shuffle(found)
    return found


def secret_made(words, objects, number):
    """The value for its words. `objects`: those that were made before."""
    if words[0] == "Tensor":
        tensor = paddle.full(words[1], number, dtype=words[2])
        tensor.stop_gradient = words[3]
        return tensor
    if words[0] == "plain":
        return words[1]
    if words[0] == "object":
        return objects.setdefault(words[1], {"equal, but not the same"})
    items = [secret_made(item, objects, number) for item in words[1]]
    return items if words[0] == "list" else tuple(items)


@experiment
def secret_table(all_words, again):
    """A line for each value: a guard is made for it; an x for each value that it lets pass."""
    objects = {}
    later = [secret_made(words, objects, 2) for words in again]
    lines = []
    for words in all_words:
        guard = BareGuard()
        add(guard, LocalTracker("x"), secret_made(words, objects, 1))
        passed = [guard.check(Frame({"x": now}, {})) for now in later]
        lines.append("".join("x" if each else "." for each in passed))
    return lines


@experiment
def secret_alive(all_words, held, *others):
    """A guard for a list: which of the others it lets pass, and which Tensors of the list live when
    only the guard is left, and those that are held.
    """
    objects = {}
    values = [secret_made(words, objects, 1) for words in all_words]
    watched = {n: weakref.ref(v) for n, v in enumerate(values) if isinstance(v, Tensor)}
    guard = BareGuard()
    add(guard, LocalTracker("x"), values)
    lists = [[secret_made(words, objects, 2) for words in other] for other in others]
    passed = [guard.check(Frame({"x": now}, {})) for now in lists]
    held = [values[n] for n in held]
    del values
    gc.collect()
    return passed, [n for n, tensor in watched.items() if tensor() is not None]


secret_chosen = random.Random(11)

with Checks("Task 2", hidden=True) as check:
    for secret_name, secret_kind, secret_look in (
        ("Tensors", "Tensor", "The whole shape, and the dtype."),
        ("Tensors with and without gradients", "gradient", "stop_gradient is part of the rule."),
        ("numbers, texts, True, False, None", "plain", "An equal value of the same type; inf too."),
        ("lists and tuples", "sequence", "Type, length, and for each item the rule of that item."),
        ("other objects", "object", "The same object: not one that is equal."),
        ("all of these", "any", "Go through the table again."),
    ):
        secret_values = secret_all(secret_chosen, secret_kind)
        check.equal(
            secret_name,
            lambda: secret_table(secret_values, secret_values),
            [
                "".join("x" if repr(one) == repr(other) else "." for other in secret_values)
                for one in secret_values
            ],
            look=secret_look,
        )
    secret_list = [secret_described(secret_chosen, "Tensor") for _ in range(5)] + [("plain", 7)]
    secret_longer = [*secret_list, ("plain", 7)]
    secret_changed = [*secret_list[:5], ("plain", 8)]
    check.equal(
        "Tensors are not kept alive",
        lambda: secret_alive(secret_list, [1, 4], secret_changed, secret_list, secret_longer),
        ([False, True, False], [1, 4]),
        look="Keep a Tensor's shape and dtype, not the Tensor.",
    )
### END HIDDEN TESTS
