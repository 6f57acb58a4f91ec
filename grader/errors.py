"""What the grader tells its user when it can't go on."""


class GraderError(Exception):
    """A mistake that the instructor can mend: `<who>: expected <X>, but got <Y>. <what to do>`."""


class NotGradable(Exception):
    """A submission that can't be graded, and why. The text is shown to the instructor and to the
    student.
    """
