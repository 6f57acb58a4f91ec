# %% [markdown]
# # 1.4 What happens in executor.run?
#
# In lesson 1.1 you gave an Executor a program and arrays, and arrays came back. In between it had to check what you fed, find a kernel for each op, decide when memory can be given back, and compute.
# **What of this happens once, and what at each run? And what do you gain by it, compared with eager calls?**
#
# Time: 30 minutes. You need: lessons 1.1 to 1.3. You will use it in: [1 · exercise](exercise.ipynb), tasks 2 and 5.

# %% [markdown]
# ## The plan
# A program with a weight, two branches and a sum:

# %%
import time
import timeit

import numpy as np

import minipaddle as paddle
from minipaddle import viz

F = paddle.nn.functional
paddle.enable_static()


def program_of(write):
    """A main program, its startup program, and what write() returned."""
    with paddle.pir_utils.OldIrGuard(), paddle.utils.unique_name.guard():
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            returned = write()
    return main, startup, returned


def branches():
    x = paddle.static.data("x", [-1, 3], "float32")
    w = paddle.static.create_parameter([3, 4], "float32", name="w")
    h = x @ w
    return paddle.mean(F.relu(h) + F.softmax(h))


main, startup, loss = program_of(branches)
executor, scope = paddle.static.Executor(), paddle.static.global_scope()
executor.run(startup)
feed = {"x": np.ones([2, 3], "float32")}
(value,) = executor.run(main, feed=feed, fetch_list=[loss])

# %% [markdown]
# At the first run the Executor makes a **plan**: an *instruction list*. We can look at it:

# %%
plan = executor.interpreter(main, ("x",), [loss]).plan
print("instructions", *plan.instructions, sep="\n    ")
print("fed:            ", {name: variable for name, (variable, _) in plan.feeds.items()})
print("read from Scope:", plan.scope_reads)
print("kept in Scope:  ", plan.scope_writes)
print("given to you:   ", plan.fetches)
print("dead after each:", plan.last_uses())

# %% [markdown]
# - Each instruction has its op, with the kernel behind it (lesson 1.3), and the short names v0, v1, ... instead of the program's. In real Paddle they are the positions in an array, because to look up a text in a dictionary costs time.
# - The plan says where each thing comes from: `x` from you, `w` from the Scope.
# - `w` is read only. What the program writes into persistable variables is *kept*: there is nothing of the kind here, but in a training program (1.5), or in `startup`. In the last line the run lets go of `v1`, but the Scope holds on to the weights.
#
# ## Predict
# A plan is made for one program, certain feeds and certain fetches, and then kept. **Which of these five changes need a new plan?**
#
# 1. other numbers in `x`
# 2. another batch size: `x [5, 3]` instead of `[2, 3]`
# 3. other weights in the Scope
# 4. fetch the result of `relu` too
# 5. one more op at the end of the program, which nobody fetches


# %%
def same_plan(fetch_list=(loss,), **arrays):
    """Runs main. Is the plan still the one from above?"""
    executor.run(main, feed=arrays, fetch_list=list(fetch_list))
    return executor.interpreter(main, ("x",), list(fetch_list)).plan is plan


print("1 other numbers:", same_plan(x=np.zeros([2, 3], "float32")))
print("2 batch size:   ", same_plan(x=np.ones([5, 3], "float32")))
scope.find_var("w").get_tensor().set(np.zeros([3, 4], "float32"), paddle.CPUPlace())
print("3 other weights:", same_plan(**feed))
print("4 other fetch:  ", same_plan(fetch_list=["relu_0.tmp_0", loss], **feed))
with paddle.pir_utils.OldIrGuard(), paddle.static.program_guard(main, startup):
    paddle.mean(loss)
print("5 one more op:  ", same_plan(**feed))

# %% [markdown]
# Numbers, sizes and weights are *data*: the plan doesn't know them. (The size is -1 in the program; the kernels look at the arrays.) The fetches decide which ops run and what must not be freed. And a changed program has a
# new **version**, a counter: whoever keeps a plan compares it, and doesn't have to look at the ops.
#
# A frequent mistake follows from the fifth: to add ops in the training loop (`paddle.mean(loss)` between two runs). The program grows, and each run plans anew.
#
# ## What the plan saves
# **Predict:** a program of 100 ops on 2x2 numbers. How much longer does the first run take than the second: not at all, twice, more than five times?


