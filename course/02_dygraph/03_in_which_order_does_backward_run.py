# %% [markdown]
# # 2.3 In which order does backward run?
#
# You have a graph of GradNodes (lesson 2.2). Backward has to run each of them. Which one comes next is not a matter of taste: two orders that look natural give **wrong numbers, or
# work that doubles at every step. Which order is right, and how does the engine know it?**
#
# Time: 30 minutes. You need: lesson 2.2. You will use it in: [2 · exercise](exercise.ipynb).

# %% [markdown]
# ## A diamond
# The smallest graph where the order matters: `a` is used by `b` and by `c`, and both are used by `d`.

# %%
import minipaddle as paddle
from minipaddle import viz


def diamond():
    x = paddle.to_tensor([2.0], stop_gradient=False)
    a = x * x
    b = a * 3.0
    c = a * 5.0
    d = b + c
    return {"d": d, "b": b, "c": c, "a": a, "x": x}


tensors = diamond()
viz.grad_graph(tensors["d"], labels=tensors)

# %% [markdown]
# `d = 3x² + 5x² = 8x²`, so the right gradient at `x = 2` is `16x = 32`. Keep this number in mind.
#
# ## The first idea: go on at once
# Run a node, take each of its results to the next node, run that at once, and so on: *depth-first*. As a function, that is four lines.
# To see it at work, a `Film` draws the graph after each run, and writes down with which gradients each node has run.


# %%
class Film:
    """The steps of a walk over named GradNodes, for a player."""

    def __init__(self, tensors):
        self.names = {tensor.grad_fn: name for name, tensor in tensors.items()}
        self.ran = {node: [] for node in self.names}
        self.steps = []

    def run(self, node, grad):
        """Runs one node with one gradient, and takes a picture."""
        self.ran[node].append(f"{grad.item():g}")
        nodes, edges, rows = [], [], []
        for one, name in self.names.items():
            state = "now" if one is node else "done" if self.ran[one] else "waiting"
            kind = "leaf" if one.accumulates else "grad"
            nodes.append(viz.node(name, f"{one.name()}\n{name}", kind, state=state))
            edges += [(name, self.names[edge.node]) for edge in one.edges]
            rows.append([name, len(self.ran[one]), " then ".join(self.ran[one])])
        table = viz.table(["node of", "ran, times", "with gradient"], rows)
        title = f"Run the node of {self.names[node]} with gradient {grad.item():g}"
        self.steps.append(viz.step(title, viz.graph(nodes, edges), table))
        return node([grad])


# %% [markdown]
# ## Predict
# There are 5 nodes. **Write down:** how often does the node of `a` run? And that of `x`? (Two edges lead from `a` to `x`, because `a = x * x`.) Will `x.grad` be 32?


# %%
def depth_first(node, grad, film):
    results = film.run(node, grad)
    for edge, result in zip(node.edges, results):
        depth_first(edge.node, result, film)


tensors = diamond()
film = Film(tensors)
depth_first(tensors["d"].grad_fn, paddle.ones([1]), film)
print("x.grad", tensors["x"].grad.numpy())
viz.Player(film.steps, label="Depth-first, go on at once")

# %% [markdown]
# The number is right: 32. But the node of `a` ran twice, once with 3 and once with 5, and never saw its gradient, which is 8. Everything below it ran again for each piece. In a chain of
# diamonds this doubles, and doubles again:


# %%
def chain(diamonds):
    """A row of diamonds, and a list that fills with each inner gradient that the engine sees."""
    y, seen = paddle.to_tensor([1.0], stop_gradient=False), []
    for _ in range(diamonds):
        left, right = y * 0.5, y * 0.5
        y = left + right
        for tensor in (left, right, y):
            tensor.register_hook(lambda grad: seen.append(grad.item()))
    return y, seen


def runs(node):
    """How many nodes a depth-first walk runs."""
    return 1 + sum(runs(next_node) for next_node in node.next_functions if next_node)


for diamonds in (1, 2, 4, 8, 12):
    y, seen = chain(diamonds)
    count = runs(y.grad_fn)
    y.backward()
    print(
        f"{diamonds:2} diamonds: depth-first {count:6} runs, the engine {len(seen) + 1:3}"
    )  # + 1: the leaf

# %% [markdown]
# A ResNet is such a chain: each block adds its input to its output. 50 diamonds would be 4,500,000,000,000,000 runs.
#
# ## The second idea: each node only once
# Then let us not run a node again that has run.
#
# **Predict:** which number comes out now?


# %%
def only_once(node, grad, film):
    if film.ran[node]:
        return
    results = film.run(node, grad)
    for edge, result in zip(node.edges, results):
        only_once(edge.node, result, film)


