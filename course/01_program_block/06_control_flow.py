# %% [markdown]
# # 1.6 How can a list of ops decide, and repeat?
#
# Block 0 is a list, and the Executor runs it from the first op to the last. But networks decide ("if the loss is not finite, skip this step") and repeat ("until the end of the sentence"). How often, nobody knows when the
# program is written.
# **How does a list of ops choose, how does it loop? And how do you differentiate a loop whose turns nobody has counted?**
#
# Time: 30 minutes. You need: lessons 1.1, 1.4 and 1.5. You will use it in: [1 · exercise](exercise.ipynb), task 7.

# %% [markdown]
# ## Python's own `if` and `for`
# First, what happens if you just write Python.
#
# **Predict:** each of the functions below is called once, to write a program. How many ops does the `for` leave in it? And what does the `if` do, when `x` has no numbers yet?

# %%
import textwrap

import numpy as np

import minipaddle as paddle
from minipaddle import viz

paddle.enable_static()
executor = paddle.static.Executor()


def program_of(write):
    """A main program, its startup program, and what write() returned."""
    with paddle.pir_utils.OldIrGuard(), paddle.utils.unique_name.guard():
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            returned = write()
    return main, startup, returned


# %%
def python_loop():
    x = paddle.static.data("x", [2], "float32")
    for _ in range(3):
        x = x * x


def python_if():
    x = paddle.static.data("x", [2], "float32")
    return x * 2.0 if paddle.mean(x) > 0 else x - 1.0


print(*[op.type for op in program_of(python_loop)[0].global_block().ops])
try:
    program_of(python_if)
except TypeError as error:
    print(textwrap.fill(str(error), 96))

# %% [markdown]
# Python's `for` ran three times **while the program was written**; the program knows nothing of a loop, it has three ops. For three turns that is fine; for a number that only the data knows, it can't work. And `if` asks a Variable for
# a truth that it does not have.
#
# So both must be *written down*, as ops. An op needs something to run: a list of ops of its own. That is a **sub-block**.
#
# ## cond
# `paddle.static.nn.cond(condition, true_fn, false_fn)` takes two functions.
#
# ## Predict
# 1. Both functions print a word. How many words do you see when the program is written? And when it runs, twice?
# 2. Into how many blocks do the ops go?


# %%
def decide():
    def double():
        print("double is called")
        return x * 2.0

    def decrease():
        print("decrease is called")
        return x - 1.0

    x = paddle.static.data("x", [2], "float32")
    return paddle.static.nn.cond(paddle.mean(x) > 0, double, decrease)


def show_blocks(program):
    for block in program.blocks:
        print(f"block {block.idx} in {block.parent_idx:2}:", *[op.type for op in block.ops])


main, _, y = program_of(decide)
show_blocks(main)
for value in (1.0, -1.0):
    print(executor.run(main, feed={"x": np.full([2], value, "float32")}, fetch_list=[y]))

# %% [markdown]
# **Both** functions are called, once, while the program is written, and never again. What they write goes into a block of its own each. Each block knows its *parent* (-1: none), and it sees the variables of the blocks around it:
# block 1 reads `x`, though `x` lives in block 0.
#
# Look at block 0. There is no "if-else" op in Paddle. `conditional_block` runs its block, or doesn't; so `cond` writes two of them, the second with `logical_not` of the condition. Each block **assigns** its result to a variable of block 0.
# And because everybody after that needs one name, `select_input` takes the one of the two that was written: a number, its *mask*, says which. (`cast` makes 1 or 0 of the condition.)
#
# The arrows are reads; "runs" leads from an op to its block. Blocks 1 and 2 are at the bottom: press **Fit** to see the whole picture.

# %%
viz.program_graph(main)

# %% [markdown]
# ## Predict
# There are twelve ops in the three blocks. How many of them run if `mean(x)` is positive? Which variable holds nothing when `select_input` runs? Step through it:

# %%
viz.executor_steps(main, {"x": np.array([0.3, 0.4], "float32")}, [y])

# %% [markdown]
# The ops of the branch that was not taken cost nothing. Their variable stays empty, and `select_input`, with the mask 1, does not look at it.
#
# ## while_loop
# A loop has *loop variables*. `while_loop(condition_fn, body_fn, variables)`: one function says whether to go on, the other gives the next values. Here `n` is data: the program is written before anybody knows it.
#
# ## Predict
# 1. How often is `body` called while the program is written? How many ops are in the loop's block?
# 2. `body` *returns* new values. But the `while` op runs the same block again, and that reads the same names. So what must the block do with the new values at its end?
# 3. The condition is computed before the loop, in block 0. Who computes it for the second turn?


