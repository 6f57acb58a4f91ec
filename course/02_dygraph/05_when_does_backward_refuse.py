# %% [markdown]
# # 2.5 When does backward refuse?
#
# Forward runs now, backward runs later. Between the two, your program goes on, and it may change numbers that a node still needs. Then the gradient would be wrong, and nothing would
# look wrong. **How can backward know that something was changed behind its back? And what does it not notice?**
#
# Time: 30 minutes. You need: lesson 2.2 (what a node keeps). You will use it in: [2 · exercise](exercise.ipynb).

# %% [markdown]
# ## The danger
# `y = a * a` has the gradient `2a`. The node keeps `a` for that, in a TensorWrapper. A TensorWrapper does not copy: it keeps the same memory, because copies of everything
# would cost as much as the model itself.
#
# A Tensor's memory here is a numpy array, `_data`. No user should touch it. We do it once, to see what happens when nobody watches.
#
# **Predict:** `a` is 3 when it is multiplied, and 100 when backward runs. Which gradient comes out?

# %%
import textwrap

import minipaddle as paddle
from minipaddle import viz

x = paddle.to_tensor([3.0], stop_gradient=False)
a = x * 1.0
y = a * a
a._data[0] = 100.0  # nobody watches this way
y.backward()
print("y", y.numpy(), "x.grad", x.grad.numpy())

# %% [markdown]
# `y` is 9, computed from 3, and the gradient is 200, computed from 100. No error. A model would train, badly.
#
# ## A number that counts changes
# So each Tensor has an **`inplace_version`**: how often its memory was changed in place. The ops that change memory have names that end in `_`: `add_`, `relu_`; `a[0] = ...` is one
# too. Each adds 1. A TensorWrapper notes the version when it starts to keep a Tensor, and compares when backward asks for it.

# %%
x = paddle.to_tensor([3.0], stop_gradient=False)
a = x * 1.0
y = a * a
print("version", a.inplace_version, "kept at", y.grad_fn.x.version_kept)
a.add_(paddle.to_tensor([97.0]))
print("version", a.inplace_version, "kept at", y.grad_fn.x.version_kept)
try:
    y.backward()
except RuntimeError as error:
    print(textwrap.fill(f"RuntimeError: {error}", 96))

# %% [markdown]
# ## Predict
# In each line below, `a` is used, then changed by `a.add_(...)`, then backward runs. A refusal for every change would be easy, but a nuisance. What counts is whether the node has
# *kept* `a` (lesson 2.2). **Write down for each: refused or not?**
#
# | | refused? |
# |---|---|
# | `y = a * a` | |
# | `y = a + a` | |
# | `y = paddle.square(a)` | |
# | `y = paddle.exp(a)` | |
# | `y = a * 5.0` | |
# | `y = a * k`, where `k` stops gradients | |


# %%
def answer(y, x):
    """The gradient of x, or that backward refuses."""
    try:
        y.sum().backward()
    except RuntimeError:
        return "refused"
    return f"x.grad {x.grad.numpy()}"


k, one = paddle.to_tensor([5.0]), paddle.to_tensor([1.0])
for code in ("a * a", "a + a", "paddle.square(a)", "paddle.exp(a)", "a * 5.0", "a * k"):
    x = paddle.to_tensor([3.0], stop_gradient=False)
    a = x * 1.0
    y = eval(code)
    a.add_(one)
    print(f"{code:18} {answer(y, x)}")

# %% [markdown]
# `exp` keeps its *result*, since `exp' = exp`: change `a` as you like. A sum keeps no numbers at all. Only the last line is unfair: the gradient needs just `k`, but the node was
# generated for any use of `*`, keeps both, and looks at both. So backward may refuse where the gradient would have been right. It should never do the opposite.
#
# **Predict:** which of these refuse if not `a` but the result `y` is changed, by `y.add_(...)`?

