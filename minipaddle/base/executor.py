"""Executor: runs a program with what you feed, and gives what you fetch.

`run` lowers the program to instructions and compiles them (see new_executor) the first time, and
keeps the result for the same program, feeds and fetches. It serves both kinds of program: each
knows how to lower itself.

Paddle: python/paddle/base/executor.py (Executor, _ExecutorCache),
paddle/fluid/framework/new_executor/standalone_executor.h.
Left out: plans of several jobs, datasets, multi-device.
"""

from __future__ import annotations

import warnings
import weakref
from typing import Any

import numpy as np

from minipaddle.base import framework
from minipaddle.base.lowering import lower_program
from minipaddle.common import flags
from minipaddle.common.enforce import require_type
from minipaddle.common.place import Place, array_module, current_place, place_of
from minipaddle.new_executor.interpreter import Interpreter
from minipaddle.new_executor.parallel import ParallelInterpreter
from minipaddle.new_executor.scope import DenseTensor, Scope, global_scope
from minipaddle.phi.core.op import Op
from minipaddle.phi.core.world import current_world


class Executor:
    """Runs programs on one place.

    Args:
        place: a CPUPlace, a CUDAPlace, or a name as `set_device` takes it; default: the place that
            `set_device` chose.

    Raises:
        TypeError, ValueError: it is no place.
        RuntimeError: a GPU is asked for and there is none.
    """

    def __init__(self, place: Place | str | None = None) -> None:
        if isinstance(place, str):
            place = place_of("Executor", place)
        self.place = current_place() if place is None else place
        advice = "Pass paddle.CPUPlace(), paddle.CUDAPlace(0), or a name as 'cpu'."
        require_type("Executor", "a place", self.place, Place, advice)
        self._xp = array_module(self.place)
        self._closed = False
        # program -> (its version, {what was asked for: the interpreter, or the pruned program})
        self._cache: weakref.WeakKeyDictionary[Any, tuple] = weakref.WeakKeyDictionary()
        self._last: _LastRun | None = None

    def run(
        self,
        program: Any = None,
        feed: dict[str, Any] | None = None,
        fetch_list: Any = None,
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_prune: bool = False,
    ) -> list[Any]:
        """Runs a program once.

        Args:
            program: default: the default main program.
            feed: name -> array, Tensor, list or number.
            fetch_list: Variables, Values or names, also in lists of their own; or one. Default:
                what the `fetch` ops of a program for inference say; nothing in other programs.
            scope: where parameters live; default: the global scope.
            return_numpy: give numpy arrays (True) or DenseTensors on the place (False).
            use_prune: a variable that an op computes may be fed too; then that op, and what only
                it needs, does not run. (What nobody fetches is left out in any case.)

        Raises:
            TypeError: program is no Program, feed no dict, scope no Scope; something that can't
                be fed or fetched.
            KeyError: a feed is missing.
            ValueError: a feed has the wrong shape or dtype, or the program does not know it; a
                fetch is not in the program.
            RuntimeError: a parameter has no value yet; the Executor is closed.
        """
        if self._closed:
            raise RuntimeError(
                "Executor.run: expected an open Executor, but got a closed one. Make a new one."
            )
        if program is None:
            program = _default_program()
        feed = {} if feed is None else feed
        who, expected = "Executor.run", "feed to be a dict of name: array"
        require_type(who, expected, feed, dict, "Write feed={'x': array}.")
        scope = global_scope() if scope is None else scope
        advice = "Make one with paddle.static.Scope()."
        require_type(who, "scope to be a Scope", scope, Scope, advice)
        xp, last = self._xp, self._last
        if last is not None and not use_prune and last.asked_for(program, feed, fetch_list):
            interpreter = last.interpreter
        else:
            if not hasattr(program, "global_block"):
                raise TypeError(
                    f"Executor.run: expected a Program, but got {type(program).__name__}. "
                    "Pass paddle.static.default_main_program() or a Program of your own."
                )
            fetch = _flat(fetch_list)
            if use_prune:
                program, feed = self._pruned(program, feed, fetch)
            interpreter = self.interpreter(program, _names_of(feed), fetch, scope)
            self._last = _LastRun(program, feed, fetch, interpreter)
        if program.lr_scheduler is not None:
            rate = np.asarray(program.lr_scheduler(), program.lr_var.dtype.numpy_dtype)
            scope.set(program.lr_var.name, xp.asarray(rate))
        results = interpreter.run(feed, scope)
        # copies: a fetch may be a parameter, or a view of one, and the next run writes into it
        results = [xp.array(item) for item in results]
        if not return_numpy:
            return [DenseTensor(item) for item in results]
        return results if xp is np else [xp.asnumpy(item) for item in results]

    def interpreter(
        self,
        program: Any,
        feed_names: tuple[str, ...],
        fetch: list[Any],
        scope: Scope | None = None,
    ) -> Interpreter:
        """The compiled program for these feeds and fetches; compiled the first time, then kept."""
        interpreters = self._kept(program)
        key = (feed_names, tuple([_fetch_key(item) for item in fetch]))
        found = interpreters.get(key)
        if found is None:
            lower = getattr(program, "lower", None)
            plan = (
                lower(feed_names, fetch, scope or global_scope())
                if lower is not None
                else lower_program(program, feed_names, fetch)
            )
            serial = flags.flag("FLAGS_new_executor_serial_run")
            kind = Interpreter if serial else ParallelInterpreter
            found = interpreters[key] = kind(plan, self._xp)
        return found

    def _kept(self, program: Any) -> dict[Any, Any]:
        """What is kept for a program as it is now; an older version is never used again."""
        version = _version_of(program)
        held = self._cache.get(program)
        if held is None or held[0] != version:
            held = self._cache[program] = (version, {})
        return held[1]

    def _pruned(self, program: Any, feed: dict[str, Any], fetch: list[Any]) -> tuple[Any, dict]:
        """The program without what only computes feeds, and the feeds that it still needs."""
        if not hasattr(program, "_prune_with_input"):
            return program, feed  # a PIR program
        block, programs = program.global_block(), self._kept(program)
        key = ("pruned", _names_of(feed), tuple([_fetch_key(item) for item in fetch]))
        if key not in programs:
            updates = [operator for operator in block.ops if operator._is_optimize_op()]
            programs[key] = program._prune_with_input(list(feed), [*fetch, *updates])
        pruned = programs[key]
        left_out = block.vars.keys() - pruned.global_block().vars.keys()
        return pruned, {name: value for name, value in feed.items() if name not in left_out}

    def close(self) -> None:
        """Ends the Executor's life: it forgets its compiled programs, and runs no more."""
        self._closed = True
        self._last = None
        self._cache.clear()


