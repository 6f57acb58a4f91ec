"""Draws random dygraph programs and runs them on minipaddle and on real Paddle.

    python -m tests.fuzz --count 20000 --seed 0            what differs, as short snippets
    python -m tests.fuzz --count 20000 --state fuzz.json   the same; goes on where it was stopped
    python -m tests.fuzz --count 1 --seed 812              one program again

A snippet can be pasted into tests/parity/test_drawn.py. draw.py draws the lines, run.py runs them
on both, check.py compares and shrinks, known.py lists what differs on purpose.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import minipaddle
from tests.fuzz.check import Check, snippet
from tests.fuzz.draw import draw
from tests.fuzz.run import run


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first")
    parser.add_argument("--state", type=Path, help="a file that notes what is done")
    arguments = parser.parse_args()
    done, failed = 0, []
    if arguments.state and arguments.state.exists():
        done, failed = json.loads(arguments.state.read_text(encoding="utf-8"))
    check = Check(minipaddle)
    for position in range(done, arguments.count):
        number = arguments.seed + position
        small = check.check(draw(number, minipaddle))
        if small:
            failed.append(number)
            print(f"\n# program {number}\n{snippet(small, run(small, minipaddle))}")
            print(
                *(f"#   {text[:300]!r}" for text in check.compare(small)[:4]), sep="\n", flush=True
            )
        if arguments.state and (position % 50 == 49 or position + 1 == arguments.count):
            arguments.state.write_text(json.dumps([position + 1, failed]), encoding="utf-8")
    check.close()
    print(f"\n{arguments.count} programs, {len(failed)} differ {failed[:50]}. Left out as known:")
    print(*(f"  {count:5d}  {reason}" for reason, count in sorted(check.used.items())), sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
