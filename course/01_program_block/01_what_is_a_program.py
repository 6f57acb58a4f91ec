# %% [markdown]
# # 1.1 What is a program?
#
# numpy computes when you call it. A framework can do something else: it can first *write down* what you want, and compute later. What it writes down is a **program**.
# **What exactly stands in it, and what happens when it runs?**
#
# Time: 25 minutes. You need: numpy. You will use it in: [1 · exercise](exercise.ipynb), tasks 1 and 2.

# %% [markdown]
# ## Two matrices
# In numpy, one line gives the numbers at once:

# %%
import numpy as np

feed = {
    "data1": np.arange(6, dtype="float32").reshape(2, 3) - 2,
    "data2": np.ones([3, 4], "float32"),
}
feed["data1"] @ feed["data2"]

# %% [markdown]
# Now the same line in *static mode*, where ops are written down. Paddle 3 has two kinds of program. This module is about the classic one, `Program`; inside
# `OldIrGuard` you build that kind. (The newer kind, PIR, is module 3.)
#
# ## Predict
# The next cell ends with `data1 @ data2`. There is no data yet: `static.data` only says "something with this shape will come". **Write down:**
# 1. What is `product` after this line? Which of these does it know: its shape, its dtype, its numbers?
# 2. How many variables does the program have, and how many ops?

# %%
import minipaddle as paddle
from minipaddle import viz

paddle.enable_static()

with paddle.pir_utils.OldIrGuard():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        data1 = paddle.static.data("data1", [2, 3], "float32")
        data2 = paddle.static.data("data2", [3, 4], "float32")
        product = data1 @ data2

print(type(product).__name__, product.name, list(product.shape), product.dtype)

# %% [markdown]
# A `Variable` is a name, a shape and a dtype. There are no numbers. And this is the whole program:

# %%
print(main)

# %% [markdown]
# Read it from the top. A Program has **blocks**; this one has block 0 only (blocks within blocks come with `if` and `while`, lesson [1.6](06_control_flow.ipynb)). A block has two lists:
#
# - **vars**: three of them. You named `data1` and `data2`; the result of `@` had no name, so it got one: `tmp_0` (a later run counts on: `tmp_4`, for example).
# - **ops**: one. `{outputs} = type(inputs, attributes)`. An op does not hold its Variables, only their *names*.
#
# Two words come back later: `DENSE_TENSOR` is an ordinary array, and `stop_gradient(True)` says that nobody wants a gradient of it (lesson 1.5).
#
# The same op, part by part:

# %%
op = main.global_block().ops[0]
print("type      ", op.type)
print("inputs    ", {slot: op.input(slot) for slot in op.input_names})
print("outputs   ", {slot: op.output(slot) for slot in op.output_names})
print("attributes", {name: op.attr(name) for name in ("trans_x", "trans_y", "op_role")})

# %% [markdown]
# - `X`, `Y`, `Out` are **slots**: the op's own words for its inputs and outputs. One slot can hold several names.
# - **Attributes** are settings, known when the program is written: should X be transposed? (Here it is called `trans_x`, its name in
#   old Programs; newer code, below, says `transpose_x`.) `op_role` says what the op is for: 0 forward, 1 backward, 2 optimizer.
# - Why `matmul_v2` and not `matmul`? Programs are saved in files, and files live long. So an op in a Program keeps its old name for ever.
#
# ## Where did the shape come from?
# `product` knows its shape `[2, 4]`, though nothing was computed. When an op is written down, its **InferMeta** function is asked. It takes and gives *MetaTensors*:
# a shape and a dtype, no data. You can ask it yourself; -1 stands for a size that is not known yet, such as the number of images in a batch.

# %%
from minipaddle.phi import find_op
from minipaddle.phi.core.meta_tensor import MetaTensor

matmul = find_op("matmul")
weight = MetaTensor([3, 4], "float32")
for shape in ([2, 3], [-1, 3], [5, 2, 3], [3]):
    result = matmul.meta(MetaTensor(shape, "float32"), weight, transpose_x=False, transpose_y=False)
    print(f"{shape!s:10} @ [3, 4] -> {result}")

# %% [markdown]
# This is also why a wrong shape is found *while you write* the program, long before it runs. The error says which line of yours it was:

# %%
with paddle.pir_utils.OldIrGuard(), paddle.static.program_guard(main):
    try:
        data2 @ data2
    except ValueError as error:
        print(str(error).partition("in <module>")[2])  # before it: the number of the cell
print(len(main.global_block().ops), "op in the program, as before")

# %% [markdown]
# ## Running it
# An **Executor** runs a program. You *feed* arrays by name, and *fetch* the variables that you want back.

# %%
executor = paddle.static.Executor()
executor.run(main, feed=feed, fetch_list=[product])

# %% [markdown]
# ## Predict
# A longer program, five ops:
#
#     product  = data1 @ data2
#     positive = relu(product)
#     weights  = softmax(product)        # nobody reads weights
#     total    = positive + product
#     loss     = mean(total)             # we fetch only this
#
# **Write down, before you go on:** which ops will run? And after which op can the memory of `data1` be given back? That of `product`? Of `loss`?

# %%
import minipaddle.nn.functional as F

with paddle.pir_utils.OldIrGuard():
    longer = paddle.static.Program()
    with paddle.static.program_guard(longer):
        data1 = paddle.static.data("data1", [2, 3], "float32")
        data2 = paddle.static.data("data2", [3, 4], "float32")
        product = data1 @ data2
        positive = F.relu(product)
        weights = F.softmax(product)
        total = positive + product
        loss = paddle.mean(total)

