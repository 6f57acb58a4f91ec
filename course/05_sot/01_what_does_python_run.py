# %% [markdown]
# # 5.1 What does Python really run?
#
# You write `y = x * 3`. `paddle.jit.to_static` turns this into a graph, and it never reads your text. **What does it read?**
#
# Python does not run text either. It runs **bytecode**: a list of tiny instructions. In this lesson you run bytecode by hand, then with symbols
# in place of numbers, and what you get is a graph. That is the idea of **SOT**, Paddle's *symbolic opcode translator*.
#
# Time: 30 minutes. You need: Python and numpy. Module 3 helps (the graph is a PIR program), but you can do without.

# %% [markdown]
# ## A code object
# Each Python function carries a **code object**: its instructions, and tables of the names and constants that they use.

# %%
import dis


def line(x):
    y = x * 2
    return y + 1


code = line.__code__
print("local names:", code.co_varnames)
print("constants:  ", code.co_consts)
for item in dis.get_instructions(line):
    print(f"{item.opname:14} {item.argrepr}")

# %% [markdown]
# The instructions work on a **stack**: a pile of values. `LOAD_...` puts a value on top, `BINARY_OP` takes two values off and puts one back,
# `STORE_FAST` takes the top off into a local variable. `RESUME` marks the start; it does nothing here.
#
# ## Predict
# Take `x = 5`. **Write down the stack after each instruction** (there are 8 of them after `RESUME`). What is the most values that lie on it at once?

# %% [markdown]
# ## Run it yourself
# An interpreter for these five instructions takes fifteen lines. The stack is a Python list; its right end is the top.

# %%
import operator

OPERATORS = {"*": operator.mul, "+": operator.add}


def run(function, *args, show=False):
    names, stack = dict(zip(function.__code__.co_varnames, args)), []
    for item in dis.get_instructions(function):
        if item.opname == "LOAD_FAST":
            stack.append(names[item.argval])
        elif item.opname == "LOAD_CONST":
            stack.append(item.argval)
        elif item.opname == "STORE_FAST":
            names[item.argval] = stack.pop()
        elif item.opname == "BINARY_OP":
            right, left = stack.pop(), stack.pop()
            stack.append(OPERATORS[item.argrepr](left, right))
        elif item.opname == "RETURN_VALUE":
            result = stack.pop()
        if show:
            print(f"{item.opname:12} {stack}")
    return result


print("result:", run(line, 5, show=True))

# %% [markdown]
# Two values at most. And the result is that of `line(5)`: your interpreter does what CPython does.
#
# ## Now the trick
# Nowhere does `run` ask what kind of thing lies on the stack. So put something else there: a **symbol**, an object that has a name and no number.
# If somebody adds or multiplies it, it writes that down.


# %%
class Symbol:
    written = []  # the graph

    def __init__(self, name):
        self.name = name

    def _write(self, sign, other):
        result = Symbol(f"v{len(self.written)}")
        self.written.append(f"{result.name} = {self.name} {sign} {other}")
        return result

    def __mul__(self, other):
        return self._write("*", other)

    def __add__(self, other):
        return self._write("+", other)


result = run(line, Symbol("x"))
print("\n".join(Symbol.written))
print("returns", result.name)

# %% [markdown]
# Nothing was computed, and you hold the whole computation as a list: a graph. You can optimize it, compile it, and run it later with any `x`.
#
# ## The real thing, small
# minipaddle's `symbolic_translate` does this for real functions. Ours below has a global name, an `if`, a function of yours, and a function of the framework.

# %%
import minipaddle as paddle
from minipaddle import viz
from minipaddle.nn.functional import relu

FACTOR = 3


def halve(v):
    return v / 2


def step(x, n):
    y = x * FACTOR
    if n > 1:
        y = halve(y)
    return relu(y)


print("\n".join(viz.bytecode_lines(step)))

# %% [markdown]
# Python 3.11, 3.12 and 3.13 differ in details (3.11 has a `PRECALL` before each `CALL`, 3.13 sometimes folds two `LOAD_FAST` into one, and so on).
# `viz.bytecode_lines` leaves such details out. Try `dis.dis(step)` if you want to see all that your Python has.
#
# ## Predict
# We call the translated function with a Tensor and `n = 2`. **Write down:**
# 1. Which of the four lines of `step` put operations into the graph?
# 2. Is the `if` in the graph? Is the call of `halve`?

