"""Where bars, lanes and ticks of a timeline stand, and what the still picture shows of them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from minipaddle import viz
from minipaddle.viz.bars import Axis
from minipaddle.viz.looks import BARS, bar_outline
from minipaddle.viz.player import StaticPlayer


def drawn(*panes):
    player = StaticPlayer([viz.step(f"step {i}", pane) for i, pane in enumerate(panes)])
    return player, [s["panes"][0] for s in player._drawn["steps"]]


@pytest.mark.parametrize(
    ("first", "last", "width", "expected"),
    [
        (0, 10, 640, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]),
        (0, 10, 200, ["0", "5", "10"]),
        (0.0, 0.03, 200, ["0", "0.01", "0.02", "0.03"]),
        (-4, 4, 300, ["-4", "-2", "0", "2", "4"]),
        (1000, 4500, 300, ["1000", "2000", "3000", "4000"]),
        (3, 3, 300, ["3"]),
    ],
)
def test_ticks_are_round_and_have_room(first, last, width, expected):
    ticks = Axis(first, last, width).ticks()
    assert [words for _, words in ticks] == expected
    places = [x for x, _ in ticks]
    assert all(b - a >= 60 for a, b in zip(places, places[1:], strict=False))
    assert all(0 <= x <= width + 1e-6 for x in places)


def test_lanes_and_axis_stand_still_from_step_to_step():
    """A step with bars below each other decides how high the lane is in all steps."""
    lanes = ["a", "b"]
    one = viz.timeline(lanes, [("a", 0, 1, "x"), ("b", 1, 2, "y")], span=(0, 9))
    two = viz.timeline(
        lanes, [("a", 0, 2, "x"), ("a", 1, 3, "a longer label"), ("b", 1, 2, "y")], span=(0, 9)
    )
    _, (first, second) = drawn(one, two)
    assert first["lanes"] == second["lanes"] and first["lanes"][0]["h"] > first["lanes"][1]["h"]
    assert (first["width"], first["height"]) == (second["width"], second["height"])
    x, longer, y = second["bars"]
    assert longer["y"] > x["y"] + x["h"] and y["y"] >= second["lanes"][1]["y"]
    assert first["bars"][1]["y"] == y["y"]


def test_bars_of_an_amount_stand_on_the_floor_of_their_row():
    bars = [viz.bar("m", i, i + 1, height=h) for i, h in enumerate((0, 0.5, 1))]
    _, (pane,) = drawn(viz.timeline(["m"], bars))
    assert len({b["y"] + b["h"] for b in pane["bars"]}) == 1
    heights = [b["h"] for b in pane["bars"]]
    assert heights[0] > 0 and heights[1] == heights[2] / 2  # nothing is still to be seen


def test_every_kind_of_bar_can_be_told_without_colour():
    assert tuple(BARS) == viz.frame.BAR_KINDS
    shapes = [look.shape for look in BARS.values()]
    assert len(set(shapes)) == len(shapes)
    dashed = {"box", "hollow"}  # the same outline, but one is dashed
    outlines = [bar_outline(s, 40, 20) for s in shapes if s not in dashed]
    assert len(set(outlines)) == len(outlines)


def test_the_still_picture_shows_lanes_bars_signs_unit_and_cursor():
    bars = [
        viz.bar("rank 0", 0, 4, "forward pass", "forward", "done"),
        viz.bar("rank 0", 4, 4.1, "tiny", "backward", "now"),
        viz.bar("第一 rank", 0, 8, "<wait> & 等待", "wait"),
    ]
    pane = viz.timeline(["rank 0", "第一 rank"], bars, unit="ms", cursor=4, name="Times")
    player, _ = drawn(pane)
    svg = player.to_svg()
    root = ElementTree.fromstring(svg)
    words = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    for expected in ("Times", "rank 0", "第一 rank", "forward pass", "<wait> & 等待", "ms"):
        assert expected in words
    assert "tiny" not in words and "<title>tiny, backward</title>" in svg  # no room for it
    for expected in ("forward", "backward", "waiting time", "now", "done"):  # the legend
        assert expected in words
    assert player.to_svg() == drawn(pane)[0].to_svg()
