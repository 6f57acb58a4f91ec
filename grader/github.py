"""What `grader check` says on GitHub: a summary in Markdown, and workflow commands, which show as
annotations.

Names of files, messages and reasons are a stranger's. In Markdown they stand in `<code>` or
`<pre>`, and every sign that could mean something is written as a number (`&#91;` for `[`), so there
are no links, pictures, mentions or tags in it. In a line that is a workflow command they are
escaped as GitHub prescribes; and nothing else that is printed here can start one, because `:` and
`#` are numbers too.
"""

from __future__ import annotations

import re
from pathlib import Path

from grader.check import Checked, visible
from grader.outcome import GRADED
from grader.page import number

LONGEST = 2000  # signs of a message in the summary


def summary(checked: Checked) -> str:
    """Markdown, for one file."""
    outcome = checked.outcome
    mark = "✅" if checked.exit_code == 0 else "❌"
    lines = [
        f"### {mark} {_safe(checked.title)}",
        "",
        f"<code>{_safe(_place(checked.file))}</code>",
    ]
    lines += ["", f"<code>{_safe(outcome.reason)}</code>"] if outcome.reason else []
    if outcome.status != GRADED:
        return "\n".join([*lines, "", ""])
    lines += ["", "| task | points |", "|---|---|"]
    for task, score, _ in checked.tasks():
        lines.append(f"| {_safe(task.title)} | {number(score)} of {number(task.max_score)} |")
    for task, _, failed in checked.tasks():
        lines += ["", f"**{_safe(task.title)}**"] if failed else []
        for result in failed:
            hidden = " (hidden)" if result.hidden else ""
            lines += ["", f"- ❌ {_safe(result.name)}{hidden}"]
            if result.message:
                lines += ["", f"  <pre>{_safe(result.message[:LONGEST])}</pre>"]
            if result.look:
                lines += ["", f"  {_safe(result.look)}"]
    return "\n".join([*lines, "", ""])


def commands(checked: Checked) -> list[str]:
    """Workflow commands: one error for each task that lost points, or for the file."""
    outcome, file = checked.outcome, _property(_place(checked.file))
    if outcome.status != GRADED:
        title = _property(f"{checked.assignment.module}: {outcome.status}")
        return [f"::error file={file},title={title}::{_data(outcome.reason)}"]
    found = []
    for task, score, failed in checked.tasks():
        if score < task.max_score:
            title = f"{task.title}: {number(score)} of {number(task.max_score)} points"
            names = ", ".join(result.name for result in failed)
            text = f"Not right yet: {names}" if names else "The checks did not run to their end."
            found.append(f"::error file={file},title={_property(title)}::{_data(text)}")
    return found


def _place(file: Path) -> str:
    """The file's path in its git repository, where it is in one: annotations go by that."""
    path = file.absolute()
    for folder in path.parents:
        if (folder / ".git").exists():
            return path.relative_to(folder).as_posix()
    return file.as_posix()


def _safe(text: str) -> str:
    """In Markdown and in HTML: only letters, digits, spaces and line ends stand for themselves."""
    text = "\n".join(visible(line) for line in text.splitlines())
    return re.sub(r"[^\w ]|_", lambda found: f"&#{ord(found[0])};", text)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
