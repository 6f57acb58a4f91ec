# %% [markdown]
# # 2.6 What can training do without?
#
# Memory is what a training runs out of first. Two things fill it: numbers with 32 bits each, and the results that the nodes keep for backward (lesson 2.2). **Can training do without half of the bits? Can it do
# without most of the kept results? And what breaks if one is careless?**
#
# Time: 30 minutes. You need: lessons 2.2, 2.3, and PyLayer from 2.5. You will use it in: [2 · exercise](exercise.ipynb).

# %% [markdown]
# ## Half of the bits
# float32 has 24 bits for the digits of a number and 8 for its size. float16 has 11 and 5. Matrix products in float16 are several times faster on a GPU, and everything takes half the memory.
#
# **Predict** what comes out in float16:
#
# | | float16 |
# |---|---|
# | 2048 + 1 | |
# | 1 + 0.0004 | |
# | 70000 | |
# | 0.00000001 (1e-8) | |

# %%
import warnings

import numpy as np

import minipaddle as paddle
from minipaddle import viz

warnings.filterwarnings("ignore", "overflow")
half = np.float16
print("2048 + 1    ", float(half(2048) + half(1)))
print("1 + 0.0004  ", float(half(1) + half(0.0004)))
print("70000       ", float(half(70000)))
print("1e-8        ", float(half(1e-8)))

# %% [markdown]
# Three dangers, and they will come back below:
#
# - **coarse**: between 1 and 2 the numbers stand 0.001 apart. What is smaller is lost in a sum;
# - **overflow**: above 65504 there is only `inf`;
# - **underflow**: below 0.00000006 (6e-8) there is only 0.
#
# ## Mixed precision
# So we can't use float16 everywhere. *Automatic mixed precision* (AMP) decides op by op. Inside `paddle.amp.auto_cast()` each op looks itself up:
#
# | list | the op computes in | for example |
# |---|---|---|
# | white | float16: its inputs are cast | `matmul`, `conv2d`: fast, and they add up in float32 inside |
# | black | float32: its inputs are cast back | `exp`, `sum`, `mean`, `softmax`, losses: they overflow, or add up many numbers |
# | neither | what comes; where dtypes mix, float32 | `add`, `relu`, `tanh` |
#
# **Predict** the dtype of each result below. `x`, `w`, `b` are float32.

# %%
x = paddle.ones([4, 8])
w = paddle.full([8, 8], 0.1)
b = paddle.zeros([8])
w.stop_gradient = b.stop_gradient = False

with paddle.amp.auto_cast():
    product = x @ w
    results = {
        "product = x @ w": product,
        "relu(product)": paddle.nn.functional.relu(product),
        "product + product": product + product,
        "product + b": product + b,
        "softmax(product)": paddle.nn.functional.softmax(product),
        "product.sum()": product.sum(),
    }
for name, tensor in results.items():
    print(f"{name:20} {tensor.dtype.name}")

# %% [markdown]
# `b` is float32, so adding it makes float32 of a float16 product. The casts are ops like any other. **Predict:** which dtype will `w.grad` have? Follow the arrows in the picture: what does the node of a cast do with a
# gradient?

# %%
with paddle.amp.auto_cast():
    loss = (x @ w).mean()
viz.grad_graph(loss, labels={"w": w, "loss": loss})

# %%
loss.backward()
print("w", w.dtype.name, "w.grad", w.grad.dtype.name)

# %% [markdown]
# float32. On the way back, a cast casts back. So the parameters stay float32, the optimizer sees float32, and only the expensive part in the middle is in float16.
#
# ## When gradients vanish
# A loss is often a mean over very many numbers: a picture to be cut into regions has a million pixels. Each number's part in the gradient is then tiny, although together they matter.
#
# Below a million predictions are each wrong by at most 0.01. **Predict:** the gradient for one prediction is at most `2 · 0.01 / 1,000,000`. What becomes of it in float16? And of `w.grad`?

# %%
rng = np.random.default_rng(0)
inputs = paddle.to_tensor(rng.random((1_000_000, 1), "float32"))
target = inputs * 1.01


