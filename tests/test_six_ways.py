"""The example is run as a user runs it: it compares all six ways, numpy and real Paddle."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_six_ways_agree():
    done = subprocess.run(
        [sys.executable, "examples/six_ways.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = done.stdout.splitlines()[2:8]
    assert [row.split()[0] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert "none" not in done.stdout, "real Paddle must be installed where the tests run"


def test_it_exits_with_1_where_a_way_differs(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import six_ways

    def wrong() -> six_ways.Run:
        run = six_ways.by_hand()
        run.losses[50] += 1e-3
        return run

    monkeypatch.setattr(six_ways, "WAYS", {"a wrong way": wrong})
    monkeypatch.setattr(six_ways, "real_paddle", lambda: None)
    assert six_ways.main() == 1
    assert "a wrong way" in capsys.readouterr().out.splitlines()[-1]
