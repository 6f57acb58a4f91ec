"""transforms: changes of images, before they go into a batch.

Images are numpy arrays [H, W] or [H, W, C]; Tensors [C, H, W] are taken too. No PIL, no OpenCV.

    transform = Compose([Resize(28), Normalize([0.5], [0.5], data_format="HWC"), ToTensor()])

    functional   changes of one image
    transforms   functions of functional.py with their arguments set, for a dataset's `transform`

Paddle: python/paddle/vision/transforms/.
Left out: changes of colour, rotations and other affine maps, RandomResizedCrop, RandomErasing.
"""

from minipaddle.vision.transforms.functional import (
    center_crop,
    crop,
    hflip,
    normalize,
    pad,
    resize,
    to_tensor,
    vflip,
)
from minipaddle.vision.transforms.transforms import (
    BaseTransform,
    CenterCrop,
    Compose,
    Normalize,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomVerticalFlip,
    Resize,
    ToTensor,
    Transpose,
)

__all__ = [
    "BaseTransform",
    "CenterCrop",
    "Compose",
    "Normalize",
    "Pad",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "Resize",
    "ToTensor",
    "Transpose",
    "center_crop",
    "crop",
    "hflip",
    "normalize",
    "pad",
    "resize",
    "to_tensor",
    "vflip",
]
