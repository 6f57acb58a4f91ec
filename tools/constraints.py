"""Renews constraints.txt: one version of every package for all supported Pythons.

Run it with `make constraints`, where ARGS may name the Pythons: ARGS="/usr/bin/python3.11 ...".
It asks pip what each of them would install for all extras; some packages refuse old patch releases,
so the oldest one that we support has to be among them.
A later Python first tries the versions that the earlier ones got, so that notebooks print the same
everywhere; where no such version exists, the line gets a marker.
Only names and versions are written, never where a package came from.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

from setup_env import ROOT, SUPPORTED, SetupError, capture, find_python, python_version, run, say

EXTRAS = "course,grader,dev,cinn,mpi,gpu"
# Debian 12 has 3.11.2.
OLDEST_PATCH = {(3, 11): 2}
HEADER = "# Written by `make constraints`: the versions that this project is tested with.\n"


def resolve(python: str, held: dict[str, str]) -> dict[str, str]:
    """{name: version} that pip of `python` would install; a name in `held` has that version."""
    with tempfile.TemporaryDirectory() as folder:
        report, limits = Path(folder, "report.json"), Path(folder, "held.txt")
        limits.write_text("".join(f"{name}=={version}\n" for name, version in held.items()))
        command = [python, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        command += ["--report", str(report), "-c", str(limits), "-e", f"{ROOT}[{EXTRAS}]"]
        done = capture(command)
        if done.returncode != 0:
            raise SetupError(f"{python} found no set of packages:\n{done.stdout[-2000:]}")
        items = json.loads(report.read_text())["install"]
    found = {canonical(item["metadata"]["name"]): item["metadata"]["version"] for item in items}
    return {name: version for name, version in sorted(found.items()) if name != "minipaddle"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def patch_of(python: str) -> int:
    return int(capture([python, "-c", "import sys; print(sys.version_info[2])"]).stdout)


def main() -> int:
    named = {python_version(python): python for python in sys.argv[1:]}
    by_version: dict[str, dict[str, str]] = {}
    shared: dict[str, str] = {}
    for major, minor in SUPPORTED:
        version = f"{major}.{minor}"
        python = named.get((major, minor)) or find_python((major, minor))
        patch = None if python is None else patch_of(python)
        oldest = OLDEST_PATCH.get((major, minor), patch)
        if python is None or patch is None or oldest is None or patch > oldest:
            raise SetupError(
                f"expected Python {version}, patch {oldest or 'any'} or older, "
                f"but found {python} with patch {patch}. Name one in ARGS."
            )
        say(f"Python {version}.{patch} ({python})")
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
