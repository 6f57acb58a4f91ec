"""Archives of submissions: taken like the folder in them, and harmless whatever is in them."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader import archives
from grader.cli import main
from grader.collect import FILE, collect
from grader.course import Course
from grader.errors import GraderError
from grader.submission import MAX_BYTES
from tests.grader.sample import MODULE


def make_zip(path: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return path


def make_tar(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as file:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(text.encode()), 2_000
            file.addfile(entry, io.BytesIO(text.encode()))
    return path


def statuses(course: Course, path: Path, module: str | None = None) -> dict[str, str]:
    return {c.student: c.status for c in collect(course, path, module)}


def submitted(course: Course, student: str) -> Path:
    return course.step("submitted", student, MODULE) / FILE


@pytest.mark.parametrize("top", ["", "homework/"])
@pytest.mark.parametrize(("name", "make"), [("a.zip", make_zip), ("a.tar.gz", make_tar)])
def test_an_archive_is_taken_like_the_folder_in_it(
    course: Course, tmp_path: Path, name: str, make, top: str
) -> None:
    files = {
        f"{top}anna/{MODULE}/{FILE}": "A",
        f"{top}张三/{MODULE}/{FILE}": "B",
        f"{top}notes.txt": "n",
        f"{top}bo/readme.txt": "r",
        f"__MACOSX/{top}anna/{MODULE}/._{FILE}": "m",
    }
    path = make(tmp_path / name, files)
    assert statuses(course, path) == {"anna": "new", "bo": "ignored", "张三": "new"}
    assert submitted(course, "张三").read_text() == "B"


def test_files_without_a_module_folder_need_the_option(course: Course, tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"anna.ipynb": "A", f"bo/{FILE}": "B"})
    assert statuses(course, path) == {"anna": "ignored", "bo": "ignored"}
    assert statuses(course, path, MODULE) == {"anna": "new", "bo": "new"}


def test_the_time_of_a_file_is_kept(course: Course, tmp_path: Path) -> None:
    collect(course, make_tar(tmp_path / "a.tgz", {f"anna/{MODULE}/{FILE}": "A"}))
    assert submitted(course, "anna").stat().st_mtime == 2_000
    entry = zipfile.ZipInfo(f"bo/{MODULE}/{FILE}", (2026, 3, 1, 12, 30, 0))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as file:
        file.writestr(entry, "B")
        file.writestr(zipfile.ZipInfo(f"chen/{MODULE}/{FILE}"), "C")  # its year is 1980: unknown
    os.utime(tmp_path / "b.zip", (3_000, 3_000))
    collect(course, tmp_path / "b.zip")
    expected = time.mktime((2026, 3, 1, 12, 30, 0, 0, 0, -1))
    assert submitted(course, "bo").stat().st_mtime == expected
    assert submitted(course, "chen").stat().st_mtime == 3_000


@pytest.mark.parametrize("encoding", ["gb18030", "utf-8"])
def test_names_of_which_the_zip_does_not_say_the_encoding(
    course: Course, tmp_path: Path, encoding: str
) -> None:
    student = "张三"
    placeholder = "x" * len(student.encode(encoding))
    path = make_zip(tmp_path / "a.zip", {f"{placeholder}/{MODULE}/{FILE}": "A"})
    path.write_bytes(path.read_bytes().replace(placeholder.encode(), student.encode(encoding)))
    assert statuses(course, path) == {student: "new"}


@pytest.mark.parametrize(
    "name",
    ["../evil.ipynb", "anna/../../evil.ipynb", "/evil.ipynb", "C:/evil.ipynb", "..\\evil.ipynb"],
)
@pytest.mark.parametrize(("archive", "make"), [("a.zip", make_zip), ("a.tar.gz", make_tar)])
def test_a_path_that_leads_out_refuses_the_whole_archive(
    course: Course, tmp_path: Path, archive: str, make, name: str
) -> None:
    path = make(tmp_path / archive, {f"anna/{MODULE}/{FILE}": "A", name: "evil"})
    with pytest.raises(GraderError, match="expected paths inside the archive only"):
        collect(course, path)
    assert not course.submitted.exists()
    assert not list(tmp_path.rglob("evil*")) and not Path("/evil.ipynb").exists()


def test_links_and_pipes_are_refused_student_by_student(course: Course, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as file:
        for name, kind in [("soft", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE)]:
            entry = tarfile.TarInfo(f"{name}/{MODULE}/{FILE}")
            entry.type, entry.linkname = kind, "/etc/hostname"
            file.addfile(entry)
        pipe = tarfile.TarInfo(f"pipe/{MODULE}/{FILE}")
        pipe.type = tarfile.FIFOTYPE
        file.addfile(pipe)
        # A file that would be written through a link before it.
        link = tarfile.TarInfo("through")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        file.addfile(link)
        behind = tarfile.TarInfo(f"through/{MODULE}/{FILE}")
        behind.size = 1
        file.addfile(behind, io.BytesIO(b"T"))
    assert statuses(course, tmp_path / "a.tar") == {
        "hard": "refused",
        "pipe": "refused",
        "soft": "refused",
        "through": "new",
    }
    assert not (tmp_path / MODULE).exists()

    entry = zipfile.ZipInfo(f"zipped/{MODULE}/{FILE}")
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as file:
        file.writestr(entry, str(course.source(MODULE)))
    assert statuses(course, tmp_path / "b.zip") == {"zipped": "refused"}


def test_a_file_that_unpacks_to_very_much_is_cut_and_refused(
    course: Course, tmp_path: Path
) -> None:
    big = b"\0" * (MAX_BYTES + 1)
    path = make_zip(tmp_path / "a.zip", {f"a/{MODULE}/{FILE}": big, f"b/{MODULE}/{FILE}": "B"})
    assert path.stat().st_size < 100_000
    found = {c.student: c for c in collect(course, path)}
    assert found["a"].status == "refused" and "larger than the 20 MiB" in found["a"].reason
    assert found["b"].status == "new"


@pytest.mark.parametrize(("archive", "make"), [("a.zip", make_zip), ("a.tar.gz", make_tar)])
@pytest.mark.parametrize("limit", [("MAX_ENTRIES", 2), ("MAX_UNPACKED", 1_000)])
def test_a_bomb_is_refused_before_it_is_unpacked(
    course: Course,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    archive: str,
    make,
    limit: tuple[str, int],
) -> None:
    monkeypatch.setattr(archives, *limit)
    files = {f"{name}/{MODULE}/{FILE}": "0" * 400 for name in ("a", "b", "c")}
    with pytest.raises(GraderError, match="Nothing was collected"):
        collect(course, make(tmp_path / archive, files))
    assert not course.submitted.exists()


@pytest.mark.parametrize("how", ["cut", "checksum", "text", "empty", "password", "twice"])
def test_a_broken_archive_is_refused_as_a_whole(
    course: Course, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    text = os.urandom(50_000).hex()
    if how == "cut":
        path = make_tar(tmp_path / "a.tar.gz", {f"{n}/{MODULE}/{FILE}": text for n in "ab"})
        path.write_bytes(path.read_bytes()[:60_000])
    elif how == "twice":
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w") as file, pytest.warns(UserWarning, match="Duplicate"):
            file.writestr(f"a/{MODULE}/{FILE}", "A")
            file.writestr(f"a/{MODULE}/{FILE}", "B")
    elif how in ("checksum", "password"):
        path = make_zip(tmp_path / "a.zip", {f"{n}/{MODULE}/{FILE}": text for n in "ab"})
        data = bytearray(path.read_bytes())
        if how == "checksum":
            middle = data.rindex(b"PK\x03\x04") + 1_000
            data[middle] ^= 255
        else:
            data[data.rindex(b"PK\x01\x02") + 8] |= 1
        path.write_bytes(data)
    else:
        path = tmp_path / "a.zip"
        path.write_text("hello" if how == "text" else "")
    result = CliRunner().invoke(main, ["--root", str(course.root), "collect", str(path)])
    assert result.exit_code == 2 and "can't be unpacked" in result.output
    assert not course.submitted.exists()
    assert not list(temporary.iterdir())
