"""ResNet (He et al. 2015): blocks whose output is added to their input, so that gradients reach the
first layers.

    x --- conv --- bn --- relu --- conv --- bn --- + --- relu -->
     \\________________ downsample ________________/

Paddle: python/paddle/vision/models/resnet.py.
Left out: the wide and the grouped variants as functions of their own (`groups`, `width` are here).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minipaddle.nn as nn

BLOCKS = {
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}


class BasicBlock(nn.Layer):
    """Two 3x3 convolutions: [B, inplanes, H, W] -> [B, planes, H / stride, W / stride].

    Raises:
        ValueError: dilation is not 1.
    """

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Callable[..., nn.Layer] | None = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2D
        if dilation != 1:
            raise ValueError(
                f"BasicBlock: expected dilation 1, but got {dilation}. Use BottleneckBlock."
            )
        self.conv1 = nn.Conv2D(inplanes, planes, 3, padding=1, stride=stride, bias_attr=False)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        identity = x if self.downsample is None else self.downsample(x)
        return self.relu(out + identity)


class BottleneckBlock(nn.Layer):
    """A 1x1 convolution to few channels, a 3x3 one there, and a 1x1 one to 4 * planes channels."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Callable[..., nn.Layer] | None = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2D
        width = int(planes * (base_width / 64.0)) * groups
        wide = planes * self.expansion
        self.conv1 = nn.Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = norm(width)
        self.conv2 = nn.Conv2D(
            width,
            width,
            3,
            padding=dilation,
            stride=stride,
            groups=groups,
            dilation=dilation,
            bias_attr=False,
        )
        self.bn2 = norm(width)
        self.conv3 = nn.Conv2D(width, wide, 1, bias_attr=False)
        self.bn3 = norm(wide)
        self.relu = nn.ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        identity = x if self.downsample is None else self.downsample(x)
        return self.relu(out + identity)


class ResNet(nn.Layer):
    """Pictures [B, 3, H, W] -> scores [B, num_classes].

    Args:
        block: BasicBlock or BottleneckBlock.
        depth: 18, 34, 50, 101 or 152: the number of layers with weights.
        width: channels per group of a BottleneckBlock, for planes of 64.
        num_classes: 0: no linear layer at the end.
        with_pool: take the mean over H and W before it.
        groups: groups of the 3x3 convolutions of a BottleneckBlock.

    Raises:
        ValueError: there is no ResNet of that depth.
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[BottleneckBlock],
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__()
        if depth not in BLOCKS:
            raise ValueError(
                f"ResNet: expected a depth of {sorted(BLOCKS)}, but got {depth}. Choose one."
            )
        self.groups, self.base_width = groups, width
        self.num_classes, self.with_pool = num_classes, with_pool
        self.inplanes = 64
        self.conv1 = nn.Conv2D(3, 64, kernel_size=7, stride=2, padding=3, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        counts = BLOCKS[depth]
        self.layer1 = self._make_layer(block, 64, counts[0])
        self.layer2 = self._make_layer(block, 128, counts[1], stride=2)
        self.layer3 = self._make_layer(block, 256, counts[2], stride=2)
        self.layer4 = self._make_layer(block, 512, counts[3], stride=2)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block: Any, planes: int, count: int, stride: int = 1) -> nn.Sequential:
        """`count` blocks; the first one makes the picture smaller, and has more channels."""
        wide = planes * block.expansion
        downsample = None
        if stride != 1 or self.inplanes != wide:
            downsample = nn.Sequential(
                nn.Conv2D(self.inplanes, wide, 1, stride=stride, bias_attr=False),
                nn.BatchNorm2D(wide),
            )
        options = {"groups": self.groups, "base_width": self.base_width}
        layers = [block(self.inplanes, planes, stride, downsample, **options)]
        self.inplanes = wide
        layers += [block(wide, planes, **options) for _ in range(1, count)]
        return nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        return self.fc(x.flatten(1)) if self.num_classes > 0 else x


def _resnet(block: Any, depth: int, pretrained: bool, options: dict[str, Any]) -> ResNet:
    if pretrained:
        raise NotImplementedError(
            f"resnet{depth}: expected pretrained=False, but got True. Nothing is downloaded here. "
            "Save a state_dict with real Paddle, and load it: model.set_state_dict(paddle.load(p))."
        )
    return ResNet(block, depth, **options)


def resnet18(pretrained: bool = False, **options: Any) -> ResNet:
    """ResNet of 18 layers. `options`: see ResNet. Raises NotImplementedError if pretrained."""
    return _resnet(BasicBlock, 18, pretrained, options)


def resnet34(pretrained: bool = False, **options: Any) -> ResNet:
    """ResNet of 34 layers. `options`: see ResNet. Raises NotImplementedError if pretrained."""
    return _resnet(BasicBlock, 34, pretrained, options)


def resnet50(pretrained: bool = False, **options: Any) -> ResNet:
    """ResNet of 50 layers. `options`: see ResNet. Raises NotImplementedError if pretrained."""
    return _resnet(BottleneckBlock, 50, pretrained, options)


def resnet101(pretrained: bool = False, **options: Any) -> ResNet:
    """ResNet of 101 layers. `options`: see ResNet. Raises NotImplementedError if pretrained."""
    return _resnet(BottleneckBlock, 101, pretrained, options)


def resnet152(pretrained: bool = False, **options: Any) -> ResNet:
    """ResNet of 152 layers. `options`: see ResNet. Raises NotImplementedError if pretrained."""
    return _resnet(BottleneckBlock, 152, pretrained, options)
