"""models: whole networks for pictures, with Paddle's names of parameters, so that a state_dict
moves between the two.

    lenet    LeNet: two convolutions and three linear layers
    resnet   ResNet: blocks whose output is added to their input

Paddle: python/paddle/vision/models/.
Left out: all others, and weights to download.
"""

from minipaddle.vision.models.lenet import LeNet
from minipaddle.vision.models.resnet import (
    ResNet,
    resnet18,
    resnet34,
    resnet50,
    resnet101,
    resnet152,
)

__all__ = ["LeNet", "ResNet", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152"]