# %% tags=["nbval-ignore-output"]
# Varies: processor time
def chain(x, length):
    for _ in range(length):
        x = F.relu(x)
    return x


small = np.ones([2, 2], "float32")
main, _, out = program_of(lambda: chain(paddle.static.data("x", [-1, 2], "float32"), 100))
times = []
for _ in range(3):
    start = time.process_time()
    executor.run(main, feed={"x": small}, fetch_list=[out])
    times.append(time.process_time() - start)
print("first run, more than 5 times the second:", times[0] > 5 * times[1])

# %% [markdown]
# More than five times. In the first run Python finds kernels, converts attributes, walks the list backwards for the last uses, writes a function and compiles it. From the second on, nothing of this is left. Let us see what a run
# still has to do, function by function. (`sys.setprofile` tells us of each Python function that starts; lesson 2.7 does more with it.)

# %%
import collections
import sys


def functions_in(work):
    """How many Python functions of minipaddle start in work(), by name."""
    found = collections.Counter()

    def watch(frame, event, _argument):
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("minipaddle"):
            found[frame.f_code.co_name] += 1

    sys.setprofile(watch)
    work()
    sys.setprofile(None)
    return found


again = functions_in(lambda: executor.run(main, feed={"x": small}, fetch_list=[out]))
print("for each op:", [name for name, times in again.items() if times >= 100])
others = sum(times for times in again.values() if times < 100)
print("once, for all ops together: fewer than 20 calls:", others < 20)

# %% [markdown]
# For each op only the kernel runs. Around the hundred kernels is a fixed handful of calls: see whether the last run's plan is the right one again, check the feed, copy what you get. That is what "a static run pays for Python once" means.
#
# ## The price of an op
# Now in numbers. We run chains of 10 and of 110 ops; the difference, divided by 100, is the price of **one more op**, whatever the fixed price of a run. The same chain in four ways.
#
# **Predict:** sort them from cheap to dear: numpy calls in a loop; eager, where nobody wants a gradient; eager, recorded for backward; a program.


# %%
def cost(work):
    """Processor time of one call: the best of seven rounds. s"""
    return min(timeit.repeat(work, number=50, repeat=7, timer=time.process_time)) / 50


def loop(x, length):
    for _ in range(length):
        x = np.maximum(x, 0)


def per_op(make):
    """The price of one more op; make(length) gives the function to be timed."""
    work = [make(length) for length in (10, 110)]
    return (cost(work[1]) - cost(work[0])) / 100


def as_program(length):
    main, _, out = program_of(lambda: chain(paddle.static.data("x", [-1, 2], "float32"), length))
    return lambda: executor.run(main, feed={"x": small}, fetch_list=[out])


# %% tags=["nbval-ignore-output"]
# Varies: processor time
price = {"numpy": per_op(lambda length: lambda: loop(small, length))}
price["program"] = per_op(as_program)
paddle.disable_static()
plain, recorded = (paddle.to_tensor(small, stop_gradient=stop) for stop in (True, False))
price["eager"] = per_op(lambda length: lambda: chain(plain, length))
price["eager, recorded"] = per_op(lambda length: lambda: chain(recorded, length))
paddle.enable_static()
print("from cheap to dear:", *sorted(price, key=price.get), sep="\n    ")

# %% [markdown]
# The first two are so close that now one and now the other comes first: a run of a program has its loop over the ops as Python code, as our loop is. The eager calls are far behind, in this order.
#
# numpy's own call is in all of them. What comes on top is the framework's share. We take it apart:

# %% tags=["nbval-ignore-output"]
# Varies: processor time
extra = {way: price[way] - price["numpy"] for way in price}
for way in ("eager", "eager, recorded"):
    print(f"{way}: at least 2 times the program's extra: {extra[way] >= 2 * extra['program']}")
print("the program's extra is less than numpy's own call:", extra["program"] < price["numpy"])

