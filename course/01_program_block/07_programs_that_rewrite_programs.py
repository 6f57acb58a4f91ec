# %% [markdown]
# # 1.7 Can a program be changed without changing what it computes?
#
# A Program is a list of ops and a list of variables: data. Whatever is data, a function can take apart and put together anew. Paddle does it all the time: between the program that you write and the
# one that runs, there are often several others.
# **Who changes a program, for what, and how do you know that the result is still right?**
#
# Time: 30 minutes. You need: lessons 1.2, 1.4 and 1.5. You will use it in: [1 · exercise](exercise.ipynb), tasks 2, 5 and 6.

# %% [markdown]
# ## A program that trains
# Two layers, a dropout between them (it sets a random half of the values to 0, so that the network does not rely on single ones), a loss, an optimizer:

# %%
import os
import tempfile

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


# %%
def training():
    x = paddle.static.data("x", [-1, 4], "float32")
    label = paddle.static.data("label", [-1, 1], "float32")
    hidden = F.dropout(F.relu(paddle.nn.Linear(4, 3)(x)), 0.5)
    prediction = paddle.nn.Linear(3, 1)(hidden)
    loss = paddle.mean(paddle.square(prediction - label))
    paddle.optimizer.SGD(0.1).minimize(loss)
    return prediction, loss


main, startup, (prediction, loss) = program_of(training)
executor = paddle.static.Executor()
paddle.seed(1)
executor.run(startup)
print(len(main.global_block().ops), "ops")

# %% [markdown]
# Lesson 1.5 ended with a trap: who tests with this program trains on the test data. And there is a second one: in a test, dropout must not drop anything.
#
# ## Predict
# `main.clone(for_test=True)` makes a program for testing, a new one; `main` stays as it is. **Write down:**
# 1. Which of the ops will be gone? By what does the function know them? (Lesson 1.5: every op has an `op_role`.)
# 2. Which op stays, but is not the same as before?
# 3. The new program needs weights. Which ones does it get?

# %%
test = main.clone(for_test=True)
viz.rewrite_steps({"main": main, "clone(for_test=True)": test})

# %% [markdown]
# Gone is everything with a backward bit or an optimizer bit in its `op_role`, and the variables that only those ops touched. `dropout` has got `is_test=True`; `batch_norm` and its like would get
# it too. And the weights are not copied, because there are none in a program: both programs say `linear_0.w_0`, and that is **one** array in the Scope. What `main` learns, `test` knows.
#
# Two runs of each program, with the same data, show all three:

# %%
feed = {"x": np.ones([8, 4], "float32"), "label": np.zeros([8, 1], "float32")}
weight = paddle.static.global_scope().find_var("linear_0.w_0").get_tensor()
for name, program in {"test": test, "main": main}.items():
    before = np.array(weight)
    (first,) = executor.run(program, feed=feed, fetch_list=[prediction])
    (second,) = executor.run(program, feed=feed, fetch_list=[prediction])
    print(f"{name}: same prediction twice: {np.array_equal(first, second)!s:5}", end="  ")
    print("weight as before:", np.array_equal(before, np.array(weight)))

# %% [markdown]
# ## Prune: only what somebody needs
# A user of the network wants the prediction; there is no loss, and no label that could be fed. `test` still computes the loss. Which ops are needed for `prediction`? Ask backwards: who writes it?
# What does that op read? Who writes this? ...
#
# **Predict:** of `test`, how many ops stay? Which variables must still be fed? Then step through the search.

# %%
viz.prune_steps(test, [prediction.name])

# %% [markdown]
# The walk reads every op **once**, from the last to the first: when an op's turn comes, all that could need its results has been judged already. You know this search: lesson 1.5 found the path of the
# gradients with it, and our Executor prunes before it runs. (Real Paddle's Executor runs everything, unless you write `use_prune=True`.)
#
# `label` is not in the table of needed names: the pruned program runs without it.

# %%
pruned = test._prune([prediction.name])
(out,) = executor.run(pruned, feed={"x": feed["x"]}, fetch_list=[prediction.name])
(expected,) = executor.run(test, feed=feed, fetch_list=[prediction.name])
print("the same prediction:", np.array_equal(out, expected))

# %% [markdown]
# ## Saving: a program and its numbers
# What a server needs to answer requests is just this: the pruned program, and the weights. `save_inference_model` clones for a test, prunes, and writes two files.
#
# **Predict:** the network has weights `[4, 3]` and `[3, 1]`, and two biases. At least how many bytes has the file of the numbers? And the program file: will it hold an op that was not in `pruned`?

# %%
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "model")
block = main.global_block()
paddle.static.save_inference_model(
    path, [block.var("x")], [block.var(prediction.name)], executor, program=main
)
print(sorted(os.listdir(folder.name)))
print("bytes of numbers:", os.path.getsize(path + ".pdiparams"))

