"""Each lesson as a learner meets it: opened in JupyterLab, run, its players stepped.

A new lesson: add its line to LESSONS.
"""

from __future__ import annotations

import pytest

from tests.browser.lab import REPOSITORY, open_and_run, players, press, where

pytestmark = pytest.mark.browser

LESSONS = [
    "01_program_block/01_what_is_a_program",
    "01_program_block/02_descriptions",
    "01_program_block/03_from_an_op_to_a_kernel",
    "01_program_block/04_the_executor",
    "01_program_block/05_append_backward",
    "01_program_block/06_control_flow",
    "01_program_block/07_programs_that_rewrite_programs",
    "02_dygraph/01_what_does_a_tensor_remember",
    "02_dygraph/02_what_does_an_op_leave_behind",
    "02_dygraph/03_in_which_order_does_backward_run",
    "02_dygraph/04_what_is_the_gradient_of_a_gradient",
    "02_dygraph/05_when_does_backward_refuse",
    "02_dygraph/06_what_can_training_do_without",
    "02_dygraph/07_what_does_a_call_cost",
    "03_pir/01_why_a_new_ir",
    "04_passes/01_what_is_a_pass",
    "05_sot/01_what_does_python_run",
    "06_distributed/01_how_do_ranks_agree",
]


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_lesson_runs_and_its_players_step(page, lab, lesson):
    path = lab.add(REPOSITORY / "course" / f"{lesson}.ipynb", f"{lesson}.ipynb")
    open_and_run(page, lab, path)
    stepped = 0
    for player in players(page).all():
        if not player.get_by_role("button", name="Next", exact=True).is_visible():
            continue  # one step: a picture that stands still
        before, picture = where(player), player.locator(".mp-panes").inner_html()
        assert before.startswith("Step 1 of ")
        press(player, "Next")
        assert where(player).startswith("Step 2 of ")
        assert player.locator(".mp-panes").inner_html() != picture
        stepped += 1
    assert stepped, "expected a player with steps in the lesson"
