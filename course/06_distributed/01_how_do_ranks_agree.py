# %% [markdown]
# # 6.1 How do ranks agree?
#
# Four machines train one model. Each has computed a gradient from its own quarter of the batch. All four need **the same sum**, or soon they have four different models.
# **How do they get it, and how many bytes does that cost?**
#
# Time: 30 minutes. You need: Python and numpy; lesson 2.3 helps for the last part.

# %% [markdown]
# ## Ranks
# Each of the machines (or GPUs, or processes) that compute together is a **rank**, and has a number from 0. In minipaddle a rank is a thread of this
# notebook, so that you can watch all of them. `dist.spawn(work, nprocs=4)` runs `work` on four ranks at the same time and gives back what each returned.

# %%
import minipaddle as paddle
from minipaddle import distributed as dist
from minipaddle import viz


def work():
    rank = dist.get_rank()
    mine = paddle.to_tensor([float(rank), 10.0 * rank, 1.0])
    dist.all_reduce(mine)
    return mine.numpy().tolist()


for rank, has in enumerate(dist.spawn(work, nprocs=4)):
    print(f"rank {rank} has {has}")

# %% [markdown]
# `all_reduce` is a **collective**: an operation that all ranks must call. Afterwards each rank's Tensor holds the sum of all of them: 0 + 1 + 2 + 3 = 6.
#
# ## The obvious way
# Everybody sends to rank 0. Rank 0 adds, and sends the sum back. With `send` and `recv`, which move one Tensor from one rank to another:


# %%
def through_rank_0(numbers):
    rank, size = dist.get_rank(), dist.get_world_size()
    total = paddle.ones([numbers])
    if rank == 0:
        other = paddle.zeros([numbers])
        for source in range(1, size):
            dist.recv(other, source)
            total = total + other
        for destination in range(1, size):
            dist.send(total, destination)
    else:
        dist.send(total, 0)
        dist.recv(total, 0)
    return float(total.numpy()[0])


print(dist.spawn(through_rank_0, args=[3], nprocs=4))

# %% [markdown]
# ## Predict
# Let each rank have 250,000 numbers of float32: 1 MB. For each rank, count what it sends **plus** what it receives.
# **Write down, for 4 ranks: how many MB for rank 0? For rank 3? And for rank 0, if there are 16 ranks?**


# %%
def moved(result):
    """MB that each rank has sent or received."""
    total = [0] * result.group.world_size
    for message in result.group.sorted_messages():
        total[message.source] += message.nbytes
        total[message.destination] += message.nbytes
    return [nbytes / 1e6 for nbytes in total]


print(" 4 ranks:", moved(dist.spawn(through_rank_0, args=[250_000], nprocs=4)))
print("16 ranks:", max(moved(dist.spawn(through_rank_0, args=[250_000], nprocs=16))), "at rank 0")

# %% [markdown]
# 6 MB and 2 MB; with 16 ranks, 30 MB at rank 0. All messages go through one rank's cable, one after the other, while the others wait. More machines make it *slower*.
#
# ## The ring
# Now nobody is in the middle. The ranks stand in a ring, and each sends only to the next one. The trick: **the data is cut into as many parts as there are ranks**,
# and all ranks are busy at the same time, each with another part.
#
# 1. *Reduce-scatter*: a part travels round the ring, and each rank adds its own numbers to it.
# 2. *All-gather*: the finished parts travel round once more, and everybody keeps a copy.
#
# ## Predict
# Four ranks, so four parts, and in round 1 rank `r` sends part `r`. **Write down: after how many rounds does the first complete part exist, and which part is complete at rank 0?**
#
# Then step through a ring that really ran (12 numbers of 4 bytes each). The table says whose numbers are in each sum.


# %%
def ring(numbers):
    mine = paddle.ones([numbers])
    dist.all_reduce(mine)
    return float(mine.numpy()[0])


viz.Player(viz.ring_steps(dist.spawn(ring, args=[12], nprocs=4)))

# %% [markdown]
# After 3 rounds every rank has one complete part; rank 0 has part 1. Three more rounds, and everybody has everything.
# Each rank sends 6 parts of 12 bytes, never more than one at a time, and always to the same neighbour.
#
# ## Counted
# The same 1 MB on more and more ranks: what does the busiest rank move?

# %%
print("ranks   through rank 0   ring")
for size in (2, 4, 8, 16):
    naive, in_ring = (
        max(moved(dist.spawn(way, args=[250_000], nprocs=size))) for way in (through_rank_0, ring)
    )
    print(f"{size:5} {naive:13.2f} MB {in_ring:6.2f} MB")

