"""Runs a prepared notebook so that one submission can cost nobody but itself.

nbgrader's Execute gives up on a whole submission when its kernel dies, and goes on for ever, cell
by cell, with one that hangs. Here such a cell fails, the cells after it count as not run, and the
checks that had already passed keep their points.

The kernel is no sandbox: what a submission does, it does with the grader's rights.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from typing import Any

import nbformat.v4 as v4
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute as NbgraderExecute
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade
from traitlets import Integer


class Execute(NbgraderExecute):
    """nbgrader's Execute with a limit for the whole submission, in time and in output."""

    submission_seconds = Integer(300, help="limit for all cells of a submission together").tag(
        config=True
    )
    output_bytes = Integer(5 * 2**20, help="limit for all outputs of a submission together").tag(
        config=True
    )

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("kernel_manager_class", AsyncKernelManager)
        super().__init__(**kwargs)
        self.record_timing = False
        self.store_widget_state = False
        self.shutdown_kernel = "immediate"

    def preprocess(
        self, nb: NotebookNode, resources: Any = None, km: Any = None
    ) -> tuple[NotebookNode, Any]:
        self._deadline = time.monotonic() + self.submission_seconds
        self._over = ""  # why no more cells are run
        self._written = 0
        return super().preprocess(nb, resources, km)

    def start_new_kernel(self, **kwargs: Any) -> None:
        super().start_new_kernel(env=kernel_environment(), **kwargs)

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, index: int
    ) -> tuple[NotebookNode, Any]:
        if cell.cell_type != "code" or not cell.source.strip():
            return cell, resources
        if not self._over and time.monotonic() >= self._deadline:
            self._over = f"the {self.submission_seconds} s for this notebook are used up"
        if self._over:
            cell.outputs = [_error("NotRun", f"This cell was not run: {self._over}.")]
            return cell, resources
        try:
            return super().preprocess_cell(cell, resources, index)
        except DeadKernelError:
            self._end(cell, "KernelDied", "the Python process ended in this cell")
        except CellTimeoutError:
            over = self.error_on_timeout["evalue"]
            self._end(cell, "CellTimeoutError", f"{over}, and this cell could not be stopped")
        return cell, resources

    def _end(self, cell: NotebookNode, name: str, what: str) -> None:
        cell.outputs.append(_error(name, what))
        self._over = what.replace("this cell", "an earlier cell")

    def _get_timeout(self, cell: NotebookNode | None) -> int | None:
        rest = max(1, math.ceil(self._deadline - time.monotonic()))
        seconds = min(self.timeout or rest, rest)
        self.error_on_timeout = _error("CellTimeoutError", f"over {seconds} s")
        return seconds

    def output(
        self, outs: list[NotebookNode], msg: dict[str, Any], *args: Any
    ) -> NotebookNode | None:
        # Errors always get through: they decide the points.
        if msg["msg_type"] != "error":
            self._written += len(str(msg["content"]))
            if self._written > self.output_bytes:
                if not outs or outs[-1].get("name") != "grader":
                    outs.append(
                        v4.new_output("stream", name="grader", text="... output cut here ...\n")
                    )
                return None
        return super().output(outs, msg, *args)


class ChecksPassOrFail(NbGraderPreprocessor):
    """A check passes if it raises nothing.

    nbgrader also takes points for any text on stderr (Paddle writes there), and takes the value of
    the last line as the points. Neither says anything about the answer, so both are made harmless
    before the points are counted.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, cell_index: int
    ) -> tuple[NotebookNode, Any]:
        if is_grade(cell) and cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.output_type = "display_data"
                    output.pop("execution_count", None)
        return cell, resources


def kernel_environment() -> dict[str, str]:
    """What the submission's kernel sees: the same seeds every time, no warnings, no profile of the
    instructor.
    """
    return {
        **os.environ,
        "PYTHONHASHSEED": "0",
        "GLOG_minloglevel": "2",
        "PYTHONWARNINGS": "ignore",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "NBGRADER_EXECUTION": "autograde",
        "IPYTHONDIR": os.path.join(tempfile.gettempdir(), "minipaddle-ipython"),
    }


def _error(name: str, value: str) -> NotebookNode:
    return v4.new_output("error", ename=name, evalue=value, traceback=[f"{name}: {value}"])
