# %% [markdown]
# # 2.4 What is the gradient of a gradient?
#
# Backward computes: it multiplies, adds, divides. Ops multiply, add and divide too, and ops leave nodes behind (lesson 2.2). **So can a gradient have a graph of its own, and
# a gradient?** And when you ask for one gradient only, does backward still walk over everything?
#
# Both questions lead to one function: `paddle.grad`.
#
# Time: 30 minutes. You need: lesson 2.3. You will use it in: [2 · exercise](exercise.ipynb).

# %% [markdown]
# ## Asking instead of collecting
# `loss.backward()` walks to *all* leaves and adds to their `.grad`. `paddle.grad(outputs, inputs)` gives back the gradients of those inputs that you name, as a list, and touches no `.grad`.
#
# **Predict** what the cell prints. `p` is no leaf: can it be asked for?

# %%
import minipaddle as paddle
from minipaddle import viz

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
p = x * w
loss = paddle.square(p).sum()
for gradient in paddle.grad(loss, [p, w]):
    print(gradient.numpy())
print("x.grad, w.grad:", x.grad, w.grad)

# %% [markdown]
# It can: `∂loss/∂p = 2p`. The gradient arrives in the slot of `p`'s node in any case; `grad` only has to take it from there.

# %% [markdown]
# ## A gradient with a graph
# `y = x³`. By pen and paper: the gradient is `3x²`, its gradient `6x`, and its gradient 6. At `x = 3`: 27, 18, 6.
#
# A result of `paddle.grad` is a Tensor. Does it have a GradNode? Only if you ask, with `create_graph=True`: then backward **records what it computes**.
#
# **Predict:** what do these two lines print?

# %%
x = paddle.to_tensor(3.0, stop_gradient=False)
[plain] = paddle.grad(x**3, x)
[recorded] = paddle.grad(x**3, x, create_graph=True)
for gradient in (plain, recorded):
    print(gradient.item(), "grad_fn:", gradient.grad_fn and gradient.grad_fn.name())

# %% [markdown]
# Now watch what backward leaves behind. In our rule, the gradient of `pow` is computed as `(g · x²) · 3`, where `g` is the gradient that comes in.
#
# **Predict:** how many nodes does line 3 add, and to which node does the last of them lead? And what about line 4: does it start at the end of `y`, or of `gradient`?

# %%
viz.grad_graph_steps("""
x = paddle.to_tensor(3.0, stop_gradient=False)
y = x**3
[gradient] = paddle.grad(y, x, create_graph=True)       # Each op of the rule has left a node.
[second] = paddle.grad(gradient, x, create_graph=True)  # The same, starting from the gradient.
[third] = paddle.grad(second, x)                        # Not recorded: no new nodes.
""")

# %% [markdown]
# Look at the new PowGradNode in step 3: its arrow goes to the node of `x`. How could backward know that the `x` in its formula is *your* `x`? It only had what the node of `y` had kept. But that is a
# TensorWrapper of an input, and such a wrapper keeps the AutogradMeta with the numbers (lesson 2.2). **This is what it is kept for.** With the numbers alone, `3x²` would be a constant.
#
# The MultiplyDoubleGradNode in step 4 computes nothing. In `a · b`, the gradient of `b` is `g · a`: there is no `b` in it. Is it then not connected with `b`, or connected with slope 0? Paddle says: with slope 0. So an
# arrow leads from this node to the node of `b` (in the picture `b` is `x²`), and zeros go along it. Its other edge, 0, would hand the gradient on to what has computed `g · a`; here that is no node.
#
# ## Two ways to compute the same gradient
# To record each small op costs time, and mostly nobody needs it. So a node can do both. The formula itself is written only once. Here is that of `pow`, as it stands in `minipaddle/phi/ops/math.py`:

# %%
import inspect

from minipaddle.phi import find_op

print(inspect.getsource(find_op("pow").vjp_rule.rule))

# %% [markdown]
# This is a *gradient rule*, and its `*` and `pow` are ops. With `create_graph`, the node calls it with **Tensors**: `x` comes out of the wrapper with its AutogradMeta, and each op leaves a node, as always. Without, the node
# calls it with **bare arrays**: the same numbers, and nothing is recorded. If you want to see the `if` between the two: `from minipaddle.eager import source_of`, then `print(source_of("pow"))`.
#
# ## What it is good for
# **A loss made of gradients.** Some losses punish a large slope, such as the *gradient penalty* in WGAN-GP. To train with them, a gradient must itself be differentiated.
#
# **Predict:** in one of these two runs, `create_graph=True` was forgotten. Does it raise an error? What is `w.grad`?

