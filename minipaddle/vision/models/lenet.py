"""LeNet (LeCun et al. 1998): two convolutions and three linear layers, for digits.

Paddle: python/paddle/vision/models/lenet.py.
"""

from __future__ import annotations

from typing import Any

import minipaddle.nn as nn


class LeNet(nn.Layer):
    """Pictures [B, 1, 28, 28] -> scores [B, num_classes].

    Args:
        num_classes: 0: give the features [B, 16, 5, 5], before the linear layers.
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, stride=1, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5, stride=1, padding=0),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        if num_classes > 0:
            self.fc = nn.Sequential(
                nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, num_classes)
            )

    def forward(self, inputs: Any) -> Any:
        x = self.features(inputs)
        return self.fc(x.flatten(1)) if self.num_classes > 0 else x
