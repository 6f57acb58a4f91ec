"""The autograder of the course. It speaks nbgrader's formats and keeps nbgrader's gradebook, so
nbgrader's own pages can open a course graded here. What nbgrader does not do here is run student
code and decide about points.

For the exercises' authors:

    checks.py       what check cells use: says what was expected, what came, and where to look
    audit.py        proves that points mean something: blank 0, solutions all, wrong answers lose
    release.py      exercise with solutions -> exercise for learners, and the Assignment

One submission, a pure function from a Job to an Outcome (assignment.py, outcome.py):

    grading.py      asks a warm parent (warm.py), which forks an examiner
    examiner.py     goes over the cells: checks run here, in a process that never runs student code
    link.py         its end of the pipes to the student's process: limits, deadlines, restarts
    codec.py        how values cross: data, never code
    sandbox.py      bubblewrap around the student's process (seccomp.py: calls that are refused)
    nursery.py      has imported everything, and forks students' processes into it
    student.py      inside: IPython's shell, without a kernel

A course, in the order in which an instructor uses it:

    collect.py      a folder, an archive or pull requests -> grader/submitted
    submission.py   what was handed in -> the released notebook with these answers in it
    grade.py        the loop: which jobs, on this machine or on Dask (schedule.py)
    store.py        the one writer: gradebook, notebook that ran, verdict
    feedback.py     a page of HTML for each learner
    export.py       CSV and JSON; report.py and similarity.py: pages for the instructor
    check.py        one file at once, for learners and pull requests
"""

import sys as _sys

# nbformat's validator would load a grammar of web addresses: a second of every command's start, and
# nothing in a notebook needs it.
_sys.modules.setdefault("rfc3987_syntax", None)  # pyright: ignore[reportArgumentType]