tensors = diamond()
film = Film(tensors)
only_once(tensors["d"].grad_fn, paddle.ones([1]), film)
print("x.grad", tensors["x"].grad.numpy())
viz.Player(film.steps, label="Depth-first, each node once")

# %% [markdown]
# Five runs, and 6 instead of 32. In step 3 the node of `a` runs with 3. The 5 from `c` comes in too late and is lost; so is the second half of `x * x`. No error, just a model that
# learns badly. This is the worst kind of bug, so remember what it comes from: **a node ran before all its gradients were there.**
#
# ## The rule
# > A node may run when **all** its gradients have arrived.
#
# How many that will be is counted before the start: the edges that arrive at the node, its **in-degree**. What has arrived is collected and summed in the node's
# **GradTensorHolder**. When the last gradient arrives, the node goes into a **queue**. The engine always runs the node at the front.
#
# ## Predict
# **Write down the order** in which the five nodes run, and who stands in the queue just after the node of `b` has run. Then step through it; this is the engine itself.

# %%
tensors = diamond()
viz.backward_steps(tensors["d"], labels=tensors)

# %% [markdown]
# Look at step 3: `b` has run, 1 of 2 gradients of `a` has arrived, and `a` is not in the queue. In step 4 `c` has run, the holder is full with 3 + 5 = 8, and now `a` may run. Each node runs
# once, each with its whole gradient, and `x.grad` is 32.

# %% [markdown]
# ## When to count
# Could the forward call not count? Each op knows its inputs: it could add 1 to a counter in their nodes.
#
# **Predict:** below, `a` is used a third time, but not for the loss. What would such a counter say for `a`? What does the engine's map say? And what would happen with the counter's number?

# %%
from minipaddle.eager.backward import get_in_degree_map

tensors = diamond()
aside = tensors["a"] * 7.0  # to print it, say
names = {tensor.grad_fn: name for name, tensor in tensors.items()}
print(
    "from d:    ",
    {names[n]: count for n, count in get_in_degree_map([tensors["d"].grad_fn]).items()},
)
print(
    "from b:    ",
    {names[n]: count for n, count in get_in_degree_map([tensors["b"].grad_fn]).items()},
)

# %% [markdown]
# The counter would say 3, and backward from `d` would wait for a third gradient for ever. **The in-degree belongs to one backward, not to the node.** It counts only edges that can be reached
# from where this backward starts. So the map is made anew each time, by a walk over the graph that computes nothing.
#
# A backward may also start at several Tensors. One of them can lie below another:
#
# **Predict:** with `paddle.autograd.backward([d, b])`, is `b` in the queue at the start? Its gradient is given, after all. What is `x.grad`?

# %%
tensors = diamond()
viz.backward_steps([tensors["d"], tensors["b"]], labels=tensors)

# %% [markdown]
# `b` has its 1 in the holder from the start (the table counts only edges), but an edge from `d` arrives too, so it waits. It runs with 1 + 1 = 2, `a` with 2·3 + 5 = 11, and `x.grad` is 11 · 2x = 44, the gradient of `d + b`.
#
# ## Hooks
# A **hook** is a function of yours that the engine calls with a Tensor's gradient. If it returns something, that is the gradient from now on. It is called when the gradient is
# *complete*, just before the node runs. (With the first idea, it would see pieces.)
#
# **Predict:** the hook below lets through at most 5. The complete gradient of `a` is 8. What is `x.grad`? What would it be if the hook saw the pieces 3 and 5?

# %%
tensors = diamond()
tensors["a"].register_hook(lambda grad: grad.clip(max=5.0))
for name, tensor in tensors.items():
    tensor.register_hook(lambda grad, name=name: print(f"gradient of {name}: {grad.item():g}"))
tensors["d"].backward()
print("x.grad", tensors["x"].grad.numpy())

# %% [markdown]
# 5 · 2x = 20. With pieces, nothing would have been cut off: 3 + 5 = 8, and 32 again. Hooks on the same Tensor run in the order in which they were registered: the second hook of `a` sees 5.
#
# ## The end of the road
# The node of a leaf is a **GradNodeAccumulation**. It computes nothing; it *adds* what arrives to `grad`.
#
# **Predict:** `x.grad` is 100 before we start, and a hook on `x` doubles. Does the hook see the sum in `x.grad`, or only what came this time?

# %%
tensors = diamond()
x = tensors["x"]
x.grad = paddle.to_tensor([100.0])
handle = x.register_hook(lambda grad: print("the hook sees", grad.numpy()) or grad * 2.0)
tensors["d"].backward(retain_graph=True)
print("x.grad", x.grad.numpy())
handle.remove()
tensors["d"].backward()
print("x.grad", x.grad.numpy(), "after a second backward, without the hook")