# %%
w = paddle.to_tensor([[1.0, 2.0], [0.5, -1.0]], "float64", stop_gradient=False)
for create_graph in (True, False):
    x = paddle.to_tensor([[1.0, 2.0]], "float64", stop_gradient=False)
    [slope] = paddle.grad(paddle.tanh(x @ w).sum(), x, create_graph=create_graph)
    penalty = paddle.square(slope).sum()
    w.clear_gradient(False)
    penalty.backward()
    print(f"create_graph={create_graph!s:5}  penalty {penalty.item():.3f}  w.grad", end=" ")
    print(None if w.grad is None else w.grad.numpy().round(3).tolist())

# %% [markdown]
# No error: without the graph, `penalty` is a constant, and backward of a constant does nothing. The penalty is even printed correctly. It just never teaches the network anything. **If a loss uses
# a gradient, look at its `grad_fn`.**
#
# **Curvature, without the big matrix.** The second derivatives of a function of n numbers form an n × n matrix, the *Hessian* H. For a network with a million weights it has 10¹²
# entries. But often one needs only H times a vector v, and H·v is the gradient of the single number `gradient · v`. One more backward, no matrix:

# %%
a = paddle.to_tensor([[1.0, 2.0], [3.0, -1.0]], "float64")
v = paddle.to_tensor([1.0, 2.0], "float64")


def gradient_at(point, create_graph=False):
    [gradient] = paddle.grad(paddle.tanh(a @ point).sum(), point, create_graph=create_graph)
    return gradient


x = paddle.to_tensor([0.5, -0.25], "float64", stop_gradient=False)
[product] = paddle.grad((gradient_at(x, create_graph=True) * v).sum(), x)
print("H·v, by a second backward:", product.numpy().round(5))

# the same, measured: how does the gradient change when x goes a little in the direction of v?
step = 1e-5
ahead, behind = (paddle.to_tensor((x + s * v).numpy(), stop_gradient=False) for s in (step, -step))
print(
    "H·v, measured:            ",
    ((gradient_at(ahead) - gradient_at(behind)) / (2 * step)).numpy().round(5),
)

# %% [markdown]
# ## The price
# **Predict:** `tanh(x)` leaves 2 nodes, with that of the leaf. How many nodes hang behind its gradient? Behind the 6th derivative: about 12, about 100, or about 1,300?


# %%
def count_nodes(tensor):
    found = [tensor.grad_fn]
    for node in found:  # the list grows while we walk
        found += {n for n in node.next_functions if n is not None and n not in found}
    return len(found)


x = paddle.to_tensor(0.5, stop_gradient=False)
derivative = paddle.tanh(x)
for order in range(7):
    print(f"derivative {order}: {count_nodes(derivative):3} nodes")
    [derivative] = paddle.grad(derivative, x, create_graph=True)

# %% [markdown]
# About three times as many with each order. Every node of one graph becomes several in the next, because the derivative of a product is a sum. Second derivatives are everyday work, tenth ones
# by this way are not.

# %% [markdown]
# ## Only what leads there
# Back to the second question. Two branches meet in a loss:
#
#     p = x * w
#     q = exp(v)
#     loss = (p + q).sum()
#
# Four ops, so four nodes that compute: sum, add, multiply, exp. If you ask for the gradient of `w` only, `exp`'s node computes something that nobody wants. Leaving out such nodes
# is called **pruning**.
#
# **Predict, for each of the four questions in the next cell, which of the four nodes run.** (A hook on a *node* tells us: it is called
# when the node has run.) In the pictures, a diamond marks what was asked for, a tick what ran, and a dash what was left out.

# %%
steps = []
for asked in (["w"], ["v"], ["p"], ["p", "w"]):
    x, w, v = (paddle.to_tensor([n], stop_gradient=False) for n in (1.0, 2.0, 3.0))
    p, q = x * w, paddle.exp(v)
    total = p + q
    tensors = {"loss": total.sum(), "p + q": total, "p": p, "q": q, "x": x, "w": w, "v": v}
    names, ran = {tensor.grad_fn: name for name, tensor in tensors.items()}, []
    for op in (tensors["loss"], total, p, q):
        op.grad_fn.register_hook(lambda results, grads, node=op.grad_fn: ran.append(node))
    paddle.grad(tensors["loss"], [tensors[name] for name in asked])
    nodes, edges = [], []
    for node, name in names.items():
        kind, not_run = ("leaf", "") if node.accumulates else ("grad", "removed")
        state = "matched" if name in asked else "done" if node in ran else not_run
        label = f"{node.name()}\n{name}{', ran' if node in ran else ''}"
        nodes.append(viz.node(name, label, kind, state=state))
        edges += [(name, names[edge.node]) for edge in node.edges]
    note = f"{len(ran)} nodes ran: {', '.join(node.name() for node in ran)}."
    question = f"paddle.grad(loss, [{', '.join(asked)}])"
    steps.append(viz.step(question, viz.graph(nodes, edges), note=note))
viz.Player(steps, label="Which nodes run")

