"""What a learner has reached: remembered when a check has run, shown on the home page.

`Checks` calls `remember`. The workspace is found from the kernel's working folder, which is the
module's folder: in the folder above is `.course.json`, which `tools/workspace.py` writes. Anywhere
else (when the course is built, when work is graded) there is none, and nothing is remembered.

The rule is simple: the last run of a check counts, also where it went worse than the one before.
Where a course update changed a check, it has to run again.

    <workspace>/<module>/.progress.json    {"task1": {"passed": 2, "total": 3, "check": "5f1c..."}}
    <workspace>/Home.md                    the part between the two marks is written again

One file for each module: two notebooks that run at once don't take each other's results away.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.checks import Checks

MANIFEST = ".course.json"
PROGRESS = ".progress.json"
HOME = "Home.md"
# Between these lines of Home.md the course writes; what a learner writes above and below stays.
BEGIN = "<!-- Your progress. The course writes all between this line ... -->"
END = "<!-- ... and this line. -->"


def remember(checks: Checks) -> None:
    """Remembers how the checks of a task went, and shows it on the home page.

    Does nothing outside a workspace, and never fails: a check has to answer also where its folder
    can't be written.
    """
    if checks.hidden or not checks.results:
        return
    with contextlib.suppress(Exception):
        folder = Path.cwd()
        workspace = folder.parent
        module = next(m for m in course_of(workspace) if m["folder"] == folder.name)
        name = checks.task.lower().replace(" ", "")  # "Task 1": the answer cell task1
        task = next(t for t in module["tasks"] if t["name"] == name)
        passed = sum(result.passed for result in checks.results)
        results = results_of(folder)
        results[name] = {"passed": passed, "total": len(checks.results), "check": task["check"]}
        write(folder / PROGRESS, json.dumps(results, indent=1))
        refresh(workspace)


def course_of(workspace: Path) -> list[dict[str, Any]]:
    """The modules of a workspace, as `tools/home.py` describes them; none outside a workspace."""
    return _read(workspace / MANIFEST).get("modules", [])


def results_of(folder: Path) -> dict[str, dict[str, Any]]:
    """task -> its result. What can't be read as one is left out."""
    return {task: found for task, found in _read(folder / PROGRESS).items() if _is_result(found)}


def _is_result(found: Any) -> bool:
    try:
        return 0 <= found["passed"] <= found["total"] and found["total"] > 0 and "check" in found
    except (TypeError, KeyError):
        return False


def refresh(workspace: Path) -> None:
    """Writes the home page again, if its marks are there and something has changed."""
    page = workspace / HOME
    before = page.read_bytes().decode("utf-8", "surrogateescape")  # every byte stays as it is
    after = with_progress(before, progress_page(course_of(workspace), workspace))
    if after != before:
        write(page, after)


def with_progress(page: str, progress: str) -> str:
    """`page` with `progress` between the marks. Without the two marks, it stays as it is."""
    above, begin, rest = page.partition(BEGIN)
    _, end, below = rest.partition(END)
    return f"{above}{begin}\n{progress}\n{end}{below}" if end else page


def write(path: Path, text: str) -> None:
    """Writes beside the target and renames, so that nobody ever sees half a file."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(text.encode("utf-8", "surrogateescape"))
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


# ---- the page


def progress_page(modules: list[dict[str, Any]], workspace: Path) -> str:
    """What is next, the points so far, and a table of the modules, in Markdown.

    modules: as `tools/home.py` describes them.
    """
    reached = [_reached(module, results_of(workspace / module["folder"])) for module in modules]
    tasks = [task for module in reached for task in module["tasks"]]
    hidden = _number(sum(task["hidden"] for task in tasks))
    lines = [
        f"**Next:** {_next(reached)}",
        "",
        f"**{_so_far(tasks)} points so far**, by the last run of each check. "
        f"Hidden checks give up to {hidden} more when your work is graded.",
        "",
        "| | Module | Lessons | Exercise | Points so far |",
        "|---|---|---|---|---|",
        *(_row(number, module) for number, module in enumerate(reached, 1)),
    ]
    return "\n".join(lines)


def _reached(module: dict[str, Any], results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The module, with what was reached in each task: `state` to read, points `so_far`, `done`.

    A result of a check that the course has changed since then doesn't count.
    """
    tasks = []
    for task in module["tasks"]:
        result = results.get(task["name"], {})
        ran = result.get("check") == task["check"]
        passed, total = (result["passed"], result["total"]) if ran else (0, 1)
        done = passed == total
        state = "" if not ran else " ✓" if done else f" ({passed} of {total} checks)"
        so_far = task["points"] * passed / total
        tasks.append({**task, "ran": ran, "done": done, "state": state, "so_far": so_far})
    return {**module, "tasks": tasks}


def _next(modules: list[dict[str, Any]]) -> str:
    """The first open task of a module that was begun, or else of one that was not."""
    begun = [module for module in modules if any(task["ran"] for task in module["tasks"])]
    for module in [*begun, *modules]:
        for number, task in enumerate(module["tasks"], 1):
            if task["done"]:
                continue
            place = f"{module['folder']}/exercise.ipynb#cell-id={task['cell']}"
            link = f"[task {number} · {task['title']}]({place})"
            if module in begun or not module["lessons"]:
                return f"{link}, in {module['title']}"
            [title, lesson] = module["lessons"][0]
            return f"read [{title}]({lesson}), then do {link}"
    return "every check that you can see passes. Hand in your exercises: the hidden checks remain."


def _row(number: int, module: dict[str, Any]) -> str:
    lessons = "<br>".join(f"[{title}]({place})" for title, place in module["lessons"])
    exercise, points, tasks = "", "", module["tasks"]
    if tasks:
        lines = [f"[Exercise]({module['folder']}/exercise.ipynb)"]
        lines += [f"{n}. {task['title']}{task['state']}" for n, task in enumerate(tasks, 1)]
        exercise = "<br>".join(lines)
        done = ", done ✓" if all(task["done"] for task in tasks) else ""
        bar = f'<progress value="{_points(tasks):g}" max="{_total(tasks):g}"></progress>'
        points = f"{bar}<br>{_so_far(tasks)}{done}"
    return (
        f"| {number} | **{module['title']}**<br>{module['question']} "
        f"| {lessons or 'not here yet'} | {exercise or 'not here yet'} | {points} |"
    )


def _points(tasks: list[dict[str, Any]]) -> float:
    return sum(task["so_far"] for task in tasks)


def _total(tasks: list[dict[str, Any]]) -> float:
    return sum(task["points"] for task in tasks)


def _so_far(tasks: list[dict[str, Any]]) -> str:
    return f"{_number(_points(tasks))} of {_number(_total(tasks))}"


def _number(points: float) -> str:
    return f"{round(points, 2):g}"