# %%
for code in ("a * a", "paddle.exp(a)", "paddle.nn.functional.relu(a)"):
    x = paddle.to_tensor([3.0], stop_gradient=False)
    a = x * 1.0
    y = eval(code)
    y.add_(one)
    print(f"{code:30} {answer(y, x)}")

# %% [markdown]
# ## Two Tensors, one memory
# `a.reshape([2, 1])` copies nothing. It is a **view**: another Tensor, with another shape, on the same memory. Change the view, and `a` is changed.
#
# So the version can't belong to the Tensor. **It belongs to the memory**, and all Tensors that share the memory share one counter.
#
# To watch, we write a small film. After each line of a program it draws the Tensors, the memory that they show, and which nodes keep what, at which version. First, what a node keeps:

# %%
from minipaddle.eager.tensor_wrapper import TensorWrapper


def kept(node):
    """The TensorWrappers in a node, by name."""
    if node is None or node.accumulates:
        return {}
    held = {name: getattr(node, name, None) for name in type(node).__slots__}
    return {name: one for name, one in held.items() if isinstance(one, TensorWrapper)}


def memory(owner, seen):
    """A name for the memory that a Tensor or a TensorWrapper shows. They share one counter."""
    counter = owner.version if isinstance(owner, TensorWrapper) else owner._version
    place = next((i for i, known in enumerate(seen) if known is counter), len(seen))
    if place == len(seen):
        seen.append(counter)
    return f"memory {place + 1}"


# %% [markdown]
# And the film:


# %%
def picture(tensors, seen):
    """A graph: Tensors and nodes, and the memory they use. A table: what the nodes keep."""
    nodes, edges, rows = [], [], []
    for name, tensor in tensors.items():
        nodes.append(viz.node(name, kind="Tensor"))
        edges.append((name, memory(tensor, seen)))
    for name, tensor in tensors.items():
        node = tensor.grad_fn
        for slot, one in kept(node).items():
            now, verdict = one.version[0], "good" if one.version[0] == one.version_kept else "stale"
            where = memory(one, seen)
            rows.append([f"{node.name()} of {name}", slot, where, one.version_kept, now, verdict])
        if kept(node):
            state = "changed" if any(row[-1] == "stale" for row in rows) else ""
            nodes.append(viz.node(f"node {name}", f"{node.name()}\nof {name}", "grad", state=state))
            arrows = [(f"node {name}", memory(one, seen)) for one in kept(node).values()]
            edges += dict.fromkeys(arrows)  # one arrow, however often it keeps it
    for place, counter in enumerate(seen, 1):
        nodes.append(viz.node(f"memory {place}", f"memory {place}\nversion {counter[0]}", "memory"))
    columns = ["node", "keeps", "of", "at version", "version now", "verdict"]
    return viz.graph(nodes, edges), viz.table(columns, rows, name="TensorWrappers")


# %%
def film(source):
    """Runs a program line by line, with a picture after each. What stands behind # is its note."""
    lines = source.strip().splitlines()
    names, seen, steps = {"paddle": paddle}, [], []
    for number, line in enumerate(lines, 1):
        code, _, note = line.partition("#")
        title = code.strip()
        try:
            exec(code, names)
        except (RuntimeError, ValueError) as error:
            title += f"  ->  {type(error).__name__}"
        tensors = {name: t for name, t in names.items() if isinstance(t, paddle.Tensor)}
        shown = [one.partition("#")[0].rstrip() for one in lines]
        code_pane = viz.text(shown, highlight=number, language="python")
        steps.append(viz.step(title, code_pane, *picture(tensors, seen), note=note.strip()))
    return viz.Player(steps, label="Versions and views", keep_places=True)


# %% [markdown]
# ## Predict
# Below there are five Tensors (`x`, `a`, `row`, `flat`, `y`). **How many memories? After `row.scale_(2.0)`, what is the version of `a`, and does backward of `y` notice?**

