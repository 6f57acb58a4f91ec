# %% [markdown]
# # 2.1 What does a Tensor remember?
#
# In module 1 a program was written down first. *Dygraph* ("dynamic graph") computes at once, like numpy. And yet, one call, `loss.backward()`, finds its way back through
# everything that you computed. **Where was that written down, if there is no program?**
#
# Time: 25 minutes. You need: numpy, and what a derivative is. You will use it in: the whole module.

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
# ## When does stop_gradient count?
# **Predict:** people *freeze* a Tensor by setting `stop_gradient = True`. Below, that happens after `y` was computed: once to the leaf, once to `y` itself. Does `x` still get a gradient? Without
# the line, it would be 4 in the first case, and 12 in the second.

# %%
x = paddle.to_tensor([2.0], stop_gradient=False)
y = x * x
x.stop_gradient = True  # too late?
y.backward()
print("x frozen after its use:", x.grad.numpy())

x = paddle.to_tensor([2.0], stop_gradient=False)
y = x * x
y.stop_gradient = True  # before z is computed
z = y * x
z.backward()
print(
    "y frozen before its use:", x.grad.numpy(), [n and n.name() for n in z.grad_fn.next_functions]
)

# %% [markdown]
# **`stop_gradient` counts at the moment of the call.** An op looks at its inputs once, when it makes the edges. What you set afterwards changes no edge that is there. In the second case the edge
# from `z` to `y` was never made, so only the other one, to `x`, carried a gradient: y = 4 instead of 12.
#
# ## Once more
# Backward **adds** to `grad`. And it frees what the nodes have kept, so the same graph can be used only once:

# %%
import textwrap

x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
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
# Where to read on in Paddle's source:
#
# | here, in `minipaddle/eager/` | in Paddle |
# |---|---|
# | `autograd_meta.py` | `paddle/fluid/eager/autograd_meta.h`: `AutogradMeta` |
# | `accumulation_node.py` | `paddle/fluid/eager/accumulation/accumulation_node.h`: `GradNodeAccumulation` |
# | `tensor.py`: `stop_gradient`, `is_leaf`, `grad_fn`, `grad` | `paddle/fluid/pybind/eager_properties.cc`, where Python meets C++ |
# | `tensor.py`: `backward`, `retain_grads`, `detach` | `python/paddle/base/dygraph/tensor_patch_methods.py`, `paddle/fluid/pybind/eager_method.cc` |
#
# ## What we left out
# Paddle's AutogradMeta also notes whether a Tensor is persistable, that is, whether it lives on from step to step, as a parameter does.
#
# **Next**: what exactly stands in a GradNode, and how it got there (lesson 2.2); then how backward finds its order (2.3). The [exercise](exercise.ipynb) has a task for each.
# And if somebody asks why their `x.grad` is None, the table of this lesson has the four places to look.
