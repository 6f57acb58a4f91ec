# %% [markdown]
# # 2.1 What does a Tensor remember?
#
# In module 1 a program was written down first. *Dygraph* ("dynamic graph") computes at once, like numpy. And yet, one call, `loss.backward()`, finds its way back through
# everything that you computed. **Where was that written down, if there is no program?**
#
# Time: 30 minutes. You need: numpy, and what a derivative is. You will use it in: [2 · exercise](exercise.ipynb), both tasks.

# %% [markdown]
# ## Five Tensors
# `x` holds the numbers whose gradient we want. `k` is just a constant.

# %%
import minipaddle as paddle
from minipaddle import viz

x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
k = paddle.to_tensor([10.0, 20.0])
y = x * x
z = y * k
loss = paddle.mean(z)
print(loss.item())

# %% [markdown]
# `loss` = mean of `x² · k` = (4·10 + 9·20) / 2 = 110. The same as in numpy, so far.
#
# A Tensor carries something that an array does not: an **AutogradMeta**. Four fields of it matter today:
#
# | field | what it says |
# |---|---|
# | `stop_gradient` | True: no gradient flows to this Tensor. It is True unless you say otherwise |
# | `is_leaf` | True: no recorded op made this Tensor. You made it |
# | `grad_fn` | the **GradNode** to which this Tensor's gradient goes |
# | `grad` | the gradient, once it has arrived |
#
# ## Predict
# Copy this table and fill it in, **before you run the next cell**. In the last column write down which Tensors will have a `grad` after `loss.backward()`.
#
# | | stop_gradient | is_leaf | grad_fn: a node or None? | has a grad after backward |
# |---|---|---|---|---|
# | x | | | | |
# | k | | | | |
# | y | | | | |
# | z | | | | |
# | loss | | | | |


# %%
def show(**tensors):
    print("Tensor    stop_gradient  is_leaf  grad_fn               grad")
    for name, t in tensors.items():
        node = t.grad_fn.name() if t.grad_fn else None
        grad = None if t.grad is None else t.grad.numpy()
        print(f"{name:9} {t.stop_gradient!s:14} {t.is_leaf!s:8} {node!s:21} {grad}")


show(x=x, k=k, y=y, z=z, loss=loss)
loss.backward()
print("after backward:")
show(x=x, k=k, y=y, z=z, loss=loss)

# %% [markdown]
# Did you expect a `grad` at `y`? A gradient did pass through it, but it was not kept: only **leaves** keep theirs. The others would fill the memory, and an
# optimizer needs the leaves only. (`y.retain_grads()` keeps it, if you ask before backward.)
#
# ## See it grow
# Each op leaves a GradNode behind, with one **edge** for each of its inputs. An edge says where the gradient of that input has to go, or is None: no gradient goes there.
#
# **Predict**: how many nodes will there be after `loss = paddle.mean(z)`, and how many edges between them?
#
# Then step through the same lines. An edge is an arrow; it goes where the gradient *will* go, so against the computation. A small number at an arrow says to which
# input it belongs: 0 is the first.

# %%
viz.grad_graph_steps("""
x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)  # A leaf. It has no node yet: nobody asked for it.
k = paddle.to_tensor([10.0, 20.0])                     # stop_gradient is True.
y = x * x                                              # x is used twice, so there are two edges.
z = y * k                                              # The edge for k is None: no gradient goes there.
loss = paddle.mean(z)
loss.backward()                                        # The gradient has walked along the arrows to the leaf.
""")

# %% [markdown]
# Four nodes, four edges: two of them are for `x * x`. Three rules are behind these pictures:
#
# 1. **A result gets `stop_gradient=False` if one of its inputs has it**, and a GradNode. Otherwise it gets neither; then nothing is recorded.
# 2. **A leaf's gradient ends in a GradNodeAccumulation.** It is made when an op first needs it. Its work is one line: add what arrives to `grad`.
# 3. **A node holds edges to the nodes of its inputs; the Tensor `z` holds its node.** That is the whole graph. Nobody else keeps a list: when you drop `loss`, its
#    node goes, and all that only it could reach. Python's (in Paddle: C++'s) counting of references cleans up.
#
# You can walk the graph by hand. `next_functions` gives the nodes at the ends of the edges:

# %%
node = loss.grad_fn
while node is not None:
    following = node.next_functions
    print(f"{node.name():21} -> {[n.name() if n else None for n in following]}")
    node = following[0]

# %% [markdown]
# ## What is inside a GradNode?
# A node must be able to compute "gradient of the output in, gradients of the inputs out". For that it keeps what the formula needs. For `tanh` the formula is
# `out_grad · (1 - out²)`: so the node keeps `out`, in a *TensorWrapper*. In Paddle a generator writes one such class for each op. Ours does too; here it is:

# %%
from minipaddle.eager import source_of

node_class, _, function = source_of("tanh").partition("\n\n\n")
print(node_class)

