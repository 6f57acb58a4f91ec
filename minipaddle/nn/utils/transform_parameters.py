"""All parameters as one long vector, and back.

Paddle: python/paddle/nn/utils/transform_parameters.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minipaddle.eager import no_grad
from minipaddle.phi.core.op import OPS


def parameters_to_vector(parameters: Iterable[Any], name: str | None = None) -> Any:
    """The numbers of all parameters, one after the other: [N]."""
    with no_grad():
        flat = [OPS["reshape"](parameter, shape=[-1]) for parameter in parameters]
        return OPS["concat"](flat, axis=0)


def vector_to_parameters(vec: Any, parameters: Iterable[Any], name: str | None = None) -> None:
    """Writes the numbers of a vector [N] into the parameters.

    Raises:
        ValueError: the vector has another length than all parameters together.
    """
    parameters = list(parameters)
    count = sum(parameter.size for parameter in parameters)
    if list(vec.shape) != [count]:
        raise ValueError(
            f"vector_to_parameters: expected a vector of {count} numbers, but got shape "
            f"{list(vec.shape)}. parameters_to_vector makes one that fits."
        )
    numbers, start = vec.numpy(), 0
    for parameter in parameters:
        piece = numbers[start : start + parameter.size]
        parameter.set_value(piece.reshape(parameter.shape))
        start += parameter.size
