"""Compares the answers of a module's students, two by two: whose code is alike beyond what the task
makes alike?

An answer becomes a row of tokens. Comments, docstrings and white space are left out; a name counts
as "some name", unless it is Python's own or stands after a dot; a text counts as "some text". Then
everything is taken out that says nothing: runs of RUN tokens that also stand in the released
notebook, in the reference solution, or in the answers of more than a third of the students (and of
more than CROWD). What is left is the student's own. Two answers are compared by what they share of
it, in the same order: `2 * shared / (own of one + own of the other)`.

Left out: answers with fewer than OWN tokens of their own. Short answers are alike by themselves.
A high number is a reason to look, never a proof: two people who learned from the same page write
alike, and somebody who copies and then rewrites is not found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import nbformat
from markupsafe import Markup
from nbformat import NotebookNode
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Operator, Token, Whitespace
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from grader.assignment import Assignment
from grader.collect import FILE, collected
from grader.course import Course
from grader.errors import GraderError, NotGradable
from grader.page import render
from grader.submission import answers_in
from grader.tasks import load_assignment, tasks_of

RUN = 6  # tokens in a row
OWN = 25  # tokens of its own that an answer has to have
CROWD = 5  # what only so many students or fewer share is never called common
THRESHOLD = 0.8
SHOWN = 200  # pairs in a page
_TEXT = Token.Literal.String


@dataclass(frozen=True)
class Piece:
    """A token: what it counts as, and where it stands in the answer."""

    token: str
    start: int
    end: int


@dataclass(frozen=True)
class Answer:
    """`own`: the pieces that are the student's own."""

    student: str
    text: str
    own: tuple[Piece, ...]


@dataclass(frozen=True)
class Pair:
    """Two answers to a task, and how much of their own they share, from 0 to 1. `verbatim`: the
    same for the texts as they were written, with names, comments and given code.
    """

    task: str
    title: str
    left: Answer
    right: Answer
    alike: float
    verbatim: float

    @property
    def shared(self) -> tuple[list[Piece], list[Piece]]:
        """The pieces that both have, on either side."""
        left, right = [], []
        for op in Indel.opcodes(_tokens(self.left.own), _tokens(self.right.own)):
            if op.tag == "equal":
                left += self.left.own[op.src_start : op.src_end]
                right += self.right.own[op.dest_start : op.dest_end]
        return left, right


@dataclass(frozen=True)
class Compared:
    """`pairs`: most alike first. `short`: task -> how many answers have too little of their own to
    compare.
    """

    module: str
    students: int
    pairs: list[Pair]
    short: dict[str, int]


def similarity(course: Course, module: str, threshold: float = THRESHOLD) -> Compared:
    """Compares all that was collected for a module. Files that can't be read are left out."""
    module = course.module(module)
    assignment = load_assignment(course, module)
    handed = dict(_handed_in(course, assignment))
    if len(handed) < 2:
        raise GraderError(
            f"grader similarity: expected at least two submissions of {module} that can be read, "
            f"but got {len(handed)}. Run grader collect first."
        )
    reference = nbformat.read(course.source(module), as_version=4)
    released = [c.source for c in assignment.notebook().cells if c.cell_type == "code"]
    pairs, short = [], {}
    for task in tasks_of(assignment):
        texts = {student: _answer(notebook, task.name) for student, notebook in handed.items()}
        answers = own_parts(texts, [*released, _answer(reference, task.name)])
        long_enough = [answer for answer in answers if len(answer.own) >= OWN]
        short[task.title] = len(answers) - len(long_enough)
        pairs += [
            Pair(task.name, task.title, left, right, alike, fuzz.ratio(left.text, right.text) / 100)
            for left, right in combinations(long_enough, 2)
            if (alike := likeness(left, right)) >= threshold
        ]
    pairs.sort(key=lambda p: (-p.alike, -p.verbatim, p.task, p.left.student, p.right.student))
    return Compared(module, len(handed), pairs, short)


