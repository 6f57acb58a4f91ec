"""300 random programs give the same on minipaddle and on real Paddle, but for what known.py lists;
and the parts of the fuzzer see what they should. More programs: python -m tests.fuzz.
"""

import pytest

import minipaddle
from minipaddle.compare import both, real_paddle
from tests.fuzz import known
from tests.fuzz.check import Check, alike, differences, shrunk, snippet
from tests.fuzz.draw import draw
from tests.fuzz.run import run

needs_paddle = pytest.mark.skipif(
    real_paddle() is None, reason="needs real Paddle: pip install paddlepaddle"
)


@pytest.fixture(scope="module")
def check():
    made = Check(minipaddle)
    yield made
    made.close()


@needs_paddle
def test_300_programs_give_the_same(check):
    wrong = []
    for number in range(300):
        small = check.check(draw(number, minipaddle))
        if small:
            text = snippet(small, run(small, minipaddle))
            wrong.append(f"program {number}\n{text}\n{check.compare(small)}")
    assert not wrong, "\n\n".join(wrong)


@needs_paddle
def test_a_difference_is_seen_and_shrunk(check, monkeypatch):
    """`tanh` is made wrong: the two lines that show it are left."""
    monkeypatch.setattr(minipaddle, "tanh", minipaddle.sin)
    lines = [
        "v0 = t([1.0, 2.0], stop_gradient=False)",
        "v1 = v0 * 2",
        "v2 = paddle.tanh(v0)",
        "v3 = v2.sum()",
        "v1.sum().backward()",
    ]
    assert check.check(lines) == [lines[0], lines[2]]


@needs_paddle
def test_a_program_that_ends_real_paddle_is_left_out(check):
    lines = [
        "v0 = t(1.0)",
        "import os",
        "paddle.__name__ == 'paddle' and os._exit(3)",
        "v3 = v0 + 1",
    ]
    assert check.check(lines) == []
    assert check.used["Paddle ends its process, or hangs"]


@needs_paddle
def test_a_program_is_a_snippet_for_a_parity_test():
    lines = draw(5, minipaddle)
    assert both(snippet(lines, run(lines, minipaddle))).minipaddle


def test_a_number_gives_one_program():
    assert draw(7, minipaddle) == draw(7, minipaddle) != draw(8, minipaddle)


def test_shrunk_keeps_what_matters():
    assert shrunk(list("abcdef"), lambda lines: "b" in lines and "e" in lines) == ["b", "e"]


@pytest.mark.parametrize(
    "other",
    [
        ["v0 = t([1.0, 3.0])", "v1 = v0 + v0"],
        ["v0 = t([1.0, 2.0], stop_gradient=False)", "v1 = v0 + v0"],
        ["v0 = t([1.0, 2.0], dtype='float64')", "v1 = v0 + v0"],
        ["v0 = t([[1.0, 2.0]])", "v1 = v0 + v0"],
        ["v0 = t([1.0, 2.0])", "v1 = v0 + 'text'"],
    ],
)
def test_values_flags_dtypes_shapes_and_errors_are_compared(other):
    lines = ["v0 = t([1.0, 2.0])", "v1 = v0 + v0"]
    assert not differences(run(lines, minipaddle), run(lines, minipaddle))
    assert differences(run(lines, minipaddle), run(other, minipaddle))


def test_hooks_are_compared():
    lines = ["v0 = t([1.0], stop_gradient=False)", "v0.register_hook(hook('a'))", "v0.backward()"]
    seen = run(lines, minipaddle)
    assert [name for name, *_ in seen.log] == ["a"]
    assert differences(seen, run([lines[0], "pass", lines[2]], minipaddle))
    assert differences(seen, run([*lines[:2], "(v0 * 2).backward()"], minipaddle))


def test_rounding_is_no_difference():
    (_, _, _, x, _), (_, _, _, y, _) = (
        run([line], minipaddle).tensors["v0"] for line in ("v0 = t([0.3])", "v0 = t([0.1]) + 0.2")
    )
    assert alike(x, y) and not alike(x, y + 0.1) and not alike(x, x.astype("float64"))


def test_every_known_difference_has_a_reason():
    for entry in (*known.LINES, *known.RESULTS, *known.KINDS.items()):
        assert len(entry[-1]) > 10, entry
