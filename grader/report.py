"""One page about a course for its instructor: how the points of each task lie, which checks most
people fail, who has not handed in, who is stuck.

Points are those of the gradebook. The page holds all it needs, and is the same every time it is
made from the same grades.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from grader.collect import collected
from grader.course import Course
from grader.errors import GraderError
from grader.export import current_verdicts
from grader.outcome import FAILED, GRADED
from grader.page import number, render
from grader.points import Points, points_of, read_points, students
from grader.tasks import Task, load_assignment, tasks_of, title_of
from grader.verdict import Verdict

STUCK_ATTEMPTS = 3
STUCK_SHARE = 0.5  # of the points
MOST_FAILED = 5  # checks that are listed for a task


@dataclass
class TaskSummary:
    """`failed`: (check, hidden, how many students failed it), most first."""

    title: str
    max_score: float
    points: list[float]
    failed: list[tuple[str, bool, int]]

    @property
    def full(self) -> int:
        return sum(points >= self.max_score for points in self.points)

    @property
    def mean(self) -> float:
        return sum(self.points) / len(self.points)


@dataclass
class ModuleSummary:
    name: str
    title: str
    max_score: float
    graded: int
    tasks: list[TaskSummary]
    attempts: list[int]
    stuck: list[tuple[str, float, int]]  # student, points, attempts
    problems: list[tuple[str, str]]  # student, why there are no points
    missing: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)  # handed in, and not graded yet
    picture: Markup = Markup()


@dataclass
class StudentRow:
    """`cells`: module -> (points, attempts, note), for what was handed in."""

    name: str
    cells: dict[str, tuple[float | None, int, str]] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(points or 0.0 for points, _, _ in self.cells.values())


def report(course: Course, module: str | None = None) -> str:
    """The page, as HTML, about one module or about all of which something is graded."""
    found = current_verdicts(course, "report")
    if module is not None:
        module = course.module(module)
        found = [verdict for verdict in found if verdict.module == module]
        if not found:
            raise GraderError(
                f"grader report: expected graded submissions of {module}, but got none. Run "
                f"grader grade {module} first."
            )
    stored = read_points(course)
    points = {(v.student, v.module): points_of(course, v, stored) for v in found}
    handed_in = collected(course)
    everybody = sorted({*students(course), *(student for student, _ in handed_in)})
    modules = []
    for name in sorted({verdict.module for verdict in found}):
        theirs = [verdict for verdict in found if verdict.module == name]
        summary = _module(course, name, theirs, points)
        there = {student for student, mod in handed_in if mod == name}
        summary.missing = sorted(set(everybody) - there)
        summary.waiting = sorted(there - {verdict.student for verdict in theirs})
        modules.append(summary)
    rows = {student: StudentRow(student) for student in everybody}
    for verdict in found:
        score = points[verdict.student, verdict.module].score if verdict.status != FAILED else None
        note = "" if verdict.status == GRADED else verdict.status
        rows[verdict.student].cells[verdict.module] = (score, verdict.attempts, note)
    return render(
        "report.html.j2",
        modules=modules,
        rows=list(rows.values()),
        most=sum(summary.max_score for summary in modules),
        unsafe=sorted({v.student for v in found if v.sandbox == "none"}),
        stuck_attempts=STUCK_ATTEMPTS,
        stuck_share=f"{STUCK_SHARE:.0%}",
    )


def _module(
    course: Course,
    name: str,
    found: list[Verdict],
    points: dict[tuple[str, str], Points],
) -> ModuleSummary:
    assignment = load_assignment(course, name)
    graded = [verdict for verdict in found if verdict.status == GRADED]
    summary = ModuleSummary(
        name,
        title_of(assignment),
        assignment.max_score,
        len(graded),
        tasks=[_task(task, graded, points) for task in tasks_of(assignment)] if graded else [],
        attempts=[verdict.attempts for verdict in graded],
        stuck=[
            (verdict.student, score, verdict.attempts)
            for verdict in graded
            if verdict.attempts >= STUCK_ATTEMPTS
            and (score := points[verdict.student, verdict.module].score)
            < STUCK_SHARE * assignment.max_score
        ],
        problems=[(v.student, f"{v.status}: {v.reason}") for v in found if v.status != GRADED],
    )
    if graded:
        summary.picture = picture(summary)
    return summary


def _task(task: Task, graded: list[Verdict], points: dict[tuple[str, str], Points]) -> TaskSummary:
    names = {cell.name for cell in task.checks}
    failed: Counter[tuple[str, bool]] = Counter()
    for verdict in graded:
        # Once for each student, also where two checks have the same name.
        failed.update(
            {(c.name, c.hidden) for c in verdict.checks if c.cell in names and not c.passed}
        )
    scores = [
        sum(points[verdict.student, verdict.module].cells.get(name, 0.0) for name in names)
        for verdict in graded
    ]
    order = sorted(failed.items(), key=lambda item: (-item[1], item[0]))[:MOST_FAILED]
    most = [(check, hidden, count) for (check, hidden), count in order]
    return TaskSummary(task.title, task.max_score, scores, most)


# ---- pictures


def picture(summary: ModuleSummary) -> Markup:
    """Bars, as SVG: for each task how many students have how many points, and how many attempts."""
    import matplotlib
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {
        "svg.hashsalt": summary.name,  # ids that are the same every time, and the page's own
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(3.1 * (len(summary.tasks) + 1), 2.5), layout="constrained")
        axes = figure.subplots(1, len(summary.tasks) + 1, squeeze=False)[0]
        for axis, task in zip(axes, summary.tasks):
            labels, counts = shares(task.points, task.max_score)
            _bars(axis, labels, counts, _short(task.title), "points")
        attempts = Counter(min(count, 6) for count in summary.attempts)
        last = max(4, *attempts)
        labels = [f"{n}" if n < 6 else "6+" for n in range(1, last + 1)]
        counts = [attempts[n] for n in range(1, last + 1)]
        _bars(axes[-1], labels, counts, "Attempts", "different files handed in")
        axes[0].set_ylabel("students")
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    return Markup(svg[svg.index("<svg") :])


def shares(points: list[float], most: float) -> tuple[list[str], list[int]]:
    """How many have no points, how many lie in the quarters between, and how many have all."""
    quarters = [most * part / 4 for part in range(5)]
    labels = ["0"] + [f"≤{number(end)}" for end in quarters[1:4]] + [f"<{number(most)}"]
    labels.append(number(most))
    counts = [0] * 6
    for value in points:
        if value <= 0:
            counts[0] += 1
        elif value >= most:
            counts[5] += 1
        else:
            counts[1 + next(n for n in range(4) if value <= quarters[n + 1])] += 1
    return labels, counts


def _bars(axis: Any, labels: list[str], counts: list[int], title: str, below: str) -> None:
    bars = axis.bar(range(len(labels)), counts, color="#4c78a8", width=0.8)
    axis.bar_label(bars, [f"{count}" if count else "" for count in counts], fontsize=9)
    axis.set_xticks(range(len(labels)), labels)
    axis.set_yticks([])
    axis.set_ylim(0, max(counts) * 1.15 or 1)
    axis.spines["left"].set_visible(False)
    axis.set_title(title, fontsize=10)
    axis.set_xlabel(below)


def _short(title: str) -> str:
    """ "Task 1" of "Task 1 · Which shape comes out?": the rest is in the table."""
    head = re.split(r"\s+[·:–-]\s+", title)[0]
    return head if len(head) <= 24 else head[:23] + "…"
