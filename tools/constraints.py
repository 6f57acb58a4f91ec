"""Renews constraints.txt: one version of every package for all supported Pythons.

Run it with `make constraints`. It asks the pip of each Python what it would install for all extras.
A later Python first tries the versions that the earlier ones got, so that notebooks print the same
everywhere; where no such version exists, the line gets a marker.
Only names and versions are written, never where a package came from.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from setup_env import ROOT, SUPPORTED, SetupError, find_python, run, say

EXTRAS = "course,grader,dev,cinn,mpi,gpu"
HEADER = "# Written by `make constraints`: the versions that this project is tested with.\n"


def resolve(python: str, held: dict[str, str]) -> dict[str, str]:
    """{name: version} that pip of `python` would install; a name in `held` has that version."""
    with tempfile.TemporaryDirectory() as folder:
        report, limits = Path(folder, "report.json"), Path(folder, "held.txt")
        limits.write_text("".join(f"{name}=={version}\n" for name, version in held.items()))
        command = [python, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        command += ["--report", str(report), "-c", str(limits), "-e", f"{ROOT}[{EXTRAS}]"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SetupError(f"{python} found no set of packages:\n{done.stderr[-2000:]}")
        items = json.loads(report.read_text())["install"]
    found = {canonical(item["metadata"]["name"]): item["metadata"]["version"] for item in items}
    return {name: version for name, version in sorted(found.items()) if name != "minipaddle"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    by_version: dict[str, dict[str, str]] = {}
    shared: dict[str, str] = {}
    for major, minor in SUPPORTED:
        version = f"{major}.{minor}"
        python = find_python((major, minor))
        if python is None:
            raise SetupError(
                f"expected python{version} on PATH, but found none. Install it and run this again."
            )
        say(f"Python {version} ({python})")
        try:
            by_version[version] = resolve(python, shared)
        except SetupError:
            say("  the versions of the earlier Pythons don't fit; asking again without them")
            by_version[version] = resolve(python, {})
        shared = {**by_version[version], **shared}
    lines = []
    for name in sorted({name for found in by_version.values() for name in found}):
        versions = {found[name] for found in by_version.values() if name in found}
        if len(versions) == 1:
            lines.append(f"{name}=={versions.pop()}\n")
            continue
        for python, found in by_version.items():
            if name in found:
                lines.append(f'{name}=={found[name]}; python_version == "{python}"\n')
    (ROOT / "constraints.txt").write_text(HEADER + "".join(lines), encoding="utf-8")
    say(f"constraints.txt: {len(lines)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