def fresh():
    """A model with one weight, 1.0. The right weight is 1.01."""
    model = paddle.nn.Linear(1, 1, bias_attr=False)
    model.weight.set_value(np.array([[1.0]], "float32"))
    return model


def loss_of(model):
    return paddle.mean(paddle.square(model(inputs) - target))


model = fresh()
loss_of(model).backward()
print(f"float32             {model.weight.grad.item():.5f}")
with paddle.amp.auto_cast():
    loss = loss_of(model := fresh())
loss.backward()
print(f"auto_cast           {model.weight.grad.item():.5f}")

# %% [markdown]
# Zero: a million gradients of up to 2e-8 were cast to float16 on their way back through `model`, and each was lost. The remedy is simple: **multiply the loss by a large number before backward, and divide the
# gradients by it afterwards.** All gradients in between are shifted up, away from the edge.
#
# **Predict** for the scales 4, 1024, 65536, and 2³⁰: right, coarse, zero, or infinite?

# %%
for exponent in (0, 2, 10, 16, 30):
    with paddle.amp.auto_cast():
        loss = loss_of(model := fresh())
    (loss * 2.0**exponent).backward()
    gradient = model.weight.grad.item() / 2.0**exponent
    print(f"scale 2^{exponent:<2}  w.grad {gradient:.5f}")

# %% [markdown]
# Too small, and the gradient underflows. Too large, and it overflows. Between them there is plenty of room, but where it lies changes as the model learns, because gradients get smaller.
#
# ## GradScaler
# So the scale is found by trying. A **GradScaler** does this:
#
# 1. `scale(loss)`: multiply; then you call `backward()`.
# 2. `step(optimizer)`: divide the gradients; if one of them is `inf` or NaN, **leave the step out**; else `optimizer.step()`.
# 3. `update()`: after a bad step, halve the scale; after several good ones in a row, double it.
#
# `inf` is thus not an accident. It is how the scaler learns where the ceiling is. The cost: a few steps that don't count.
#
# We start too high on purpose, with 2²⁶, and let it double after 2 good steps (by default it is 2000).
#
# **Predict:** how many steps are left out at the start? Will it be left alone once it works?


# %%
def picture(bad):
    """What a training step does, as a graph. `bad`: were there infinite gradients?"""
    chosen = "skip: w stays\nhalve the scale" if bad else "optimizer.step()\ncount a good step"
    names = ["loss", "loss · scale", "backward", "grad / scale", "all finite?", chosen]
    nodes = [viz.node(i, name, "grad" if i == 2 else "op") for i, name in enumerate(names)]
    nodes[-1]["state"] = "removed" if bad else "done"
    return viz.graph(nodes, [(i, i + 1) for i in range(5)], direction="right")


# %%
def train(steps, scaler):
    """The steps of a training with a GradScaler, for a player."""
    model, film, rows = fresh(), [], []
    optimizer = paddle.optimizer.SGD(0.2, parameters=model.parameters())
    for number in range(1, steps + 1):
        scale, before = scaler.state_dict()["scale"].item(), model.weight.item()
        with paddle.amp.auto_cast():
            loss = loss_of(model)
        scaler.scale(loss).backward()
        scaled = model.weight.grad.item()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        weight, bad = model.weight.item(), not np.isfinite(scaled)
        rows.append([number, f"2^{np.log2(scale):.0f}", f"{scaled:.2g}", f"{weight:.4f}"])
        table = viz.table(["step", "scale", "gradient, scaled", "w after"], rows)
        title = f"Step {number}: " + ("infinite, left out" if bad else f"w was {before:.4f}")
        after = f"The scale for the next step: 2^{np.log2(scaler.state_dict()['scale'].item()):.0f}"
        film.append(viz.step(title, picture(bad), table, note=after))
    return viz.Player(film, label="GradScaler")


# %%
train(10, paddle.amp.GradScaler(init_loss_scaling=2.0**26, incr_every_n_steps=2))