# %%
def power():
    x = paddle.static.data("x", [2], "float32")
    n = paddle.static.data("n", [1], "int64")
    i, y = paddle.zeros([1], "int64"), paddle.ones([2], "float32")
    i, y = paddle.static.nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, y * x], [i, y])
    return y


main, _, y = program_of(power)
show_blocks(main)
for turns in (0, 3, 10):
    feed = {"x": np.array([2.0, 0.5], "float32"), "n": np.array([turns])}
    print(f"{turns:2} turns:", *executor.run(main, feed=feed, fetch_list=[y]))

# %% [markdown]
# `body` was called once. Its block has the two ops of `body`, then the condition **again**, and then three `assign`: the new `i`, the new `y`, the new condition, each into the variable outside from which the next turn will read it. That is how a value gets
# from one turn to the next, and out of the loop.

# %%
feed = {"x": np.array([2.0, 0.5], "float32"), "n": np.array([2])}
viz.executor_steps(main, feed, [y])

# %% [markdown]
# Our Executor turns blocks into what you would have written. `v5`, `v6` are names of the plan; the line with `next` counts the turns.

# %%
print(executor.interpreter(main, ("n", "x"), [y]).text)

# %% [markdown]
# ## A loop that never ends
# **Predict:** what if `body` forgets to change `i`?


# %%
def endless():
    i, n = paddle.zeros([1], "int64"), paddle.full([1], 3, "int64")
    return paddle.static.nn.while_loop(lambda i: i < n, lambda i: [i * 1], [i])[0]


paddle.set_flags({"FLAGS_max_while_turns": 1000})  # a million, if you don't say
stuck, _, i = program_of(endless)
try:
    executor.run(stuck, fetch_list=[i])
except RuntimeError as error:
    line = next(line for line in str(error).splitlines() if "while: expected" in line)
    print(textwrap.fill(line.strip(), 96))
paddle.set_flags({"FLAGS_max_while_turns": 1_000_000})

# %% [markdown]
# The body is right for every turn, and wrong for the loop: no op in it is an error. So nobody can find this while the program is written. Real Paddle has no limit: it would run until you stop it.
#
# ## The gradient of a loop
# Now `append_backward` (lesson 1.5) comes to the `while` op, walking backwards. `y = x · x · … · x`, `n` times: nobody knows n. It appends **one** op, `while_grad`, with a block of its own.
#
# ## Predict
# `y = y * x` in each turn. The gradient of one turn is `y@GRAD_before = y@GRAD · x` and `x@GRAD += y@GRAD · y`.
# 1. In which order do the turns of the gradient loop go?
# 2. The last line reads `y`: the `y` of *that* turn. But `y` is overwritten in each turn (`assign`, as you saw). So what must the forward loop do now, which it did not do before?
# 3. `y@GRAD` is handed from turn to turn. And `x@GRAD`?


# %%
def differentiable():
    x = paddle.static.data("x", [2], "float32")
    y = paddle.static.data("y", [2], "float32")
    n = paddle.static.data("n", [1], "int64")
    x.stop_gradient = y.stop_gradient = False
    i = paddle.zeros([1], "int64")
    i, y = paddle.static.nn.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, y * x], [i, y])
    return y, paddle.static.gradients(paddle.mean(y), [x])[0]


main, _, (y, slope) = program_of(differentiable)
show_blocks(main)

# %% [markdown]
# Block 2 is the backward of block 1, for one turn. It was written by the same walk as always: only the multiplication needs a gradient. (Here we feed the `y` to start with, so that its name is short. We feed ones.)
#
# Step through two turns, forward and back. Watch three things: the steps called *keep*, the row of `_generated_var_0`, and the two steps *add to*.

# %%
feed["y"] = np.ones([2], "float32")
viz.executor_steps(main, feed, [y, slope])

# %% [markdown]
# 1. **Last turn first**, as everything in backward.
# 2. **Each turn keeps a scope.** Before `y` gets its next value, the old one goes into `_generated_var_0`. In the program this variable is an output of the `while` op, in the slot `StepScopes`; the gradient op reads it. Only what the gradient will read is kept:
#    neither `i` nor the condition. (Real Paddle keeps the whole scope of the turn.)
# 3. What is **handed on** from turn to turn has one gradient, and each turn turns it into the one of the turn before. What the body only **reads** in each turn, as `x` here, or the weights of a recurrent network, gets a piece from each turn, and the pieces are summed.
#
# By hand: the mean of two numbers x² has the slope 2x/2. That is x: 2 and 0.5.

# %%
print(executor.run(main, feed=feed, fetch_list=[slope])[0])

# %% [markdown]
# ## Predict
# What does this cost? Without the gradient, 20 turns and 40 turns: how much more memory? And with it?

