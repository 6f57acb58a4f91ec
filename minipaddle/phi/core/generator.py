"""The random generator that all random ops share, so that `paddle.seed` makes a run repeatable.

Paddle: paddle/phi/core/generator.h. The numbers differ from Paddle's: numpy's generator is
another one.
Left out: one generator per device.
"""

from __future__ import annotations

import numpy as np

_generator: np.random.Generator | None = None  # made at the first use: `import minipaddle` is quick


def seed(seed: int) -> None:
    """Starts the shared generator anew from `seed`. Raises TypeError if it is no int
    of 0 or more."""
    global _generator
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise TypeError(f"seed: expected an int of 0 or more, but got {seed!r}. Any will do.")
    _generator = np.random.default_rng(seed)


def default_generator(seed_attribute: int = 0) -> np.random.Generator:
    """The shared generator, or a fresh one if an op has a seed of its own (not 0)."""
    global _generator
    if seed_attribute:
        return np.random.default_rng(seed_attribute)
    if _generator is None:
        _generator = np.random.default_rng()
    return _generator
