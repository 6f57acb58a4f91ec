"""vision: data sets of images, transforms, and models.

    datasets/     the data sets that ship with the package
    models/       whole networks for pictures
    transforms/   changes of images, before they go into a batch

Paddle: python/paddle/vision/.
"""

from minipaddle.vision import datasets, models, transforms

__all__ = ["datasets", "models", "transforms"]
