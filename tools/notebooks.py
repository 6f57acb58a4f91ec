"""Course notebooks: read from a py:percent source, executed, and cleaned of all that changes from
run to run.

Two people who build the same source get the same bytes: cell ids come from the content, machine
paths and widget ids are taken out of the outputs, and no time or version is stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode

from tools.exercises import CourseError, check_shape

ROOT = Path(__file__).resolve().parent.parent
COURSE = ROOT / "course"

CELL_SECONDS = 10
LESSON_SECONDS = 60
# A build stops a cell only when it is hopeless. What takes longer than the limits above, it tells.
BUILD_SECONDS = 120

METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}

# What nbgrader wants to see on each of its cells. A source may leave out what is usual.
NBGRADER_DEFAULTS = {"grade": False, "solution": False, "task": False, "schema_version": 3}


# ---- paths


def sources(course: Path = COURSE) -> list[Path]:
    """All py:percent sources, in course order: lessons (01_..., 02_...) first, then the exercise of
    the module.
    """
    return sorted(course.glob("[0-9][0-9]_*/[0-9][0-9]_*.py")) + sorted(
        course.glob("[0-9][0-9]_*/exercise.py")
    )


def is_exercise(path: Path) -> bool:
    return path.stem == "exercise"


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


# ---- source to notebook


def from_source(path: Path) -> NotebookNode:
    """The notebook of a py:percent source, without outputs."""
    import jupytext
    import nbformat.v4 as v4

    parsed = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    cells, used = [], set()
    for cell in parsed.cells:
        metadata = dict(cell.metadata)
        if "nbgrader" in metadata:
            metadata["nbgrader"] = _full_nbgrader(metadata["nbgrader"], path)
        new_cell = {
            "code": v4.new_code_cell,
            "markdown": v4.new_markdown_cell,
            "raw": v4.new_raw_cell,
        }[cell.cell_type](cell.source, metadata=metadata)
        new_cell.id = _cell_id(new_cell, used)
        cells.append(new_cell)
    nb = v4.new_notebook(cells=cells, metadata=json.loads(json.dumps(METADATA)))
    if is_exercise(path):
        check_shape(nb, shown(path))
    return nb


def _full_nbgrader(given: dict[str, Any], path: Path) -> dict[str, Any]:
    """`{"grade_id": "task1", "solution": true}` becomes what nbgrader's validator wants."""
    if "grade_id" not in given:
        raise CourseError(
            f"{shown(path)}: expected a grade_id in the cell header, but got nbgrader={given}. "
            'Write nbgrader={"grade_id": "task1", ...}.'
        )
    full = {**NBGRADER_DEFAULTS, "grade": "points" in given, **given}
    full.setdefault("locked", not full["solution"])
    return dict(sorted(full.items()))


def _cell_id(cell: NotebookNode, used: set[str]) -> str:
    """A name that stays when other cells move: the grade_id, else a hash of the content."""
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
    digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
    name = re.sub(r"[^a-zA-Z0-9-_]", "-", grade_id)[:60] if grade_id else digest
    number = 1
    while (unique := name if number == 1 else f"{name}-{number}") in used:
        number += 1
    used.add(unique)
    return unique


# ---- running


def kernel_environment() -> dict[str, str]:
    """The environment of a kernel whose outputs are stored or compared: no seeds, warnings or
    profile of the user.
    """
    return {
        **os.environ,
        "PYTHONHASHSEED": "0",
        "GLOG_minloglevel": "2",  # Paddle's C++ log goes to stderr
        "PYTHONWARNINGS": "ignore",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "IPYTHONDIR": str(Path(tempfile.gettempdir()) / "minipaddle-ipython"),
    }


def execute(nb: NotebookNode, folder: Path) -> list[float]:
    """Runs all cells in a fresh kernel whose working folder is `folder`. Returns the seconds that
    each cell took.

    Raises nbclient's CellExecutionError at the first cell that fails (unless tagged
    `raises-exception`).
    """
    from nbclient import NotebookClient
    from traitlets.config import Config

    seconds = [0.0] * len(nb.cells)
    started: dict[int, float] = {}

    def on_start(cell: NotebookNode, cell_index: int) -> None:
        started[cell_index] = time.monotonic()

    def on_done(cell: NotebookNode, cell_index: int, execute_reply: dict[str, Any]) -> None:
        seconds[cell_index] = time.monotonic() - started[cell_index]

    with tempfile.TemporaryDirectory(prefix="course-") as sockets:
        config = Config()
        if sys.platform != "win32":
            config.KernelManager.transport = "ipc"  # a TCP port can be taken by others
            config.KernelManager.ip = f"{sockets}/kernel"
        client = NotebookClient(
            nb,
            config=config,
            kernel_name="python3",
            # Nobody asks for it, and kernels at the same time would wait for its database.
            extra_arguments=["--HistoryManager.enabled=False"],
            timeout=BUILD_SECONDS,
            store_widget_state=False,
            record_timing=False,
            coalesce_streams=True,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(folder)}},
            on_cell_execute=on_start,
            on_cell_executed=on_done,
        )
        client.execute(env=kernel_environment())
    nb.metadata = type(nb.metadata)(json.loads(json.dumps(METADATA)))
    return seconds


