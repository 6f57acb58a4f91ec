"""Steps of a symbolic run: the same on every Python version, true to what the run recorded."""

from __future__ import annotations

import pytest

import minipaddle as paddle
from minipaddle import viz
from minipaddle.jit.sot import StaticFunction, symbolic_translate
from minipaddle.nn.functional import relu
from minipaddle.viz.sot import bytecode_lines, sot_steps

FACTOR = 3


def halve(v):
    return v / 2


def scaled(x, n):
    y = x * FACTOR
    if n > 1:
        y = halve(y)
    return relu(y)


def jumps(x):
    if x.sum() > 0:
        return x
    return -x


def translated(function, *args) -> StaticFunction:
    static = symbolic_translate(function)
    static(*args)
    return static


def vector() -> paddle.Tensor:
    return paddle.to_tensor([1.0, -2.0])


def test_bytecode_reads_the_same_on_every_version():
    assert bytecode_lines(scaled) == [
        "line 2  LOAD_FAST          x",
        "        LOAD_GLOBAL        FACTOR",
        "        BINARY_OP          *",
        "        STORE_FAST         y",
        "line 3  LOAD_FAST          n",
        "        LOAD_CONST         1",
        "        COMPARE_OP         >",
        "        POP_JUMP_IF_FALSE  to line 5",
        "line 4  LOAD_GLOBAL        halve",
        "        LOAD_FAST          y",
        "        CALL",
        "        STORE_FAST         y",
        "line 5  LOAD_GLOBAL        relu",
        "        LOAD_FAST          y",
        "        CALL",
        "        RETURN_VALUE",
    ]


def test_new_bytecode_shows_no_address():
    lines = bytecode_lines(translated(scaled, vector(), 2).cache[0].function)
    assert "line 1  LOAD_CONST         <CompiledGraph>" in lines


def test_the_run_goes_through_the_branch_that_is_taken():
    titles = [s["title"] for s in sot_steps(translated(scaled, vector(), 2))]
    start = titles.index("POP_JUMP_IF_FALSE")
    assert titles[start + 1 : start + 5] == [
        "LOAD_GLOBAL halve",
        "LOAD_FAST y",
        "CALL",
        "halve starts",
    ]
    skipped = [s["title"] for s in sot_steps(translated(scaled, vector(), 1))]
    assert "LOAD_GLOBAL halve" not in skipped


def test_stack_and_graph_are_shown_after_the_instruction():
    steps = {s["title"]: s for s in sot_steps(translated(scaled, vector(), 1))}
    rows = steps["LOAD_GLOBAL FACTOR"]["panes"][1]["rows"]
    assert rows[-2:] == [["stack 0", "Tensor([2], float32)"], ["stack 1", "3"]]
    graph = steps["BINARY_OP *"]["panes"][2]
    assert graph["lines"] == [
        '(%0) = data () {name:"input_0"} -> tensor<2xf32>',
        "(%1) = full () {value:3} -> tensor<1xf32>",
        "(%2) = scale (%0, %1) -> tensor<2xf32>",
    ]
    assert graph["added"] == [2, 3]
    assert "2 operations go into the graph" in steps["BINARY_OP *"]["note"]


def test_the_last_step_shows_the_whole_graph():
    static = translated(scaled, vector(), 2)
    shown = sot_steps(static)[-1]["panes"][2]["lines"]
    assert len(shown) == len(static.cache[0].graph.forward_text.splitlines()) - 2


def test_each_instruction_is_marked_in_its_function():
    for step in sot_steps(translated(scaled, vector(), 2)):
        code = step["panes"][0]
        for line in code["highlight"]:
            assert step["title"].split()[0] in code["lines"][line - 1]
        if "starts" not in step["title"]:
            assert len(code["highlight"]) == 1


def test_a_graph_break_ends_with_its_reason():
    steps = sot_steps(translated(jumps, vector()))
    assert steps[-1]["title"] == "Graph break"
    assert steps[-1]["note"] == (
        "`if` needs the value of a Tensor. The function runs as plain Python instead."
    )
    assert [s["panes"][2]["rows"] for s in steps[-3:]] == [
        [["5 so far"]],
        [["5 so far"]],
        [["thrown away"]],
    ]


def test_an_instruction_that_stops_the_run_has_no_result():
    for step in sot_steps(translated(jumps, vector()))[-2:]:
        assert step["panes"][1]["rows"] == [
            ["x", "Tensor([2], float32)"],
            ["stack 0", "Tensor([], bool)"],
        ]


def test_an_inlined_call_says_whose_locals_are_shown():
    steps = sot_steps(translated(scaled, vector(), 2))
    (call,) = [s for s in steps if "inlining" in s["note"]]
    assert call["note"].endswith("The locals shown now are those of halve.")
    assert [row[0] for row in call["panes"][1]["rows"]] == ["v"]


def test_the_last_step_shows_the_result():
    assert sot_steps(translated(scaled, vector(), 2))[-1]["panes"][1]["rows"] == [
        ["result", "Tensor([2], float32)"]
    ]


def test_a_chosen_translation():
    static = translated(scaled, vector(), 2)
    static(vector(), 1)
    assert len(sot_steps(static, 0)) > len(sot_steps(static, 1))
    assert sot_steps(static) == sot_steps(static, 1)


def test_the_steps_can_be_played():
    static = translated(scaled, vector(), 2)
    assert "halve: bytecode" in str(viz.Player(sot_steps(static)).steps)


def test_without_a_translation():
    with pytest.raises(ValueError, match="Call it once"):
        sot_steps(symbolic_translate(scaled))
