# %% [markdown]
# # 1.5 Who writes the backward of a program?
#
# To train, you need gradients. Eager mode (module 2) records what you do and walks back over the record. A static program records nothing: when you write it, nothing is computed; when it runs, only what is
# written in it happens. So the computation of the gradients must be **written into the program**, as further ops.
# **Who writes them, in which order, and under which names?**
#
# Time: 30 minutes. You need: lessons 1.1, 1.2 and 1.4. At the end you train on real digits. You will use it in: [1 · exercise](exercise.ipynb), task 4.

# %% [markdown]
# ## One call
# A program with four ops. `w` is a parameter, `x` is data. Note that `a` is read three times: twice by the multiplication, once by the addition.

# %%
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


def show(program, role=None):
    """The ops with all bits of `role` in their op_role, one a line."""
    for op in program.global_block().ops:
        if role is None or op.attr("op_role") & role:
            read, made = ", ".join(op.input_arg_names), ", ".join(op.output_arg_names)
            print(f"{op.attr('op_role'):3}  {made} = {op.type}({read})")


# %%
def four_ops():
    x = paddle.static.data("x", [2], "float32")
    w = paddle.static.create_parameter([2], "float32", name="w")
    a = w * x
    b = a * a
    c = a + b
    return paddle.mean(c)


main, startup, loss = program_of(four_ops)
show(main)

# %% [markdown]
# ## Predict
# `append_backward(loss)` adds ops at the end. **Write down:**
# 1. Which ops, in which order? (Each op that was differentiated gets a gradient op, whose type ends in `_grad`.)
# 2. With which number does the whole thing begin: what is the gradient of `loss`?
# 3. `a` is read three times. So how many gradients does it get, and what becomes of them?
# 4. Will there be a gradient of `x`?

# %%
with paddle.pir_utils.OldIrGuard(), paddle.static.program_guard(main, startup):
    pairs = paddle.static.append_backward(loss)
show(main, role=1)
print("returned:", [(parameter.name, gradient.name) for parameter, gradient in pairs])

# %% [markdown]
# Five rules are in these lines:
#
# 1. **The names.** The gradient of `w` is a variable called `w@GRAD`. This is all that connects the two: everything in a Program goes by name (lesson 1.2).
# 2. **It begins with 1.** `fill_constant` writes `mean_0.tmp_0@GRAD`: the gradient of the loss with respect to itself.
# 3. **In reverse.** `mean` was last, its gradient comes first. When the gradient op of an op runs, all ops that *read* its result have had their turn already, so the gradient of the result is complete.
# 4. **A sum at a fan-out.** Three uses of `a`, three pieces: `a`'s name, with `@GRAD@RENAME@block0@0` and so on. A `sum` op adds them. It stands directly before the first op that needs
#    the whole.
# 5. **No gradient where nobody wants one.** Data has `stop_gradient=True`, so the last op has one output only: `w@GRAD`. A slot for the gradient of `x` is there, but empty.
#
# `op_role` says what an op is for, as bits: 1 is backward, 256 marks the loss; 257 is both. Tools that rewrite programs find the backward part by it.
#
# ## How it is written
# Step through it. On the left is the program: marked are the forward op that the walk has reached, from the bottom to the top, and what is appended for it. On the right are the pieces that each
# variable has received so far.
#
# **Predict** before you step: at which step is the `sum` appended, and why not one step earlier?

# %%
viz.append_backward_steps(main)

# %% [markdown]
# The `sum` appears when the walk arrives at the op that **made** `a`: only then all readers of `a` lie behind us. In eager mode the same rule needs an in-degree map and a queue
# (lesson 2.3). Here the program's order does it: it is a list, and the list is walked backwards.
#
# Are the numbers right? We compare `w@GRAD` with *finite differences*: change one weight a little, and see how much the loss changes.

# %%
executor, scope = paddle.static.Executor(), paddle.static.global_scope()
feed = {"x": np.array([1.0, 2.0], "float32")}
weights = np.array([0.5, -3.0], "float32")


def run(w, fetch):
    scope.var("w").get_tensor().set(w, paddle.CPUPlace())
    return executor.run(main, feed=feed, fetch_list=[fetch])[0]


step = np.float32(0.01)
differences = []
for i in range(2):
    change = step * np.eye(2, dtype="float32")[i]
    rise = run(weights + change, loss) - run(weights - change, loss)
    differences.append(round(float(rise / (2 * step)), 2))
print("finite differences", differences)
print("w@GRAD            ", run(weights, "w@GRAD").round(2).tolist())

# %% [markdown]
# ## What a gradient op reads
# Look at `elementwise_mul_grad` again: it reads the gradient of its result *and* both factors, `w` and `x`, by their names. In general a gradient op may read: the forward inputs, the forward outputs,
# and the gradients of the outputs. Each op says which ones it needs (`relu_grad` reads the output of `relu`, not its input).
#
# There is a price. In lesson 1.4 a variable died at its last use. Now the last use may be in the backward part.
#
# ## Predict
# Two layers, `relu(h @ w)` each, without backward and with it. **Write down:** which of the two hidden results must wait longer for its last use: the first, or the second? Then compare the two pictures.


