# %% [markdown]
# # 2.2 What does an op leave behind?
#
# You call `y = paddle.tanh(x)` and get a Tensor. Backward comes much later; then it has only the GradNode that the call left behind. It can't ask `tanh` again.
# **What must stand in that node, so that the gradient can find its way, and be computed?**
#
# Two things: *where to go on* (edges and slots), and *what the formula needs* (the Tensors that are kept). This lesson opens both.
#
# Time: 30 minutes. You need: lesson 2.1. You will use it in: [2 · exercise](exercise.ipynb).

# %% [markdown]
# ## Where to go on
# So far, every op had one result. `split` has several: it cuts a Tensor into parts.
#
# ## Predict
#
#     left, right = paddle.split(x, 2)
#     y = left * right
#     z = y + right
#     loss = z.sum()
#
# **Write down, before you step through it:** how many GradNodes are there at the end, with the node of the leaf `x`? `left.grad_fn` and `right.grad_fn`: one node or two? And to which
# node does the second edge of `z`'s node lead?

# %%
import minipaddle as paddle
from minipaddle import viz

viz.grad_graph_steps("""
x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
left, right = paddle.split(x, 2)  # One op, so one node, although there are two results.
y = left * right                  # Two edges to the same node. They arrive at different slots.
z = y + right                     # The second edge goes past y, straight to the node of right.
loss = z.sum()
loss.backward()
""")

# %% [markdown]
# Five nodes. **One op leaves one node**, however many results it has. So "which node" does not say enough: the gradient of `left` and that of `right` go to the same
# node, and must not be mixed up there. A node therefore has a numbered **slot** for each result of its op: slot 0 is for the gradient of `left`, slot 1 for that of `right`.
# In the picture, the number in the middle of an arrow says which input of the op it belongs to; the number at its head is the slot, where there is more than one.
#
# An **edge** is exactly this pair: a node and a slot. A node has one edge for each *input* of its op that can have a gradient (a Tensor
# of whole numbers, such as an index, can't), and one slot for each *output*.

# %%
x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
left, right = paddle.split(x, 2)
y = left * right
z = y + right

for name, tensor in {"left": left, "y": y, "z": z}.items():
    node = tensor.grad_fn
    print(f"{name}: {node.name()}, {len(node.specs)} slot(s)")
    for number, edge in enumerate(node.edges):
        print(f"   input {number}: gradient goes to {edge.node.name()}, slot {edge.slot}")
print("the same node:", left.grad_fn is right.grad_fn)
print("next_functions of z:", [node.name() for node in z.grad_fn.next_functions])

# %% [markdown]
# `next_functions` is what Paddle shows to Python. It is the list of edges without the slots.
#
# ## Predict
# Now somebody uses `left` only. Nothing ever arrives in slot 1. **What is `x.grad`?** An error, two numbers, or four?

# %%
x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
left, right = paddle.split(x, 2)
print("the node expects", [(list(shape), dtype.name) for shape, dtype in left.grad_fn.input_meta()])
(left * 10.0).sum().backward()
print("x.grad          ", x.grad.numpy())

# %% [markdown]
# Four numbers: `x` has four, so its gradient has four. Where nothing arrived, the node puts zeros. It can do so because it has written down, for each slot, the **shape and dtype** of the
# result. `right` itself may be gone by then.

# %% [markdown]
# ## What the formula needs
# A node takes the gradient of its op's result, `g`, and computes the gradients of the inputs. Some formulas need numbers from the forward computation, and these are no longer
# there unless the node **keeps** them.
#
# ## Predict
# Copy the table and fill in the last column: which Tensors must the node keep? `x`, `y`, `out`, or none? (The first row is done.)
#
# | op | gradient of x, and of y | the node keeps |
# |---|---|---|
# | `out = exp(x)` | g · exp(x) | `out`: it *is* exp(x) |
# | `out = tanh(x)` | g · (1 − out²) | |
# | `out = square(x)` | g · 2x | |
# | `out = x * y` | g · y, and g · x | |
# | `out = x + y` | g, and g | |
# | `out = sum(x)` | g, once for each element of x | |
# | `out = x * 3.0` | g · 3 | |
#
# A node holds what it keeps in **TensorWrappers**. Let us open some nodes:

# %%
from minipaddle.eager.tensor_wrapper import TensorWrapper


