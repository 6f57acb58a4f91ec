"""`python -m grader`, the same as the command `grader`."""

from grader.cli import main

main()