with paddle.static.scope_guard(paddle.static.Scope()):  # as if in another process: empty
    served, feeds, fetches = paddle.static.load_inference_model(path, executor)
    (answer,) = executor.run(served, feed={feeds[0]: feed["x"]}, fetch_list=fetches)
print(*[op.type for op in served.global_block().ops])
print("the same prediction:", np.array_equal(answer, expected))
folder.cleanup()

# %% [markdown]
# 19 numbers of 4 bytes are 76; the rest says of each array which shape and dtype it has. `.pdmodel` is the ProgramDesc of lesson 1.2, and it has two ops more: `feed` and `fetch`. They compute nothing: they say,
# inside of the program, what goes in and what comes out. So who loads the file needs nobody to tell. Real Paddle reads these two files too, and ours reads Paddle's.
#
# ## Passes: the same, but faster
# The next kind of rewriting changes **how** something is computed. `elementwise_add` writes a sum into memory, `relu` reads it again: two walks over the same array. One op could do both. A function that
# finds such places and rewrites them is called a **pass**. A `BuildStrategy` says which passes you want, a `CompiledProgram` is a program together with its strategy.
#
# **Predict:** in `test` there are two `elementwise_add`. How many of them become a fused op?

# %%
strategy = paddle.static.BuildStrategy()
strategy.fuse_elewise_add_act_ops = True
strategy.enable_inplace = False
compiled = paddle.static.CompiledProgram(test, build_strategy=strategy)
fused = compiled.optimized_program([prediction.name])
viz.rewrite_steps({"test": test, "fused": fused})

# %% [markdown]
# One: behind the second there is no `relu`. And look at what the pass has to be careful about. It may not fuse if anybody else reads the sum, because the sum is never written now. (Its name still stands among the outputs, but the new op leaves that place empty.) Who could that be?
# Another op; or **you**, if you fetch it. So what is allowed depends on the fetches, and the pass runs when they are known: at the first run. (`optimized_program` shows what it would do.)
#
# **Predict:** what happens if you fetch the sum?

# %%
total = test.global_block().ops[1].output_arg_names[0]
for fetch in ([prediction.name], [prediction.name, total]):
    ops = compiled.optimized_program(fetch).global_block().ops
    print(len(fetch), "fetched:", *[op.type for op in ops[:4]])
results = [
    executor.run(program, feed=feed, fetch_list=[prediction.name])[0]
    for program in (test, compiled)
]
print("the same prediction:", np.array_equal(*results))

# %% [markdown]
# ## Memory reuse: a rewriting that went out of use
# Here is a chain of six ops, each result 8 KiB. The Executor frees a variable at its last use. But suppose it did not, as Paddle's first Executor: then all six results lie in memory until the run ends. A flag of Paddle's
# brings this back (you know it from lesson 1.4):


# %%
def chain():
    y = paddle.static.data("x", [64, 32], "float32")
    for _ in range(3):
        y = paddle.scale(paddle.square(y), 0.5)
    return y


plain, _, y = program_of(chain)
feed = {"x": np.full([64, 32], 3.0, "float32")}
paddle.set_flags({"FLAGS_eager_delete_tensor_gb": -1.0})
viz.memory_steps(plain, feed, [y.name])

# %% [markdown]
# ## Predict
# Could a *rewriting of the program* help here? Look: when the third op writes, nobody will read the first op's result again. The third op could write **there**. For this it only has to write another name. **Write down:** how many names do the six results need?

# %%
from minipaddle.base.transpiler import memory_optimize

optimized = plain.clone()
report = memory_optimize(optimized, [y.name])
print(report)
viz.rewrite_steps({"as written": plain, "memory_optimize": optimized})

# %%
viz.memory_steps(optimized, feed, [y.name])

# %% [markdown]
# Three: while an op runs there are its input and its output, and `y` keeps its own name, because we said that we will fetch it. (The picture counts `x`, too: four times 8,192.) The function that works this out walks over the program with a list of names that are free, just as a compiler
# gives out the processor's registers. It is called a **transpiler** in Paddle 1.x: it takes a Program and rewrites it in place.
#
# Then Paddle learned to free each variable at its last use. Now the program as it was written:

# %%
paddle.set_flags({"FLAGS_eager_delete_tensor_gb": 0.0})
viz.memory_steps(plain, feed, [y.name])

# %% [markdown]
# Two arrays are alive at a time, never three: 16,384 bytes. That is less than what the transpiler reached, and needs no rewriting. And the rewriting had a price.
#
# **Predict:** somebody debugs the network and fetches the first result, `square_0.tmp_0`, from both programs. Do they get an error?

