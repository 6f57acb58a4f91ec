# %% [markdown]
# # 2.7 What does a call cost?
#
# numpy adds two small arrays in less than a microsecond. `paddle.add` does the same addition, and much else: it finds a kernel, checks dtypes, wraps the result, leaves a GradNode.
# **What exactly runs between your `a + b` and the addition? When does it matter? And does it go away if the program is written down first?**
#
# Time: 30 minutes. You need: lessons 2.1 and 2.2, and 1.1 for the static part. At the end you train a LeNet and see where its time goes.

# %% [markdown]
# ## One call, function by function
# Python can tell us of each function that starts (`sys.setprofile`). For each one we note who called it, and from which line. Functions written in C, like numpy's own, don't show up.

# %%
import gc
import inspect
import sys

import numpy as np

import minipaddle as paddle
from minipaddle import viz

COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>")  # functions in Python 3.11 only


def calls_of(work):
    """For each Python function that runs in work(): the frames of the call stack, work's first."""
    found = []

    def watch(frame, event, _argument):
        code = frame.f_code
        if event == "call" and code is not work.__code__ and code.co_name not in COMPREHENSIONS:
            stack = [(frame, frame.f_lineno)]
            while stack[-1][0].f_code is not work.__code__:
                above = stack[-1][0].f_back
                stack.append((above, above.f_lineno))
            found.append(stack[::-1])

    gc.collect()  # or Python may clean up meanwhile, and that would be counted
    sys.setprofile(watch)
    work()
    sys.setprofile(None)
    return found


# %%
def follow(work, notes):
    """A player: the functions that run in work(), one by one, with the line that calls each."""
    steps = []
    for stack in calls_of(work):
        names = [frame.f_code.co_qualname.rpartition(">.")[2] for frame, _ in stack]
        caller, line = stack[-2]
        lines, first = inspect.getsourcelines(caller.f_code)
        code = viz.text(
            map(str.rstrip, lines),
            highlight=line - first + 1,
            language="python",
            name=f"{names[-2]}, line by line",
        )
        rows = [[name] for name in names]
        table = viz.table(["running"], rows, highlight=len(rows) - 1, name="Call stack")
        title = f"{names[-2]} calls {names[-1]}"
        steps.append(viz.step(title, code, table, note=notes.get(names[-1], "")))
    return viz.Player(steps, label="One call")


# %% [markdown]
# ## Predict
# `a` wants a gradient, `b` doesn't. For `a + b`, the addition itself happens in one numpy call. **Write down: how many Python functions of minipaddle run? And which things need a
# function: the check of the dtypes? the choice between CPU and GPU? the GradNode? the result?**

# %%
a = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
b = paddle.to_tensor([[1.0, 1.0], [1.0, 1.0]])


def one_call():
    return a + b


one_call()  # the first call also writes and compiles add_ad_func
follow(
    one_call,
    {
        "apply": "Python's + on a Tensor. Two Tensors: the short way, straight to the op's function.",
        "add_ad_func": "The generated function of the op. All that follows is called from here.",
        "add": "The kernel. Its one line calls numpy: this is the addition.",
        "GradNodeBase.__init__": "a wants a gradient: the node, with its edges and the result's shape.",
        "Tensor.__init__": "The array becomes a Tensor.",
        "AutogradMeta.__init__": "The Tensor learns which node it came from.",
    },
)

# %% [markdown]
# A handful. The dtypes, the choice of the device, and the question "does anyone want a gradient?" need no function: they stand as plain lines in `add_ad_func`, which you see whole from step 3 on. That is why the
# text is *generated* (`minipaddle.eager.source_of("add")` gives it): a function that works for each op would have to ask, at each call, what this op's inputs are called, which attributes it has, what its gradient keeps.
# The generator asks once and writes the answers down.
#
# Go back to step 3, and read the text in six parts:
#
# | part | lines | needed because |
# |---|---|---|
# | precision | `tracer.amp_dtype` | mixed precision (2.6) |
# | unwrap | `x._data` | a kernel takes arrays |
# | dtype | `is not`: the same dtype is the same object, so this is cheap | `float32 + int64` needs a rule |
# | device | `np if type(...) is ndarray` | the same kernel text runs on numpy and on CuPy |
# | compute | `kernel(...)`; if it fails, `explain` finds out what to tell the user | |
# | record | everything under `tracer.has_grad` | backward |
#
# ## Where does the time go?
# We measure processor time (what other programs use doesn't count), take the best of seven rounds, and print no microseconds, since yours differ from ours: only which is more, and in
# which class of size.
#
# **Predict:** sort these from cheap to dear, for 2x2: numpy's `x + y`; `a + b` in `no_grad`; `a + b` recorded; `a + b` recorded, and its backward.

