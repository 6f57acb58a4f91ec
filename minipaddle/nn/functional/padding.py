"""What users may write for the size, stride and padding of windows, in one form.

Paddle: python/paddle/nn/functional/conv.py (_update_padding_nd),
python/paddle/utils/layers_utils.py (convert_to_list).
"""

from __future__ import annotations

from typing import Any

from minipaddle.common.enforce import require_one_of


def two_ints(who: str, name: str, value: Any) -> list[int]:
    """3 -> [3, 3]; [3, 5] stays. The first is for the height.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, int):
        return [value, value]
    if (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and all(isinstance(v, int) for v in value)
    ):
        return list(value)
    raise ValueError(
        f"{who}: expected {name} to be an int or two ints, but got {value!r}. "
        "The first is for the height, the second for the width."
    )


def channel_last(who: str, data_format: str) -> bool:
    """True for NHWC. Raises ValueError if it is not NCHW either."""
    require_one_of(
        who, "data_format", data_format, ("NCHW", "NHWC"), "It says where the channels are."
    )
    return data_format == "NHWC"


def padding_of(
    who: str, padding: Any, last: bool = False, ceil_mode: bool = False
) -> tuple[list[int], str]:
    """(paddings, padding_algorithm) for an op.

    Args:
        padding: "SAME", "VALID", an int, [height, width], [top, bottom, left, right], or pairs
            for all four axes of the image.
        last: the channels are the last of these four.

    Raises:
        ValueError: it is none of these, is negative, or does not go with ceil_mode.
    """
    if isinstance(padding, str):
        algorithm = padding.upper()
        if algorithm not in ("SAME", "VALID"):
            raise ValueError(
                f"{who}: expected padding 'SAME', 'VALID' or numbers, but got {padding!r}."
            )
        if algorithm == "VALID" and ceil_mode:
            raise ValueError(
                f"{who}: expected ceil_mode=False with padding 'VALID', but got True. "
                "ceil_mode adds windows that hang over the edge; 'VALID' has none."
            )
        return [0, 0], algorithm
    given: list[Any] = [padding, padding] if isinstance(padding, int) else list(padding)
    if len(given) == 4 and all(isinstance(pair, (list, tuple)) for pair in given):
        images, channels = given[0], given[3 if last else 1]
        if any(images) or any(channels):
            raise ValueError(
                f"{who}: expected no padding of batch and channels, but got {padding!r}. "
                "Pad height and width only."
            )
        given = [pad for pair in (given[1:3] if last else given[2:]) for pad in pair]
    if len(given) not in (2, 4) or not all(isinstance(pad, int) for pad in given):
        raise ValueError(
            f"{who}: expected padding as an int, [height, width], [top, bottom, left, right] or "
            f"pairs for all four axes, but got {padding!r}."
        )
    if min(given) < 0:
        raise ValueError(
            f"{who}: expected padding of 0 or more, but got {padding!r}. Slice to cut off."
        )
    if len(given) == 4 and given[0] == given[1] and given[2] == given[3]:
        given = given[::2]
    return given, "EXPLICIT"
