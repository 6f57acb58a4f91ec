"""The autograder of the course: releases exercises, collects submissions, grades them, writes
feedback and a CSV.

It speaks nbgrader's formats and keeps nbgrader's gradebook, so nbgrader's own pages can open a
course graded here. A module per step, in the order in which an instructor uses them:

    release.py      exercise with solutions  ->  exercise for learners
    collect.py      a folder of submissions  ->  grader/submitted
    submission.py   what was handed in       ->  the released notebook with these answers in it
    execute.py      runs it; a hang or a dead kernel costs that submission only
    grade.py        the loop over submissions, and the gradebook
    verdict.py      what came out for one submission, as JSON
    feedback.py     a page of HTML for the learner
    export.py       a row of CSV for every student and module

`checks.py` is for the exercises themselves: checks that say what was expected, what came, and where
to look.

Left out, until it is there: a sandbox. Submissions run with the rights of whoever calls `grader
grade`.
"""
