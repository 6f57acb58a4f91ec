"""What has to stay true of the repository itself: tracked files, pinned versions, the wheel."""

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
DATASETS = ROOT / "minipaddle" / "vision" / "datasets"
MIB = 2**20
BASE = {"numpy", "protobuf", "bytecode"}

# Written in pieces, so that this file doesn't find itself.
MACHINE_PATH = re.compile(rb"(?:^|[^\w.])/(?:" + rb"work|farm|root|home/\w+|Users/\w+)/")
REGISTRY = re.compile(
    rb"--(?:extra-)?index-" + rb"url|\"resolved\": \"https?:|registry *= *\"?http|"
    rb"pypi\.org/simple|files\.pythonhosted|registry\.npmjs"
)


def tracked_files() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs git and a checkout: install git, and run the tests in a git clone")
    # A checkout that is mounted into a container may belong to somebody else.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    files = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    assert len(files) > 10
    return [file for file in files if file.exists()]


def lines_with(pattern: re.Pattern[bytes]) -> list[str]:
    found = []
    for file in tracked_files():
        for number, line in enumerate(file.read_bytes().splitlines(), 1):
            if pattern.search(line):
                text = line[:120].decode(errors="replace")
                found.append(f"{file.relative_to(ROOT)}:{number}: {text}")
    return found


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (MACHINE_PATH, b"path = '/" + b"root/x'"),
        (MACHINE_PATH, b"/" + b"work/main"),
        (MACHINE_PATH, b'"file": "/' + b'home/ada/x"'),
        (REGISTRY, b"pip install --index-" + b"url https://x"),
        (REGISTRY, b"--extra-index-" + b"url https://x"),
    ],
)
def test_the_patterns_below_find_what_they_look_for(pattern, line):
    assert pattern.search(line)


def test_no_tracked_file_names_a_path_of_a_machine():
    assert lines_with(MACHINE_PATH) == []


def test_no_tracked_file_names_a_package_registry():
    assert lines_with(REGISTRY) == []


def test_no_tracked_file_is_over_1_mib():
    sizes = {str(file.relative_to(ROOT)): file.stat().st_size for file in tracked_files()}
    assert {name: size for name, size in sizes.items() if size > MIB} == {}


def test_constraints_hold_names_and_versions_only():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    form = re.compile(r'[a-z0-9-]+==[\w.+!]+(; python_version == "3\.1[123]")?')
    assert [line for line in pins if not form.fullmatch(line)] == []
    assert pins == sorted(pins, key=lambda line: line.split("==")[0])


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~; ]", text)[0].lower() for text in requirements}


def test_every_dependency_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = names(project["dependencies"])
    for extra in project["optional-dependencies"].values():
        wanted |= names(extra)
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = {line.split("==")[0] for line in text.splitlines()}
    assert wanted - pinned - {"minipaddle"} == set()


def test_the_base_is_numpy_protobuf_and_bytecode():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert names(project["dependencies"]) == BASE


IMPORT_WITH_BASE_ONLY = """
import sys
allowed = {"numpy", "google", "bytecode", "minipaddle"}
import numpy, google.protobuf, bytecode  # what they import themselves is theirs

class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top in allowed or top in sys.stdlib_module_names:
            return None
        raise ModuleNotFoundError(f"{name} is not in the base install", name=name)

sys.meta_path.insert(0, Refuse())
import minipaddle
print(minipaddle.__file__)
"""


def test_minipaddle_imports_with_the_base_dependencies_only():
    command = [sys.executable, "-c", IMPORT_WITH_BASE_ONLY]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == ROOT / "minipaddle" / "__init__.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    """The wheel of the tracked files, built with the hatchling of this environment."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("minipaddle-*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_tracked_file_of_its_packages(wheel):
    packages = [ROOT / "minipaddle", ROOT / "grader"]
    wanted = {
        file.relative_to(ROOT).as_posix()
        for file in tracked_files()
        if any(package in file.parents for package in packages)
    }
    assert any(name.endswith(".js") for name in wanted)
    assert any(name.endswith(".css") for name in wanted)
    assert "minipaddle/vision/datasets/digits.npz" in wanted
    assert wanted - set(wheel.namelist()) == set()


def test_the_wheel_holds_the_licence_and_the_command(wheel):
    files = wheel.namelist()
    assert [name for name in files if name.endswith("licenses/LICENSE")]
    (entry_points,) = [name for name in files if name.endswith("entry_points.txt")]
    assert "grader = grader.cli:main" in wheel.read(entry_points).decode()


def test_the_digits_are_the_ones_that_their_note_describes():
    note = (DATASETS / "README.md").read_text(encoding="utf-8")
    path = DATASETS / "digits.npz"
    assert hashlib.sha256(path.read_bytes()).hexdigest() in note
    with np.load(path) as data:
        images, labels = data["images"], data["labels"]
    assert hashlib.sha256(images.tobytes() + labels.tobytes()).hexdigest() in note
    assert (images.shape, images.dtype) == ((1797, 8, 8), np.uint8)
    assert (labels.shape, labels.dtype) == ((1797,), np.uint8)
    assert (int(images.max()), sorted(set(labels.tolist()))) == (16, list(range(10)))