# %% [markdown]
# - Asked for `w`: everything on the way from `loss` to `w`, nothing else. `exp`'s node did not run. Nor does any accumulation node: nothing is added to a `.grad`.
# - Asked for `p`: the walk ends when the gradient arrives *at* `p`. To run `p`'s node would already be the next step.
# - Asked for `p` and `w`: now it must go on through `p`.
#
# How does the engine know, standing at the node of `p + q`, that one way is worth going and the other is not? It can't see that from there. So it looks from the other end, before the start:
# from the nodes that are asked for, **backwards along the arrows**, to all nodes that lead to them. Only these may run.
#
# If none of them lies behind the outputs, then the two have nothing to do with each other:

# %%
import textwrap

other = paddle.to_tensor([1.0], stop_gradient=False)
loss = (paddle.to_tensor([2.0], stop_gradient=False) * 3.0).sum()
try:
    paddle.grad(loss, other, retain_graph=True)
except ValueError as error:
    print(textwrap.fill(str(error), 96))
print(paddle.grad(loss, other, allow_unused=True))

# %% [markdown]
# None, and not zeros: Paddle tells "no connection" apart from "a connection with slope 0".
#
# The opposite is possible too: to cut a connection that is there. What you name in `no_grad_vars` is taken as a constant.
#
# **Predict** both lines. `z = y · x` with `y = x²`, so the full gradient is 3x².

# %%
x = paddle.to_tensor([2.0], stop_gradient=False)
y = x * x
print("all of it:       ", paddle.grad(y * x, x)[0].numpy())
print("y as a constant: ", paddle.grad(y * x, x, no_grad_vars=[y])[0].numpy())

# %% [markdown]
# ## In Paddle itself
# The same numbers, the same pruning. A hook on `p` and one on `q` show which way the real engine goes:

# %%
from minipaddle.compare import both

both(
    """
    def t(*numbers):
        return paddle.to_tensor(list(numbers), stop_gradient=False)

    x = t(3.0)
    [g] = paddle.grad(x**3, x, create_graph=True)
    [h] = paddle.grad(g, x)
    print("27 and 18:", g.numpy(), h.numpy(), h.stop_gradient, x.grad)

    x, w, v, other = t(1.0), t(2.0), t(3.0), t(4.0)
    p, q = x * w, paddle.exp(v)
    p.register_hook(lambda grad: print("   the gradient of p is there"))
    q.register_hook(lambda grad: print("   the gradient of q is there"))
    for asked in (w, v, p):
        print(paddle.grad((p + q).sum(), asked, retain_graph=True)[0].numpy().round(3))
    print(paddle.grad((p + q).sum(), other, allow_unused=True))
    paddle.grad((p + q).sum(), other)
    """,
    same=True,
)

# %% [markdown]
# (The last line is the kind of error that the last call raises.) And here they differ:

# %%
both(
    """
    x = paddle.to_tensor(3.0, stop_gradient=False)
    [g] = paddle.grad(x**3, x, create_graph=True)
    print("pow, recorded:", g.grad_fn.name())
    [g] = paddle.grad(paddle.tanh(x), x, create_graph=True)
    print("tanh, recorded:", g.grad_fn.name(), [n and n.name() for n in g.grad_fn.next_functions])

    [g] = paddle.grad(x**3, x, create_graph=True)
    [g] = paddle.grad(g, x, create_graph=True)
    [g] = paddle.grad(g, x, create_graph=True)
    print("third derivative of pow, recorded:", g.item())
    """,
    same=False,
)

# %% [markdown]
# Our rule leaves one node for each of its ops. Paddle often has **one kernel for a whole gradient**, written by hand, and one for *its* gradient: `pow_grad`, `pow_double_grad`,
# `pow_triple_grad`. That means fewer nodes. But somebody has to write each, and behind the last one the road ends, as in the last line. Other gradients in Paddle are written as ops, like
# ours.
#
# | here, in `minipaddle/eager/backward.py` | in Paddle |
# |---|---|
# | `grad` | `python/paddle/base/dygraph/base.py`: `grad` |
# | `GeneralGrad`: what is asked for, which nodes lead there | `paddle/fluid/eager/general_grad.h`: `GeneralGrad` |
# | a rule made of ops, `@pow.vjp` in `minipaddle/phi/ops/math.py` | `paddle/fluid/prim/api/composite_backward/composite_backward_api.h` |
# | | kernels of their own: `pow_double_grad` and others in `paddle/phi/ops/yaml/backward.yaml` |
#
# ## What we left out
# `paddle.grad` also takes `grad_outputs`: what to start with in place of ones. `paddle.autograd.jacobian` and `hessian` build whole matrices out of
# calls like these. Some libraries compute higher derivatives in the other direction, with the forward computation; Paddle's eager engine doesn't.
#
# **Next**: [2 · exercise](exercise.ipynb), the tasks on `paddle.grad` and on second gradients. "The Op ... doesn't have any grad op" is an error that users of Paddle do report: for
# softmax once, for the mean, for upsampling (somebody needed it for the gradient penalty of StyleGAN2). To add a second gradient is a real contribution of a size that one can master.
