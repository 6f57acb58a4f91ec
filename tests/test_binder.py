"""binder/, as repo2docker understands it. Nothing is built: it only renders the Dockerfile."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
POST_BUILD = ROOT / "binder" / "postBuild"


@pytest.fixture(scope="module")
def dockerfile() -> str:
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_image_has_a_supported_python(dockerfile):
    assert "environment-2epy-2d3-2e12" in dockerfile


def test_the_package_is_installed_after_the_repository_is_copied(dockerfile):
    copied = dockerfile.index(" src/ ${REPO_DIR}/")
    assert dockerfile.index("RUN ./binder/postBuild") > copied
    # repo2docker would install these before the copy: no `.` and no constraints.txt there yet.
    assert "requirements.txt" not in dockerfile[:copied]
    assert "pip install" not in dockerfile[:copied]


def test_post_build_is_a_script_that_names_what_exists():
    assert os.access(POST_BUILD, os.X_OK)
    subprocess.run(["bash", "-n", str(POST_BUILD)], check=True)
    text = POST_BUILD.read_text(encoding="utf-8")
    (extra,) = re.findall(r"-e '\.\[(\w+)\]'", text)
    copied = re.findall(r"(?<= )tools/\S+", text)
    (module,) = re.findall(r"^python -m ((?!pip)\S+)", text, re.MULTILINE)
    assert len(copied) == 3
    assert all(list(ROOT.glob(name)) for name in copied)
    assert (ROOT / f"{module.replace('.', '/')}.py").is_file()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = project["optional-dependencies"][extra]
    assert not [name for name in packages if "paddlepaddle" in name or "minipaddle[" in name]
