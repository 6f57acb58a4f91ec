"""Counts lines of code: what is left without blank lines, comments and docstrings.

    python tools/count_code.py                              minipaddle, a row for each folder
    python tools/count_code.py minipaddle/base              a row for each of its files
    python tools/count_code.py minipaddle/pir/core/value.py minipaddle/common

A line counts if a piece of a statement stands on it. Standard library only.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "minipaddle"
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
NO_CODE |= {tokenize.ENCODING, tokenize.ENDMARKER}
WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(text: str) -> int:
    """How many lines of a Python text hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return len(lines)


def count(path: Path) -> int:
    """Lines of code of a file, or of all Python files below a folder."""
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return sum(code_lines(file.read_text(encoding="utf-8")) for file in files)


def rows(path: Path) -> list[tuple[str, int]]:
    """(name, lines) of what stands directly in a folder, most lines first; or of one file."""
    if path.is_file():
        return [(path.name, count(path))]
    parts = [part for part in path.iterdir() if part.is_dir() or part.suffix == ".py"]
    found = [(part.name, count(part)) for part in parts]
    return sorted((row for row in found if row[1]), key=lambda row: (-row[1], row[0]))


def main(arguments: list[str]) -> int:
    total = 0
    for path in [Path(argument) for argument in arguments] or [PACKAGE]:
        if not path.exists():
            print(f"count_code: expected a file or folder, but got {path}.", file=sys.stderr)
            return 2
        for name, lines in rows(path):
            print(f"{lines:7,}  {name}")
            total += lines
    print(f"{total:7,}  together")
    if not arguments:
        print(f"{total - count(PACKAGE / 'viz'):7,}  beside viz")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
