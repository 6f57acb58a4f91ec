"""docs/reading.md fits the code, and what has to be read stays short."""

import ast
import re

import pytest

from tools import count_code, reading_map

RENEW = "Run `python -m tools.reading_map --write`."


@pytest.mark.parametrize("subsystem", reading_map.SUBSYSTEMS, ids=lambda item: item.title)
def test_a_core_path_can_be_read(subsystem):
    lines = reading_map.core_lines(subsystem)
    assert lines < reading_map.LIMIT, f"{subsystem.title}: {lines} lines. Shorten it, or split it."


def test_every_file_of_the_map_exists():
    names = [name for item in reading_map.SUBSYSTEMS for name in (*item.core, *item.later)]
    assert not [name for name in names if not (reading_map.PACKAGE / name).exists()]
    assert len(names) == len(set(names))


def test_the_page_says_what_the_code_says():
    """Names and sentences exactly; lines about: not every change of code is one of the page."""
    page = reading_map.MAP.read_text(encoding="utf-8")
    number = re.compile(r"\d[\d,]*")
    wanted = reading_map.page()
    assert number.sub("#", page) == number.sub("#", wanted), RENEW
    for shown, counted in zip(number.findall(page), number.findall(wanted), strict=True):
        a, b = (int(text.replace(",", "")) for text in (shown, counted))
        assert abs(a - b) <= max(20, 0.15 * b), f"it says {shown}, but there are {counted}. {RENEW}"


def test_lines_of_code_are_counted_without_comments_and_docstrings():
    text = """'A module.'

# a comment
x = [
    1,  # one
]


def f():
    '''Says
    it.'''
    return '''a
b'''
"""
    assert count_code.code_lines(text) == 6  # x = [, 1, ], def, return and the text's second line


def folders():
    inner = {path.parent for path in reading_map.PACKAGE.rglob("*.py")}
    return sorted(inner - {reading_map.PACKAGE, reading_map.PACKAGE / "viz"})


@pytest.mark.parametrize("folder", folders(), ids=lambda path: path.name)
def test_a_folder_says_what_is_in_it(folder):
    """Its docstring has a word on each file. That of viz goes by what one wants to see."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    missing = sorted(name for name in files if not re.search(rf"\b{name}\b", text))
    assert not missing, f"{folder}/__init__.py: say in a line what is in {missing}."
