# %% [markdown]
# # 6 · exercise: Half a ring, and a plan
#
# Two tasks, 8 points. You need lesson 6.1. After each task there is a check that answers at once.
#
# In the checks, `@experiment` marks a function that runs together with your answer. When your work is graded, that is a process of its own: results and the messages that were counted come back,
# and are judged outside of it.
#
# *Run All* stops at the first check that fails. To do task 2 first, run its cells by hand (Shift+Enter).

# %% nbgrader={"grade_id": "setup"}
import numpy as np

import minipaddle as paddle
from minipaddle import distributed as dist

# %% [markdown]
# ## Task 1 · Reduce-scatter on a ring   (4 points)
# Each rank has one Tensor for every rank: `parts[0]`, `parts[1]`, ... After a **reduce-scatter**, rank `r` has the sum of all ranks' `parts[r]`, and nobody has more. It is the first half of
# the ring all-reduce. Write
#
#     ring_reduce_scatter(parts) -> Tensor
#
# with `dist.send(tensor, rank)` and `dist.recv(tensor, rank)`. Four ranks:
#
# | | parts[0] | parts[1] | parts[2] | parts[3] | returns |
# |---|---|---|---|---|---|
# | rank 0 | 0 | 1 | 2 | 3 | 60 |
# | rank 1 | 10 | 11 | 12 | 13 | 64 |
# | rank 2 | 20 | 21 | 22 | 23 | 68 |
# | rank 3 | 30 | 31 | 32 | 33 | 72 |
#
# Rules of the ring: a rank sends only to the next one, `(rank + 1) % size`, and only one part in each of the `size - 1` rounds; what comes in from the one before is added, and sent on
# in the next round. The caller's list and Tensors stay as they are. Parts of one number have the same shape and dtype on all ranks, but `parts[0]` may be larger than `parts[1]`.
#
# Why Paddle has it: sharding keeps on each rank only a part of the gradients' sum (`python/paddle/distributed/communication/reduce_scatter.py`). On a CPU, Paddle's gloo backend
# has none: "ProcessGroupGLOO does not support reduce_scatter".
#
# <details><summary>Hint 1</summary>recv writes into a Tensor that exists: make one with paddle.zeros_like of the part that you expect.</details>
#
# <details><summary>Hint 2</summary>Think from the end. In the last round your own part must come in, so the rank before you sends it then. Which part did it receive one round earlier?</details>
#
# <details><summary>Hint 3</summary>In round s (from 0), rank r sends part (r - s - 1) % size, and receives the one with the number before that: (r - s - 2) % size. Send first, then receive. Work on a copy of the list.</details>


# %% nbgrader={"grade_id": "task1", "solution": true}
def ring_reduce_scatter(parts):
    ### BEGIN SOLUTION
    rank, size = dist.get_rank(), dist.get_world_size()
    parts = list(parts)
    for step in range(size - 1):
        outgoing, incoming = (rank - step - 1) % size, (rank - step - 2) % size
        dist.send(parts[outgoing], (rank + 1) % size)
        received = paddle.zeros_like(parts[incoming])
        dist.recv(received, (rank - 1) % size)
        parts[incoming] = received + parts[incoming]
    return parts[rank]
    ### END SOLUTION


# %% nbgrader={"grade_id": "task1_check", "points": 2}
from collections import Counter

from grader.checks import Checks, experiment


@experiment
def reduce_scatter(data):
    """Your answer on a ring: data[rank][part] are arrays.

    What each rank returned, its list of parts afterwards, and all messages: (source, destination,
    bytes).
    """

    def work():
        parts = [paddle.to_tensor(array) for array in data[dist.get_rank()]]
        result = ring_reduce_scatter(parts).numpy()
        return result, [part.numpy() for part in parts]

    ranks = dist.spawn(work, nprocs=len(data), timeout=2)
    messages = [(m.source, m.destination, m.nbytes) for m in ranks.group.messages]
    return [result for result, _ in ranks], [parts for _, parts in ranks], sorted(messages)


def example(size):
    """The table above, for `size` ranks: data[rank][part]."""
    return [[np.array([10.0 * rank + part]) for part in range(size)] for rank in range(size)]


two_sizes = [[np.array([4.0]), np.array([5.0, rank])] for rank in range(2)]