def machine_paths() -> list[tuple[str, str]]:
    """(pattern, replacement) for every text in an output that names this machine."""
    pairs = [
        (re.escape(str(ROOT)) + r"/\.venv\S*?/site-packages/", "site-packages/"),
        (re.escape(sysconfig.get_paths()["purelib"]) + "/", "site-packages/"),
        (re.escape(str(ROOT)) + "/", ""),
        (re.escape(sysconfig.get_paths()["stdlib"]) + "/", "python/"),
        (r"/\S*/ipykernel_\d+/\d+\.py", "this notebook"),
    ]
    home = str(Path.home())
    if len(home) > 1:
        pairs.append((re.escape(home) + "/", "~/"))
    return pairs


def clean(nb: NotebookNode) -> None:
    """Takes out of the outputs what would differ on another machine or in another run."""
    for cell in nb.cells:
        cell.metadata.pop("execution", None)
        for output in list(cell.get("outputs", [])):
            # Without saved widget state a stored view shows nothing; a player's picture stands
            # before it.
            data = output.get("data", {})
            if data.pop("application/vnd.jupyter.widget-view+json", None) and not data:
                cell.outputs.remove(output)
            _replace_paths(output)


def _replace_paths(node: Any) -> None:
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in list(items):
        if isinstance(value, str):
            for pattern, replacement in machine_paths():
                value = re.sub(pattern, replacement, value)
            node[key] = value
        else:
            _replace_paths(value)


# ---- build and check


def build(source: Path) -> list[float]:
    """Writes the notebook beside its source. Lessons keep their outputs, exercises don't. Returns
    the seconds per cell.
    """
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    nb = from_source(source)
    try:
        seconds = execute(nb, source.parent)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise CourseError(
            f"{shown(source)}: expected every cell to run, but got:\n{error}\n"
            "Fix the cell, or tag it raises-exception if the error is what the lesson shows."
        ) from None
    clean(nb)
    if is_exercise(source):
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
    write(nb, source.with_suffix(".ipynb"))
    return seconds


def write(nb: NotebookNode, path: Path) -> None:
    """Writes beside the target and renames, so that nobody ever sees half a notebook."""
    import nbformat

    write_bytes((nbformat.writes(nb).rstrip("\n") + "\n").encode("utf-8"), path)


def write_bytes(data: bytes, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def slow(seconds: list[float]) -> list[str]:
    """What took too long for a learner, in a build with these seconds per cell."""
    found = [
        f"cell {number} took {taken:.1f} s; a learner should wait for {CELL_SECONDS} s at most"
        for number, taken in enumerate(seconds)
        if taken > CELL_SECONDS
    ]
    if sum(seconds) > LESSON_SECONDS:
        found.append(f"all took {sum(seconds):.0f} s; expected {LESSON_SECONDS} s at most")
    return found


def problems(source: Path) -> list[str]:
    """What is wrong with the notebook of a source, without running it: out of step, or an error
    among its outputs.
    """
    import nbformat

    target = source.with_suffix(".ipynb")
    rebuild = f"Run: python -m tools.course build {shown(source)}"
    try:
        expected = from_source(source)
    except CourseError as error:
        return [str(error)]
    if not target.exists():
        return [
            f"{shown(target)}: expected a notebook built from its source, but got none. {rebuild}"
        ]
    built = nbformat.read(target, as_version=4)
    found = []
    if _inputs(built) != _inputs(expected):
        found.append(
            f"{shown(target)}: expected the inputs of {source.name}, but got others. {rebuild}"
        )
    for number, cell in enumerate(built.cells):
        errors = [o for o in cell.get("outputs", []) if o.output_type == "error"]
        if errors and "raises-exception" not in cell.metadata.get("tags", []):
            found.append(
                f"{shown(target)}: expected no errors, but got {errors[0].ename} in cell "
                f"{number}. "
                f"Fix it, or tag the cell raises-exception. {rebuild}"
            )
        if is_exercise(source) and cell.get("outputs"):
            found.append(
                f"{shown(target)}: expected an exercise without outputs, but got some in cell "
                f"{number}. {rebuild}"
            )
    return found


def _inputs(nb: NotebookNode) -> Any:
    cells = [
        (c.id, c.cell_type, c.source, json.dumps(c.metadata, sort_keys=True)) for c in nb.cells
    ]
    return cells, json.dumps(nb.metadata, sort_keys=True)


def orphans(course: Path = COURSE) -> list[str]:
    """Notebooks in the course folder that no source builds."""
    known = {source.with_suffix(".ipynb") for source in sources(course)}
    found = [p for p in course.glob("*/*.ipynb") if p not in known]
    return [
        f"{shown(path)}: expected a source {path.stem}.py beside it, but got none. "
        "Write the source, or delete the notebook."
        for path in sorted(found)
    ]
