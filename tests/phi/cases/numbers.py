"""Random numbers for the cases. Each file has its own seed: a new case does not change others."""

import zlib

import numpy as np


class Numbers:
    """Arrays of a shape, from a seed that the file's name gives."""

    def __init__(self, name):
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def away_from_zero(self, *shape):
        """Of both signs, away from 0, where relu has no slope."""
        return self.rng.uniform(0.2, 1.5, shape) * self.rng.choice([-1.0, 1.0], shape)

    def positive(self, *shape):
        return self.rng.uniform(0.5, 1.5, shape)