viz.executor_steps(longer, feed, [loss])

# %% [markdown]
# Step through it, and compare with what you wrote. The table shows which arrays lie in memory, and under which names. These are the program's own names, not those of your
# Python variables: line 1 makes `product`, line 2 `positive`, line 3 `weights`, line 4 `total`, line 5 `loss`.
#
# - **An op that no fetch needs does not run.** The `softmax` line is struck out from the start: our Executor looked backwards from `loss` and never met it.
#   An op that does run is called an **instruction**. (Real Paddle leaves ops out only if you ask: `executor.run(..., use_prune=True)`.)
# - **A variable dies at its last use.** `product`, the result of line 1, is read by `relu` and again by the addition, so it must wait for line 4.
# - **What you fetch never dies.** Parameters don't either: they are *persistable*, and the next run needs them.
#
# What can go after each op is worked out **once, before the first run**, only from the program: which op reads which name. That is an advantage of writing down
# first: you can read the whole program before you act.
#
# ## Predict
# One change: we fetch `positive` too. **Write down:** how many of the six variables in the table live longer now? At most 104 bytes were in use at the same time: will it be more?
#
# The next picture shows all lives at once. Time goes from left to right: first the moment before the run, then each instruction. A bar shows how long a variable lives, and
# how many bytes it takes. At the top is the sum.

# %%
viz.memory_steps(longer, feed, [positive, loss])

# %% [markdown]
# One bar is longer: that of `relu_0.tmp_0`, which is `positive`. It reaches the right edge, as everything does that you fetch. But the most is in use at instruction 1, long before the
# end: the two feeds and their product. It stays at 104 bytes. (Instruction 3 is *line 4*: `softmax` has no instruction.)
#
# ## What the Executor really runs
# It compiles the instructions, with the freeing between them. Ours writes a Python function, and you can read it:

# %%
interpreter = executor.interpreter(longer, ("data1", "data2"), [loss])
print(interpreter.text)

# %% [markdown]
# `del` is the freeing that you saw in the players. There is no `v4`: that would be the result of `softmax`. The second run of the same program finds this function ready; that is why a static run pays for all this only once.
#
# ## In Paddle itself
# Now the same snippet on the real thing. `both` runs it twice, once where `paddle` is minipaddle and once where it is PaddlePaddle, and compares what is printed.

# %%
from minipaddle.compare import both

both(
    """
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            data1 = paddle.static.data("data1", [2, 3], "float32")
            data2 = paddle.static.data("data2", [3, 4], "float32")
            product = data1 @ data2
        text = str(main)
        for place in (" forward_idx", ".dtype", "inputs=", "op_device", "op_role ", "trans_x", "with_q"):
            text = text.replace(place, "\\n        " + place)  # fold the long lines
        print(text)
        feed = {"data1": np.ones([2, 3], "float32"), "data2": np.ones([3, 4], "float32")}
        print(paddle.static.Executor().run(main, feed=feed, fetch_list=[product])[0])
    """,
    same=True,
)

# %% [markdown]
# The two are the same, letter for letter (the long lines are folded here to fit the page). One attribute is there in both, but never printed: `op_callstack`, the lines of your code that called the op. The error above
# took your line from it. And here is a difference that you will meet when you try things:

# %%
both(
    """
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [3, 3], "float32")
        y = x @ x
        print("attributes:", *sorted(y.block.ops[0].attr_names), sep="\\n    ")
        y = paddle.matmul(x, x)
        print("paddle.matmul:", y.name)
    """,
    same=False,
)

# %% [markdown]
# Real Paddle's `paddle.matmul` is bound straight to C++ for the new kind of program, so in 3.3 it refuses a Variable; `x @ x` still works. Ours takes both.
#
# Where to read on in Paddle's source:
#
# | here | in Paddle |
# |---|---|
# | `framework.py`, `block.py`, `operator.py` and `variable.py` in `minipaddle/base/` | `python/paddle/base/framework.py`: `Program`, `Block`, `Operator`, `Variable` |
# | the messages behind them | `paddle/fluid/framework/framework.proto`: `ProgramDesc`, `BlockDesc`, `OpDesc`, `VarDesc` |
# | InferMeta of `matmul` | `paddle/phi/infermeta/binary.cc`: `MatmulInferMeta` |
# | `minipaddle/new_executor/` | `paddle/fluid/framework/new_executor/program_interpreter.cc`: `ProgramInterpreter` |
# | when a variable dies: `last_uses()` in `instruction.py` | the same folder: `last_live_ops_`, and `CalculateLastLiveOps` in `pir_interpreter.cc` |
#
# ## What we left out
# Real instructions can run at the same time, on several threads or GPU streams. Then "the last use" is not one line but a set of ops, and a counter per variable says
# when all of them are done (lesson [1.4](04_the_executor.ipynb)). And where are the weights of a network? Both programs above had none.
#
# **Next**: [1.2](02_descriptions.ipynb) asks just that, and opens a Program byte by byte. Tasks 1 and 2 of [1 · exercise](exercise.ipynb) can be done now. Task 1: write the InferMeta of an op, and see a Program accept it. Task 2: compute the
# free list yourself. Every new operator that is contributed to Paddle needs an InferMeta function, so task 1 is the first piece of such a contribution.

# %%
paddle.disable_static()
