"""compare: one snippet, run on minipaddle and on real Paddle, shown side by side.

    both('''
    x = paddle.to_tensor(3.0, stop_gradient=False)
    (x * x).backward()
    print(x.grad.item())
    ''')

Where real Paddle is not installed, its answer was recorded when the lesson was built, and the
picture says so. Lessons show it; the parity tests use the same function.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import html
import importlib
import io
import os
import re
import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

RECORDED = Path(__file__).with_name("recorded")
RECORD = "MINIPADDLE_RECORD"  # set while lessons are built: write real Paddle's answers down


@dataclass(frozen=True)
class Comparison:
    """What a snippet printed on both.

    Attributes:
        minipaddle, paddle: the printed texts.
        source: "live", "recorded" or "missing": where Paddle's text comes from.
        version: real Paddle's version.
    """

    minipaddle: str
    paddle: str
    source: str
    version: str

    @property
    def same(self) -> bool:
        """True where both printed the same."""
        return self.source != "missing" and self.minipaddle == self.paddle

    def differences(self) -> list[str]:
        """The lines in which they differ: "-" minipaddle's, "+" Paddle's."""
        lines = difflib.ndiff(self.minipaddle.splitlines(), self.paddle.splitlines())
        return [line for line in lines if line[:1] in "-+"]

    @property
    def _paddle_title(self) -> str:
        note = {"live": "", "recorded": ", recorded", "missing": ", not installed and not recorded"}
        return f"real Paddle {self.version}".rstrip() + note[self.source]

    @property
    def _verdict(self) -> str:
        if self.source == "missing":
            return "Real Paddle is not installed here: nothing to compare with."
        return "Both print the same." if self.same else "They differ in the marked lines."

    def __repr__(self) -> str:
        mine, theirs = _marked(self.minipaddle, self.paddle)
        parts = []
        for title, lines in (("minipaddle", mine), (self._paddle_title, theirs)):
            parts.append(title)
            parts += [f"  {'*' if marked else ' '} {line}" for line, marked in lines]
        return "\n".join([*parts, self._verdict])

    def _repr_html_(self) -> str:
        columns = []
        mine, theirs = _marked(self.minipaddle, self.paddle)
        for title, lines in (("minipaddle", mine), (self._paddle_title, theirs)):
            body = "\n".join(
                f"<b>* {html.escape(line)}</b>" if marked else f"  {html.escape(line)}"
                for line, marked in lines
            )
            columns.append(
                '<td style="vertical-align:top;text-align:left;width:50%">'
                f"<b>{html.escape(title)}</b>"
                '<pre style="margin:4px 0;white-space:pre-wrap;overflow-wrap:anywhere">'
                f"{body}</pre></td>"
            )
        table = '<table style="table-layout:fixed;width:100%">'
        return f"{table}<tr>{''.join(columns)}</tr></table><p>{html.escape(self._verdict)}</p>"


def both(snippet: str, same: bool | None = None) -> Comparison:
    """Runs a snippet on minipaddle and on real Paddle.

    In the snippet, `paddle` is the one or the other, `np` is numpy. What it prints is compared;
    if it raises, the kind of error is compared, not its words.

    Args:
        same: if given, what is expected; a lesson or test that says True fails where they differ.

    Raises:
        AssertionError: `same` is given and is not so.
    """
    code = textwrap.dedent(snippet).strip() + "\n"
    mine = _printed(code, importlib.import_module("minipaddle"))
    record = RECORDED / f"{hashlib.sha256(code.encode()).hexdigest()[:16]}.txt"
    paddle = real_paddle()
    if paddle is not None:
        version, theirs, source = paddle.__version__, _printed(code, paddle), "live"
        if os.environ.get(RECORD):
            RECORDED.mkdir(exist_ok=True)
            record.write_text(f"{version}\n{theirs}", encoding="utf-8")
    elif record.exists():
        version, _, theirs = record.read_text(encoding="utf-8").partition("\n")
        source = "recorded"
    else:
        version, theirs, source = "", "", "missing"
    result = Comparison(mine, theirs, source, version)
    if same is not None and source != "missing" and result.same is not same:
        wanted = "the same output" if same else "different outputs"
        raise AssertionError(
            f"both: expected {wanted} from minipaddle and real Paddle, but got\n{result!r}\n"
            "Look at what the snippet uses."
        )
    return result


def real_paddle() -> ModuleType | None:
    """Real Paddle, made quiet; None where it is not installed."""
    os.environ.setdefault("GLOG_minloglevel", "2")  # before it is imported: it logs to stderr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module("paddle")
        except ImportError:
            return None


def _printed(code: str, paddle: Any) -> str:
    """What the snippet prints, with fresh names and back in dygraph afterwards."""
    unique_name = importlib.import_module(
        "minipaddle.common.unique_name"
        if paddle.__name__ == "minipaddle"
        else "paddle.utils.unique_name"
    )
    if paddle.__name__ != "minipaddle":
        # real Paddle has names of their own for static mode, and enable_static() goes back to them
        paddle.enable_static()
        unique_name.switch()
        paddle.disable_static()
    out = io.StringIO()
    names = {"paddle": paddle, "np": numpy, "__name__": "snippet"}
    with contextlib.redirect_stdout(out), unique_name.guard(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(code, "<snippet>", "exec"), names)
        except Exception as error:  # the kind of error is part of the answer; subclasses are not
            kinds = (kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
            out.write(f"{next(kinds)}\n")
        finally:
            paddle.disable_static()
    # real Paddle adds the name of the Layer to operations that a Layer made; a Program here has no
    # such note
    return re.sub(r",struct_name:\"[^\"]*\"", "", out.getvalue())


def _marked(mine: str, theirs: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """The lines of both texts, with a mark on those that differ."""
    left, right = mine.splitlines(), theirs.splitlines()
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    equal_left: set[int] = set()
    equal_right: set[int] = set()
    for block in matcher.get_matching_blocks():
        equal_left.update(range(block.a, block.a + block.size))
        equal_right.update(range(block.b, block.b + block.size))
    return (
        [(line, i not in equal_left) for i, line in enumerate(left)],
        [(line, i not in equal_right) for i, line in enumerate(right)],
    )
