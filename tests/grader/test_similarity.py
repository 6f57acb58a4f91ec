"""Which answers are reported as alike, and which are not."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.cli import main
from grader.collect import collect
from grader.course import Course
from grader.similarity import CROWD, OWN, THRESHOLD, likeness, own_parts, tokenize
from tests.grader.sample import MODULE, RIGHT, WRONG, answered, hand_in

# Right answers to one task, each written from the task's text alone.
INDEPENDENT = {
    "queue": """
def in_degree_map(roots):
    result = {}
    seen = set()
    todo = list(roots)
    for root in roots:
        result[root] = 0
    while len(todo) > 0:
        node = todo.pop(0)
        if node in seen:
            continue
        seen.add(node)
        for edge in node.edges:
            if edge is None:
                continue
            if edge.node in result:
                result[edge.node] = result[edge.node] + 1
            else:
                result[edge.node] = 1
            todo.append(edge.node)
    return result
""",
    "two passes": '''
from collections import defaultdict


def in_degree_map(roots):
    """First all nodes, then all edges."""
    stack = [n for n in roots]
    nodes = []
    visited = {}
    while stack:
        current = stack.pop()
        if visited.get(current, False):
            continue
        visited[current] = True
        nodes.append(current)
        stack.extend([e.node for e in current.edges if e is not None])
    degrees = defaultdict(int)
    for n in nodes:
        degrees[n] += 0
        for e in n.edges:
            if e is not None:
                degrees[e.node] += 1
    return dict(degrees)
''',
    "counter": """
import collections


def in_degree_map(roots):
    waiting = collections.deque()
    counter = collections.Counter()
    known = set()
    for root in roots:
        if root not in known:
            known.add(root)
            waiting.append(root)
    while waiting:
        current = waiting.popleft()
        for following in (edge.node for edge in current.edges if edge):
            counter[following] += 1
            if following not in known:
                known.add(following)
                waiting.append(following)
    return {node: counter[node] for node in known}
""",
    "helper": """
def in_degree_map(roots):
    def children(node):
        return [edge.node for edge in node.edges if edge is not None]

    all_nodes = set(roots)
    work = list(all_nodes)
    i = 0
    while i < len(work):
        for child in children(work[i]):
            if child not in all_nodes:
                all_nodes.add(child)
                work.append(child)
        i += 1
    counts = {}
    for node in work:
        counts.setdefault(node, 0)
        for child in children(node):
            counts[child] = counts.get(child, 0) + 1
    return counts
""",
}
GIVEN = [
    """
def in_degree_map(roots):
    degrees = dict.fromkeys(roots, 0)
    queue = list(degrees)
    for node in queue:
        for edge in node.edges:
            if edge is None:
                continue
            if edge.node not in degrees:
                degrees[edge.node] = 0
                queue.append(edge.node)
            degrees[edge.node] += 1
    return degrees
