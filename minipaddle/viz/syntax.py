"""Colours for lines of programs: cuts a line into (class, text) runs.

A hint for the eye, not a parser.

Classes: "c" comment, "s" string, "v" value or variable of the IR, "n" number, "k" keyword, "" the
rest.
"""

from __future__ import annotations

import keyword
import re

_STRING = r"(?P<s>\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?)"
_NUMBER = r"(?P<n>(?<![\w.%])-?\d[\w.]*(?:e[+-]?\d+)?)"
_PROGRAM_WORDS = "var|param|persist|trainable|block|inputs|outputs"
_PATTERNS = {
    "python": rf"(?P<c>\#.*)|{_STRING}|{_NUMBER}|(?P<k>\b(?:{'|'.join(keyword.kwlist)})\b)",
    "pir": rf"(?P<c>//.*)|{_STRING}|(?P<v>%\w+)|{_NUMBER}|(?P<k>->|\btensor\b|\bmodule\b|\bfunc\b)",
    "program": rf"(?P<c>//.*)|{_STRING}|{_NUMBER}|(?P<k>\b(?:{_PROGRAM_WORDS})\b)",
    "bytecode": rf"(?P<c>\#.*|\(.*\))|{_STRING}|{_NUMBER}|(?P<k>\b[A-Z][A-Z_]+\b)",
}
_COMPILED = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}


def runs(line: str, language: str) -> list[tuple[str, str]]:
    """`line` in pieces; the pieces put together are the line again."""
    pattern = _COMPILED.get(language)
    if pattern is None:
        return [("", line)] if line else []
    made: list[tuple[str, str]] = []
    at = 0
    for match in pattern.finditer(line):
        if match.start() > at:
            made.append(("", line[at : match.start()]))
        if match.group():
            made.append((match.lastgroup or "", match.group()))
        at = match.end()
    if at < len(line):
        made.append(("", line[at:]))
    return made
