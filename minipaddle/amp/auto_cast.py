"""auto_cast: which dtype an op computes in. decorate: a model whose parameters are float16.

The casting itself stands in the ops' dygraph functions: they ask `tracer.amp_dtype` first.

Paddle: python/paddle/amp/auto_cast.py; paddle/fluid/eager/amp_utils.h, amp_auto_cast.h.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from minipaddle.amp.amp_lists import BLACK, ops_of
from minipaddle.common.dtype import float16, to_dtype
from minipaddle.common.enforce import require_one_of
from minipaddle.nn import BatchNorm1D, BatchNorm2D, InstanceNorm2D, LayerNorm
from minipaddle.phi.core.world import tracer

LEVELS = ("O0", "O1", "O2")
# in float16 their statistics would be too coarse
KEEP_FLOAT32 = (BatchNorm1D, BatchNorm2D, InstanceNorm2D, LayerNorm)


@contextlib.contextmanager
def auto_cast(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: str = "float16",
) -> Iterator[None]:
    """Inside, ops of the white list compute in float16 and ops of the black list in float32.

    Args:
        custom_white_list, custom_black_list: names of ops that move to that list.
        level: O1: all of the black list; O2: a short black list, for a model that `decorate` has
            cast to float16; O0: nothing is cast.

    Raises:
        ValueError: the level or the dtype is none of those here, or an op stands in both lists.
    """
    _require("auto_cast", level, dtype)
    white, black = set(custom_white_list or ()), set(custom_black_list or ())
    if white & black:
        raise ValueError(
            f"auto_cast: expected each op in one list, but got {sorted(white & black)} in both. "
            "Take it out of one."
        )
    before = tracer.amp_dtype, tracer.amp_lists
    if enable and level != "O0":
        known_black = ops_of(*BLACK[level])
        tracer.amp_dtype = float16
        tracer.amp_lists = (ops_of("white") - black) | white, (known_black - white) | black
    else:
        tracer.amp_dtype = None
    try:
        yield
    finally:
        tracer.amp_dtype, tracer.amp_lists = before


def decorate(models: Any, optimizers: Any = None, level: str = "O1", dtype: str = "float16") -> Any:
    """Prepares models and optimizers for `auto_cast`. O1 changes nothing. O2 casts the models'
    parameters to float16, except those of normalization layers, and lets the optimizers keep
    float32 copies ("master weights"), to which they add the small steps that float16 would lose.

    Args:
        models: a Layer or a list of them.
        optimizers: an Optimizer or a list of them.

    Returns:
        models, or (models, optimizers) where there are optimizers; changed in place.

    Raises:
        ValueError: the level or the dtype is none of those here.
    """
    _require("decorate", level, dtype)
    if level == "O2":
        for model in _listed(models):
            for layer in model.sublayers(include_self=True):
                if not isinstance(layer, KEEP_FLOAT32):
                    layer._convert(None, float16, floating_only=True, include_sublayers=False)
        for optimizer in _listed(optimizers):
            optimizer._multi_precision = True
    return models if optimizers is None else (models, optimizers)


def _listed(value: Any) -> Sequence[Any]:
    return [] if value is None else value if isinstance(value, (list, tuple)) else [value]


def _require(who: str, level: str, dtype: str) -> None:
    require_one_of(who, "level", level, LEVELS)
    if to_dtype(dtype) is not float16:
        raise ValueError(
            f"{who}: expected dtype 'float16', but got {dtype!r}. numpy has no other "
            "half-precision type."
        )