class _LastRun:
    """What the last run was asked for, and the interpreter that it got.

    A training loop asks for the same each time. To see that it is the same costs less than to look
    the interpreter up, which counts where a whole step takes 0.1 ms.
    """

    def __init__(
        self, program: Any, feed: dict[str, Any], fetch: list[Any], interpreter: Interpreter
    ) -> None:
        self._program = weakref.ref(program)
        self._version = _version_of(program)
        self._feed_names = [*feed]
        self._fetch_keys = [_fetch_key(item) for item in fetch]
        self.interpreter = interpreter

    def asked_for(self, program: Any, feed: dict[str, Any], fetch_list: Any) -> bool:
        """True if it was the same. (False for the same in other words, as lists in lists.)"""
        return (
            program is self._program()
            and type(fetch_list) is list
            and [_fetch_key_or_none(item) for item in fetch_list] == self._fetch_keys
            and [*feed] == self._feed_names
            and _version_of(program) == self._version
        )


def _version_of(program: Any) -> tuple:
    """Differs when a program has to be compiled anew: it changed, or a new kernel may be the better
    one, or a flag was set.
    """
    return program._version, Op.changes, flags.changes


def _default_program() -> Any:
    program = (current_world().main_program or framework.default_main_program)()
    if not program.global_block().ops:
        warnings.warn(
            "Executor.run: the default main program has no ops, so nothing is run. Pass the "
            "program that you built.",
            stacklevel=3,
        )
    return program


def _names_of(feed: dict[str, Any]) -> tuple[str, ...]:
    """What is fed, in order. Raises TypeError if a key is no name."""
    try:
        names = tuple(sorted(feed))
        "".join(names)  # the quickest way to see that all are texts: this happens at each run
    except TypeError as error:
        wrong = next(name for name in feed if not isinstance(name, str))
        raise TypeError(
            f"Executor.run: expected names as the keys of feed, but got {type(wrong).__name__}. "
            "Write feed={'x': array}; the name of a Variable is variable.name."
        ) from error
    return names


def _flat(fetch_list: Any) -> list[Any]:
    """What is to be fetched, out of lists in lists."""
    if not isinstance(fetch_list, (list, tuple)):
        return [] if fetch_list is None else [fetch_list]
    found = []
    for item in fetch_list:
        if isinstance(item, (list, tuple)):
            found += _flat(item)
        else:
            found.append(item)
    return found


def _fetch_key_or_none(item: Any) -> Any:
    return item if isinstance(item, str) else getattr(item, "_fetch_key", None)


def _fetch_key(item: Any) -> Any:
    """Never an id: another object may have it later. Raises TypeError for what can't be fetched."""
    key = _fetch_key_or_none(item)
    if key is None:
        raise TypeError(
            "Executor.run: expected a Variable or a name in fetch_list, but got "
            f"{type(item).__name__}. Fetch what the program computes."
        )
    return key
