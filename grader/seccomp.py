"""Which requests to Linux a student's process is denied: a filter in the kernel's own language
(classic BPF), which bubblewrap installs before the process starts.

Without it a process in the sandbox could make a user namespace of its own, be root there, and mount
a file system in memory without a limit. Also denied are: memory that belongs to no process, so that
it could not be counted; a session of one's own, for Linux shares processors out among sessions, and
a submission shall have one share; what a notebook has no use for, but attacks on the kernel had.

A denied request fails with EPERM. On other processors than the two here there is no filter.
"""

from __future__ import annotations

import platform
import struct

# Names as in Linux's tables; numbers for x86_64, aarch64.
DENIED = {
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "mq_open": (240, 180),
    "io_uring_setup": (425, 425),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265),
    "setsid": (112, 157),
}
MMAP = (9, 222)
SHARED_ANONYMOUS = 0x21  # flags: memory that stays, and is counted nowhere, when it is unmapped
CLONE = (56, 220)
CLONE3 = (435, 435)
NAMESPACES = 0x7E020000  # the CLONE_NEW... flags
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
X32 = 0x40000000  # numbers from here on are x86_64's second table

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
# where they lie in struct seccomp_data
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _FOURTH_ARGUMENT = 0, 4, 16, 40
ALLOW, ERROR = 0x7FFF0000, 0x00050000
EPERM, ENOSYS = 1, 38


def program(machine: str = platform.machine()) -> bytes:
    """The filter as `bwrap --seccomp` reads it; empty for a processor that is not known."""
    if machine not in MACHINES:
        return b""
    column, architecture = MACHINES[machine]
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        _line(_EQUAL, architecture, 1, 0),
        _line(_RETURN, ERROR | EPERM),
        _line(_LOAD, _NUMBER),
        _line(_AT_LEAST, X32, 0, 1),
        _line(_RETURN, ERROR | EPERM),
    ]
    for numbers in DENIED.values():
        lines += [_line(_EQUAL, numbers[column], 0, 1), _line(_RETURN, ERROR | EPERM)]
    # Its flags lie in memory, where a filter can't look. The C library then takes `clone`.
    lines += [_line(_EQUAL, CLONE3[column], 0, 1), _line(_RETURN, ERROR | ENOSYS)]
    lines += [
        _line(_EQUAL, MMAP[column], 0, 5),
        _line(_LOAD, _FOURTH_ARGUMENT),
        _line(_AND, SHARED_ANONYMOUS),
        _line(_EQUAL, SHARED_ANONYMOUS, 0, 1),
        _line(_RETURN, ERROR | EPERM),
        _line(_RETURN, ALLOW),
    ]
    lines += [
        _line(_EQUAL, CLONE[column], 0, 3),
        _line(_LOAD, _FIRST_ARGUMENT),
        _line(_ANY_BIT, NAMESPACES, 0, 1),
        _line(_RETURN, ERROR | EPERM),
        _line(_RETURN, ALLOW),
    ]
    return b"".join(lines)


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """struct sock_filter; the last two say how many lines to skip."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
