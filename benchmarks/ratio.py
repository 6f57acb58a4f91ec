"""How long one thing takes, as a multiple of another, measured in one run.

The machines on which this runs are shared and noisy, so a time by itself says little. Here the two
take turns, a short block each; the time is the processor's (what other programs use does not
count), and the answer is the median of the ratios of neighbouring blocks.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

# one thread for everybody; must be set before numpy and Paddle are imported
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("GLOG_minloglevel", "2")


def _seconds(work: Callable[[], object], calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - start) / calls


def ratio(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    seconds: float = 3.0,
    rounds: int = 15,
) -> tuple[float, float, float]:
    """Returns (ratio, microseconds of ours, microseconds of theirs).

    Args:
        seconds: how long the whole measurement may take, about.
        rounds: how often the two take turns.
    """
    for work in (ours, theirs):
        work()
        work()
    calls = [
        max(1, int(seconds / rounds / 2 / max(_seconds(work, 3), 1e-7))) for work in (ours, theirs)
    ]
    pairs = [(_seconds(ours, calls[0]), _seconds(theirs, calls[1])) for _ in range(rounds)]
    return (
        statistics.median(a / b for a, b in pairs),
        statistics.median(a for a, _ in pairs) * 1e6,
        statistics.median(b for _, b in pairs) * 1e6,
    )


def write_table(name: str, text: str) -> None:
    """Puts a table into benchmarks/README.md, between its two marks."""
    readme = Path(__file__).parent / "README.md"
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = readme.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    readme.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