# %% [markdown]
# ## Steps that are too small
# With O1, which you have seen, the parameters stay float32. Level O2 goes further: `paddle.amp.decorate(model, level="O2")` casts the *parameters* to float16 too. Then no casts of them are needed.
#
# **Predict:** a weight of 1 in float16; 100 steps, each takes away 0.0001. Where is it at the end? Think of the first danger. What would you keep, to do better?


# %%
def hundred_steps(keep_master):
    model = fresh()
    optimizer = paddle.optimizer.SGD(0.0001, parameters=model.parameters())
    if keep_master:
        model, optimizer = paddle.amp.decorate(model, optimizer, level="O2")
    else:
        model = paddle.amp.decorate(model, level="O2")
    one = paddle.ones([1, 1], "float16")
    for _ in range(100):
        model(one).sum().backward()  # the gradient is 1
        optimizer.step()
        optimizer.clear_grad()
    return model.weight


for keep_master in (False, True):
    weight = hundred_steps(keep_master)
    print(f"master weights {keep_master!s:5}  {weight.dtype.name}  {weight.item():.4f}")

# %% [markdown]
# Without help it hasn't moved: `1 - 0.0001` is 1 in float16, a hundred times. The optimizer therefore keeps a float32 copy of each parameter, the **master weight**, adds its small steps there, and writes the rounded result
# into the model. So for the parameters O2 takes even more memory, 2 + 4 bytes; it pays off in activations, gradients, and speed.

# %% [markdown]
# ## Without most of the kept results
# Now the second thing that fills memory. Let us watch it. `saved_tensors_hooks` (2.2) tells us each time a node keeps a Tensor; and Python tells us when the array behind it is gone. A `Ledger` writes both down:

# %%
import weakref


class Ledger:
    """Which arrays the nodes keep, from when to when. Parameters don't count: they stay anyway."""

    def __init__(self):
        self.now, self.lane, self.titles = 0, "", []
        self.alive, self.rows, self.peak = {}, [], 0

    def tick(self, title, lane):
        self.now, self.lane = len(self.titles), lane
        self.titles.append(title)

    def keep(self, tensor):
        array = tensor._data
        if not tensor.persistable and id(array) not in self.alive:
            row = {"lane": self.lane, "start": self.now, "end": None}
            self.rows.append(row)
            self.alive[id(array)] = row
            weakref.finalize(array, self.forget, id(array))
            self.peak = max(self.peak, len(self.alive))
        return tensor.detach()

    def forget(self, number):
        self.alive.pop(number)["end"] = self.now


# %% [markdown]
# The model: four blocks, each of three layers with tanh. `run_block` says how a block is run; for now, it is simply called.


# %%
def make_blocks(count, layers):
    linear, tanh = paddle.nn.Linear, paddle.nn.Tanh
    paddle.seed(0)
    return [
        paddle.nn.Sequential(*[layer for _ in range(layers) for layer in (linear(8, 8), tanh())])
        for _ in range(count)
    ]


# %%
def step(blocks, run_block, x):
    """One forward and backward under a Ledger's eyes."""
    ledger = Ledger()
    with paddle.autograd.saved_tensors_hooks(ledger.keep, lambda tensor: tensor):
        y = x
        for i, block in enumerate(blocks):
            ledger.tick(f"Forward, block {i}", f"block {i}")
            y = run_block(block, y)
            title, lane = f"Backward, block {i}", f"block {i}"
            y.register_hook(lambda grad, title=title, lane=lane: ledger.tick(title, lane))
        loss = y.sum()
        del y
        loss.backward()
        ledger.tick("Done", "")
    return ledger


# %%
def movie(ledger):
    """A player: what is kept, as bars that grow with time."""
    lanes = list(dict.fromkeys(row["lane"] for row in ledger.rows))
    steps, end = [], len(ledger.titles)
    for now, title in enumerate(ledger.titles):
        bars, live = [], 0
        for i, row in enumerate(ledger.rows):
            last = end if row["end"] is None else row["end"] + 1
            if row["start"] <= now:
                alive = last > now
                live += alive
                color = "memory" if alive else ""
                bars.append(viz.bar(row["lane"], row["start"], min(last, now + 1), "", color, id=i))
        picture = viz.timeline(lanes, bars, cursor=now + 1, span=(0, end), name="Kept arrays")
        steps.append(viz.step(f"{title}: {live} array{'s' * (live != 1)} in this step", picture))
    return viz.Player(steps, label="Memory")