# %% [markdown]
# So with *small* arrays an op in a program costs little more than numpy's call. What an eager call asks each time (dtypes, device, is a gradient wanted) was asked once, when the program was written and planned.
#
# Before you conclude "static is faster": the last section asks real Paddle.
#
# ## Who waits for whom
# A list says more than it must: it puts *all* instructions in an order. But `relu` and `softmax` in our first program don't read each other's results. The rule is:
#
# > Two instructions **conflict** if one of them writes what the other reads or writes. Then the later one in the list must wait for the earlier one. All others may run at the same time.
#
# ## Predict
# For `mean(relu(h) + softmax(h))` with `h = x @ w`: who waits for whom? If everything that is ready runs at the same time, how many rounds do the five instructions take?


# %%
def waits(instructions):
    """For each instruction: the numbers of those that it must wait for."""
    found = []
    for number, later in enumerate(instructions):
        reads, writes = set(later.reads()), set(later.writes())
        found.append(set())
        for before, earlier in enumerate(instructions[:number]):
            made = set(earlier.writes())
            if made & (reads | writes) or set(earlier.reads()) & writes:
                found[number].add(before)
    return found


for instruction, before in zip(plan.instructions, waits(plan.instructions), strict=True):
    print(f"{instruction.op.name:8} waits for", [plan.instructions[i].op.name for i in before])

# %% [markdown]
# Four rounds; in the second one two instructions run at once. Now a program that *learns*: two layers, and `SGD` behind them (lesson 1.5 explains how the gradient ops get there). Two weights, so two `sgd` instructions, each of which writes a new `w` over the old one.
#
# **Predict:** can one of the two run before the backward part is finished? Which? And why is there an arrow from the first `matmul`, which makes nothing that `sgd` reads, to an `sgd`?


# %%
def two_layers():
    x = paddle.static.data("x", [-1, 3], "float32")
    first = paddle.static.create_parameter([3, 4], "float32", name="first")
    last = paddle.static.create_parameter([4, 2], "float32", name="last")
    paddle.optimizer.SGD(0.1).minimize(paddle.mean((x @ first) @ last))


main, startup, _ = program_of(two_layers)
executor.run(startup)
train = executor.interpreter(main, ("x",), []).plan
instructions, before = train.instructions, waits(train.instructions)
names = [f"{item.op.name}\n{train.names[item.writes()[-1]]}" for item in instructions]
done, steps = set(), []
while len(done) < len(instructions):
    now = {i for i in range(len(instructions)) if i not in done and before[i] <= done}
    states = ["done" if i in done else "now" if i in now else "waiting" for i in range(len(names))]
    nodes = [viz.node(str(i), names[i], "op", state=states[i]) for i in range(len(names))]
    edges = [(str(i), str(number)) for number in range(len(names)) for i in before[number]]
    ready = ", ".join(instructions[i].op.name for i in sorted(now))
    steps.append(viz.step(f"Round {len(steps) + 1}: {ready}", viz.graph(nodes, edges)))
    done |= now
viz.Player(steps, label="Who waits for whom")

# %% [markdown]
# (`full` writes the number 1, with which backward begins. The op `mean` is not there: nobody fetches the loss, and its gradient needs only the shape of what it reads.)
#
# In round 5 the `sgd` of `last` runs beside the last `matmul_grad`: what is left of backward doesn't read `last` any more. "Forward, backward, update" is how the program is written down, and not what the computation needs.
#
# The arrow from a `matmul` to an `sgd` carries no data. `matmul` *reads* the weight, `sgd` *overwrites* it: so it must wait, or `matmul` would compute with the new weight. This is **write after read**. (The other two kinds are read after write, which is all that we had
# in the first program, and write after write.) Forget one kind, and the result is wrong only sometimes, when two threads happen to be in the wrong order.
#
# Our Executor runs its function line by line, and the order in the list is always right. With a flag it gives to a pool of threads what is ready, round after round, as you saw (but it doesn't wait for a round to end).
# It has a `dependencies` function of its own for this, which leaves out arrows that follow from others, and knows two more reasons to wait: ops that share memory, and ops that draw random numbers.
# `viz.dependency_steps` draws what it says, for any program. **Predict:** which arrows of the picture above are gone?

# %%
viz.dependency_steps(main, feed=["x"])

# %% [markdown]
# Those from the two `matmul`s to an `sgd` are gone, and more: an `sgd` waits for the last gradient that it needs, that one waits for the one before, and so on back to the `matmul`. To keep an arrow that others imply would cost a count in each run, and change nothing.
#
# **Predict:** our first program, with four rounds instead of five lines. Are the results the same, to the last bit? Is it faster?