# %% [markdown]
# And the end of the function that `paddle.tanh(x)` calls. Find rule 1 in it: a node is made only where an input has an edge (`x_edge is not None`).

# %%
print(function[function.index("    node = None") :])

# %% [markdown]
# ## What backward does with it
# Backward has a **queue** of nodes that may run. At the start the node of the loss stands in it. Backward takes the first node, lets it compute, and hands the results on
# along the edges. **A node goes into the queue when all its gradients have arrived.** How many that will be is counted before the start. It is the number of edges that
# arrive at the node: its **in-degree**.
#
# ## Predict
# Below, `x` is used in `y = x * x` and once more in `z = y * x`. **Write down:** what is the in-degree of x's node? And z's node hands a gradient to x's node at once: which
# node runs next, x's or y's?

# %%
x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
y = x * x
z = y * x
loss = z.sum()
viz.backward_steps(loss, labels={"x": x, "y": y, "z": z, "loss": loss})

# %% [markdown]
# Look at the row of x in the table of *gradient holders*, the places where gradients are collected. In step 3 it has 1 of 3: it must wait, and y's node runs. Only then are all
# three there, and their sum, 3x², is added to `grad`. A node that did not wait would hand on a part of its gradient as if it were the whole. You will count in-degrees in the
# exercise.
#
# ## Experiments
# **Predict each line first**: is the result a leaf, and does it have a `grad_fn`?

# %%
x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
with paddle.no_grad():
    silent = x * x
show(silent=silent, constant=k * k, detached=(x * x).detach(), mixed=x * k)

# %% [markdown]
# The first three took no part in recording, so they are leaves that stop gradients. *Leaf* does not mean "made by `to_tensor`", it means "made by no **recorded** op".
#
# Backward **adds** to `grad`. And it frees what the nodes have kept, so the same graph can be used only once:

# %%
import textwrap

loss = (x * x).sum()
loss.backward()
print("first  ", x.grad.numpy())
(x * x).sum().backward()
print("second ", x.grad.numpy(), "(added)")
x.clear_grad()
print("cleared", x.grad.numpy())
try:
    loss.backward()
except RuntimeError as error:
    print(textwrap.fill(str(error), 96))

# %% [markdown]
# ## In Paddle itself
# The same questions to the real thing:

# %%
from minipaddle.compare import both

both(
    """
    x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    k = paddle.to_tensor([10.0, 20.0])
    y = x * x
    z = y * k
    loss = paddle.mean(z)
    for name, t in dict(x=x, y=y, z=z, loss=loss).items():
        print(name, t.is_leaf, t.stop_gradient, t.grad_fn.name())
    print([n.name() if n else None for n in z.grad_fn.next_functions])
    print([n.name() if n else None for n in y.grad_fn.next_functions])
    loss.backward()
    print(x.grad.numpy(), k.grad, y.grad)
    (x * k).sum().backward()
    print(x.grad.numpy())
    """,
    same=True,
)

# %% [markdown]
# And two places where they differ:

# %%
both(
    """
    k = paddle.to_tensor([10.0, 20.0])
    print(k.is_leaf, k.stop_gradient, k.grad_fn and k.grad_fn.name())
    x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    loss = (x * x).sum()
    loss.backward()
    try:
        loss.backward()
    except Exception as error:
        print(type(error).__name__)
    """,
    same=False,
)

# %% [markdown]
# Real Paddle gives a leaf its GradNodeAccumulation even where `stop_gradient` is True; it stays unused. And a freed graph ends in a `SystemError` there, an error that
# Python keeps for its own mistakes; ours is a `RuntimeError` that says what to do.
#
# Where to read on in Paddle's source, all under `paddle/fluid/eager/`:
#
# | here | in Paddle |
# |---|---|
# | `minipaddle/eager/autograd_meta.py` | `autograd_meta.h`: `AutogradMeta` |
# | `minipaddle/eager/grad_node_info.py` | `grad_node_info.h`: `GradNodeBase`, `Edge` |
# | `minipaddle/eager/accumulation_node.py` | `accumulation/accumulation_node.h`: `GradNodeAccumulation` |
# | `minipaddle/eager/tensor_wrapper.py` | `tensor_wrapper.h`: `TensorWrapper` |
# | `minipaddle/eager/backward.py` | `backward.cc`: `RunBackward`, `getInDegreeMap` |
# | `minipaddle/eager/eager_gen.py`, and `dygraph_function.py`, which compiles its text | `auto_code_generator/generator/eager_gen.py`; it writes the C++ functions named `*_ad_func` |
#
# ## What we left out
# Paddle's AutogradMeta also notes whether a Tensor is persistable. Backward can do more than we saw: start at several Tensors, call your hooks on the way, and compute
# gradients of gradients.
#
# **Next**: [2 · exercise](exercise.ipynb). Task 1: count the edges that arrive at each node; backward needs it to know how long to wait. Task 2: give an op its GradNode, and
# check it against the slope that you measure. A gradient checked by numbers is what Paddle's `OpTest` asks of every new op, so task 2 rehearses such a contribution.