def kept(out):
    node, found = out.grad_fn, []
    for name in type(node).__slots__:
        value = getattr(node, name)
        if isinstance(value, TensorWrapper):
            found.append(f"{name}: the Tensor")
        elif not name.startswith("attr_"):
            found.append(f"{name}: only its shape and dtype")
    print(f"{node.name():18} {', '.join(found) or 'nothing'}")


x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
y = paddle.to_tensor([5.0, 7.0], stop_gradient=False)
for out in (paddle.exp(x), paddle.tanh(x), paddle.square(x), x * y, x + y, x.sum(), x * 3.0):
    kept(out)

# %% [markdown]
# Compare with your table. Three things are worth a second look:
#
# - **`exp` and `tanh` keep their result, not their input.** The result is there anyway, because the next op reads it. To keep `x` too would cost memory for nothing.
# - **`x + y` and `sum` keep no Tensor, only a shape.** `sum` must know into how many elements to spread `g`. Paddle calls this *no need buffer*: the memory of the Tensor
#   can be given back, although a node still knows its shape.
# - **`x * 3.0` keeps nothing.** A number is no Tensor: Paddle makes this a `scale` op, and the 3 is an attribute of the node. So write `x * 3.0`, not
#   `x * paddle.to_tensor(3.0)`, which would be a multiplication of two Tensors and keep both.
#
# This is where the memory of training goes. A network keeps the results of its layers (the *activations*) from forward to backward, because the nodes hold on to them.

# %% [markdown]
# ## The call itself, line by line
# Who makes the node, and when? For each op Paddle generates a function, the *ad_func* (from "automatic differentiation"). It is what runs when you call `paddle.tanh`. Ours is
# generated too, as Python, so we can watch it. `watch` calls a function and notes each statement that runs, with the local variables as they are just before it.

# %%
import ast
import sys

from minipaddle.eager import source_of

source = source_of("tanh")  # the class of the node, then the function
kinds = (ast.Assign, ast.If, ast.Return)
starts = {part.lineno for part in ast.walk(ast.parse(source)) if isinstance(part, kinds)}


def watch(function, *args):
    seen = []

    def on_line(frame, event, _):
        if event == "line" and frame.f_lineno in starts:
            values = {name: describe(value) for name, value in frame.f_locals.items()}
            seen.append((frame.f_lineno, values))
        return on_line

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: on_line if frame.f_code is function.__code__ else None)
    function(*args)
    sys.settrace(before)
    return seen


# %% [markdown]
# **Predict:** in which order do these three come into being: the numbers `out_data`, the Tensor `out`, the node? Then step, and watch the table. (The first line asks whether mixed precision is on, see
# lesson 2.6. The lines behind `except` run only if the kernel fails; they find words for the error.
# And `x_data.dtype.kind != "f"` says: whole numbers get no gradient here.)

# %%
from minipaddle.phi import find_op


def describe(value):
    if isinstance(value, paddle.Tensor):
        return f"Tensor, grad_fn: {value.grad_fn and value.grad_fn.name()}"
    if hasattr(value, "next_functions"):
        return f"{value.name()}, keeps {'out' if hasattr(value, 'out') else 'nothing yet'}"
    return f"({value.node.name()}, slot {value.slot})" if hasattr(value, "slot") else str(value)


function, steps = find_op("tanh").dygraph_function, []
first = function.__code__.co_firstlineno
lines = source.splitlines()[first - 1 :]
for number, values in watch(function, paddle.to_tensor([0.0, 1.0], stop_gradient=False)):
    code = viz.text(lines, highlight=number - first + 1, language="python", name="tanh")
    shown = [name for name in ("x_data", "out_data", "x_edge", "node", "out") if name in values]
    table = viz.table(["local", "value"], [[name, values[name]] for name in shown])
    steps.append(viz.step(f"Next: {lines[number - first].strip()}", code, table))
viz.Player(steps, label="One call of tanh")