# %% [markdown]
# ## Predict
# 12 layers. **How many arrays are kept at the end of forward? In which order do they go in backward?** (A tanh keeps its result; a Linear keeps its input, which is the result of the tanh before it: the same array.)

# %%
x = paddle.ones([4, 8])
x.stop_gradient = False
plain = step(make_blocks(4, 3), lambda block, y: block(y), x)
print("at most", plain.peak, "arrays at once")
movie(plain)

# %% [markdown]
# The picture is a pyramid: what is made first is needed last. (One bar stays to the end: the input, which is yours.) At the top, at the end of forward, all of it is alive.
#
# ## Throw it away, compute it again
# A block can be run in `no_grad`, so that nothing is kept, except its input. When backward arrives, we run the block a second time, now recorded, and send the gradient through that small graph. This is **recompute** (also called
# *activation checkpointing*). With a PyLayer you can write it yourself:


# %%
class Again(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, block):
        ctx.block = block
        ctx.save_for_backward(x)
        return block(x)  # a PyLayer's forward is not recorded

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensor()
        x = x.detach()
        x.stop_gradient = False
        with paddle.enable_grad():
            y = ctx.block(x)  # again, and now nodes are left behind
        y.backward(grad)
        return x.grad


# %% [markdown]
# **Predict** for the same 12 layers in 4 blocks: how many arrays at once? What will the picture look like in backward?

# %%
again = step(make_blocks(4, 3), lambda block, y: Again.apply(y, block), x)
print("at most", again.peak, "arrays at once")
movie(again)

# %% [markdown]
# In forward, one array for each block. In backward, the arrays of *one* block come back for a moment. The gradients are the same numbers, and the price is one more forward:

# %%
for run_block in (lambda block, y: block(y), lambda block, y: Again.apply(y, block)):
    blocks = make_blocks(4, 3)
    x.clear_gradient(False)
    step(blocks, run_block, x)
    weight = blocks[0][0].weight
    print(
        "x.grad",
        x.grad.numpy()[0, :3].round(6),
        "first weight",
        weight.grad.numpy()[0, :3].round(6),
    )

# %% [markdown]
# ## How large should a block be?
# 16 layers. With one layer to a block, nothing is won: every block's input is kept. With all 16 in one block, all 16 come back at once.
#
# **Predict:** at which block size is the peak smallest?

