"""Flags: settings of the whole process, by name.

    FLAGS_eager_delete_tensor_gb  less than 0.0: a run keeps the variables of block 0 until it ends
                                  (in one thread); otherwise each is freed at its last use
    FLAGS_max_while_turns         how often the body of a `while` op may run in one run of a program
    FLAGS_new_executor_serial_run run ops one after the other, in one thread

Paddle: paddle/common/flags.cc, set_flags and get_flags in python/paddle/base/framework.py.
Left out: Paddle's several hundred flags, and setting them by environment variables.
FLAGS_max_while_turns is minipaddle's own: Paddle's while has no limit.
In Paddle, FLAGS_new_executor_serial_run is False.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_FLAGS: dict[str, Any] = {
    "FLAGS_eager_delete_tensor_gb": 0.0,
    "FLAGS_max_while_turns": 1_000_000,
    "FLAGS_new_executor_serial_run": True,
}


changes = 0  # grows with each set_flags, so that an Executor knows when to compile anew


def flag(name: str) -> Any:
    """The value of one flag."""
    return _FLAGS[name]


def set_flags(flags: dict[str, Any]) -> None:
    """Sets flags: `set_flags({"FLAGS_max_while_turns": 100})`.

    Raises:
        TypeError: no dict, or a value of another type than the flag has.
        ValueError: there is no such flag.
    """
    if not isinstance(flags, dict):
        raise TypeError(
            f"set_flags: expected a dict of flag: value, but got {type(flags).__name__}. Write "
            "set_flags({name: value})."
        )
    for name, value in flags.items():
        kind = type(_FLAGS[_known("set_flags", name)])
        if type(value) is not kind:
            raise TypeError(
                f"set_flags: expected {name} to be {kind.__name__}, but got "
                f"{type(value).__name__} {value!r}. Convert it."
            )
    _FLAGS.update(flags)
    global changes
    changes += 1


def get_flags(flags: str | Iterable[str]) -> dict[str, Any]:
    """The values of the named flags, by name. Raises ValueError if there is no such flag."""
    names = [flags] if isinstance(flags, str) else list(flags)
    return {_known("get_flags", name): _FLAGS[name] for name in names}


def _known(who: str, name: str) -> str:
    if name not in _FLAGS:
        raise ValueError(
            f"{who}: expected one of {sorted(_FLAGS)}, but got {name!r}. Real Paddle has more."
        )
    return name