# %%
main, startup, loss = program_of(branches)
executor.run(startup)
results = []
for serial in (True, False):
    paddle.set_flags({"FLAGS_new_executor_serial_run": serial})
    results += executor.run(main, feed=feed, fetch_list=[loss])
print("same bits:", results[0].tobytes() == results[1].tobytes())

# %% tags=["nbval-ignore-output"]
# Varies: processor time
seconds = []
for serial in (False, True):
    paddle.set_flags({"FLAGS_new_executor_serial_run": serial})
    seconds.append(cost(lambda: executor.run(main, feed=feed, fetch_list=[loss])))
print("threads take at least 2 times as long:", seconds[0] > 2 * seconds[1])

# %% [markdown]
# To hand an instruction to another thread, and to hear that it is done, takes longer than to add a few numbers. It can pay when each instruction has much to do. (In real Paddle threads are the default, and this flag switches them *off*.)
#
# ## When memory is given back
# In lesson 1.1 you saw the plan of who dies when. Is it true? Python's `tracemalloc` counts the bytes that numpy really asks for.
#
# **Predict:** a chain of 50 relus on an array of 1 MB. How many such arrays exist at the same time, at most? For a program; for a program that frees nothing (a flag tells it so); for eager calls that are recorded for backward, and for eager calls that aren't. (The array you start with is not counted.)

# %%
import tracemalloc


def most_arrays(work):
    """How many arrays of 1 MB exist at the same time in work(), at most."""
    work()
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round(most / large.nbytes)


large = np.ones([512, 512], "float32")
main, _, out = program_of(lambda: chain(paddle.static.data("x", [-1, 512], "float32"), 50))
print("program:             ", most_arrays(lambda: executor.run(main, {"x": large}, [out])))
paddle.set_flags({"FLAGS_eager_delete_tensor_gb": -1.0})
print("program, no freeing: ", most_arrays(lambda: executor.run(main, {"x": large}, [out])))
paddle.set_flags({"FLAGS_eager_delete_tensor_gb": 0.0})
paddle.disable_static()
plain, recorded = (paddle.to_tensor(large, stop_gradient=stop) for stop in (True, False))
print("eager, not recorded: ", most_arrays(lambda: chain(plain, 50)))
print("eager, recorded:     ", most_arrays(lambda: chain(recorded, 50)))
paddle.enable_static()

# %% [markdown]
# Two: what a relu reads, and what it writes. In the program the `del` lines do it; without them, all fifty stay to the end. In eager mode without a record it is Python: `x = relu(x)` lets go of the old `x`. With the record they are all held (by GradNodes, module 2), whether a backward will ever come or not.
#
# The difference is not how *many*, but who decides. Python frees what no *name* refers to any more; with a list of intermediate results in your code, everything would live. The plan frees what no *later op reads*. It knows the future, since the program is
# written down to its end.
#
# ## In Paddle itself
# First: what do you get for wrong feeds and fetches? **Predict** which of these are errors, and of which kind. (`both` compares the kind.)

# %%
from minipaddle.compare import both

both(
    """
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [-1, 3], "float32")
            y = paddle.nn.functional.relu(x)
        exe, good = paddle.static.Executor(), np.ones([2, 3], "float32")
        for title, feed, fetch in (
            ("right         ", {"x": good}, [y]),
            ("fetch a name  ", {"x": good}, [y.name]),
            ("fetch the feed", {"x": good}, ["x"]),
            ("wrong shape   ", {"x": np.ones([2, 4], "float32")}, [y]),
            ("wrong dtype   ", {"x": good.astype("float64")}, [y]),
            ("unknown fetch ", {"x": good}, ["z"]),
            ("nothing fed   ", {}, [y]),
        ):
            try:
                print(title, [array.shape for array in exe.run(main, feed=feed, fetch_list=fetch)])
            except Exception as error:
                kinds = ValueError, TypeError, KeyError, RuntimeError
                print(title, *(kind.__name__ for kind in kinds if isinstance(error, kind)))
    """
)