# %% [markdown]
# Only what came this time: 32, doubled, and then added: 100 + 64. Data-parallel training lives on this: a hook on each parameter sends off the gradient as soon as it is
# complete, while the rest of backward still runs (module 6). So that it need not wait, a leaf's node doesn't go to the end of the queue, but to the **front**.
#
# **Predict:** `loss = (x · w1) · w2`. In which order do the three leaves get their gradients, and which comes first, the node of `x · w1` or that of `w2`?

# %%
x, w1, w2 = (paddle.to_tensor([n], stop_gradient=False) for n in (1.0, 2.0, 3.0))
hidden = x * w1
loss = hidden * w2
for name, tensor in {"x": x, "w1": w1, "w2": w2, "hidden": hidden, "loss": loss}.items():
    tensor.register_hook(lambda grad, name=name: print(name, grad.numpy()))
loss.backward()

# %% [markdown]
# `w2` before `hidden`: the parameters of the *last* layer are ready first, and could be on their way to the other ranks while backward is still busy with the first layer. (`w1` before `x`: both
# went to the front, the later one in front of the earlier.)
#
# ## No recursion
# A depth-first walk in Python calls itself, once for each node on the way down. The engine has a queue and a loop.

# %%
y = paddle.to_tensor([1.0], stop_gradient=False)
for _ in range(5000):
    y = y * 1.0
try:
    runs(y.grad_fn)
except RecursionError:
    print("depth-first: RecursionError")
y.backward()
print("the engine: done")

# %% [markdown]
# ## In Paddle itself
# The order, on the real engine. Each hook prints the gradient of its Tensor, so you see when it was complete:

# %%
from minipaddle.compare import both

both(
    """
    def diamond():
        x = paddle.to_tensor([2.0], stop_gradient=False)
        a = x * x
        b, c = a * 3.0, a * 5.0
        return dict(d=b + c, b=b, c=c, a=a, x=x)

    t = diamond()
    for name, tensor in t.items():
        tensor.register_hook(lambda grad, name=name: print(name, grad.numpy()))
    t["d"].backward()

    x, w1, w2 = (paddle.to_tensor([n], stop_gradient=False) for n in (1.0, 2.0, 3.0))
    hidden = x * w1
    loss = hidden * w2
    for name, tensor in dict(x=x, w1=w1, w2=w2, hidden=hidden, loss=loss).items():
        tensor.register_hook(lambda grad, name=name: print(name, end=" "))
    loss.backward()
    """,
    same=True,
)

# %% [markdown]
# And a hook that changes a gradient, and two starts:

# %%
both(
    """
    def diamond():
        x = paddle.to_tensor([2.0], stop_gradient=False)
        a = x * x
        b, c = a * 3.0, a * 5.0
        return dict(d=b + c, b=b, c=c, a=a, x=x)

    t = diamond()
    t["a"].register_hook(lambda grad: grad.clip(max=5.0))
    t["d"].backward()
    print("clipped", t["x"].grad.numpy())

    t = diamond()
    paddle.autograd.backward([t["d"], t["b"]])
    print("two starts", t["x"].grad.numpy())
    """,
    same=True,
)

# %% [markdown]
# Real Paddle can tell the same story itself. Run a script with the environment variable `GLOG_v=4`, and the engine logs `Update In degree Map for backward`, then for each node `Preparing`,
# `begin run` and `Found pending node`. Compare it with a player's steps.
#
# | here, in `minipaddle/eager/` | in Paddle, in `paddle/fluid/eager/` |
# |---|---|
# | `backward.py`: `run_backward`, `get_in_degree_map` | `backward.cc`: `RunBackward`, `getInDegreeMap` |
# | `Holders` in `backward.py`: for each node a list, with one sum for each slot | `grad_tensor_holder.cc`: `GradTensorHolder::add` |
# | `accumulation_node.py` | `accumulation/accumulation_node.cc`: `GradNodeAccumulation` |
# | hooks of inner Tensors, in `grad_node_info.py` | `grad_node_info.cc`: `GradNodeBase::ApplyGradientHooks` |
#
# `run_backward` is about 60 lines, and you know now what nearly all of them are for. Open it.
#
# ## What we left out
# Paddle has a second queue, for nodes that must run exactly in the reverse order of their forward calls (`force_sequential_nodes`). Its holders also add sparse gradients, and its nodes
# can look for NaN in what they give (`FLAGS_check_nan_inf`).
#
# **Next**: lesson 2.4 lets backward itself be recorded. [2 · exercise](exercise.ipynb): the map of in-degrees, and then the walk. When a gradient in Paddle
# is wrong by a factor of two, or a hook comes too early, this is the place to look first: `backward.cc` is short, and you know its plan now.