# %%
film("""
x = paddle.ones([2, 2])
x.stop_gradient = False  # A leaf, with memory of its own.
a = x * 10.0             # New memory. The node of a number times x keeps nothing.
flat = a.reshape([4])    # A view: no new memory.
row = a[0]               # A slice is a view too: it shows a part.
y = paddle.square(a)     # The node keeps a, at version 0.
row.scale_(2.0)          # Written through the view. The counter is the memory's.
y.sum().backward()       # Kept at 0, but now at 1: refused.
""")

# %% [markdown]
# Three memories: one for `x`, one for `y`, and one that `a`, `flat` and `row` share. Two more things are in this picture. The change came through `row`, which the node has never seen, and it was noticed all the same. And `row` shows only a half of the memory: had the node
# kept the other half, it would be refused too. One counter for one memory is coarse, cheap, and on the safe side.
#
# Which ops give views? **Predict:** `reshape`, `t()` (transpose), `a[0]`, `a + 0`, `clone()`, `detach()`, `a[paddle.to_tensor([0])]`. Mark those that share the memory of `a`.

# %%
a = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
others = {
    "a.reshape([4])": a.reshape([4]),
    "a.t()": a.t(),
    "a[0]": a[0],
    "a + 0": a + 0,
    "a.clone()": a.clone(),
    "a.detach()": a.detach(),
    "a[paddle.to_tensor([0])]": a[paddle.to_tensor([0])],
}
a.add_(paddle.to_tensor([100.0, 100.0]))
for code, tensor in others.items():
    shares = float(tensor.numpy().ravel()[0]) == 101.0
    print(f"{code:26} version {tensor.inplace_version}  {'a view' if shares else 'own memory'}")

# %% [markdown]
# Remember `detach()`: people use it "to get the numbers". It cuts the graph, not the memory. Write into it, and you write into `a`. (`a[paddle.to_tensor([0])]` picks rows by number; they
# may lie anywhere, so they are copied.)
#
# ## What an in-place op does to the graph
# The memory is one thing, the graph another. `a.tanh_()` gives `a` new numbers *and a new node*: from now on `a` is the result of tanh.
#
# **Predict:** which node does `a` have before and after? What is at the end of the new node's edge?

# %%
viz.grad_graph_steps("""
x = paddle.to_tensor([0.5], stop_gradient=False)
a = x * 2.0   # The node of a is a ScaleGradNode.
a.tanh_()     # The same Tensor a, now with a TanhGradNode, whose edge leads to the node that a had.
y = a * 3.0
y.backward()
""")

# %% [markdown]
# For a leaf this can't work. A leaf is where gradients end. After `x.tanh_()`, `x` would be the result of an op; the leaf, with the numbers whose gradient you want, would be gone.
# So this is refused at once, in forward:

# %%
x = paddle.to_tensor([0.5], stop_gradient=False)
try:
    x.tanh_()
except ValueError as error:
    print(textwrap.fill(f"ValueError: {error}", 96))
with paddle.no_grad():
    x.add_(paddle.to_tensor([0.1]))  # what an optimizer does
print("after the change in no_grad: leaf", x.is_leaf, "version", x.inplace_version)

# %% [markdown]
# In `no_grad` nothing is recorded, so `x` stays a leaf. But the version counts there too. **Predict:** a training loop does forward, `optimizer.step()`, then backward, in the wrong order.
# What happens?

# %%
w = paddle.to_tensor([2.0], stop_gradient=False)
loss = paddle.square(w)
with paddle.no_grad():
    w.subtract_(paddle.to_tensor([0.1]))  # too early
print(answer(loss, w))

# %% [markdown]
# ## What nobody notices
# Now the part that the counter can't see. A view is written through, *before* anybody keeps the numbers:
#
# **Predict:** `a` is `[1, 2]`; `view` is its first element, multiplied by 3. So `a` is `[3, 2]`, and `a.sum()` is `3·x₀ + x₁`. What should `x.grad` be? What will it be? We ask real
# Paddle as well:

# %%
from minipaddle.compare import both

both(
    """
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    a = x * 1.0
    view = a[0]
    view.multiply_(paddle.to_tensor(3.0))
    print("a", a.numpy(), "version", a.inplace_version)
    print("nodes: a has", a.grad_fn.name() + ", view has", view.grad_fn.name())
    a.sum().backward()
    print("x.grad", x.grad.numpy())
    """,
    same=True,
)

# %% [markdown]
# It should be `[3, 1]`, and it is `[1, 1]`. Both frameworks are wrong, in silence. The in-place op gave a new node to `view`, but `a`, which shows the same memory, still has its old node:
# the graph of `a` knows nothing of the factor 3. No wrapper is stale, because `sum` kept no numbers.
#
# The way that works is to write through `a` itself: `a[0] = a[0] * 3`. Then the new node belongs to `a`:

# %%
x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
a = x * 1.0
a[0] = a[0] * 3.0
a.sum().backward()
print("a", a.numpy(), "node", a.grad_fn.name(), "x.grad", x.grad.numpy())

# %% [markdown]
# ## A node of your own: PyLayer
# Sometimes the right gradient is not the one that you want. A small example: weights that are rounded to quarters, to be stored in few bits. `round` is flat, so its gradient is 0, and
# nothing can be learned. People then pass the gradient on *as if* there were no rounding.
#
# A **PyLayer** is an op of which you write both sides. `forward` is not recorded; the whole call leaves one node, and that node calls your `backward`.


# %%
class Quarters(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, w, steps):
        return paddle.round(w * steps) / steps

    @staticmethod
    def backward(ctx, grad):
        return grad  # one gradient for each Tensor that forward took; steps is no Tensor


w = paddle.to_tensor([0.13, 0.77], stop_gradient=False)
(paddle.round(w * 4.0) / 4.0).sum().backward()
print("the true gradient", w.grad.numpy())
w.clear_grad()
q = Quarters.apply(w, 4.0)
q.sum().backward()
print("rounded", q.numpy(), "node", q.grad_fn.name(), "w.grad", w.grad.numpy())

# %% [markdown]
# What backward needs, forward leaves in `ctx`: Tensors with `save_for_backward`, which puts them into TensorWrappers; anything else as an attribute (`ctx.steps = steps`).
#
# **Predict:** four layers for `x³`, three of them with a mistake. Which mistakes does backward notice?