# %%
translated = paddle.jit.sot.symbolic_translate(step)
x = paddle.to_tensor([1.0, -2.0])
print(translated(x, 2).numpy(), "and plain Python says", step(x, 2).numpy())
print([op.name() for op in translated.cache[0].graph.program.global_block().ops])

# %% [markdown]
# Step through the symbolic run. Left: the bytecode, and where the run is. Then the local variables and the stack. Then the graph as it grows.
# Watch the stack at `COMPARE_OP`, and what happens at the first `CALL`.

# %%
viz.Player(viz.sot_steps(translated))

# %% [markdown]
# What to see:
# - A Tensor on the stack is a shape and a dtype. No numbers.
# - `x * FACTOR` has a Tensor in it, so it went into the graph, as a constant (`full`) and a `scale`. That is how Paddle writes Tensor times number.
# - `n > 1` has two plain numbers, so Python answered at once. The `if` went the way of `True`, and **it is not in the graph**.
# - `halve` was not called. The run went on inside its bytecode. This is called **inlining**.
#
# At the end, *new* bytecode is written. This is what runs from now on:

# %%
print("\n".join(viz.bytecode_lines(translated.cache[0].function)))

# %% [markdown]
# Load the compiled graph, call it with `x`, return its first output. `n` is gone!
#
# ## Guards: when is the graph still right?
# That graph is right for `n = 2`, not for `n = 0`. And only for a Tensor of this shape. So all that the run relied on is kept as conditions, the **guard**:

# %%
for condition in translated.cache[0].guard.conditions:
    print(condition)

# %% [markdown]
# The first two are about the mode of the framework: are gradients recorded, is automatic mixed precision on? All others are about
# the **frame**, that is the arguments and globals of the call. Joined by `and`, they are one Python expression. Each call looks through the cache for an entry whose guard says yes.
# If there is none, the function is translated once more, and the cache gets one more entry.
#
# ## Predict
# The cache has one entry now, for shape `[2]` and `n = 2`. **After each of these calls, how many will it have?** Write down five numbers.
#
# Then step through the calls. A row is an entry of the cache: what its guard says to this call, and the first condition that does not hold. The marked entry is the one that runs.

# %%
calls = [
    ("same shape, other numbers", [7.0, 7.0], 2),
    ("n = 0", [1.0, 2.0], 0),
    ("a longer Tensor", [1.0, 2.0, 3.0], 2),
    ("n = 0 again", [5.0, 5.0], 0),
    ("n = 3, which takes the same branch as 2", [1.0, 2.0], 3),
]


def look(cache, frame):
    """Asks the guards in order: (answer, the first condition that fails), until one says yes."""
    for entry in cache:
        constants = dict(entry.guard.constants)
        fails = (c for c in entry.guard.conditions if not eval(c, constants, {"frame": frame}))
        failed = next(fails, "")
        yield ("no", failed.removeprefix("frame.")) if failed else ("yes", "")
        if not failed:
            return


# %%
from minipaddle.jit.sot.guard import Frame

film = []
for name, numbers, n in calls:
    x = paddle.to_tensor(numbers)
    rows = list(look(translated.cache, Frame({"x": x, "n": n}, step.__globals__)))
    translated(x, n)  # the real call
    if rows[-1][0] == "no":
        rows.append(("new", "translated for this call"))
    used = len(rows) - 1
    rows += [("not asked", "")] * (translated.translate_count - len(rows))
    rows = [[f"entry {number}", *row] for number, row in enumerate(rows, 1)]
    cache = viz.table(["", "guard", "condition that fails"], rows, highlight=[used], name="Cache")
    film.append(viz.step(name, cache, note=f"Entries: {translated.translate_count}."))
viz.Player(film)

# %% [markdown]
# 1, 2, 3, 3, 4. The guards are asked one after the other, until one says yes. The last call costs a translation that was not needed: the guard asks for `n == 2`, though `n > 1` would be enough.
# Guards are careful, not clever. A wrong yes gives a wrong result; a wrong no costs time only.
#
# ## Where a graph ends
# An `if` on a number is answered during the run. And an `if` on a Tensor?
#
# **Predict**: at which instruction of `sign` does the symbolic run stop? And does the call still give a result?


# %%
def sign(x):
    if x.sum() > 0:
        return x
    return -x