# %% tags=["nbval-ignore-output"]
# Varies: processor time
import time
import timeit


def cost(work, number=1000):
    """Processor time of one call: the best of seven rounds. s"""
    rounds = timeit.repeat(work, number=number, repeat=7, timer=time.process_time)
    return min(rounds) / number


x = np.ones((2, 2), "float32")
with paddle.no_grad():
    costs = {"numpy": cost(lambda: np.add(x, x)), "in no_grad": cost(one_call)}
costs["recorded"] = cost(one_call)
costs["recorded, and backward"] = cost(lambda: one_call().backward())
print("from cheap to dear:", *sorted(costs, key=costs.get), sep="\n  ")
print("recorded, at least 3 times numpy:", costs["recorded"] > 3 * costs["numpy"])

# %% [markdown]
# So for four numbers, most of the time is not the addition. **Predict:** and for a million numbers?


# %% tags=["nbval-ignore-output"]
# Varies: processor time
def share(size, number):
    """How much of a + b is not numpy's addition, in words."""
    array = np.ones((size, size), "float32")
    tensor = paddle.to_tensor(array, stop_gradient=False)
    extra = 1 - cost(lambda: array + array, number) / cost(lambda: tensor + tensor, number)
    return "more than half" if extra > 0.5 else "less than half"


for size, number in ((2, 1000), (1000, 3)):
    print(f"{size:4} x {size:4}: {share(size, number)} of the call is not the addition")

# %% [markdown]
# The price of a call is fixed; the price of the kernel grows with the numbers. So overhead is a matter of *small* Tensors, and of code with many small ops: an optimizer written with five ops for each
# parameter, a recurrent net that steps through time, a loss with many little terms. (Remedies: one op that does it all, called "fused"; bigger batches; graphs, which come next.)
#
# ## The Python-C boundary
# In Paddle the generated function is C++. Then the price should vanish, shouldn't it? First the facts: how many functions run, seen from Python?
#
# **Predict** for real Paddle: how many Python functions run for `a + b`? For `paddle.add(a, b)`?

# %%
from minipaddle.compare import both

both(
    """
    import sys

    def functions(work):
        found = []

        def watch(frame, event, argument):
            if event == "call" and frame.f_code is not work.__code__:
                found.append(frame.f_code.co_name)
            if event == "c_call" and argument.__name__ == "add":
                found.append("add, in C")

        work()
        sys.setprofile(watch)
        work()
        sys.setprofile(None)
        return found

    a = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    print("a + b            ", functions(lambda: a + a))
    print("paddle.add(a, b) ", functions(lambda: paddle.add(a, a)))
    """,
    same=False,
)

# %% [markdown]
# Not one for `a + b`: Python asks the type of `a` for its `+`, and finds a C function. `paddle.add` first runs some Python (a decorator, and the question "dygraph or static?"), and then crosses the
# **boundary** into C, in `_C_ops.add`. Behind the boundary:
#
# 1. `eager_api_add` (generated, pybind): takes the arguments out of the Python tuple and turns each Python object into a C++ Tensor or attribute, and checks it.
# 2. It lets go of Python's lock (the GIL), so that other threads may run.
# 3. `add_ad_func` (generated, `paddle/fluid/eager/api/generated/`): AMP, type promotion, the node. The same parts that you just read.
# 4. `paddle::experimental::add` (generated, `paddle/phi/api/`): picks the kernel by backend, layout and dtype; InferMeta; runs it.
# 5. Back: the lock, and a new Python object around the result.
#
# You know what each of these is for. **Predict:** it is all C++. So is a recorded `a + b` on 2x2 in Paddle less than 3 times numpy's addition?

# %% tags=["nbval-ignore-output"]
# Varies: processor time
both(
    """
    import time, timeit

    def cost(work):
        return min(timeit.repeat(work, number=1000, repeat=7, timer=time.process_time))

    x = np.ones((2, 2), "float32")
    a, b = paddle.to_tensor(x, stop_gradient=False), paddle.to_tensor(x)
    recorded, numpy = cost(lambda: a + b), cost(lambda: np.add(x, x))
    print("recorded, less than 3 times numpy:", recorded < 3 * numpy)
    """
)

