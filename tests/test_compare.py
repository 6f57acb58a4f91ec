"""compare: what a reader sees where real Paddle is missing."""

import pytest

from minipaddle import compare


@pytest.fixture
def without_paddle(monkeypatch, tmp_path):
    monkeypatch.setattr(compare, "RECORDED", tmp_path)
    return lambda: monkeypatch.setattr(compare, "real_paddle", lambda: None)


def test_an_answer_is_recorded_and_used(without_paddle, monkeypatch):
    snippet = "print(paddle.ones([2]).tolist())"
    monkeypatch.setenv(compare.RECORD, "1")
    live = compare.both(snippet)
    without_paddle()
    recorded = compare.both(snippet)
    assert (live.source, recorded.source) == ("live", "recorded")
    assert live.paddle == recorded.paddle == "[1.0, 1.0]\n" and recorded.same
    assert "recorded" in repr(recorded) and "recorded" in recorded._repr_html_()


def test_nothing_is_written_while_somebody_only_runs_a_lesson(without_paddle, monkeypatch):
    monkeypatch.delenv(compare.RECORD, raising=False)
    compare.both("print(1)")
    assert list(compare.RECORDED.iterdir()) == []


def test_without_paddle_and_without_a_record(without_paddle):
    without_paddle()
    found = compare.both("print(1)", same=True)
    assert found.source == "missing" and not found.same
    assert "not installed here" in repr(found)


def test_html_is_escaped():
    assert "<script>" not in compare.both("print('<script>')")._repr_html_()


def test_a_snippet_leaves_dygraph_on():
    compare.both("paddle.enable_static()")
    import minipaddle

    assert minipaddle.in_dynamic_mode()