# %%
def cube(gradient):
    """A PyLayer for x * x * x, whose backward is `gradient(x, grad)`."""

    class Cube(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensor()
            return gradient(x, grad)

    return Cube.apply


layers = {
    "right": cube(lambda x, grad: grad * 3.0 * x * x),
    "two gradients": cube(lambda x, grad: (grad * 3.0 * x * x, grad)),
    "wrong shape": cube(lambda x, grad: (grad * 3.0 * x * x).sum()),
    "wrong formula": cube(lambda x, grad: grad * 2.0 * x * x),
}

# %%
for name, layer in layers.items():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    try:
        layer(x).sum().backward()
        print(f"{name:14} x.grad {x.grad.numpy()}")
    except (RuntimeError, ValueError) as error:
        print(f"{name:14} {type(error).__name__}: {str(error).partition(' Return')[0][:90]}")

# %% [markdown]
# Backward sees counts and shapes. It can't see mathematics: the wrong formula gives `[2, 8]` instead of `[3, 12]`, and nobody complains. For this there is one remedy, and each op of Paddle
# has such a test: move the input a little, and compare.

# %%
import numpy as np

from minipaddle.utils.gradcheck import grad_check

for name in ("right", "wrong formula"):
    try:
        grad_check(layers[name], [np.array([1.0, 2.0])])
        print(f"{name:14} good")
    except AssertionError as error:
        print(f"{name:14} {str(error).partition(';')[0]}")

# %% [markdown]
# ## In Paddle itself
# The same refusals, on the real engine:

# %%
both(
    """
    k, one = paddle.to_tensor([5.0]), paddle.to_tensor([1.0])
    for code in ("a * a", "a + a", "paddle.square(a)", "paddle.exp(a)", "a * 5.0", "a * k"):
        x = paddle.to_tensor([3.0], stop_gradient=False)
        a = x * 1.0
        y = eval(code)
        view = a.reshape([1, 1])
        view.add_(one)
        try:
            y.sum().backward()
            print(code, x.grad.numpy().round(2))
        except Exception as error:
            print(code, type(error).__name__, a.inplace_version)
    """,
    same=True,
)

# %%
both(
    """
    x = paddle.to_tensor([0.5], stop_gradient=False)
    try:
        x.tanh_()
    except Exception as error:
        print("leaf", type(error).__name__)
    a = x * 2.0
    a.tanh_()
    print(a.grad_fn.name(), [node.name() for node in a.grad_fn.next_functions])
    """,
    same=True,
)

# %% [markdown]
# And two places where real Paddle 3.3 does not look, and gives a wrong gradient where ours refuses. **Predict** what each prints, before you look. The right gradient would be 6. First `set_value`:

# %%
both(
    """
    x = paddle.to_tensor([3.0], stop_gradient=False)
    y = x * x
    x.set_value(np.array([100.0], "float32"))
    print("version", x.inplace_version)
    try:
        y.backward()
        print(x.grad.numpy())
    except Exception as error:
        print(type(error).__name__)
    """,
    same=False,
)

# %% [markdown]
# And what a PyLayer has saved:

# %%
both(
    """
    class Square(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensor()
            return grad * 2.0 * x

    x = paddle.to_tensor([3.0], stop_gradient=False)
    a = x * 1.0
    y = Square.apply(a)
    a.add_(paddle.to_tensor([97.0]))
    try:
        y.backward()
        print(x.grad.numpy())
    except Exception as error:
        print(type(error).__name__)
    """,
    same=False,
)

# %% [markdown]
# `set_value` writes into the memory but does not count, and a PyLayer's saved Tensors are not compared. Now you know what to think of such a report: somebody wrote to memory, and nobody
# counted, or nobody compared.
#
# | here | in Paddle |
# |---|---|
# | `Tensor._version`, shared by views | `paddle/phi/core/dense_tensor.inl`: `InplaceVersionCounter`, `ShareInplaceVersionCounterWith` |
# | `minipaddle/eager/tensor_wrapper.py`: `array()` | `paddle/fluid/eager/tensor_wrapper.h`: `check_inplace_version` |
# | `require_no_leaf` in `minipaddle/eager/dygraph_function.py` | `paddle/fluid/eager/utils.cc`: `CheckInplace` |
# | the trait `View` of an op, in `minipaddle/phi/ops/manipulation.py` | `paddle/phi/ops/yaml/ops.yaml`: `view : (x -> out)`; `inplace : (x -> out)` makes `reshape_` |
# | `minipaddle/autograd/py_layer.py` | `python/paddle/autograd/py_layer.py`, `paddle/fluid/pybind/eager_py_layer.cc`, `paddle/fluid/eager/pylayer/` |
#
# ## What we left out
# A Tensor in Paddle has strides of its own, so more ops give views there (a transpose, a slice with steps), and kernels that can't read strides make a copy first; numpy does this for us.
# PyLayer has more to mark: `ctx.mark_not_inplace`, `ctx.mark_non_differentiable`, `ctx.set_materialize_grads`; they are in `py_layer.py`, a few lines each.
#
# **Next**: lesson 2.6 uses PyLayer to throw activations away and compute them again. [2 · exercise](exercise.ipynb): write the version check, and a PyLayer. For a contribution to Paddle, it is
# the line `inplace` in `ops.yaml` that makes `relu_` out of `relu`; the reviewer will ask what the gradient keeps, and you can answer.