# %% [markdown]
# First the **numbers**: an op computes, whoever may need a gradient. Then the **node**, but only because `x` has an edge; the edge goes straight into it. Then the **Tensor**, which knows nothing
# of the node yet. The last two lines tie them together: the Tensor gets an AutogradMeta that names the node and the slot, and the node gets a TensorWrapper of `out`.
#
# If `x_edge` were None, nothing would be made but the Tensor. That is all that `no_grad` and `stop_gradient=True` do: they leave out the node.
#
# ## Two that would hold each other
# Look at the last step once more: `out` holds its node, and the node keeps `out`. Two objects that hold each other are never freed by counting references; in C++ that is a
# leak, in Python they wait for the garbage collector.
#
# **Predict:** we switch Python's collector off and drop `y`. Does the node go at once, or does it stay?

# %%
import gc
import weakref

gc.disable()
x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
y = paddle.tanh(x)
node = weakref.ref(y.grad_fn)  # watches the node without holding it
print("y is there:", node())
del y
print("y dropped: ", node())
gc.enable()

# %% [markdown]
# It goes at once. That is the reason for the *wrapper*: a TensorWrapper of an **output** keeps the numbers, but not the AutogradMeta that leads back to the node. It only
# notes "I am slot 0 of my node". A TensorWrapper of an **input** keeps the AutogradMeta too, because that leads further back, in the direction in which the
# graph holds on anyway. (Lesson 2.4 needs it. The wrapper also checks that nobody has changed the numbers since: lesson 2.5.)
#
# ## In Paddle itself
# First the slots. `split` in real Paddle, and a gradient for only one of its results:

# %%
from minipaddle.compare import both

both(
    """
    x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
    left, right = paddle.split(x, 2)
    z = left * right + right
    print(left.grad_fn.name(), right.grad_fn.name())
    print([node.name() for node in z.grad_fn.next_functions])
    left.sum().backward()
    print(x.grad.numpy())
    """,
    same=True,
)

# %% [markdown]
# And what real nodes keep. Python can't look into a C++ node, but `saved_tensors_hooks` lets us watch: its first function is called for each Tensor that a node is about to keep, its second
# when backward wants it back. (People use it to move activations to the CPU, or to a file, while they aren't needed.)

# %%
both(
    """
    kept = []

    def pack(tensor):
        kept.append(str(tensor.numpy().round(2)))
        return tensor

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = paddle.to_tensor([5.0, 7.0], stop_gradient=False)
    tanh, square = lambda: paddle.tanh(x), lambda: paddle.square(x)
    with paddle.autograd.saved_tensors_hooks(pack, lambda tensor: tensor):
        for op in (tanh, square, lambda: x * y, lambda: x + y, lambda: x.sum(), lambda: x * 3.0):
            kept.clear()
            print(f"{op().grad_fn.name():18} keeps {' and '.join(kept) or 'nothing'}")
    """,
    same=True,
)

# %% [markdown]
# Where to read on in Paddle's source, all under `paddle/fluid/eager/`:
#
# | here | in Paddle |
# |---|---|
# | `minipaddle/eager/grad_node_info.py`: `Edge`, `GradNodeBase`, `specs` | `grad_node_info.h`: `Edge`, `GradNodeBase`, `GradSlotMeta` |
# | `minipaddle/eager/tensor_wrapper.py` | `tensor_wrapper.h`: `TensorWrapper`, with `no_need_buffer` and `weak_grad_node_` |
# | `minipaddle/eager/eager_gen.py` writes node and function | `auto_code_generator/generator/eager_gen.py` |
# | what an op keeps: read off its gradient rule in `minipaddle/phi/ops/` | `paddle/phi/ops/yaml/backward.yaml`: the arguments of each `..._grad`, and `no_need_buffer` |
#
# In Paddle, nobody writes down what a node keeps. The generator reads it from `backward.yaml`: `tanh_grad` takes `out` and `out_grad`, so the node keeps `out`. Ours reads it from the
# arguments of the rule in the same way.
#
# ## What we left out
# A slot in Paddle is a pair of numbers, because one argument in C++ can be a list of Tensors: which argument, and which of its Tensors. Ours counts all results in
# one row. And Paddle's TensorWrapper gets rid of the circle in another way: it never holds a node, it only knows it (by a *weak pointer*), for inputs and outputs alike. Paddle's generated functions also do layout tuning, profiling events, and more, between the lines that you saw.
#
# **Next**: lesson 2.3 sends gradients through this graph, and asks in which order. [2 · exercise](exercise.ipynb) asks you to write the node of an op: what it keeps, its
# edges, its formula. If you contribute an op to Paddle, you decide the same things, in `backward.yaml`.