"""
]


def renamed(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = re.sub(rf"(?<!\.)\b{old}\b", new, text)
    return text


def disguised() -> str:
    """A copy of "two passes": other names, another comment, more space, no docstring."""
    text = INDEPENDENT["two passes"].replace('    """First all nodes, then all edges."""\n', "")
    text = text.replace("    nodes = []\n", "\n    nodes = [ ]   # my nodes\n\n")
    names = {"stack": "s", "nodes": "everything", "visited": "been", "current": "c", "n": "v"}
    return renamed(text, {**names, "degrees": "result", "e": "arrow"})


def found(texts: dict[str, str]) -> list[tuple[str, str]]:
    answers = [a for a in own_parts(texts, GIVEN) if len(a.own) >= OWN]
    pairs = combinations(answers, 2)
    return [(a.student, b.student) for a, b in pairs if likeness(a, b) >= THRESHOLD]


def test_a_copy_with_other_names_and_comments_is_found() -> None:
    assert found({**INDEPENDENT, "copy": disguised()}) == [("two passes", "copy")]


def test_independent_right_answers_are_not_reported() -> None:
    answers = own_parts(INDEPENDENT, GIVEN)
    assert all(len(a.own) >= OWN for a in answers)  # they are compared
    assert max(likeness(a, b) for a, b in combinations(answers, 2)) < 0.65


def test_what_is_given_is_no_sign() -> None:
    ours = renamed(GIVEN[0], {"degrees": "count", "queue": "nodes", "edge": "e"})
    assert found({"anna": ours, "bo": ours, **INDEPENDENT}) == []


def test_short_answers_are_not_compared() -> None:
    short = "def in_degree_map(roots):\n    return dict(count(roots))"
    assert found({"anna": short, "bo": short}) == []


def test_what_a_crowd_writes_is_no_sign_and_what_a_few_write_is() -> None:
    text = INDEPENDENT["helper"]
    few = {f"student{n}": text for n in range(CROWD)}
    assert len(found(few)) == CROWD * (CROWD - 1) / 2
    assert found({**few, "one more": text}) == []
    class_of_30 = {f"other{n}": f"x = {n}" for n in range(24)}
    assert len(found({**class_of_30, **few, "one more": text})) == 15


@pytest.mark.parametrize("text", ["def f(:\n  '''", "\x00", "", "é" * 100, "f'{", "\\"])
def test_code_that_does_not_compile_is_compared_too(text: str) -> None:
    pieces = tokenize(text + "\n" + INDEPENDENT["helper"])
    assert all(0 <= p.start < p.end for p in pieces)
    assert len(pieces) >= len(tokenize(text))


def test_names_comments_and_texts_do_not_count_and_python_does() -> None:
    def tokens(text: str) -> list[str]:
        return [piece.token for piece in tokenize(text)]

    assert tokens("total = price * 2  # euros") == tokens("a=b*2")
    assert tokens("x = f'{a} b'")[:3] == tokens("y = 'c'")
    assert tokens("x.append(1)") != tokens("x.extend(1)")
    assert tokens("len(x)") != tokens("max(x)")
    assert tokens("x + 1") != tokens("x - 1") and tokens("x + 1") != tokens("x + 2")


# ---- the command


def run(course: Course, *words: str) -> Result:
    return CliRunner().invoke(main, ["--root", str(course.root), "similarity", *words])


def hand_in_all(course: Course, folder: Path, texts: dict[str, str]) -> None:
    for student, text in texts.items():
        hand_in(folder, student, answered(course, {"task2": text}))
    collect(course, folder)


def test_the_page_shows_both_side_by_side(course: Course, tmp_path: Path) -> None:
    texts = {**INDEPENDENT, "copy": disguised() + "\n# <script>alert(1)</script>"}
    hand_in_all(course, tmp_path / "in", texts)
    hand_in(tmp_path / "in", "broken", b"{")
    collect(course, tmp_path / "in")
    to = tmp_path / "page.html"
    result = run(course, "01", "--to", str(to))
    assert result.exit_code == 1, result.output
    assert "1 pair of 5 students" in result.output and "Look, don't convict" in result.output
    assert "copy, two passes" in result.output
    page = to.read_text(encoding="utf-8")
    assert "<script" not in page and "&lt;script&gt;" in page
    assert page.count("<h2>") == 1 and "<mark>" in page
    marked = "".join(re.findall(r"<mark>(.*?)</mark>", page, re.DOTALL))
    assert "everything.append" in marked and "my nodes" not in marked
    run(course, "01", "--to", str(tmp_path / "again.html"))
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page


def test_right_short_answers_are_all_alike_and_nobody_is_listed(
    course: Course, tmp_path: Path
) -> None:
    hand_in_all(course, tmp_path / "in", {"anna": RIGHT["task2"], "bo": RIGHT["task2"]})
    result = run(course, MODULE, "--to", str(tmp_path / "page.html"))
    assert result.exit_code == 0, result.output
    assert (
        "Task 2 · And back: 2 of 2 answers have too little of their own to compare" in result.output
    )


def test_wrong_use_is_said(course: Course, tmp_path: Path) -> None:
    hand_in_all(course, tmp_path / "in", {"anna": WRONG["task2"]})
    for words, message in [
        ([MODULE], "expected at least two submissions"),
        (["9"], "expected a module of the course"),
        ([MODULE, "--threshold", "80"], "is not in the range"),
        ([MODULE, "--to", str(tmp_path / "no" / "page.html")], "Make the folder"),
        ([], "Missing argument"),
    ]:
        result = run(course, *words)
        assert result.exit_code == 2 and message in result.output, result.output