broken = paddle.jit.sot.symbolic_translate(sign)
print(broken(paddle.to_tensor([1.0, -2.0])).numpy())
viz.Player(viz.sot_steps(broken))

# %% [markdown]
# At the jump: `x.sum() > 0` is a symbol, and a symbol is neither true nor false. This is a **graph break**. The result is still right, because
# the function then runs as plain Python. The same happens at `print(x)`, `float(x)`, `x.numpy()`: each needs the numbers.

# %% [markdown]
# ## In Paddle itself
# The same functions on both, called as users do: `paddle.jit.to_static(f, full_graph=False)`. `MIN_GRAPH_SIZE=0` is for real Paddle: without it, SOT leaves graphs of fewer than 10 operations to plain Python.
# Real Paddle counts the translations of all functions in one place, minipaddle counts for each function; the helper `translate` hides that.
# Each line shows `n`, the result, and how often the function has been translated so far.

# %%
import os

os.environ["MIN_GRAPH_SIZE"] = "0"
from minipaddle.compare import both

TRANSLATE = """
def translate(function):
    f = paddle.jit.to_static(function, full_graph=False)
    if paddle.__name__ == "minipaddle":
        return f, lambda: f.translate_count
    from paddle.jit.sot.opcode_translator.executor.executor_cache import OpcodeExecutorCache
    OpcodeExecutorCache().clear()
    return f, lambda: OpcodeExecutorCache().translate_count
"""

# %%
both(
    TRANSLATE
    + """
def step(x, n):
    y = x * 3
    if n > 1:
        y = y / 2
    return paddle.nn.functional.relu(y)

f, count = translate(step)
for numbers, n in [([1.0, -2.0], 2), ([7.0, 7.0], 2), ([1.0, 2.0], 0), ([1.0, 2.0], 0)]:
    print(n, f(paddle.to_tensor(numbers), n).numpy().tolist(), count())
""",
    same=True,
)

# %% [markdown]
# The same results and the same number of translations. Now three cases in which they differ: more values of `n`, more shapes, and the `if` on a Tensor.

# %%
both(
    TRANSLATE
    + """
def add(x, n):
    return x + n

f, count = translate(add)
for n in (2, 3, 4, 5):
    print("n =", n, f(paddle.ones([2]), n).numpy().tolist(), count())
for size in (3, 4, 5):
    print("shape", [size], f(paddle.ones([size]), 2).numpy().tolist(), count())

def sign(x):
    if x.sum() > 0:
        return x * 2
    return x

g, count = translate(sign)
print("break:", g(paddle.ones([2])).numpy().tolist(), count())
"""
)

# %% [markdown]
# Results agree, counts do not:
# - When a number or a shape changes for the first time, real Paddle makes it a **symbolic** size, so that the second translation fits all others.
# - At a graph break, real Paddle keeps the part before the `if` as a graph, runs the `if` as plain Python, and translates the rest as a function of its own
#   (a *resume function*). So it counts 2 translations. minipaddle gives up the whole function.
#
# Where to read, in Paddle's repository:
# | what | where |
# |---|---|
# | the symbolic run, one method for each opcode | `python/paddle/jit/sot/opcode_translator/executor/opcode_executor.py`, class `OpcodeExecutor` |
# | guards | `.../executor/guard.py`, and in C++ `paddle/fluid/pybind/sot/guards.cc` |
# | the cache | `.../executor/executor_cache.py`, class `OpcodeExecutorCache` |
# | where CPython hands over a frame | `paddle/fluid/pybind/sot/eval_frame.c` |
# | ours | `minipaddle/jit/sot/`, the same file names |
#
# Set `SOT_LOG_LEVEL=3` and real Paddle prints what you saw in the player: each instruction, with its stack.

# %% [markdown]
# ## What we left out
# - Real Paddle is called by CPython for each frame (PEP 523, a hook in C). minipaddle wraps the function that you give it.
# - Loops, exceptions, generators, closures made inside the function: here they break the graph.
# - Resume functions and symbolic sizes, as you have just seen.
#
# ## What next
# In [5 · exercise](exercise.ipynb) you teach the run an opcode that it does not know, with another one as an example (task 1), and write a guard (task 2).
# Real Paddle needs the first each year: a new Python brings new opcodes, and for each of them somebody writes a handler.
