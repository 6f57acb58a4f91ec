"""symbolic_translate: wraps a function so that its graph is captured, cached and used again.

Paddle: python/paddle/jit/sot/translate.py, opcode_translator/executor/executor_cache.py.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minipaddle.common.errors import BreakGraphError
from minipaddle.jit.sot.function_graph import CompiledGraph, FunctionGraph
from minipaddle.jit.sot.guard import Frame, Guard
from minipaddle.jit.sot.opcode_executor import OpcodeExecutor, Step
from minipaddle.jit.sot.pycode_generator import PyCodeGen
from minipaddle.jit.sot.tracker import LocalTracker, Tracker
from minipaddle.jit.sot.variables import (
    ContainerVariable,
    ObjectVariable,
    TensorVariable,
    VariableBase,
)
from minipaddle.phi.core.world import in_dynamic_mode, tracer
from minipaddle.pir.core.value import Value


@dataclass
class CacheEntry:
    """One translation of a function.

    Attributes:
        guard: when it may be used.
        function: the new function; the original one after a graph break.
        graph: the compiled graph; None after a break.
        steps: every instruction as it was run, for a player.
        break_reason: why the graph could not be captured; "" if it could.
    """

    guard: Guard
    function: Callable
    graph: CompiledGraph | None
    steps: list[Step]
    break_reason: str = ""


MAX_CACHE_SIZE = 20  # translations of one function; after that, new cases run as plain Python


class StaticFunction:
    """A function, its translations, and the choice between them."""

    executor_class = OpcodeExecutor  # another one can be put here, with more opcodes

    def __init__(self, function: Callable, backend: Callable | None = None) -> None:
        self._receiver = function.__self__ if isinstance(function, types.MethodType) else None
        plain = function.__func__ if isinstance(function, types.MethodType) else function
        if not isinstance(plain, types.FunctionType):
            raise TypeError(
                "to_static: expected a Python function or a Layer, but got "
                f"{type(function).__name__}. "
                "Only Python functions have bytecode to translate."
            )
        if plain.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            raise TypeError(
                f"to_static: expected a function with named parameters, but {plain.__name__} has "
                "* or **. "
                "Name its parameters."
            )
        self.function = plain
        self.backend = backend
        self.signature = inspect.signature(plain)
        self.cache: list[CacheEntry] = []
        functools.update_wrapper(self, plain)

    @property
    def translate_count(self) -> int:
        """How often the function was translated."""
        return len(self.cache)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._receiver is not None:
            args = (self._receiver, *args)
        if not in_dynamic_mode():
            return self.function(*args, **kwargs)  # already inside a program that is being built
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        frame = Frame(dict(bound.arguments), self.function.__globals__)
        for entry in self.cache:
            if entry.guard.check(frame):
                return entry.function(*bound.args, **bound.kwargs)
        if len(self.cache) >= MAX_CACHE_SIZE:  # an argument that is always new, a time for example
            return self.function(*args, **kwargs)
        entry = self._translate(frame)
        self.cache.append(entry)
        return entry.function(*bound.args, **bound.kwargs)

    def _translate(self, frame: Frame) -> CacheEntry:
        graph, guard, steps = FunctionGraph(), Guard(), []
        executor = self.executor_class(self.function, {}, graph, guard, steps)
        guard.add_tracer()
        try:
            if tracer.amp_dtype is not None:
                executor.break_graph("auto_cast is not part of a captured graph")
            for name, value in frame.f_locals.items():
                executor.locals[name] = executor.wrap(value, LocalTracker(name))
            result = executor.run()
            return self._compile(result, graph, guard, steps)
        except BreakGraphError as error:
            return CacheEntry(guard, self.function, None, steps, str(error))

    def _compile(
        self, result: VariableBase, graph: FunctionGraph, guard: Guard, steps: list[Step]
    ) -> CacheEntry:
        inputs = {item.value: item.tracker for item in graph.inputs}
        outputs = [item for item in dict.fromkeys(_tensors(result)) if item.value not in inputs]
        compiled = graph.compile([item.value for item in outputs], self.backend)
        pycode = PyCodeGen(self.function.__code__)
        pycode.begin_call(compiled)
        for item in graph.inputs:
            item.tracker.gen(pycode)
        pycode.call(len(graph.inputs))
        pycode.store_fast("___outputs")
        self._load_result(pycode, result, outputs, inputs)
        function = types.FunctionType(
            pycode.code(),
            self.function.__globals__,
            f"#{self.function.__name__}",
            self.function.__defaults__,
        )
        function.__kwdefaults__ = self.function.__kwdefaults__
        return CacheEntry(guard, function, compiled, steps)

    def _load_result(
        self,
        pycode: PyCodeGen,
        variable: VariableBase,
        outputs: list[TensorVariable],
        inputs: dict[Value, Tracker],
    ) -> None:
        """Instructions that put what the function returns on the stack."""
        if isinstance(variable, TensorVariable) and variable.value in inputs:
            inputs[variable.value].gen(pycode)  # the very Tensor that came in goes out again
        elif isinstance(variable, TensorVariable):
            pycode.load_fast("___outputs")
            pycode.load_const(outputs.index(variable))
            pycode.binary_subscr()
        elif isinstance(variable, ContainerVariable):
            for item in variable.items:
                self._load_result(pycode, item, outputs, inputs)
            pycode.build(variable.kind, len(variable.items))
        elif isinstance(variable, ObjectVariable):
            pycode.load_const(variable.value)
        else:
            raise BreakGraphError(
                f"graph break: {self.function.__name__} returns {variable!r}. The function runs "
                "as plain Python instead."
            )


def _tensors(variable: VariableBase) -> list[TensorVariable]:
    """The Tensors in what a function returns."""
    if isinstance(variable, TensorVariable):
        return [variable]
    if isinstance(variable, ContainerVariable):
        return [tensor for item in variable.items for tensor in _tensors(item)]
    return []


def symbolic_translate(function: Callable) -> StaticFunction:
    """Captures `function` from its bytecode; see `to_static`."""
    return StaticFunction(function)
