"""jit: from a Python function to a graph.

    sot/   captures a graph by running a function's bytecode on symbols

Paddle: python/paddle/jit/.
Left out: the AST way (full_graph=True), input specs, saving.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minipaddle.jit import sot
from minipaddle.jit.sot.translate import StaticFunction
from minipaddle.nn.layer.layers import Layer

__all__ = ["sot", "to_static"]


def to_static(
    function: Any = None, *, full_graph: bool = True, backend: Callable | None = None
) -> Any:
    """Makes a function (or a Layer's forward) run as a captured graph.

    Args:
        full_graph: must be False: capture from bytecode, with a fall back to plain Python where
            something can't be
            captured. True is the AST way, which is not here yet.
        backend: takes the captured PIR program before it is compiled, and returns the program to
            compile.

    Raises:
        NotImplementedError: full_graph is True.
        TypeError: `function` is neither a Python function nor a Layer.
    """
    if full_graph:
        raise NotImplementedError(
            "to_static: expected full_graph=False, but got True (the default). The AST way is not "
            "part of minipaddle; "
            "pass full_graph=False to capture from bytecode."
        )
    if function is None:
        return lambda wrapped: to_static(wrapped, full_graph=full_graph, backend=backend)
    if isinstance(function, Layer):
        object.__setattr__(function, "forward", StaticFunction(function.forward, backend))
        return function
    return StaticFunction(function, backend)
