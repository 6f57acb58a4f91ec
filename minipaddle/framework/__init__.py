"""framework: saving and loading. Paddle: python/paddle/framework/."""

from minipaddle.framework.io import load, save

__all__ = ["load", "save"]