def own_parts(texts: dict[str, str], given: Iterable[str]) -> list[Answer]:
    """The answers, student -> text, each with what is its student's own beyond `given`."""
    pieces = {student: tokenize(text) for student, text in texts.items()}
    common = {run for text in given for run in _runs(tokenize(text))}
    counts = Counter(run for found in pieces.values() for run in set(_runs(found)))
    most = max(CROWD, len(texts) / 3)
    common |= {run for run, count in counts.items() if count > most}
    answers = []
    for student, found in pieces.items():
        covered: set[int] = set()
        for start, run in enumerate(_runs(found)):
            if run in common:
                covered.update(range(start, start + RUN))
        own = tuple(piece for place, piece in enumerate(found) if place not in covered)
        answers.append(Answer(student, texts[student], own))
    return answers


def likeness(left: Answer, right: Answer) -> float:
    return Indel.normalized_similarity(_tokens(left.own), _tokens(right.own))


def tokenize(text: str) -> list[Piece]:
    """Also of code that doesn't compile: a lexer never fails."""
    found: list[Piece] = []
    after_dot = False
    for start, kind, value in PythonLexer().get_tokens_unprocessed(text):
        if kind in Comment or kind in Whitespace or kind in _TEXT.Doc or not value.strip():
            continue
        token = value
        if kind in _TEXT and kind not in _TEXT.Interpol:
            if found and found[-1].token == "text":  # a text is several pieces to the lexer
                found[-1] = Piece("text", found[-1].start, start + len(value))
                continue
            token = "text"
        elif kind in Name and not (kind in Name.Builtin or after_dot):
            token = "name"
        elif not (kind in Name or kind in Keyword or kind in Operator):
            token = value.strip()
        found.append(Piece(token, start, start + len(value)))
        after_dot = value == "."
    return found


def _runs(pieces: list[Piece]) -> Iterator[tuple[str, ...]]:
    tokens = [piece.token for piece in pieces]
    return (tuple(tokens[at : at + RUN]) for at in range(len(tokens) - RUN + 1))


def _tokens(pieces: Iterable[Piece]) -> list[str]:
    return [piece.token for piece in pieces]


def _handed_in(course: Course, assignment: Assignment) -> Iterator[tuple[str, NotebookNode]]:
    for student, module in collected(course, assignment.module):
        path = course.step("submitted", student, module) / FILE
        try:
            yield student, answers_in(assignment.notebook(), path.read_bytes())
        except (NotGradable, OSError):
            continue


def _answer(notebook: NotebookNode, task: str) -> str:
    """The answer cell, and the code cells that the student added right after it."""
    parts: list[str] = []
    inside = False
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name is not None:
            inside = name == task
        if inside and cell.cell_type == "code":
            parts.append(cell.source)
    return "\n\n".join(parts)


def page(found: Compared, threshold: float) -> str:
    """The pairs as HTML, side by side; of very many the most alike ones."""
    return render(
        "similarity.html.j2",
        found=found,
        pairs=found.pairs[:SHOWN],
        own=OWN,
        threshold=threshold,
        percent=percent,
        sides=_sides,
    )


def percent(share: float) -> str:
    return f"{share:.0%}"


def _sides(pair: Pair) -> list[tuple[str, Markup]]:
    left, right = pair.shared
    return [
        (pair.left.student, _marked(pair.left.text, left)),
        (pair.right.student, _marked(pair.right.text, right)),
    ]


def _marked(text: str, pieces: list[Piece]) -> Markup:
    """The text with the pieces marked; marks that touch, or have only white space between them,
    are one.
    """
    made, place = Markup(), 0
    for start, end in _joined(text, pieces):
        made += Markup("{}<mark>{}</mark>").format(text[place:start], text[start:end])
        place = end
    return made + text[place:]


def _joined(text: str, pieces: list[Piece]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for piece in pieces:
        if spans and not text[spans[-1][1] : piece.start].strip():
            spans[-1] = (spans[-1][0], piece.end)
        else:
            spans.append((piece.start, piece.end))
    return spans
