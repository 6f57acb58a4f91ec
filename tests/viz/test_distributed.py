"""The ring, drawn from messages that were really sent."""

from __future__ import annotations

import pytest

import minipaddle as paddle
from minipaddle import distributed as dist
from minipaddle import viz
from minipaddle.distributed.spawn import SpawnResult
from minipaddle.viz.distributed import ring_steps


def ring(ranks: int, numbers: int = 8) -> SpawnResult:
    def work():
        dist.all_reduce(paddle.ones([numbers]))

    return dist.spawn(work, nprocs=ranks)


@pytest.mark.parametrize("ranks", [2, 3, 4, 7])
def test_every_rank_ends_with_every_sum(ranks):
    steps = ring_steps(ring(ranks))
    assert len(steps) == 1 + 2 * (ranks - 1)
    first, last = steps[0]["panes"][1]["rows"], steps[-1]["panes"][1]["rows"]
    assert first == [[f"rank {r}", *[str(r)] * ranks] for r in range(ranks)]
    assert last == [[f"rank {r}", *["all"] * ranks] for r in range(ranks)]


def test_half_way_each_rank_has_one_sum():
    half = ring_steps(ring(4))[3]
    assert [row.count("all") for row in half["panes"][1]["rows"]] == [1, 1, 1, 1]
    assert "half of the way" in half["note"]


def test_a_round_shows_its_messages():
    step = ring_steps(ring(4))[1]
    picture, parts = step["panes"]
    assert [e["label"] for e in picture["edges"]] == [f"part {r}" for r in range(4)]
    assert picture["nodes"][0]["label"] == "rank 0\nhas sent 8 B"
    assert parts["rows"][1] == ["rank 1", "0+1", "1", "1", "1"]
    assert [1, 1] in parts["changed"]


def test_bytes_are_those_of_the_messages():
    result = ring(4)
    last = ring_steps(result)[-1]["panes"][0]["nodes"][2]["label"]
    sent = sum(m.nbytes for m in result.group.sorted_messages() if m.source == 2)
    assert last == f"rank 2\nhas sent {sent} B"


def test_the_steps_can_be_played():
    assert len(viz.Player(ring_steps(ring(3)))) == 5


def test_not_one_all_reduce():
    def twice():
        dist.all_reduce(paddle.ones([4]))
        dist.all_reduce(paddle.ones([4]))

    for result in (dist.spawn(lambda: None, nprocs=2), dist.spawn(twice, nprocs=2), ring(1)):
        with pytest.raises(ValueError, match="calls all_reduce once"):
            ring_steps(result)
