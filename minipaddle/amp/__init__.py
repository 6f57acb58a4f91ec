"""amp: matrix products in half precision, everything else as it is.

Inside `auto_cast`, an op with the trait "AmpWhite" casts its inputs first. Real Paddle does this
on GPUs only; on a CPU its `auto_cast` changes nothing and says so in a warning. Here it casts on
the CPU too, so that the effect can be seen.

Paddle: python/paddle/amp/auto_cast.py, paddle/fluid/eager/amp_utils.h.
Left out: black lists, level O2, GradScaler.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from minipaddle.common.dtype import float16, to_dtype
from minipaddle.phi.core.world import tracer

__all__ = ["auto_cast"]


@contextlib.contextmanager
def auto_cast(enable: bool = True, level: str = "O1", dtype: str = "float16") -> Iterator[None]:
    """Inside, ops of the white list compute in `dtype`.

    Raises:
        ValueError: the level is not O0 or O1, or the dtype is not float16.
    """
    if level not in ("O0", "O1"):
        raise ValueError(
            f"auto_cast: expected level 'O0' or 'O1', but got {level!r}. Use one of them."
        )
    if to_dtype(dtype) is not float16:
        raise ValueError(
            f"auto_cast: expected dtype 'float16', but got {dtype!r}. numpy has no other "
            "half-precision type."
        )
    before = tracer.amp_dtype
    tracer.amp_dtype = float16 if enable and level == "O1" else None
    try:
        yield
    finally:
        tracer.amp_dtype = before