# %%
def hidden_layers():
    h = paddle.static.data("x", [64, 32], "float32")
    for name in ("w1", "w2"):
        h = F.relu(h @ paddle.static.create_parameter([32, 32], "float32", name=name))
    return paddle.mean(h)


main, startup, loss = program_of(hidden_layers)
executor.run(startup)
feed = {"x": np.ones([64, 32], "float32")}
viz.memory_steps(main, feed, [loss])

# %%
with paddle.pir_utils.OldIrGuard(), paddle.static.program_guard(main, startup):
    paddle.static.append_backward(loss)
gradients = [f"{parameter.name}@GRAD" for parameter in main.all_parameters()]
viz.memory_steps(main, feed, [loss, *gradients])

# %% [markdown]
# The **first** one, `relu_0.tmp_0`, waits longer: it is made first, and its gradient op comes last. Without backward, a layer's result goes as soon as the next layer has read it; with backward, the results of all layers are there
# at the turning point. So the memory of training grows with the depth of a network, and that of using it doesn't. The results that wait are called **activations**.
#
# What `h @ w` gives (`tmp_0` and `tmp_1`) still dies early: `relu_grad` can do with the output of `relu`, and so nobody needs its input again. Which inputs a gradient op reads is a decision about memory.
#
# ## What is not written
# ## Predict
# Two layers: `mean(relu(x @ first) @ last)`. Backward has five ops for it. Now we freeze one of the two weights (`stop_gradient = True`). **Write down:** how many ops are left if `first` is frozen? And if `last` is?


# %%
def two_layers(frozen):
    def write():
        x = paddle.static.data("x", [-1, 3], "float32")
        first = paddle.static.create_parameter([3, 4], "float32", name="first")
        last = paddle.static.create_parameter([4, 2], "float32", name="last")
        {"nothing": x, "first": first, "last": last}[frozen].stop_gradient = True
        paddle.static.append_backward(paddle.mean(F.relu(x @ first) @ last))

    return program_of(write)[0]


for frozen in ("nothing", "first", "last"):
    print("frozen:", frozen)
    show(two_layers(frozen), role=1)

# %% [markdown]
# - `first` frozen: three ops. Nothing before `last` needs a gradient, so the walk never gets there. To freeze the early layers saves work and memory.
# - `last` frozen: still five. The gradient must pass *through* the last layer to reach `first`; only the output `last@GRAD` is gone.
#
# The rule: an op gets a gradient op if it lies on a path from the loss back to something that wants a gradient. `append_backward` finds these ops before it writes any. A set of names, `no_grad_set`, cuts such paths at other places.
#
# ## Who changes the weights?
# So far a program that computes gradients. Learning is one step more: `w = w - rate · w@GRAD`. In a static program that, too, is an op.
#
# (`clone` copies the program as it is at that moment; we shall need the copy later.)
#
# **Predict:** `SGD(0.5).minimize(loss)` for a network of two Linear layers (each has a weight and a bias). How many ops are appended behind the backward part? And what new variable must the startup program make?


# %%
def classifier():
    paddle.seed(1)
    images = paddle.static.data("images", [-1, 64], "float32")
    labels = paddle.static.data("labels", [-1], "int64")
    hidden = F.relu(paddle.nn.Linear(64, 32)(images))
    logits = paddle.nn.Linear(32, 10)(hidden)
    loss = F.cross_entropy(logits, labels)
    forward_only = paddle.static.default_main_program().clone(for_test=True)
    paddle.optimizer.SGD(0.5).minimize(loss)
    return logits, loss, forward_only


main, startup, (logits, loss, forward_only) = program_of(classifier)
show(main, role=2)
print("startup makes:", [op.output_arg_names[0] for op in startup.global_block().ops])

# %% [markdown]
# `minimize` is `append_backward`, then one `sgd` op for each parameter. An `sgd` op reads `linear_0.w_0` and **writes the same name**. It is the only kind of op here that changes a variable in place, and therefore
# it must come after everything that reads the old weights. The learning rate is a persistable variable, too: so a schedule can change it between two runs, without a change of the program.
#
# ## Training on real digits
# 1,541 handwritten digits, 8x8 pixels each; 256 others to test. Remember what one `run` is now: forward, backward and update, in one call.

# %%
from minipaddle.vision.datasets import Digits

train, test = Digits("train"), Digits("test")
pixels = train.images.reshape(-1, 64)
executor.run(startup)
rng = np.random.default_rng(0)

for epoch in range(10):
    losses = []
    for batch in np.array_split(rng.permutation(len(pixels)), 24):
        feed = {"images": pixels[batch], "labels": train.labels[batch]}
        losses += executor.run(main, feed=feed, fetch_list=[loss])
    if epoch in (0, 1, 9):
        print(f"epoch {epoch}: mean loss {np.mean(losses):.1f}")

