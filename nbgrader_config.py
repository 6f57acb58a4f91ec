"""With this file nbgrader's own pages find the course: run `jupyter lab` in this folder and choose
Nbgrader > Formgrader. A course with another root needs a copy of it there.

The pages show grades and take points, extra credit and comments by hand. Grade with `grader grade`,
not with their button: it runs student code without a sandbox, and here it finds no submissions.
"""

from pathlib import Path

from grader.course import Course

c = get_config()  # noqa: F821 (nbgrader puts it there)
c.merge(Course.at(Path(__file__).parent).config())