# %%
for name, program in {"as written": plain, "memory_optimize": optimized}.items():
    (value,) = executor.run(program, feed=feed, fetch_list=["square_0.tmp_0"])
    print(f"{name:16} square_0.tmp_0[0, 0] = {value[0, 0]}")

# %% [markdown]
# No error: another number. `square_0.tmp_0` is now the name of a place that several results have used, and you get the last one. (3² is 9.) Users of Paddle 1.x met this, and were told to add names to `skip_opt_set`. It is a good
# example of how a rewriting goes wrong: it kept its promise for what it *knew* was wanted.
#
# > A rewriting is right **for certain fetches**. clone keeps all forward variables; prune keeps what it is told; a pass that runs late knows what you fetch; one that runs early must be told.
#
# In `BuildStrategy` the same idea lives on as `memory_optimize` and `enable_inplace`. There it runs late, and on a copy: your program keeps its names.
#
# ## In Paddle itself
# The training program and what `clone`, `_prune` and `save_inference_model` make of it: of each the number of its ops, and the `is_test` of its dropout.

# %%
from minipaddle.compare import both

both(
    """
    import tempfile
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [-1, 4], "float32")
            hidden = paddle.nn.functional.dropout(paddle.nn.Linear(4, 3)(x), 0.5)
            out = paddle.mean(hidden)
            paddle.optimizer.SGD(0.1).minimize(out * out)
        test = main.clone(for_test=True)
        exe = paddle.static.Executor()
        exe.run(startup)
        with tempfile.TemporaryDirectory() as folder:
            paddle.static.save_inference_model(folder + "/m", [x], [out], exe, program=main)
            served, feeds, fetches = paddle.static.load_inference_model(folder + "/m", exe)
        for program in (main, test, test._prune([hidden]), served):
            ops = program.global_block().ops
            print(len(ops), [op.attr("is_test") for op in ops if op.type == "dropout"])
        print(feeds, *[op.type for op in served.global_block().ops])
    """,
    same=True,
)

# %% [markdown]
# A `CompiledProgram` runs in both and gives the same numbers. What the passes made of it is easier to see here: in Paddle, the result is a C++ graph behind `compiled._graph`. (The first line is what the three switches are if you don't set them.)

# %%
both(
    """
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [-1, 4], "float32")
            out = paddle.nn.functional.relu(paddle.nn.Linear(4, 3)(x))
        strategy = paddle.static.BuildStrategy()
        print(strategy.memory_optimize, strategy.enable_inplace, strategy.fuse_elewise_add_act_ops)
        strategy.fuse_elewise_add_act_ops = strategy.memory_optimize = True
        compiled = paddle.static.CompiledProgram(main, build_strategy=strategy)
        exe, feed = paddle.static.Executor(), {"x": np.ones([2, 4], "float32")}
        exe.run(startup)
        results = [exe.run(p, feed=feed, fetch_list=[out])[0] for p in (main, compiled)]
        print(np.array_equal(*results))
    """,
    same=True,
)

# %% [markdown]
# Where to read on in Paddle's source:
#
# | here | in Paddle |
# |---|---|
# | `clone`, `_prune_with_input` in `minipaddle/base/framework.py` | the same names in `python/paddle/base/framework.py` |
# | `minipaddle/base/prune.py` | `paddle/fluid/framework/prune.cc`: `prune_impl`, `PruneBackward` |
# | `minipaddle/static/io.py` | `python/paddle/static/io.py`: `normalize_program`, `save_inference_model` |
# | `minipaddle/base/compiler.py` | `python/paddle/base/compiler.py`; `paddle/fluid/framework/details/build_strategy.cc` |
# | `fuse_elewise_add_act_pass.py`, in the same folder | `paddle/fluid/framework/ir/fuse_elewise_add_act_pass.cc` |
# | `minipaddle/base/transpiler/` | until version 1.8: `memory_optimization_transpiler.py` in `python/paddle/fluid/transpiler/` |
#
# ## What we left out
# Paddle's `BuildStrategy` has some thirty switches; ours has the three that do something here, and refuses the others. Its passes work on a graph, not on the list of ops; module 4 has passes on PIR programs, with patterns. Another transpiler cut one
# program into two, for trainers and for parameter servers: `DistributeTranspiler`; module 6 comes back to it.
#
# **Next**: [1 · exercise](exercise.ipynb). Task 5 is the backward search, with everything that makes it hard: side effects, updates of weights, names that are written twice. Task 2 asks for the last uses, which the memory transpiler also needs, and task 6
# renames a variable in the bytes of a program. If you later contribute a pass to Paddle, write its test like the cells above: the program before, the program after, **and that both compute the same**.

# %%
paddle.disable_static()