# %%
for layers in (1, 2, 4, 8, 16):
    ledger = step(make_blocks(16 // layers, layers), lambda block, y: Again.apply(y, block), x)
    print(f"{16 // layers:2} blocks of {layers:2} layers: at most {ledger.peak:2} arrays")

# %% [markdown]
# For `n` layers in blocks of `k`, about `n/k` inputs and `k` results of one block are alive at once. The sum is smallest at `k = √n`. So a net of 10,000 layers needs the memory of 200, and takes a third more time: forward is
# about a third of a step, and it runs twice.
#
# ## The trap: chance
# A block may draw random numbers; dropout does. **Predict:** is the gradient right, if the block draws *other* numbers the second time?

# %%
drop = paddle.nn.Dropout(0.5)
ones = paddle.ones([10])
ones.stop_gradient = False
paddle.seed(4)
y = Again.apply(ones, drop)
y.sum().backward()
print("forward  ", y.numpy())
print("gradient ", ones.grad.numpy())

# %% [markdown]
# Where forward let a number through, the gradient should be 2, else 0: the two lines should be equal. They aren't, and again there is no error. So a real recompute notes the state of the random generator, and sets it back for the second run. Paddle's does:

# %%
from minipaddle.distributed.fleet.utils import recompute

ones.clear_gradient(False)
paddle.seed(4)
y = recompute(drop, ones)
y.sum().backward()
print("forward  ", y.numpy())
print("gradient ", ones.grad.numpy())

# %% [markdown]
# ## In Paddle itself
# First mixed precision, on this machine's CPU:

# %%
from minipaddle.compare import both

both(
    """
    x, w = paddle.ones([2, 2]), paddle.ones([2, 2])
    w.stop_gradient = False
    with paddle.amp.auto_cast():
        y = x @ w
        print(y.dtype, y.sum().dtype)
    scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
    print(scaler.scale(y.sum()).item(), scaler.is_enable())
    """,
    same=False,
)

# %% [markdown]
# **Real Paddle does mixed precision on GPUs (and similar devices) only.** On a CPU, where float16 would make nothing faster, `auto_cast` and GradScaler do nothing, and say so in a warning. Ours casts everywhere, so that you can see it. The lists are
# plain Python, and can be asked:

# %%
both(
    """
    white = paddle.amp.white_list()["float16"]["O1"]
    black = paddle.amp.black_list()["float16"]["O1"]
    for op in ("matmul", "conv2d", "exp", "softmax", "square", "layer_norm", "relu", "tanh"):
        print(f"{op:11}", "white" if op in white else "black" if op in black else "neither")
    """,
    same=True,
)

# %% [markdown]
# Recompute works on a CPU too. How much do the nodes keep, and is the gradient the same?

# %%
both(
    """
    import importlib

    recompute = importlib.import_module(f"{paddle.__name__}.distributed.fleet.utils").recompute
    kept = []

    def pack(tensor):
        if not tensor.persistable:
            kept.append(tensor.size)
        return tensor

    rng = np.random.default_rng(0)
    layers = [paddle.nn.Linear(4, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 4), paddle.nn.Tanh()]
    block = paddle.nn.Sequential(*layers)
    for parameter in block.parameters():
        parameter.set_value(rng.random(parameter.shape).astype("float32"))
    for how in ("plain", "recompute"):
        x = paddle.to_tensor([[0.1, 0.2, 0.3, 0.4]], stop_gradient=False)
        kept.clear()
        with paddle.autograd.saved_tensors_hooks(pack, lambda tensor: tensor):
            y = block(x) if how == "plain" else recompute(block, x)
        y.sum().backward()
        print(how, "keeps", kept, "x.grad", x.grad.numpy().round(3))
    """,
    same=True,
)

# %% [markdown]
# | here | in Paddle |
# |---|---|
# | `minipaddle/amp/auto_cast.py`, `amp_lists.py`; the list of an op stands in its declaration: `@op(..., amp="black")` | `python/paddle/amp/amp_lists.py`, `auto_cast.py` |
# | `amp_cast` in `minipaddle/eager/dygraph_function.py` | `paddle/fluid/eager/amp_utils.h`, `amp_auto_cast.h`, called at the top of each `*_ad_func` |
# | `minipaddle/amp/grad_scaler.py` | `python/paddle/amp/grad_scaler.py`; the ops `check_finite_and_unscale`, `update_loss_scaling` |
# | master weights in `minipaddle/optimizer/` | `multi_precision` in `python/paddle/optimizer/` |
# | `minipaddle/distributed/fleet/utils.py`: `recompute` | `python/paddle/distributed/fleet/recompute/recompute.py`: a PyLayer, too |
#
# ## What we left out
# bfloat16: 8 bits for the size, as float32 has, and only 8 for the digits. Nothing overflows, so no GradScaler is needed; it is what large models use. numpy doesn't have it. Paddle's recompute also notes several random
# generators (one for each rank of a tensor-parallel group), and can move the inputs to the CPU meanwhile (`offload`). Both Paddle and ours have a second way, `use_reentrant=False`, which needs no PyLayer: the block leaves its own nodes, and
# `saved_tensors_hooks` let each keep a number instead of a Tensor. You can read it in `minipaddle/distributed/fleet/utils.py`.
#
# **Next**: lesson 2.7 asks what all these decisions cost at each call. In the [2 · exercise](exercise.ipynb) you write a PyLayer of your own. A frequent small contribution to Paddle is an op that is missing from a list, or a kernel without float16: now
# you know what a reviewer will ask: does it overflow, does it add up many numbers?