# %% [markdown]
# ## Predict
# Now the test: how many of the 256 unseen digits are read correctly? We run `main`, and fetch `logits` only. Then we do the same again. **Write down:** a half, or nearly all? And is there anything wrong with this way of testing?

# %%
feed = {"images": test.images.reshape(-1, 64), "labels": test.labels}
weight = scope.find_var("linear_1.w_0")
before = np.array(weight.get_tensor())
for _ in range(2):
    (out,) = executor.run(main, feed=feed, fetch_list=[logits])
    print("more than 95 % right:", (out.argmax(1) == test.labels).mean() > 0.95)
print("weights unchanged:   ", np.array_equal(before, np.array(weight.get_tensor())))

# %% [markdown]
# The network reads them well. But the test has **trained on the test data**. Fetching less does not help: an op that writes a persistable variable runs in any case, because the next run will read what it wrote; and it needs the whole
# backward part before it. For a test you need another program, one without gradient and `sgd` ops, that shares the weights by name. That is what the copy is for, which we made before `minimize`:

# %%
before = np.array(weight.get_tensor())
(out,) = executor.run(forward_only, feed={"images": feed["images"]}, fetch_list=[logits.name])
print("more than 95 % right:", (out.argmax(1) == test.labels).mean() > 0.95)
print("weights unchanged:   ", np.array_equal(before, np.array(weight.get_tensor())))

# %% [markdown]
# It doesn't even ask for labels. Lesson [1.7](07_programs_that_rewrite_programs.ipynb) is about programs that are made from programs.
#
# ## In Paddle itself
# First the four ops from the beginning, with their backward part. (The names in an op are sorted here: the order of the *slots* has no meaning, and the two write them down differently.)

# %%
from minipaddle.compare import both

both(
    """
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [2], "float32")
            w = paddle.static.create_parameter([2], "float32", name="w")
            a = w * x
            pairs = paddle.static.append_backward(paddle.mean(a + a * a))
        for op in main.global_block().ops:
            print(op.attr("op_role"), op.type, *sorted(op.input_arg_names))
            print("      ->", *op.output_arg_names)
        print(pairs)
    """,
    same=True,
)

# %% [markdown]
# Then the trap. Three runs of a program with an `sgd`: the second fetches nothing at all.

# %%
both(
    """
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [-1, 3], "float32")
            half = paddle.nn.initializer.Constant(0.5)
            out = x @ paddle.static.create_parameter([3, 2], "float32", default_initializer=half)
            paddle.optimizer.SGD(0.1).minimize(paddle.mean(out))
        exe, feed = paddle.static.Executor(), {"x": np.ones([4, 3], "float32")}
        exe.run(startup)
        print(exe.run(main, feed=feed, fetch_list=[out])[0].mean().round(2))
        exe.run(main, feed=feed, fetch_list=[])
        print(exe.run(main, feed=feed, fetch_list=[out])[0].mean().round(2))
    """,
    same=True,
)

# %% [markdown]
# The first run prints the value before any step, 1.5; the third 1.2: two steps of 0.15 were made in between, one of them by the run that fetched nothing.
#
# Two ways to the same gradients, side by side:
#
# | | eager (module 2) | static |
# |---|---|---|
# | gradients of an op | a GradNode, made at each call | a gradient op, written once |
# | what it needs | TensorWrappers hold Tensors | the names of variables |
# | several uses | GradTensorHolder adds up | a `sum` op, over `@RENAME@` names |
# | in which order | in-degrees and a queue, at each backward | the program's order, backwards |
# | no gradient wanted | no node is made | the op is not on the path |
# | where | `loss.grad`, a Tensor | `w@GRAD`, a name |
#
# Where to read on in Paddle's source:
#
# | here | in Paddle |
# |---|---|
# | `minipaddle/base/backward.py` | `python/paddle/base/backward.py`: `append_backward`; `_append_backward_ops_`, `_addup_repetitive_outputs_` (the `sum`), `_find_op_path_`, `_remove_no_grad_branch_` |
# | the rule of an op, `@tanh.vjp` | its GradOpMaker, generated from `paddle/phi/ops/yaml/backward.yaml` |
# | `minipaddle/optimizer/sgd.py` | `python/paddle/optimizer/sgd.py`, and `optimizer.py`: `minimize`, `_create_optimization_pass` |
#
# ## What we left out
# `append_backward(loss, checkpoints=[...])` keeps a few of the activations only, and writes the ops of the segments between them a second time, before their backward: less memory, more work. `static.gradients` asks for the gradients of any variables, not only parameters.
# And control flow: how do you differentiate a loop whose number of rounds nobody knows when the program is written? That is the next lesson.
#
# **Next**: [1.6](06_control_flow.ipynb). In task 4 of [1 · exercise](exercise.ipynb) you write the walk yourself: pieces, sum, names, pruning. A contribution to Paddle that adds an op adds its line to `backward.yaml`: there you decide what the gradient op reads,
# and so what a training must keep in memory.

# %%
paddle.disable_static()
