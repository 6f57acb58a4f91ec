"""Worlds: what it means to call an op.

An op is called in one of three worlds. In "dygraph" it computes at once; in "program" it is
appended to the current Block of a Program; in "pir" to the current Block of a PIR program. Each
world registers itself here, so that this floor does not need to know them.

Paddle: `in_dynamic_mode()`, `in_pir_mode()` in python/paddle/base/framework.py, which every API
asks in an `if`.
Left out: the lazy and the dist modes.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from minipaddle.common.place import Place, set_device


class World(NamedTuple):
    """One meaning of calling an op.

    Attributes:
        name: "dygraph", "program" or "pir".
        call: carries out `op(*args, **kwargs)`.
        create_parameter: makes a trainable parameter from (shape, dtype, initializer, name,
            trainable).
        main_program: gives the program that is being built; None in dygraph.
    """

    name: str
    call: Callable[..., Any]
    create_parameter: Callable[..., Any]
    main_program: Callable[[], Any] | None = None


WORLDS: dict[str, World] = {}


class _State(threading.local):
    """Each thread has its own: ranks that run as threads don't disturb each other."""

    world = "dygraph"
    static_world = "pir"  # what enable_static switches to


state = _State()


class Tracer(threading.local):
    """How dygraph runs an op: recorded or not, in which precision. Each thread has its own.

    Paddle: egr::Controller, paddle/fluid/eager/api/utils/global_utils.h.
    """

    has_grad = True
    amp_dtype: Any = None  # inside auto_cast, the dtype of ops of the white list
    amp_lists: Any = (frozenset(), frozenset())  # names of ops: the white list, the black list
    saved_tensors_hooks: Any = None  # (pack, unpack) for what a GradNode keeps, or None
    final_hooks: tuple[Callable[[], Any], ...] = ()  # called once, at the end of a backward


tracer = Tracer()


def register_world(world: World) -> None:
    """Makes a world known. Called once, by the package of that world."""
    WORLDS[world.name] = world


def current_world() -> World:
    """The world in which an op called now would run."""
    return WORLDS[state.world]


@contextlib.contextmanager
def world_guard(name: str) -> Iterator[None]:
    """Inside, ops are called in the world `name`."""
    before = state.world
    state.world = name
    try:
        yield
    finally:
        state.world = before


def in_dynamic_mode() -> bool:
    """True where an op computes at once."""
    return state.world == "dygraph"


def in_pir_mode() -> bool:
    """True where an op is appended to a PIR program."""
    return state.world == "pir"


def enable_static() -> None:
    """From now on, ops are appended to the current PIR program (as in Paddle 3: PIR is the
    default), or, inside OldIrGuard, to the current classic Program.
    """
    if state.world == "dygraph":
        state.world = state.static_world


def disable_static(place: Place | str | None = None) -> None:
    """From now on, ops compute at once; on `place`, if it is given."""
    if place is not None:
        set_device(str(place).removeprefix("Place(").removesuffix(")"))
    state.world = "dygraph"
