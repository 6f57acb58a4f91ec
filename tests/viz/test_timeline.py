"""Timelines: what the constructors fill in, what they refuse, what the summary says."""

from __future__ import annotations

import math
from typing import Any

import pytest

from minipaddle import viz
from minipaddle.viz.player import StaticPlayer

BARS = [("a", 0, 2, "F0", "forward", "done"), ("b", 2, 3.5, "B0", "backward", "now")]


def test_short_forms_are_filled_in():
    pane = viz.timeline(["a", "b"], BARS, unit="ms")
    assert pane["bars"][1] == {
        "id": "b|B0|2",
        "lane": "b",
        "start": 2.0,
        "end": 3.5,
        "label": "B0",
        "kind": "backward",
        "state": "now",
        "height": 1.0,
        "row": 0,
        "details": "",
    }
    assert (pane["span"], pane["cursor"]) == ([0.0, 3.5], None)


def test_bars_that_overlap_in_a_lane_stand_below_each_other():
    pane = viz.timeline(["a"], [("a", 0, 2, "x"), ("a", 1, 3, "y"), ("a", 2, 4, "z")])
    assert [b["row"] for b in pane["bars"]] == [0, 1, 0]


def test_a_row_that_was_given_stays():
    pane = viz.timeline(["a"], [viz.bar("a", 0, 1, "x", row=3)])
    assert pane["bars"][0]["row"] == 3


def test_the_axis_reaches_to_the_cursor():
    assert viz.timeline(["a"], [("a", 1, 2)], cursor=5)["span"] == [1.0, 5.0]
    assert viz.timeline(["a"])["span"] == [0.0, 1.0]


def test_it_comes_back_from_json():
    steps = [viz.step("one", viz.timeline(["a", "b"], BARS, unit="ms", cursor=2.5, name="P"))]
    assert viz.loads(viz.dumps(steps)) == steps


def test_the_summary_says_what_the_bars_say():
    marked = viz.timeline(["a", "b"], BARS, unit="ms", cursor=2.5, name="Pipeline")
    plain = viz.timeline(["a", "b"], [bar[:4] for bar in BARS])
    words = str(StaticPlayer(viz.step("s", marked, plain)))
    assert words.splitlines() == [
        "s",
        "   Pipeline (0 to 3.5 ms): 2 lanes, 2 bars, now 2.5 ms",
        "     done: a: F0 0-2",
        "     now: b: B0 2-3.5",
        "   timeline (0 to 3.5): 2 lanes, 2 bars",
        "     a: F0 0-2",
        "     b: B0 2-3.5",
    ]


BAD = {
    "no such lane": (
        lambda: viz.timeline(["a"], [("b", 0, 1)], name="T"),
        "viz.timeline 'T': expected every bar in one of the lanes ['a'], but got lane 'b'",
    ),
    "a bar that ends before it starts": (
        lambda: viz.bar("a", 2, 1, "F0"),
        "expected start <= end, but got 2 and 1 at bar 'F0' of lane 'a'. Swap them.",
    ),
    "not a time": (lambda: viz.bar("a", 0, math.nan), "expected end to be finite, but got nan"),
    "height": (lambda: viz.bar("a", 0, 1, height=2), "expected height from 0 to 1, but got 2"),
    "state": (lambda: viz.bar("a", 0, 1, state="running"), "but got 'running' at bar '' of lane"),
    "the same bar twice": (
        lambda: viz.timeline(["a"], [("a", 0, 1, "x"), ("a", 0, 2, "x")]),
        "expected every bar id once, but got 'a|x|0' twice. Pass id= to bar()",
    ),
    "lanes twice": (lambda: viz.timeline(["a", "a"]), "at least one lane and each once"),
    "no lane": (lambda: viz.timeline([]), "expected at least one lane"),
    "a short axis": (
        lambda: viz.timeline(["a"], [("a", 0, 5)], span=(0, 3)),
        "expected span to reach from 0 or earlier to 5 or later, but got [0, 3]",
    ),
    "too many bars": (
        lambda: viz.timeline(["a"], [("a", i, i + 1) for i in range(2001)]),
        "expected at most 2000 bars, but got 2001. Show a part of the time",
    ),
}


@pytest.mark.parametrize("make, message", BAD.values(), ids=BAD.keys())
def test_bad_values(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value)


untyped: Any = viz  # so that wrong types can be passed
WRONG_TYPES = {
    "text as a time": (
        lambda: untyped.bar("a", "0", 1),
        "expected start to be a number, but got '0'",
    ),
    "True as a time": (lambda: untyped.bar("a", 0, True), "expected end to be a number"),
    "one lane as text": (
        lambda: untyped.timeline("lane"),
        "expected lanes to be a list, but got 'lane'",
    ),
    "a short bar": (lambda: untyped.timeline(["a"], [("a", 0)]), "but got ('a', 0)"),
    "an unknown field": (
        lambda: untyped.timeline(["a"], [{"lane": "a", "begin": 0}]),
        "expected a bar with the fields id, lane, start, end",
    ),
}


@pytest.mark.parametrize("make, message", WRONG_TYPES.values(), ids=WRONG_TYPES.keys())
def test_wrong_types(make, message):
    with pytest.raises(TypeError) as error:
        make()
    assert message in str(error.value)
