"""Unpacks a zip or a tar (also .tar.gz) of submissions into a temporary folder.

Only notebooks are unpacked, as plain files. An archive can hold anything, so:

    a path that leads out of the folder      the whole archive is refused
    more than MAX_ENTRIES or MAX_UNPACKED    the whole archive is refused, before it is unpacked
    a notebook over the limit of collect     is cut there, and collect refuses that one
    a link, a pipe, a device                 becomes an empty folder, and collect refuses that one
"""

from __future__ import annotations

import lzma
import os
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from grader.errors import GraderError
from grader.submission import MAX_BYTES

MAX_ENTRIES = 50_000
MAX_UNPACKED = 4 * 2**30  # bytes, of all entries together
_UNREADABLE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    RuntimeError,  # a zip with a password
    NotImplementedError,  # a zip with a rare compression
    ValueError,
)
_UTF8 = 0x800  # the flag of a zip entry whose name is in UTF-8


@contextmanager
def unpacked(archive: Path) -> Iterator[Path]:
    """The folder of submissions in `archive`. Nothing is kept of an archive that is refused."""
    with tempfile.TemporaryDirectory(prefix="grader-") as temporary:
        folder = Path(temporary)
        try:
            if zipfile.is_zipfile(archive):
                _unzip(archive, folder)
            else:
                _untar(archive, folder)
        except _UNREADABLE as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise GraderError(
                f"grader collect: expected a folder, a zip or a tar.gz of submissions, but got "
                f"{archive}, which can't be unpacked ({reason}). Unpack it yourself and pass the "
                "folder."
            ) from None
        yield folder


def _unzip(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        entries = file.infolist()
        _check_limits(archive, len(entries), sum(entry.file_size for entry in entries))
        for entry in entries:
            target = _target(archive, folder, _zip_name(entry))
            if target is None or entry.is_dir():
                continue
            # The upper bits are Unix's kind of file, where there is one: 8 is a regular file.
            regular = entry.external_attr >> 28 in (0, 8)
            seconds = None
            if entry.date_time[0] > 1980:  # the year that stands for "unknown"
                seconds = time.mktime((*entry.date_time, 0, 0, -1))
            read = (lambda e=entry: file.open(e)) if regular else None
            _put(folder, target, read, seconds or archive.stat().st_mtime)


def _untar(archive: Path, folder: Path) -> None:
    entries, total = 0, 0
    with tarfile.open(archive, "r|*") as file:
        for entry in file:
            entries += 1
            total += entry.size
            _check_limits(archive, entries, total)
            target = _target(archive, folder, entry.name)
            if target is None or entry.isdir():
                continue
            read = (lambda e=entry: file.extractfile(e)) if entry.isreg() else None
            _put(folder, target, read, entry.mtime)


def _check_limits(archive: Path, entries: int, total: int) -> None:
    if entries > MAX_ENTRIES or total > MAX_UNPACKED:
        raise GraderError(
            f"grader collect: expected at most {MAX_ENTRIES} files and {MAX_UNPACKED // 2**30} GiB "
            f"in an archive, but got more in {archive}. Nothing was collected. If you trust it, "
            "unpack it yourself and pass the folder."
        )


def _target(archive: Path, folder: Path, name: str) -> Path | None:
    """Where an entry goes; None for what macOS puts beside the real ones."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name:
        raise GraderError(
            f"grader collect: expected paths inside the archive only, but got {name!r} in "
            f"{archive}. Nothing was collected. An honest program makes no such path: ask where "
            "the archive is from."
        )
    if "__MACOSX" in path.parts or path.name.startswith("._"):
        return None
    return folder.joinpath(*path.parts)


def _zip_name(entry: zipfile.ZipInfo) -> str:
    """Zips from macOS and from Windows in Chinese don't say how their names are written."""
    if entry.flag_bits & _UTF8 or entry.filename.isascii():
        return entry.filename
    written = entry.filename.encode("cp437")
    for encoding in ("utf-8", "gb18030"):
        try:
            return written.decode(encoding)
        except UnicodeDecodeError:
            continue
    return entry.filename


def _put(
    folder: Path, target: Path, read: Callable[[], IO[bytes] | None] | None, seconds: float
) -> None:
    """Writes one entry, last changed at `seconds`. `read` is None for what is no regular file."""
    if read is None:
        target.mkdir(parents=True, exist_ok=True)
        return
    if target.parent != folder:  # also of another file: so that its student is reported
        target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix != ".ipynb":
        return
    source = read()
    if source is None:
        raise OSError(f"{target.name} has no content")
    with source, target.open("xb") as file:
        left = MAX_BYTES + 1
        while left and (block := source.read(min(left, 2**20))):
            file.write(block)
            left -= len(block)
    os.utime(target, (seconds, seconds))
