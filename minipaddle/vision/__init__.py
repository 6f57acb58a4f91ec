"""vision: data sets of images, transforms, and models. Paddle: python/paddle/vision/."""

from minipaddle.vision import datasets, models, transforms

__all__ = ["datasets", "models", "transforms"]