# %% [markdown]
# Beware of the last line. Where a feed is missing, real Paddle 3.3 says nothing in this mode, and hands out a number that nobody computed. Ours refuses. (An unknown fetch is refused by both; only the kind of error differs.)
#
# Now the price of an op in real Paddle, where eager mode and the Executor are C++. **Predict:** is one more op in a program cheaper than one more eager call?

# %% tags=["nbval-ignore-output"]
# Varies: processor time
both(
    """
    import time, timeit

    def cost(work):
        return min(timeit.repeat(work, number=20, repeat=15, timer=time.process_time))

    def chain(x, length):
        for _ in range(length):
            x = paddle.nn.functional.relu(x)
        return x

    def as_program(length):
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            out = chain(paddle.static.data("x", [2, 2], "float32"), length)
        return lambda: exe.run(main, feed={"x": small}, fetch_list=[out])

    small = np.ones([2, 2], "float32")
    x = paddle.to_tensor(small)
    eager = cost(lambda: chain(x, 110)) - cost(lambda: chain(x, 10))
    paddle.enable_static()
    exe = paddle.static.Executor()
    with paddle.pir_utils.OldIrGuard():
        program = cost(as_program(110)) - cost(as_program(10))
    print("an op in a program is cheaper than an eager call:", program < eager)
    """
)

# %% [markdown]
# In Paddle it is **dearer**, for small arrays. The C++ Executor runs a loop over instructions, and asks things again for each: is everything ready that it waits for, which scope, InferMeta for the shapes of this run, whom to wake up next; all of it
# made for large kernels and several threads. (Which part takes how much, we did not measure; processor time counts all threads.) A training step of a small network was not faster in static mode either, when we measured it.
#
# So what *is* the difference between eager and static, if not speed?
#
# | | eager | static |
# |---|---|---|
# | who decides what runs next | your Python code, call by call | the program, written before |
# | Python's price | at each call | once, while writing and planning |
# | what is known about the future | nothing | everything: so memory can be planned, several ops made into one, dead ones left out |
# | `if x.mean() > 0` | is plain Python | needs an op (lesson [1.6](06_control_flow.ipynb)) |
# | an error comes | at the line that is wrong | shapes: while writing; numbers: in the run, long after the line (which an op remembers, as `op_callstack`) |
# | can be saved and run without your code | no | yes: it is bytes (1.2) |
#
# The last rows are why Paddle keeps both, and lets you turn one into the other (`to_static`, module 5). And what is known to its end can be *rewritten*: that is where real speed comes from, in modules 4 and 5.
#
# Where to read on in Paddle's source; C++ files without a folder are under `paddle/fluid/framework/new_executor/`:
#
# | here | in Paddle |
# |---|---|
# | `minipaddle/base/executor.py` | `python/paddle/base/executor.py`: `Executor.run`, `_ExecutorCache`, `check_feed_shape_type` |
# | `minipaddle/base/lowering.py` | `interpreter/interpreter_util.cc`: `BuildOpFuncList` |
# | `minipaddle/new_executor/instruction.py` | `new_executor_defs.h`: `Instruction`; `program_interpreter.cc`: `CalculateLastLiveOps` |
# | `minipaddle/new_executor/dependency_builder.py` | `interpreter/dependency_builder.cc` |
# | `minipaddle/new_executor/parallel.py` | `program_interpreter.cc`: `MultiThreadRunImpl`; `workqueue/` |
# | `del` | `garbage_collector/` |
# | `minipaddle/new_executor/interpreter.py` writes a function | `program_interpreter.cc` runs a loop: `ExecuteInstructionList`, `RunInstruction` |
#
# ## What we left out
# On a GPU, an instruction only *starts* work. Its work waits in queues, called *streams*. Then dependencies need **events** (wait on one stream for something on another), and memory may not be given back before the GPU is done with it. Paddle's Executor also holds
# *plans of several jobs* (for pipelines, module 6), and its Scopes have children for blocks and threads.
#
# **Next**: [1.5](05_append_backward.ipynb) makes a program that learns. In [1 · exercise](exercise.ipynb) you compute the free list yourself (task 2), and find the ops that the fetches need (task 5). The new executor is where Paddle's contributors add kinds of instructions: each needs its inputs, its outputs,
# and its place in the dependencies.

# %%
paddle.disable_static()