# %% [markdown]
# It isn't. C++ is fast, but this way has more stations than ours: layouts, streams, distributed Tensors, flags, events for the profiler; each asks one small question at each call. (What each of them takes, we did not measure.) In our benchmarks
# (`benchmarks/README.md`) the recorded `a + b` in Paddle takes *longer* than ours in Python. Don't conclude that Python is fast: conclude that **a call costs what it asks**, in any language. When people
# make Paddle's eager mode quicker, they remove questions.
#
# ## Does it go away in static mode?
# In module 1 you wrote the program down first. A run then needs no `+` on Tensors, no GradNodes, no questions about gradients.
#
# **Predict:** a chain of `n` relus, eager and as a Program. How many Python functions run for n = 1, 10, 100? From which n on has the Program fewer?


# %%
def chain(x, length):
    for _ in range(length):
        x = paddle.nn.functional.relu(x)
    return x


def as_program(length):
    """A function that runs the chain as a Program."""
    with paddle.pir_utils.OldIrGuard():
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            out = chain(paddle.static.data("x", [2, 2], "float32"), length)
    exe = paddle.static.Executor()
    return lambda: exe.run(main, feed={"x": x}, fetch_list=[out])


tensor = paddle.to_tensor(x, stop_gradient=False)
chain(tensor, 1)
print("  n    eager   program")
for length in (1, 10, 100):
    paddle.enable_static()
    static = as_program(length)
    static()
    in_static = len(calls_of(static))
    paddle.disable_static()
    print(f"{length:3} {len(calls_of(lambda n=length: chain(tensor, n))):8} {in_static:9}")

# %% [markdown]
# A run of a Program has a fixed price (look up the feeds, check them, find the compiled plan), and a smaller one for each op. For one op, static mode is a bad deal. For a hundred it is a good one; and a
# backward in the Program would save more, since no node has to be made.
#
# Don't count functions, then, but time. **Predict** for real Paddle, where nothing of this is Python: one relu, 2x2. Is a run of the Program dearer than 20 eager calls?

# %% tags=["nbval-ignore-output"]
# Varies: processor time
both(
    """
    import time, timeit

    def cost(work):
        return min(timeit.repeat(work, number=50, repeat=7, timer=time.process_time))

    x = np.ones((2, 2), "float32")
    tensor, relu = paddle.to_tensor(x), paddle.nn.functional.relu
    eager = cost(lambda: relu(tensor).numpy())
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        out = relu(paddle.static.data("x", [2, 2], "float32"))
    exe = paddle.static.Executor()
    static = cost(lambda: exe.run(main, feed={"x": x}, fetch_list=[out]))
    print("one run costs more than 20 eager calls:", static > 20 * eager)
    """
)

# %% [markdown]
# It is. Each `Executor.run` in Paddle wakes an interpreter that is made for large programs: it copies feeds, keeps a work queue with threads, counts dependencies. For one op on four numbers that is far more
# than the op itself. (Which of these costs how much, we did not measure.) So **"static is faster" is not a fact about static mode; it is a question of how much the run has to do.** What a program that is written down really gives you is that it can be *rewritten*
# before it runs: many small ops become one large one. That is module 4.
#
# ## A whole training step
# Enough of small ops. LeNet reads digits; with what you know, each part of the loop has a place:
#
# - a **Layer** is a tree of parameters (leaves with `stop_gradient=False`) and a `forward` that calls ops;
# - a **DataLoader** makes batches of a dataset: here 8x8 digits that come with minipaddle, made larger to the 28x28 that LeNet expects;
# - `loss.backward()` fills `grad` of the leaves (2.3);
# - an **Optimizer** changes the parameters in place, in `no_grad` (2.5);
# - `clear_grad()`, because backward *adds* (2.1).

# %%
from minipaddle.io import DataLoader
from minipaddle.vision.datasets import Digits
from minipaddle.vision.models import LeNet


def enlarged(image):
    """[1, 8, 8] -> [1, 28, 28]: each pixel becomes 3x3, and a border of 2."""
    return np.pad(np.kron(image, np.ones((1, 3, 3), "float32")), ((0, 0), (2, 2), (2, 2)))


paddle.seed(1)
model = LeNet()
optimizer = paddle.optimizer.Adam(0.003, parameters=model.parameters())
batches = DataLoader(Digits("train", transform=enlarged), batch_size=64, shuffle=True)


def training_step(images, labels):
    loss = paddle.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss.item()


losses = [training_step(images, labels) for images, labels in batches]
print(f"{len(losses)} steps, loss of the first {losses[0]:.1f}, of the last {losses[-1]:.1f}")

# %%
right = seen = 0
with paddle.no_grad():
    for images, labels in DataLoader(Digits("test", transform=enlarged), batch_size=64):
        right += int((model(images).argmax(1) == labels).astype("int64").sum())
        seen += len(labels)
