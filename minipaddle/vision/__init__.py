"""vision: data sets of images, and models for them. Paddle: python/paddle/vision/."""

from minipaddle.vision import datasets, models

__all__ = ["datasets", "models"]
