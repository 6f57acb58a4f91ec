"""tools/setup_env.py: what it does with a .venv in each state, and what it says."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import setup_env


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Path:
    """A checkout in a temporary folder."""
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "pyproject.toml").write_text("one")
    (root / "constraints.txt").write_text("two")
    monkeypatch.setattr(setup_env, "ROOT", root)
    monkeypatch.setattr(setup_env, "VENV", root / ".venv")
    monkeypatch.setattr(setup_env, "STATE", root / ".venv" / "state.json")
    monkeypatch.setattr(setup_env, "LOCK", root / ".setup.lock")
    monkeypatch.setattr(setup_env, "NEEDED_GIB", 0)
    monkeypatch.setattr(setup_env, "check_paddle", lambda: None)
    return root


@pytest.fixture
def asked(checkout, monkeypatch) -> list:
    """What was asked of venv and pip, which are not run."""
    asked: list = []

    def capture(command, **_):
        if "venv" in command:
            asked.append("venv")
            python = setup_env.venv_python()
            python.parent.mkdir(parents=True)
            python.symlink_to(sys.executable)
        return SimpleNamespace(returncode=0, stdout="")

    monkeypatch.setattr(setup_env, "capture", capture)
    monkeypatch.setattr(setup_env, "choose_python", lambda: sys.executable)
    monkeypatch.setattr(
        setup_env,
        "python_version",
        lambda path: sys.version_info[:2] if Path(path).exists() else None,
    )
    monkeypatch.setattr(setup_env, "install", lambda extras, state: asked.append(extras))
    return asked


def change_state(**changes) -> None:
    state = setup_env.read_state()
    setup_env.STATE.write_text(json.dumps({**state, **changes}))


def test_a_first_run_makes_the_environment_and_a_second_one_does_nothing(asked):
    setup_env.ensure(["course"])
    assert asked == ["venv", ["course"]]
    setup_env.ensure(["course"])
    assert asked == ["venv", ["course"]]


def test_a_new_extra_is_added_to_those_that_are_there(asked):
    setup_env.ensure(["course"])
    setup_env.ensure(["dev"])
    assert asked == ["venv", ["course"], ["course", "dev"]]
    setup_env.ensure(["course"])
    assert len(asked) == 3


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_changed_requirements_are_installed_again(asked, checkout, name):
    setup_env.ensure(["course"])
    (checkout / name).write_text("changed")
    setup_env.ensure(["course"])
    assert asked == ["venv", ["course"], ["course"]]


@pytest.mark.parametrize(
    "change", [{"status": "installing"}, {"status": "creating"}, {"root": "/elsewhere"}]
)
def test_a_half_written_or_moved_environment_is_made_again(asked, change):
    setup_env.ensure(["course"])
    change_state(**change)
    (setup_env.VENV / "left over").touch()
    setup_env.ensure(["course"])
    assert asked == ["venv", ["course"], "venv", ["course"]]
    assert not (setup_env.VENV / "left over").exists()


def test_being_cut_off_before_pip_writes_keeps_the_environment(asked, monkeypatch):
    def interrupted(extras, state):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(setup_env, "install", interrupted)
        with pytest.raises(KeyboardInterrupt):
            setup_env.ensure(["course"])
    setup_env.ensure(["course"])
    assert asked == ["venv", ["course"]]


def test_what_paddle_lacks_can_be_put_right_without_starting_again(asked, monkeypatch):
    def lacks_libgomp():
        raise setup_env.SetupError("PaddlePaddle needs the library libgomp.")

    with monkeypatch.context() as patch:
        patch.setattr(setup_env, "check_paddle", lacks_libgomp)
        with pytest.raises(setup_env.SetupError):
            setup_env.ensure(["course"])
    setup_env.ensure(["course"])
    assert asked == ["venv", ["course"], ["course"]]


def test_an_environment_whose_python_is_gone_is_made_again(asked):
    setup_env.ensure(["course"])
    setup_env.venv_python().unlink()
    setup_env.ensure(["course"])
    assert asked == ["venv", ["course"], "venv", ["course"]]


def test_an_environment_of_somebody_else_is_never_removed(asked):
    setup_env.VENV.mkdir()
    (setup_env.VENV / "theirs").touch()
    with pytest.raises(setup_env.SetupError, match="Rename or remove it"):
        setup_env.ensure(["course"])
    assert (setup_env.VENV / "theirs").exists()
    assert asked == []


def test_too_little_room_is_said_before_anything_is_made(asked, monkeypatch):
    monkeypatch.setattr(setup_env, "NEEDED_GIB", 1e9)
    with pytest.raises(setup_env.SetupError, match=r"expected .* GiB free in .*, but got"):
        setup_env.ensure(["course"])
    assert not setup_env.VENV.exists()


def test_no_supported_python(monkeypatch):
    monkeypatch.setattr(setup_env, "supported_pythons", list)
    with pytest.raises(setup_env.SetupError, match=r"expected Python 3.11, 3.12 or 3.13, but got"):
        setup_env.choose_python()


def test_debian_without_venv_and_without_root_gets_the_command(monkeypatch):
    monkeypatch.setattr(setup_env, "supported_pythons", lambda: ["python3.11"])
    monkeypatch.setattr(setup_env, "python_version", lambda _: (3, 11))
    monkeypatch.setattr(setup_env, "can_make_venv", lambda _: False)
    monkeypatch.setattr(setup_env, "is_root", lambda: False)
    command = "sudo apt-get update && sudo apt-get install -y python3.11-venv"
    with pytest.raises(setup_env.SetupError, match=command):
        setup_env.choose_python()


def test_the_python_that_runs_comes_first_and_a_broken_one_on_path_is_left_out(
    tmp_path, monkeypatch
):
    for version in setup_env.SUPPORTED:
        shim = tmp_path / f"python{setup_env.dotted(version)}"
        shim.write_text("#!/bin/sh\nexit 127\n")
        shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + "/bin")
    assert setup_env.supported_pythons() == [sys.executable]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full"),
        ("Temporary failure in name resolution", "The package index can't be reached"),
        ("PermissionError: [Errno 13] Permission denied", "A file can't be written"),
    ],
)
def test_a_failure_of_pip_is_explained(said, reason):
    assert setup_env.explain(f"Collecting numpy\n{said}\n").startswith(reason)


def test_progress_follows_pip():
    progress = setup_env.Progress()
    progress.read_pip("Collecting numpy>=2 (from minipaddle)\n")
    assert progress.what == "finding packages: 1, numpy"
    progress.read_pip("  Downloading paddlepaddle-3.3.1-cp312-linux.whl (189.0 MB)\n")
    assert progress.what == "downloading paddlepaddle (189.0 MB)"
    progress.read_pip("Installing collected packages: a, b, c\n")
    assert progress.what == "writing 3 packages"


@pytest.mark.skipif(os.name != "posix", reason="the lock is for POSIX only")
def test_a_second_set_up_waits_for_the_first(checkout, monkeypatch):
    import threading

    order, waits = [], threading.Event()

    def say(text):
        assert "Another set-up is running" in text
        waits.set()

    monkeypatch.setattr(setup_env, "say", say)

    def second():
        with setup_env.only_one():
            order.append("second")

    thread = threading.Thread(target=second)
    with setup_env.only_one():
        thread.start()
        assert waits.wait(600)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_help_sets_nothing_up():
    done = subprocess.run(
        [sys.executable, "tools/lab.py", "--help"],
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--no-browser" in done.stdout and "Installing" not in done.stdout