# %%
for name, fetch in {"y": [y], "y and slope": [y, slope]}.items():
    for turns in (20, 40):
        long = {**feed, "n": np.array([turns])}
        print(f"{name:11}, {turns} turns:", viz.memory_steps(main, long, fetch).steps[0]["note"])

# %% [markdown]
# Without the gradient a loop needs the same memory, however long it runs. With it, 8 bytes more for each turn: one `y`. This is why long sequences are cut into pieces when recurrent networks are trained (*truncated backpropagation through time*).
#
# And `cond`? Its gradient is easier: there is only one turn, or none. The gradient of each `conditional_block` looks at the same condition again. The branch that did not run gives zeros, and the pieces of the two are summed.


# %%
def decide_with_gradient():
    x = paddle.static.data("x", [2], "float32")
    x.stop_gradient = False
    y = paddle.static.nn.cond(paddle.mean(x) > 0, lambda: x * x, lambda: x * 3.0)
    return paddle.static.gradients(paddle.sum(y), [x])[0]


main, _, slope = program_of(decide_with_gradient)
show_blocks(main)
for sign in (1, -1):
    feed = {"x": sign * np.array([1.0, 2.0], "float32")}
    print(feed["x"], "->", executor.run(main, feed=feed, fetch_list=[slope])[0])

# %% [markdown]
# `select_output` is the gradient of `select_input`: it gives the gradient to the branch that ran.
#
# ## In Paddle itself
# The loop, its blocks and its gradient:

# %%
from minipaddle.compare import both

both(
    """
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [2], "float32")
            n = paddle.static.data("n", [1], "int64")
            y = paddle.static.data("y", [2], "float32")
            x.stop_gradient = y.stop_gradient = False
            i = paddle.full([1], 0, "int64")
            i, y = paddle.static.nn.while_loop(
                lambda i, y: i < n, lambda i, y: [i + 1, y * x], [i, y]
            )
            (slope,) = paddle.static.gradients(paddle.mean(y), [x])
        for block in main.blocks:
            print(block.idx, block.parent_idx, *[op.type for op in block.ops])
        exe = paddle.static.Executor()
        feed = {"x": np.array([2, 0.5], "float32"), "y": np.ones(2, "float32")}
        for turns in (1, 3):
            feed["n"] = np.array([turns])
            print(turns, *exe.run(main, feed=feed, fetch_list=[y, slope]))
    """,
    same=True,
)

# %% [markdown]
# Op for op the same. (With 0 turns there is a difference: ours gives 0 for the slope, real Paddle gives None, since no turn has written it.)
#
# But `cond` fails in real Paddle 3.3:

# %%
both(
    """
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        y = paddle.static.nn.cond(paddle.mean(x) > 0, lambda: x * 2.0, lambda: x - 1.0)
        print(*[op.type for op in y.block.ops])
    """,
    same=False,
)

# %% [markdown]
# The reason is the one of lesson 1.1: `cond` calls `paddle.logical_not`, and that is bound to C++ for the new kind of program only, so it refuses an old Variable. The *ops* are all there: a program with a `conditional_block` that ours wrote runs in real Paddle (our tests do that). In PIR programs `cond` works, of course.
# There it becomes `pd_op.if`, one op with two blocks: see module 3.
#
# Mostly you do not write `cond` yourself: `@paddle.jit.to_static` finds `if` and `while` in your function and calls them for you (module 5).
#
# Where to read on in Paddle's source:
#
# | here | in Paddle |
# |---|---|
# | `minipaddle/static/nn/control_flow.py`: `cond`, `while_loop` | `python/paddle/static/nn/control_flow.py`: the same names, and the classes `ConditionalBlock`, `While` |
# | `Program._create_block`, `_rollback` | `python/paddle/base/framework.py`: the same names |
# | `control_flow.py` in `minipaddle/new_executor/` | `instruction/control_flow/` in `paddle/fluid/framework/new_executor/`; `paddle/fluid/operators/controlflow/while_op.cc`, `conditional_block_op.cc` |
# | the gradient: `minipaddle/base/backward_control_flow.py` | `python/paddle/base/backward.py`: `_append_backward_ops_` calls itself for a sub-block |
#
# ## What we left out
# `case` and `switch_case` are made of several `cond`. Blocks nest: a loop in a loop in a branch, and their gradients with them; try it. Left out are arrays of Tensors that a loop appends to (`array_write`), which older Paddle used for recurrent networks.
#
# **Next**: [1.7](07_programs_that_rewrite_programs.ipynb). In task 7 of [1 · exercise](exercise.ipynb) you write what `while_loop` must find out about a block: which variables of the blocks around it go in, and which come out. If you ever mend a bug in `to_static`, you will read such block lists all day.

# %%
paddle.disable_static()
