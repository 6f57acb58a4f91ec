"""vision: data sets of images. Paddle: python/paddle/vision/."""

from minipaddle.vision import datasets

__all__ = ["datasets"]