print(f"{seen} digits that it has not seen: more than 80 % read correctly: {right > 0.8 * seen}")

# %% [markdown]
# ## Where does a training step spend its time?
# **Predict:** sort them: the kernels (numpy and the code around it); the eager engine (generated functions, nodes, backward's queue); Layers, optimizer and the rest. For batches of 64 images. And then
# for a tiny model, `Linear(4, 4)` with one row?

# %% tags=["nbval-ignore-output"]
# Varies: processor time
import cProfile
import pstats


def where(step):
    """Processor time of a step by place, as shares."""
    profile = cProfile.Profile(time.process_time)
    profile.runcall(step)
    shares = {"kernels": 0.0, "engine": 0.0, "the rest": 0.0}
    for (file, _, _), (_, _, own, _, _) in pstats.Stats(profile).stats.items():
        engine = "/eager/" in file or "_ad_func>" in file
        kernels = "/kernels/" in file or "numpy" in file or file == "~" or "/phi/" in file
        shares["engine" if engine else "kernels" if kernels else "the rest"] += own
    return {place: own / sum(shares.values()) for place, own in shares.items()}


batch = next(iter(batches))
found = where(lambda: training_step(*batch))
print("LeNet, 64 images: most of the time in the", max(found, key=found.get))

# %% tags=["nbval-ignore-output"]
# Varies: processor time
tiny = paddle.nn.Linear(4, 4)
row = paddle.ones([1, 4])


def many_tiny_steps():
    for _ in range(200):
        tiny(row).sum().backward()


found = where(many_tiny_steps)
print("Linear(4, 4), one row: kernels take more than 80 %:", found["kernels"] > 0.8)

# %% [markdown]
# For LeNet, the engine hardly shows: its kernels are convolutions over 64 images. Nobody would make this training faster by a shorter `add_ad_func`. For the tiny model, much of the time goes into what stands around the kernels. So measure
# before you optimise, and with the sizes that you will use.
#
# ## In Paddle itself
# The same LeNet, the same weights, the same images: three training steps on both. Do they learn the same?

# %%
both(
    """
    rng = np.random.default_rng(0)
    model = paddle.vision.models.LeNet()
    for parameter in model.parameters():
        value = rng.normal(0.0, 0.1, parameter.shape)
        parameter.set_value(value.astype("float32"))
    optimizer = paddle.optimizer.Adam(0.001, parameters=model.parameters())
    images = paddle.to_tensor(rng.random((16, 1, 28, 28)).astype("float32"))
    labels = paddle.to_tensor(rng.integers(0, 10, 16))
    for _ in range(3):
        loss = paddle.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        print(f"loss {loss.item():.3f}")
    print([list(parameter.shape) for parameter in model.parameters()])
    """,
    same=True,
)

# %% [markdown]
# | here | in Paddle |
# |---|---|
# | `apply` in `minipaddle/eager/__init__.py` | `paddle/fluid/pybind/eager_math_op_patch.cc`: `+` and the other operators |
# | (no boundary) | `paddle/fluid/eager/auto_code_generator/generator/python_c_gen.py`: writes `eager_api_add` |
# | `minipaddle/eager/eager_gen.py` | `eager_gen.py` in the same folder: writes `add_ad_func` and `AddGradNode` |
# | `minipaddle/phi/core/` | `paddle/phi/api/generator/api_gen.py`: writes `paddle::experimental::add` |
# | `minipaddle/new_executor/interpreter.py` | `paddle/fluid/framework/new_executor/` |
# | `minipaddle/nn/layer/layers.py`, `minipaddle/optimizer/` | `python/paddle/nn/layer/layers.py`, `python/paddle/optimizer/` |
#
# A place to look at it live: run a script under `GLOG_v=4`. Each `Running_AD_API: add`, each `Running_C++_API: add` and `Create node` in the log is one of the stations above.
#
# ## What we left out
# On a GPU, a call only *starts* the kernel and returns; the overhead hides behind the running kernel as long as the GPU has work, and what you measure with a clock is something else (Paddle's `paddle.profiler` knows
# both sides). Data loading with several processes hides another cost in the same way. And Paddle's optimizers have fused kernels: one op for a parameter's whole Adam step.
#
# **Next**: you have all of dygraph. [2 · exercise](exercise.ipynb), and at its end the contribution: an op's backward and double backward, with the test that Paddle would ask for. Module 3 looks at the
# program that is written down, in its new form; module 5 shows how an eager function becomes one without being rewritten.