with Checks("Task 1") as check:
    check.equal(
        "four ranks",
        lambda: [float(array[0]) for array in reduce_scatter(example(4))[0]],
        [60.0, 64.0, 68.0, 72.0],
        look="Rank r must end with part r. See hint 2.",
    )
    check.equal(
        "two ranks",
        lambda: [float(array[0]) for array in reduce_scatter(example(2))[0]],
        [10.0, 12.0],
        look="Use dist.get_world_size().",
    )
    check.equal(
        "how often each rank sends to another",
        lambda: Counter((source, to) for source, to, _ in reduce_scatter(example(4))[2]),
        Counter({(0, 1): 3, (1, 2): 3, (2, 3): 3, (3, 0): 3}),
        look="Only to the next one, (rank + 1) % size: one message in each of the 3 rounds.",
    )
    check.equal(
        "parts of two sizes",
        lambda: reduce_scatter(two_sizes)[0],
        [np.array([8.0]), np.array([10.0, 1.0])],
        look="Receive into paddle.zeros_like of the part that comes in.",
    )
    check.equal(
        "the result, and the caller's list and Tensors afterwards",
        lambda: reduce_scatter(two_sizes)[:2],
        ([np.array([8.0]), np.array([10.0, 1.0])], two_sizes),
        look="The list stays as it is: work on a copy, parts = list(parts).",
    )

# %% nbgrader={"grade_id": "task1_hidden", "points": 2}
# Hidden checks, run when your work is graded: other numbers of ranks, other parts.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment

secret_known = {}


def secret_run(lengths, dtype):
    """Each case once: a ring that waits for itself does not wait again in the next check."""
    case = (*lengths, dtype)
    if case not in secret_known:
        try:
            secret_known[case] = reduce_scatter(secret_data(lengths, dtype))
        except Exception as error:
            secret_known[case] = error
    if isinstance(secret_known[case], Exception):
        raise secret_known[case]
    return secret_known[case]


@experiment
def secret_one_rank(rank, parts, incoming):
    """One rank runs your answer; the rank before it sends `incoming`, the rank after it receives,
    the others are gone. The result, and what the rank after it received.
    """
    size = len(parts)

    def work():
        if dist.get_rank() == rank:
            return ring_reduce_scatter([paddle.to_tensor(array) for array in parts]).numpy()
        if dist.get_rank() == (rank - 1) % size:
            for array in incoming:
                dist.send(paddle.to_tensor(array), rank)
        received = []
        if dist.get_rank() == (rank + 1) % size:
            for step in range(size - 1):
                received.append(
                    paddle.zeros_like(paddle.to_tensor(parts[(rank - step - 1) % size]))
                )
                dist.recv(received[-1], rank)
        return [tensor.numpy() for tensor in received]

    ranks = dist.spawn(work, nprocs=size, timeout=2)
    return ranks[rank], ranks[(rank + 1) % size]


def secret_rounds(rank, parts, incoming):
    """What secret_one_rank should return: each round sends on what came in, with the own part."""
    sent = [parts[rank - 1]]
    for step, array in enumerate(incoming):
        sent.append(array + parts[(rank - step - 2) % len(parts)])
    return sent[-1], sent[:-1]


def secret_data(lengths, dtype):
    """data[rank][part]: parts of these lengths, one rank for each."""
    rng = np.random.default_rng([len(lengths), *lengths])
    return [[rng.integers(-50, 50, n).astype(dtype) for n in lengths] for _ in lengths]


def secret_incoming(rank, lengths, dtype):
    """What could come in at a rank, round by round: any numbers."""
    rng = np.random.default_rng([rank, *lengths])
    size = len(lengths)
    arriving = [lengths[(rank - step - 2) % size] for step in range(size - 1)]
    return [rng.integers(-500, 500, n).astype(dtype) for n in arriving]


def secret_sums(lengths, dtype):
    """Part r of all ranks together, for each r; and the dtype."""
    data = secret_data(lengths, dtype)
    return [(sum(parts[r] for parts in data), dtype) for r in range(len(lengths))]


def secret_sent(lengths, dtype):
    """Every part but the own one goes to the next rank, each once."""
    size = len(lengths)
    return sorted(
        (r, (r + 1) % size, n * np.dtype(dtype).itemsize)
        for r in range(size)
        for part, n in enumerate(lengths)
        if part != r
    )