# %% [markdown]
# In the ring, each rank sends `2 (N-1)/N` of the data and receives as much. That stays below 2 + 2 MB, **however many ranks there are**.
# No method can do much better: each rank must let its own numbers out, and get the sums in.
#
# But count the *rounds* too: `2 (N-1)`, one after the other. Each costs a little waiting time, however few bytes it carries. So a ring is good for large Tensors and bad for many
# small ones.
#
# ## Do all ranks have exactly the same sum?
# Float addition depends on the order. What if each rank collected all Tensors and added them up by itself, beginning with its own?

# %%
import numpy as np


def two_ways():
    rank = dist.get_rank()
    numbers = np.random.default_rng(rank).standard_normal(1000).astype("float32")
    everything = []
    dist.all_gather(everything, paddle.to_tensor(numbers))
    arrays = [tensor.numpy() for tensor in everything]
    own_order = sum(arrays[rank + 1 :] + arrays[:rank], arrays[rank])
    ring_sum = paddle.to_tensor(numbers)
    dist.all_reduce(ring_sum)
    return own_order.tobytes(), ring_sum.numpy().tobytes()


own, by_ring = zip(*dist.spawn(two_ways, nprocs=4))
print("different sums, each in its own order:", len(set(own)))
print("different sums after all_reduce:      ", len(set(by_ring)))

# %% [markdown]
# Four ranks, four sums. The differences are tiny, but training would make them grow. In the ring each part is added up **once**, in one order, and then *copied*: same bits everywhere.
#
# ## What training does with it
# `dist.DataParallel` wraps a model. At the start all ranks take rank 0's parameters. In the backward, each gradient is all-reduced to the mean as soon as it is complete.
# So four ranks with a quarter of the batch each must get the gradient of the whole batch:


# %%
def layer_of(number):
    start = paddle.nn.initializer.Constant(number)
    return paddle.nn.Linear(3, 1, weight_attr=paddle.ParamAttr(initializer=start))


def gradient(rows, layer, model):
    y = model(paddle.to_tensor(rows))
    (y * y).mean().backward()
    return layer.weight.grad.numpy().ravel().round(4)


def on_a_rank(rows):
    rank, size = dist.get_rank(), dist.get_world_size()
    layer = layer_of(1.0 + rank)  # other parameters on each rank, until DataParallel
    return gradient(np.split(rows, size)[rank], layer, dist.DataParallel(layer))


rows = np.random.default_rng(0).standard_normal((8, 3)).astype("float32")
alone = layer_of(1.0)
print("alone, the whole batch:", gradient(rows, alone, alone))
for rank, result in enumerate(dist.spawn(on_a_rank, args=[rows], nprocs=4)):
    print(f"rank {rank}, a quarter:     ", result)

# %% [markdown]
# ## When do the gradients travel?
# minipaddle reduces each gradient by itself. A network has many, and each all-reduce waits for its rounds. So real Paddle puts gradients together into **buckets**. A bucket
# travels as soon as its last gradient is there, *while the backward goes on*.
#
# Take a model of four layers, with easy numbers. Backward starts at the last one, layer 3, and needs 2 ms for each. A gradient has 1 MB. An all-reduce costs 2 ms for its rounds, and 1 ms for each MB;
# there is one network, so the next one starts when it is free.
#
# ## Predict
# **Write down: after how many ms is all done, if each gradient travels by itself? If all travel in one bucket? In two buckets, [2, 3] and then [0, 1]?** Then step through the three plans.


# %%
def travel(plan, buckets):
    """When the buckets are on the way, in ms. They leave in this order."""
    bars, free = [], 0
    for layers in buckets:
        complete = 2 * (4 - min(layers))  # backward comes to the bucket's lowest layer last
        start = max(complete, free)
        free = start + 2 + len(layers)
        bars.append(viz.bar(plan, start, free, "+".join(map(str, layers)), "comm"))
    return bars


# %%
plans = {
    "each alone": [[3], [2], [1], [0]],
    "one bucket": [[0, 1, 2, 3]],
    "two buckets": [[2, 3], [0, 1]],
}
film = []
bars = [viz.bar("backward", 2 * i, 2 * i + 2, f"layer {3 - i}", "backward") for i in range(4)]
for plan, buckets in plans.items():
    bars = bars + travel(plan, buckets)
    picture = viz.timeline(["backward", *plans], bars, unit="ms", name="Backward and network")
    film.append(viz.step(plan, picture, note=f"All is done after {bars[-1]['end']:g} ms."))
viz.Player(film)

