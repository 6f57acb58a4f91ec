"""Ranks as threads: collectives, the ring, data parallel, and ranks that don't come."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import distributed as dist
from minipaddle.common.errors import CollectiveError
from minipaddle.distributed.collective.process_group import get_group


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("count", [0, 1, 7, 12])
def test_all_reduce(size, count):
    def main():
        x = paddle.to_tensor(np.arange(count, dtype="float64") * (dist.get_rank() + 1))
        dist.all_reduce(x)
        return x.numpy()

    for result in dist.spawn(main, nprocs=size):
        np.testing.assert_allclose(result, np.arange(count) * size * (size + 1) / 2)


@pytest.mark.parametrize(
    ("op", "wanted"),
    [("SUM", 6.0), ("MAX", 3.0), ("MIN", 1.0), ("PROD", 6.0), ("AVG", 2.0)],
)
def test_ways_to_combine(op, wanted):
    def main():
        x = paddle.to_tensor([dist.get_rank() + 1.0])
        dist.all_reduce(x, getattr(dist.ReduceOp, op))
        return x.item()

    assert dist.spawn(main, nprocs=3) == [wanted] * 3


@pytest.mark.parametrize("size", [2, 4])
def test_the_ring_sends_twice_the_data_less_one_part(size):
    count = 12

    def main():
        dist.all_reduce(paddle.to_tensor(np.ones(count)))

    group = dist.spawn(main, nprocs=size).group
    assert len(group.messages) == size * 2 * (size - 1)
    for rank in range(size):
        sent = sum(m.nbytes for m in group.messages if m.source == rank)
        assert sent == 2 * (size - 1) * count * 8 // size
    assert all(m.destination == (m.source + 1) % size for m in group.messages)


def test_all_ranks_get_exactly_the_same_bits():
    """Floats are added in an order that does not depend on which thread is faster."""

    def main():
        rng = np.random.default_rng(dist.get_rank())
        x = paddle.to_tensor(rng.normal(size=101).astype("float32"))
        dist.all_reduce(x)
        return x.numpy().tobytes()

    first = dist.spawn(main, nprocs=4)
    assert len(set(first)) == 1
    assert all(dist.spawn(main, nprocs=4) == first for _ in range(5))


def test_the_other_collectives():
    def main():
        rank = dist.get_rank()
        x = paddle.to_tensor([float(rank)])
        dist.broadcast(x, 1)
        gathered = []
        dist.all_gather(gathered, paddle.to_tensor([rank * 10.0]))
        y = paddle.to_tensor([rank + 1.0])
        dist.reduce(y, 0)
        if rank == 0:
            dist.send(paddle.to_tensor([7.0]), 2)
        z = paddle.zeros([1])
        if rank == 2:
            dist.recv(z, 0)
        dist.barrier()
        return x.item(), [t.item() for t in gathered], y.item(), z.item()

    assert dist.spawn(main, nprocs=3) == [
        (1.0, [0.0, 10.0, 20.0], 6.0, 0.0),
        (1.0, [0.0, 10.0, 20.0], 2.0, 0.0),
        (1.0, [0.0, 10.0, 20.0], 3.0, 7.0),
    ]


def test_data_parallel_gives_the_gradient_of_the_whole_batch():
    data = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
    start = np.random.default_rng(1).normal(size=(3, 2)).astype("float32")

    def network(weight):
        attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(weight))
        return paddle.nn.Linear(3, 2, weight_attr=attr)

    def main():
        # rank 1 starts elsewhere: DataParallel must bring rank 0's parameters to all
        model = dist.DataParallel(network(start + dist.get_rank()))
        half = data[dist.get_rank() * 4 : dist.get_rank() * 4 + 4]
        (model(paddle.to_tensor(half)) ** 2).mean().backward()
        return [p.grad.numpy() for p in model.parameters()]

    alone = network(start)
    (alone(paddle.to_tensor(data)) ** 2).mean().backward()
    for grads in dist.spawn(main, nprocs=2):
        for got, parameter in zip(grads, alone.parameters(), strict=True):
            np.testing.assert_allclose(got, parameter.grad.numpy(), rtol=1e-5)


def on_two_ranks(rank0, rank1, **options):
    return dist.spawn(lambda: (rank0, rank1)[dist.get_rank()](), nprocs=2, **options)


def test_a_rank_that_does_not_exist():
    for call in (
        lambda: dist.send(paddle.ones([1]), 5),
        lambda: dist.recv(paddle.ones([1]), -1),
        lambda: dist.broadcast(paddle.ones([1]), 2),
    ):
        with pytest.raises(ValueError, match=r"expected 0 <= \w+ < 2, but got"):
            dist.spawn(call, nprocs=2)


def test_a_rank_that_has_ended():
    with pytest.raises(CollectiveError, match="rank 1 has ended. Call all_reduce on every rank"):
        on_two_ranks(lambda: dist.all_reduce(paddle.ones([2])), lambda: None)


def test_a_rank_that_has_failed_is_the_error_that_is_shown():
    def fails():
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk") as caught:
        on_two_ranks(lambda: dist.all_reduce(paddle.ones([2])), fails)
    assert caught.value.__notes__ == ["raised on rank 1 of 2"]


def test_ranks_that_wait_for_each_other():
    def waits(source):
        return lambda: dist.recv(paddle.ones([1]), source)

    with pytest.raises(CollectiveError, match=r"within 0.3 s, but got none"):
        on_two_ranks(waits(1), waits(0), timeout=0.3)


def test_different_operations():
    with pytest.raises(CollectiveError, match="expected rank 0 to be in all_reduce too"):
        on_two_ranks(
            lambda: dist.broadcast(paddle.ones([2])), lambda: dist.all_reduce(paddle.ones([2]))
        )


def test_different_shapes():
    with pytest.raises(
        CollectiveError, match=r"expected shape \[\d\] and dtype float32 on every rank"
    ):
        on_two_ranks(
            lambda: dist.all_reduce(paddle.ones([2])), lambda: dist.all_reduce(paddle.ones([3]))
        )


def test_wrong_calls():
    with pytest.raises(ValueError, match="spawn: expected nprocs"):
        dist.spawn(print, nprocs=0)
    with pytest.raises(ValueError, match="spawn: expected backend 'threads'"):
        dist.spawn(print, backend="mpi")
    with pytest.raises(ValueError, match="all_reduce: expected a Tensor"):
        dist.all_reduce(np.ones(2))
    with pytest.raises(ValueError, match="all_reduce: expected one of ReduceOp"):
        dist.all_reduce(paddle.ones([1]), 99)
    with pytest.raises(TypeError, match="DataParallel: expected a Layer"):
        dist.DataParallel(print)


def test_outside_spawn_there_is_one_rank():
    x = paddle.ones([2])
    dist.all_reduce(x)
    dist.barrier()
    assert (dist.get_rank(), dist.get_world_size(), x.tolist()) == (0, 1, [1.0, 1.0])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.ones((2, 3), "float32"), np.ones((3, 2), "float32")),
        (np.ones(1, "float32"), np.ones(4, "float32")),
        (np.ones(3, "float32"), np.ones(3, "float64")),
    ],
)
def test_sums_of_what_does_not_fit_are_refused(first, second):
    def rank_main():
        tensor = paddle.to_tensor(second if dist.get_rank() else first)
        dist.all_reduce(tensor)

    with pytest.raises(CollectiveError, match=r"all_reduce: expected shape .* on every rank"):
        dist.spawn(rank_main, nprocs=2)


def test_the_mean_of_integers_is_refused():
    def rank_main():
        dist.all_reduce(paddle.to_tensor([1, 2]), dist.ReduceOp.AVG)

    with pytest.raises(ValueError, match="expected floating-point numbers for ReduceOp.AVG"):
        dist.spawn(rank_main, nprocs=2)


COLLECTIVES = {
    "send": lambda x, **how: dist.send(x, 1, **how),
    "recv": lambda x, **how: dist.recv(x, 1, **how),
    "all_reduce": dist.all_reduce,
    "broadcast": dist.broadcast,
    "reduce": dist.reduce,
    "all_gather": lambda x, **how: dist.all_gather([], x, **how),
    "barrier": lambda x, group=None, sync_op=True: dist.barrier(group),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_what_a_collective_does_not_do_is_refused(name):
    """It would answer with the numbers of all ranks, or before they are there."""
    for how in ({"group": 3}, {"group": [0, 1]}, {"sync_op": False}, {"sync_op": 1}):
        if name == "barrier" and "sync_op" in how:
            continue
        with pytest.raises(NotImplementedError, match=f"{name}: expected group=None"):
            COLLECTIVES[name](paddle.ones([2]), **how)


def test_the_group_of_all_ranks_may_be_named():
    def main():
        x = paddle.ones([2])
        dist.all_reduce(x, group=get_group(), sync_op=True)
        dist.barrier(get_group())
        return x.tolist()

    assert dist.spawn(main, nprocs=2) == [[2.0, 2.0]] * 2
