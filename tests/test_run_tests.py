"""`make test` and its arguments: what runs, on how many cores."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def run_tests(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """tools/run_tests.py, which is a script: it finds setup_env.py beside itself."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module("run_tests")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, run_tests: ModuleType) -> list[list[str]]:
    """The commands that would run. None does; one with -x "fails"."""
    commands: list[list[str]] = []

    def call(command: list[str], **options: object) -> int:
        commands.append(command[2:])
        return int("-x" in command)

    monkeypatch.setattr(run_tests, "ensure", lambda extras: None)
    monkeypatch.setattr(run_tests, "need_programs", lambda: "")
    monkeypatch.setattr(run_tests, "processes", lambda: 2)
    monkeypatch.setattr(subprocess, "call", call)
    return commands


RUFF = [["ruff", "check", "."], ["ruff", "format", "--check", "."]]


@pytest.mark.parametrize(
    ("arguments", "types", "code"),
    [([], True, 0), (["-k", "executor or pir", "-x"], True, 1), (["--quick"], False, 0)],
)
def test_arguments_go_to_pytest(
    monkeypatch, capsys, run_tests, ran, arguments, types, code
) -> None:
    monkeypatch.setattr(sys, "argv", ["run_tests.py", *arguments])
    assert run_tests.main() == code
    tests = ["pytest", "-n", "2", *arguments]
    assert ran == [*RUFF, *([["basedpyright"]] if types else []), tests]
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("FAILED" if code else "passed") and last.endswith(" ".join(tests))


def test_a_process_for_each_core_that_we_may_use(monkeypatch, run_tests) -> None:
    for cores, expected in [({0}, 1), ({0, 5}, 2), (set(range(64)), 4)]:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: cores, raising=False)
        assert run_tests.processes() == expected
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert run_tests.processes() == 1


def collected(*arguments: str) -> tuple[list[str], str]:
    """The tests that pytest would run, and the last line that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
        + list(arguments),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout
    return [line for line in lines if "::" in line], lines[-1]


def test_the_quick_ones_have_each_op_and_each_module() -> None:
    from minipaddle.phi.core.op import OPS
    from tools.home import MODULES

    tests, last = collected("tests/phi/test_declarations.py", "tests/test_course.py", "--quick")
    assert f"{len(tests)}/" in last and "deselected" in last
    infer_meta = "tests/phi/test_declarations.py::test_infer_meta_is_what_the_kernel_returns[numpy-"
    assert {t.removeprefix(infer_meta) for t in tests if infer_meta in t} == {
        f"{name}-0]" for name in OPS
    }
    lesson = "tests/test_course.py::test_it_runs_clean_and_gives_the_stored_outputs["
    modules = [t.removeprefix(lesson).partition("/")[0] for t in tests if lesson in t]
    assert modules == [module for module, _, _ in MODULES]


def test_several_processes_share_the_tests_and_say_so_at_the_end() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", "-v"]
        + ["tests/test_run_tests.py", "tests/test_floors.py", "-k", "arguments_go or runs_upward"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    by: dict[str, set[str]] = {}
    for line in done.stdout.splitlines():
        if line.startswith("[gw"):
            worker, _, rest = line.partition("]")
            by.setdefault(rest.split()[-1].partition("::")[0], set()).add(worker)
    assert set(by) == {"tests/test_run_tests.py", "tests/test_floors.py"}
    assert all(len(workers) == 1 for workers in by.values()), "a file stays in one process"
    assert " 4 passed" in done.stdout.splitlines()[-1], done.stdout