# %% [markdown]
# 14, 14 and 12 ms. Alone, each gradient pays for its own rounds: the network is the last to be ready. In one bucket, the network waits until the backward is over. Two buckets pay twice, and the
# first travels while layers 1 and 0 are computed. In the [exercise](exercise.ipynb) you write the plan: which gradients share a bucket.
#
# ## And if a rank does not come?
# A collective waits for everybody. A rank that takes another way through the code is the classic bug of distributed training: on a real cluster, all others hang.
# minipaddle says what it sees:


# %%
import textwrap


def forgetful():
    if dist.get_rank() != 1:  # the classic: a collective inside an `if` on the rank
        dist.all_reduce(paddle.ones([4]))


try:
    dist.spawn(forgetful, nprocs=2)
except Exception as error:
    print(type(error).__name__, textwrap.fill(str(error), 96), sep="\n")

# %% [markdown]
# ## In Paddle itself
# In real Paddle each rank is a process. To start four of them takes longer than a lesson should wait. So here real Paddle runs in one process: the same names, and a
# world of one rank.

# %%
from minipaddle.compare import both

both(
    """
dist = paddle.distributed
print("rank", dist.get_rank(), "of", dist.get_world_size())
print("SUM, MAX, MIN, PROD, AVG:", [getattr(dist.ReduceOp, n) for n in "SUM MAX MIN PROD AVG".split()])

layer = paddle.nn.Linear(2, 1)
model = dist.DataParallel(layer)
model(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
print("gradient:", layer.weight.grad.numpy().ravel().tolist())
""",
    same=True,
)

# %% [markdown]
# A run of real Paddle with four ranks was made before: Paddle 3.3.1 on a CPU, four processes, backend gloo (`dist.spawn(work, nprocs=4, backend="gloo")`, 7 seconds). `measured` holds
# what they printed. The next cell runs the same on minipaddle and compares.


# %%
def work():
    rank = dist.get_rank()
    summed = paddle.to_tensor([float(rank), 10.0 * rank, 1.0])
    dist.all_reduce(summed)
    gathered = []
    dist.all_gather(gathered, paddle.to_tensor([float(rank)]))
    to_rank_0 = paddle.to_tensor([float(rank), 10.0 * rank, 1.0])
    dist.reduce(to_rank_0, 0)
    return summed.tolist(), [tensor.item() for tensor in gathered], to_rank_0.tolist()


everybody = [6.0, 60.0, 4.0], [0.0, 1.0, 2.0, 3.0]
measured = [
    (*everybody, [6.0, 60.0, 4.0]),
    (*everybody, [6.0, 60.0, 4.0]),
    (*everybody, [5.0, 50.0, 3.0]),
    (*everybody, [3.0, 30.0, 2.0]),
]
for rank, (ours, real) in enumerate(zip(dist.spawn(work, nprocs=4), measured)):
    print(f"rank {rank}: all_reduce and all_gather the same: {ours[:2] == real[:2]}")
    print(f"        after reduce to rank 0: minipaddle {ours[2]}, Paddle {real[2]}")

# %% [markdown]
# `all_reduce` and `all_gather` agree. After `reduce`, only rank 0 has a promise: there both have the sum. On the other ranks real Paddle leaves what happened to be there (you
# can see partial sums: `5 = 2 + 3`), minipaddle leaves the old value. Don't read it.
#
# One more difference: real Paddle wants `dist.init_parallel_env()` before the first collective. minipaddle's ranks have joined when `spawn` starts them.
#
# Where to read, in Paddle's repository:
# | what | where |
# |---|---|
# | the calls | `python/paddle/distributed/communication/all_reduce.py` and its neighbours |
# | the group of ranks | `paddle/phi/core/distributed/collective/process_group.h`, class `ProcessGroup` |
# | its backends | `paddle/fluid/distributed/collective/process_group_nccl.cc`, `process_group_gloo.cc` |
# | data parallel | `python/paddle/distributed/parallel.py`, class `DataParallel`; `paddle/fluid/distributed/collective/reducer.cc` |
# | ours | `minipaddle/distributed/`, the ring in `collective/ring.py` |
#
# You will not find the ring in Paddle: it lives in NCCL (NVIDIA's library) and in gloo. They choose between rings, trees and others by the size of the message.

# %% [markdown]
# ## What we left out
# - Real networks: a message takes time, and links differ in speed. We counted bytes and rounds; the milliseconds of the buckets were made up.
# - Collectives that go on while the rank computes (`sync_op=False`), and groups of only some ranks.
# - `reduce_scatter`, the first half of the ring as an operation of its own. You will write it.
#
# ## What next
# In [6 · exercise](exercise.ipynb) you build `reduce_scatter` on a ring (task 1; even real Paddle's gloo backend has none), and plan the buckets of a data-parallel model (task 2).
# Both prepare you for Paddle's `reducer.cc` and for sharding, where each rank keeps only its part of the sum.
