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


class Executor:
    """Runs programs on one place."""

    def __init__(self, place: Place | None = None) -> None:
        self.place = place or CPU
        self._xp = array_module(self.place)
        self._cache: weakref.WeakKeyDictionary[Any, dict] = weakref.WeakKeyDictionary()

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
            fetch_list: Variables, Values or names.
            scope: where parameters live; default: the global scope.
            return_numpy: give numpy arrays (True) or arrays of the place (False).

        Raises:
            KeyError: a feed is missing.
            ValueError: a feed has the wrong shape or dtype, or a fetch is not in the program.
            RuntimeError: a parameter has no value yet.
        """
        program = program if program is not None else framework.default_main_program()
        feed = {} if feed is None else feed
        if not isinstance(feed, dict):
            raise TypeError(
                "Executor.run: expected feed to be a dict of name: array, but got "
                f"{type(feed).__name__}. "
                "Write feed={'x': array}."
            )
        fetch = list(fetch_list or [])
        scope = scope or global_scope()
        interpreter = self.interpreter(program, tuple(sorted(feed)), fetch, scope)
        arrays = {
            name: self._xp.asarray(value.numpy() if hasattr(value, "numpy") else value)
            for name, value in feed.items()
            if name in interpreter.plan.feeds
        }
        results = interpreter.run(arrays, scope)
        if not return_numpy:
            return results
        return [np.asarray(item if self._xp is np else item.get()) for item in results]

    def interpreter(
        self,
        program: Any,
        feed_names: tuple[str, ...],
        fetch: list[Any],
        scope: Scope | None = None,
    ) -> Interpreter:
        """The compiled program for these feeds and fetches; compiled the first time, then kept."""
        scope = scope or global_scope()
        per_program = self._cache.setdefault(program, {})
        key = (program._version, feed_names, tuple(_fetch_key(item) for item in fetch))
        if key not in per_program:
            lower = getattr(program, "lower", None)
            plan = (
                lower(feed_names, fetch, scope)
                if lower is not None
                else lower_program(program, feed_names, fetch)
            )
            per_program[key] = Interpreter(plan, self._xp)
        return per_program[key]


def _fetch_key(item: Any) -> Any:
    return item if isinstance(item, str) else id(item)
