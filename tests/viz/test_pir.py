"""Pictures of a PIR program that is edited: is every difference marked, and nothing else?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import minipaddle as paddle
from minipaddle import viz


@pytest.fixture(autouse=True)
def static() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def program() -> tuple:
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 2], "float32")
        a = paddle.tanh(x)
        b = a + a
        paddle._pir_ops.fetch(b, "out", 0)
    return main, x, a, b


def panes(step: viz.Step) -> tuple:
    graph, text = step["panes"][:2]
    assert graph["type"] == "graph" and text["type"] == "text"
    return graph, text


def states(step: viz.Step) -> dict[str, str]:
    """First line of each label -> state."""
    return {n["label"].split("\n")[0]: n["state"] for n in panes(step)[0]["nodes"]}


def marked(step: viz.Step, key: str) -> list[str]:
    text = panes(step)[1]
    return [text["lines"][number - 1] for number in text[key]]


def test_the_first_picture_marks_nothing():
    film = viz.ProgramFilm(program()[0])
    step = film.take("Before", "why")
    assert (step["title"], step["note"]) == ("Before", "why")
    assert states(step) == {"x": "", "tanh": "", "add": "", "fetch": ""}
    graph, text = panes(step)
    assert [(e["src"], e["dst"], e["slot"]) for e in graph["edges"]] == [
        ("op0", "op1", ""),
        ("op1", "op2", "0"),
        ("op1", "op2", "1"),
        ("op2", "op3", ""),
    ]
    assert text["lines"] == [
        '(%0) = "pd_op.data" () {name:"x"} -> tensor<2x2xf32>',
        '(%1) = "pd_op.tanh" (%0) -> tensor<2x2xf32>',
        '(%2) = "pd_op.add" (%1, %1) -> tensor<2x2xf32>',
        '(%3) = "pd_op.fetch" (%2) -> tensor<2x2xf32>',
    ]
    assert (text["added"], text["removed"], text["highlight"]) == ([], [], [])


def test_an_inserted_operation_is_new_and_numbers_stay():
    main, x, a, _ = program()
    film = viz.ProgramFilm(main)
    film.take("Before")
    with paddle.static.program_guard(main):
        paddle.pir.set_insertion_point(a.get_defining_op())
        paddle.exp(x)
        paddle.pir.reset_insertion_point_to_end()
    step = film.take("After")
    assert states(step) == {"x": "", "exp": "new", "tanh": "", "add": "", "fetch": ""}
    assert marked(step, "added") == ['(%4) = "pd_op.exp" (%0) -> tensor<2x2xf32>']
    assert panes(step)[1]["lines"][2] == '(%1) = "pd_op.tanh" (%0) -> tensor<2x2xf32>'
    assert marked(step, "removed") == []


def test_moved_uses_are_changed_lines_and_new_edges():
    main, x, a, _ = program()
    film = viz.ProgramFilm(main, uses=True)
    film.take("Before")
    a.replace_all_uses_with(x)
    step = film.take("Uses moved")
    assert states(step) == {"x": "", "tanh": "", "add": "changed", "fetch": ""}
    assert marked(step, "removed") == ['(%2) = "pd_op.add" (%1, %1) -> tensor<2x2xf32>']
    assert marked(step, "added") == ['(%2) = "pd_op.add" (%0, %0) -> tensor<2x2xf32>']
    edges = {(e["src"], e["dst"], e["slot"]): e["state"] for e in panes(step)[0]["edges"]}
    assert edges == {
        ("op0", "op1", ""): "",
        ("op0", "op2", "0"): "new",
        ("op0", "op2", "1"): "new",
        ("op2", "op3", ""): "",
    }
    table = step["panes"][2]
    assert table["type"] == "table"
    assert table["rows"][:2] == [["%0", "x", "tanh[0], add[0], add[1]"], ["%1", "tanh", "nobody"]]


def test_an_erased_operation_is_shown_once_more():
    main, x, a, _ = program()
    a.replace_all_uses_with(x)
    film = viz.ProgramFilm(main)
    film.take("Before")
    a.get_defining_op().erase()
    step = film.take("Erased")
    assert states(step) == {"x": "", "add": "", "fetch": "", "tanh": "removed"}
    assert marked(step, "removed") == ['(%1) = "pd_op.tanh" (%0) -> tensor<2x2xf32>']
    assert panes(step)[1]["removed"] == [2]  # where it stood
    last = film.take("After")
    assert states(last) == {"x": "", "add": "", "fetch": ""}
    assert len(panes(last)[1]["lines"]) == 3


def test_what_replaces_an_operation_stands_below_it():
    main, x, a, _ = program()
    film = viz.ProgramFilm(main)
    film.take("Before")
    with paddle.static.program_guard(main):
        paddle.pir.set_insertion_point_after(a.get_defining_op())
        a.replace_all_uses_with(paddle.exp(x))
        paddle.pir.reset_insertion_point_to_end()
    a.get_defining_op().erase()
    text = panes(film.take("Replaced"))[1]
    assert [line.split('"')[1] for line in text["lines"][:3]] == [
        "pd_op.data",
        "pd_op.tanh",
        "pd_op.exp",
    ]
    assert (text["removed"][0], text["added"][0]) == (2, 3)


def test_states_given_by_the_caller():
    main, _, a, _ = program()
    film = viz.ProgramFilm(main)
    step = film.take("Look here", states={a.get_defining_op(): "matched"})
    assert states(step) == {"x": "", "tanh": "matched", "add": "", "fetch": ""}
    assert marked(step, "highlight") == ['(%1) = "pd_op.tanh" (%0) -> tensor<2x2xf32>']


def test_constants_show_their_value_and_the_player_takes_the_steps():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 2], "float32")
        paddle.scale(x, 2.0)
    film = viz.ProgramFilm(main)
    step = film.take("Before")
    assert states(step) == {"x": "", "full 2": "", "scale": ""}
    assert panes(step)[1]["lines"][1] == '(%1) = "pd_op.full" () {value:2} -> tensor<1xf32>'
    assert len(viz.Player(film.steps)) == 1
