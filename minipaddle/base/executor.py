"""Executor: runs a program with what you feed, and gives what you fetch.

`run` lowers the program to instructions and compiles them (see new_executor) the first time, and
keeps the result for the same program, feeds and fetches. It serves both kinds of program: each
knows how to lower itself.

Paddle: python/paddle/base/executor.py (Executor, _ExecutorCache),
paddle/fluid/framework/new_executor/standalone_executor.h.
Left out: plans of several jobs, datasets, multi-device.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from minipaddle.base import framework
from minipaddle.base.lowering import lower_program
from minipaddle.common.place import CPU, Place, array_module
from minipaddle.new_executor.interpreter import Interpreter
from minipaddle.new_executor.scope import Scope, global_scope
from minipaddle.phi.core.world import current_world


class Executor:
    """Runs programs on one place."""

    def __init__(self, place: Place | None = None) -> None:
        self.place = place or CPU
        self._xp = array_module(self.place)
        # program -> (its version, its interpreters)
        self._cache: weakref.WeakKeyDictionary[Any, tuple] = weakref.WeakKeyDictionary()

    def run(
        self,
        program: Any = None,
        feed: dict[str, Any] | None = None,
        fetch_list: list[Any] | None = None,
        scope: Scope | None = None,
        return_numpy: bool = True,
    ) -> list[Any]:
        """Runs a program once.

        Args:
            program: default: the default main program.
            feed: name -> array or Tensor.
            fetch_list: Variables, Values or names; or just one.
            scope: where parameters live; default: the global scope.
            return_numpy: give numpy arrays (True) or arrays of the place (False).

        Raises:
            TypeError: program is no Program, or feed no dict.
            KeyError: a feed is missing.
            ValueError: a feed has the wrong shape or dtype, or a fetch is not in the program.
            RuntimeError: a parameter has no value yet.
        """
        if program is None:
            program = (current_world().main_program or framework.default_main_program)()
        if not hasattr(program, "global_block"):
            raise TypeError(
                f"Executor.run: expected a Program, but got {type(program).__name__}. "
                "Pass paddle.static.default_main_program() or a Program of your own."
            )
        feed = {} if feed is None else feed
        if not isinstance(feed, dict):
            raise TypeError(
                "Executor.run: expected feed to be a dict of name: array, but got "
                f"{type(feed).__name__}. "
                "Write feed={'x': array}."
            )
        several = isinstance(fetch_list, (list, tuple))
        fetch = list(fetch_list) if several else [] if fetch_list is None else [fetch_list]
        scope = scope or global_scope()
        if program.lr_scheduler is not None:
            rate = np.asarray(program.lr_scheduler(), program.lr_var.dtype.numpy_dtype)
            scope.set(program.lr_var.name, self._xp.asarray(rate))
        interpreter = self.interpreter(program, tuple(sorted(feed)), fetch, scope)
        plan, xp = interpreter.plan, self._xp
        arrays = {}
        for name, value in feed.items():
            if name in plan.feeds:
                array = value.numpy() if hasattr(value, "numpy") else value
                # what the program writes must not be the user's own array
                arrays[name] = xp.array(array) if name in plan.scope_writes else xp.asarray(array)
        # copies: a fetch may be a parameter, or a view of one, and the next run writes into it
        results = [xp.array(item) for item in interpreter.run(arrays, scope)]
        return [xp.asnumpy(item) for item in results] if return_numpy and xp is not np else results

    def interpreter(
        self,
        program: Any,
        feed_names: tuple[str, ...],
        fetch: list[Any],
        scope: Scope | None = None,
    ) -> Interpreter:
        """The compiled program for these feeds and fetches; compiled the first time, then kept."""
        scope = scope or global_scope()
        version = program._version
        held = self._cache.get(program)
        if held is None or held[0] != version:  # those of an older version are never used again
            held = self._cache[program] = (version, {})
        interpreters = held[1]
        key = (feed_names, tuple(_fetch_key(item) for item in fetch))
        if key not in interpreters:
            lower = getattr(program, "lower", None)
            plan = (
                lower(feed_names, fetch, scope)
                if lower is not None
                else lower_program(program, feed_names, fetch)
            )
            interpreters[key] = Interpreter(plan, self._xp)
        return interpreters[key]


def _fetch_key(item: Any) -> Any:
    """Never an id: another object may have it later."""
    return item if isinstance(item, str) else getattr(item, "_fetch_key", None)