with Checks("Task 1", hidden=True) as check:
    for secret_name, secret_case, secret_rank in (
        ("five ranks", ([4] * 5, "float32"), 3),
        ("three ranks, parts of different sizes", ([5, 2, 9], "float32"), 0),
        ("seven ranks, parts of different sizes", ([3, 1, 4, 2, 6, 5, 9], "float64"), 2),
        ("whole numbers", ([2, 3, 4, 5], "int64"), 1),
    ):
        secret_one = (
            secret_rank,
            secret_data(*secret_case)[secret_rank],
            secret_incoming(secret_rank, *secret_case),
        )
        check.equal(
            f"{secret_name}: sums",
            lambda: [(array, array.dtype.name) for array in secret_run(*secret_case)[0]],
            secret_sums(*secret_case),
            look="Any number of ranks, any shape and dtype.",
        )
        check.equal(
            f"{secret_name}: messages",
            lambda: (secret_run(*secret_case)[2], secret_one_rank(*secret_one)),
            (secret_sent(*secret_case), secret_rounds(*secret_one)),
            look="To the next rank only: each part once, never its own, with what came in before.",
        )
    check.equal(
        "sums, and the lists afterwards",
        lambda: secret_run(*secret_case)[:2],
        ([total for total, _ in secret_sums(*secret_case)], secret_data(*secret_case)),
        look="Work on a copy: parts = list(parts), and don't change Tensors in place.",
    )
    secret_alone = ([3], "float32")
    check.equal(
        "one rank alone, and one of four",
        lambda: [secret_run(*secret_alone)[::2], secret_one_rank(*secret_one)],
        [(secret_data(*secret_alone)[0], []), secret_rounds(*secret_one)],
        look="Alone, there is nobody to send to.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 2 · A plan for the buckets   (4 points)
# A ring is good for large Tensors, and a model has many small gradients. So gradients travel in **buckets**: several are put into one Tensor and reduced at once. Write
#
#     bucket_plan(parameters, limit, last_limit) -> list of lists of indices
#
# `parameters` are the model's, in its order; `limit` and `last_limit` are in bytes. These are the rules of real Paddle:
#
# 1. Go through the parameters in their order. One with `stop_gradient=True` has no gradient: leave it out.
# 2. A bucket holds one dtype. Each dtype has its own open bucket; a parameter goes into that of its dtype.
# 3. As soon as a bucket holds **at least** its limit, it is closed, and the next parameter of that dtype opens another one. So a bucket may get larger than its limit.
#    The limit of the *first* bucket of each dtype is `last_limit`; that of all others is `limit`.
# 4. At the end, buckets that are still open are kept as they are.
# 5. The answer has the buckets **in the order of the backward**: the one whose first parameter comes last in the model is the first. Inside a bucket, indices go up.
#
# | bytes of the parameters | limit | last_limit | plan |
# |---|---|---|---|
# | 400, 200, 40, 240, 4 (float32) | 300 | 300 | `[[4], [1, 2, 3], [0]]` |
# | the same | 1000 | 100 | `[[1, 2, 3, 4], [0]]` |
# | the same | 1 | 1 | `[[4], [3], [2], [1], [0]]` |
# | 40 (float32), 80 (float64), 40 (float32) | 1000 | 1000 | `[[1], [0, 2]]` |
#
# Why Paddle has it: `DataParallel` in `python/paddle/distributed/parallel.py` has `comm_buffer_size` (25 MB) and `last_comm_buffer_size` (1 MB); `EagerReducer` in
# `paddle/fluid/distributed/collective/reducer.cc` makes the plan and runs it. The *last* bucket of the backward is the model's first, and nothing is left to compute while it travels. So it is kept small.
#
# <details><summary>Hint 1</summary>parameter.numpy().nbytes gives the bytes, parameter.dtype.name the dtype's name.</details>
#
# <details><summary>Hint 2</summary>Three dicts by dtype name: the open bucket, its bytes, and whether this dtype has closed one already. A list of finished buckets.</details>
#
# <details><summary>Hint 3</summary>First add the parameter, then ask whether the bucket is full. At the end sorted(buckets, reverse=True) puts them in order: lists are compared by their first item.</details>


# %% nbgrader={"grade_id": "task2", "solution": true}
def bucket_plan(parameters, limit, last_limit):
    ### BEGIN SOLUTION
    buckets, opened, nbytes, limits = [], {}, {}, {}
    for index, parameter in enumerate(parameters):
        if parameter.stop_gradient:
            continue
        kind = parameter.dtype.name
        opened.setdefault(kind, []).append(index)
        nbytes[kind] = nbytes.get(kind, 0) + parameter.numpy().nbytes
        if nbytes[kind] >= limits.get(kind, last_limit):
            buckets.append(opened.pop(kind))
            nbytes[kind], limits[kind] = 0, limit
    buckets += opened.values()
    return sorted(buckets, reverse=True)
    ### END SOLUTION


# %% nbgrader={"grade_id": "task2_check", "points": 2}
from grader.checks import Checks, experiment


def parameters_of(*counts, dtype="float32"):
    """Trainable Tensors with these counts of numbers."""
    made = [paddle.zeros([count], dtype=dtype) for count in counts]
    for tensor in made:
        tensor.stop_gradient = False
    return made


def exchange(parameters, plan):
    """What DataParallel does with a plan: one all_reduce for each bucket."""
    for bucket in plan:
        flat = np.concatenate([parameters[i].grad.numpy().ravel() for i in bucket])
        together = paddle.to_tensor(flat)
        dist.all_reduce(together)


@experiment
def messages_of_a_model(limit):
    """How many messages two ranks send for a small model's gradients."""

    def work():
        model = paddle.nn.Sequential(*[paddle.nn.Linear(8, 8) for _ in range(4)])
        model(paddle.ones([2, 8])).mean().backward()
        exchange(model.parameters(), bucket_plan(model.parameters(), limit, limit))

    return len(dist.spawn(work, nprocs=2, timeout=2).group.messages)


table = parameters_of(100, 50, 10, 60, 1)  # 400, 200, 40, 240, 4 bytes
mixed = [*parameters_of(10), *parameters_of(10, dtype="float64"), *parameters_of(10)]

with Checks("Task 2") as check:
    check.equal(
        "the first line of the table",
        lambda: bucket_plan(table, 300, 300),
        [[4], [1, 2, 3], [0]],
        look="200 + 40 is below 300, so 240 goes in too. Then the bucket is closed.",
    )
    check.equal(
        "a small last bucket",
        lambda: bucket_plan(table, 1000, 100),
        [[1, 2, 3, 4], [0]],
        look="The model's first bucket has last_limit.",
    )
    check.equal(
        "each by itself",
        lambda: bucket_plan(table, 1, 1),
        [[4], [3], [2], [1], [0]],
        look="A bucket is closed as soon as it holds at least its limit.",
    )
    check.equal(
        "exactly the limit",
        lambda: bucket_plan(table, 400, 400),
        [[4], [1, 2, 3], [0]],
        look="400 is at least 400: the bucket is full.",
    )
    check.equal(
        "two dtypes",
        lambda: bucket_plan(mixed, 1000, 1000),
        [[1], [0, 2]],
        look="Each dtype has its own open bucket; another dtype does not close it.",
    )
    check.equal(
        "messages of a model with 8 parameters: one bucket each; all in one bucket",
        lambda: [messages_of_a_model(limit) for limit in (1, 1_000_000)],
        [32, 4],
        look="8 all-reduces of 4 messages; one all-reduce of 4 messages.",
    )

# %% nbgrader={"grade_id": "task2_hidden", "points": 2}
# Hidden checks, run when your work is graded: the rules on other models.
### BEGIN HIDDEN TESTS
import random

from grader.checks import Checks


def secret_plan(parameters, limit, last_limit):
    """The rules again, one dtype after the other."""
    plan = []
    for kind in ("float32", "float64"):
        left = [
            (index, p.numpy().nbytes)
            for index, p in enumerate(parameters)
            if p.dtype.name == kind and not p.stop_gradient
        ]
        cap = last_limit
        while left:
            count = 1
            while count < len(left) and sum(n for _, n in left[:count]) < cap:
                count += 1
            plan.append([index for index, _ in left[:count]])
            left, cap = left[count:], limit
    return sorted(plan, key=lambda bucket: -bucket[0])


def secret_model(chosen, kinds, frozen):
    made = []
    for _ in range(chosen.randint(1, 30)):
        made += parameters_of(chosen.randint(1, 40), dtype=chosen.choice(kinds))
        made[-1].stop_gradient = chosen.random() < frozen
    return made


with Checks("Task 2", hidden=True) as check:
    secret_frozen = parameters_of(10, 10, 10)
    secret_frozen[1].stop_gradient = True
    check.equal(
        "a model without parameters, and one with some that are not trained",
        lambda: [bucket_plan(each, 1000, 1000) for each in ([], secret_frozen)],
        [[], [[0, 2]]],
        look="Rule 1.",
    )
    check.equal(
        "exactly the limit",
        lambda: bucket_plan(parameters_of(10, 15, 5), 100, 100),
        [[2], [0, 1]],
        look="At least: a bucket with exactly its limit is full.",
    )
    for secret_name, secret_kinds, secret_share, secret_look in (
        ("one dtype", ["float32"], 0.0, "Rules 3 and 5."),
        ("one dtype, some not trained", ["float32"], 0.3, "Rule 1."),
        ("two dtypes", ["float32", "float64"], 0.0, "Rules 2 and 3, for each dtype."),
        ("two dtypes, some not trained", ["float32", "float64"], 0.3, "All rules."),
    ):
        secret_random = random.Random(secret_name)
        secret_cases = [
            (
                secret_model(secret_random, secret_kinds, secret_share),
                secret_random.choice([1, 100, 250, 400, 5000]),
                secret_random.choice([1, 60, 120, 300]),
            )
            for _ in range(25)
        ]
        check.equal(
            f"25 models: {secret_name}",
            lambda: [bucket_plan(*case) for case in secret_cases],
            [secret_plan(*case) for case in secret_cases],
            look=secret_look,
        )
### END HIDDEN TESTS
