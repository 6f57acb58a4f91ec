"""A classic Program under test: what builds a small one, runs it and reads it."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import minipaddle as paddle
from minipaddle.common import unique_name

static = paddle.static


@contextlib.contextmanager
def classic_program() -> Iterator[None]:
    """Inside, the default main program is a new classic Program, and names start from 0."""
    paddle.enable_static()
    try:
        with (
            paddle.pir_utils.OldIrGuard(),
            unique_name.guard(),
            static.program_guard(static.Program(), static.Program()),
        ):
            yield
    finally:
        paddle.disable_static()


def data(name="x", shape=(2, 3), stop_gradient=False, dtype="float64") -> Any:
    """An input."""
    variable = static.data(name, list(shape), dtype)
    variable.stop_gradient = stop_gradient
    return variable


def run(fetch, **feed) -> list[Any]:
    """The values of `fetch`, with the startup program run first. No op writes what another one
    has written, or it writes over what it reads.
    """
    made = [
        name
        for item in block().ops
        for name in item.output_arg_names
        if name not in item.input_arg_names
    ]
    assert len(made) == len(set(made))
    scope, executor = static.Scope(), static.Executor()
    executor.run(static.default_startup_program(), scope=scope)
    return executor.run(
        static.default_main_program(), feed=feed, fetch_list=list(fetch), scope=scope
    )


def block() -> Any:
    """Block 0 of the program."""
    return static.default_main_program().global_block()


def types(first=0) -> list[str]:
    """The types of its ops, from the one of that number on."""
    return [op.type for op in block().ops[first:]]


X = np.array([[0.5, -1.2, 2.0], [1.5, 0.3, -0.7]])
