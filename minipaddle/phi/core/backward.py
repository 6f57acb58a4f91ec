"""backward: what the gradient of one op reads and gives, the same for both kinds of program.

A walk backwards has keys, which are a Program's names or PIR's Values, and says of each key what
stands for it, and what its gradient is so far.

Paddle: GradOpMakers in paddle/fluid/framework/grad_op_desc_maker.h;
_append_backward_ops in python/paddle/autograd/ir_backward.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from minipaddle.phi.core.op import Op


class Walk(Protocol):
    """A walk backwards."""

    def value_of(self, key: Any, /) -> Any:
        """The Variable or Value that the gradient reads."""
        ...

    def gradient_of(self, key: Any, /) -> Any:
        """Its whole gradient; None if there is none."""
        ...

    def zeros_like(self, key: Any, /) -> Any:
        """Appends the gradient of an output that nobody used."""
        ...

    def takes_gradient(self, key: Any, /) -> bool: ...


def rule_inputs(walk: Walk, op: Op, keys: Mapping[str, list[Any]]) -> list[Any]:
    """What the gradient rule of an op reads.

    Args:
        keys: name of an input or output of the op -> the keys that stand there.
    """
    values: dict[str, Any] = {}
    for name in [*(item.name for item in op.inputs), *op.outputs]:
        found = [walk.value_of(key) for key in keys[name]]
        values[name] = found if op.is_list(name) else found[0] if found else None
    for name in op.outputs:
        grads = [walk.gradient_of(key) for key in keys[name]]
        if op.is_list(name):
            pairs = zip(keys[name], grads, strict=True)
            grads = [walk.zeros_like(key) if grad is None else grad for key, grad in pairs]
        values[f"{name}_grad"] = grads if op.is_list(name) else grads[0] if grads else None
    read = op.require_vjp().inputs
    for item in read:
        output = item.name.removesuffix("_grad")
        if output != item.name and values[item.name] is None and keys[output]:
            values[item.name] = walk.zeros_like(keys[output][0])
    return [values[item.name] for item in read]


def rule_attrs(op: Op, attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that the rule reads: the forward op's, or the rule's own defaults."""
    return {attr.name: attrs.get(attr.name, attr.default) for attr in op.require_vjp().attrs}


def gradients_of(
    walk: Walk, op: Op, keys: Mapping[str, list[Any]], results: Iterable[Any]
) -> Iterator[tuple[Any, Any]]:
    """(key, its gradient) for what takes one, out of what a rule or a `<op>_grad` gave."""
    for name, result in zip(op.require_vjp().wrt, results, strict=True):
        pieces = result if isinstance(result, list) else [result]
        for key, piece in zip(keys[name], pieces, strict=False):
            if piece is not None and walk.takes_gradient(key):
                yield key, piece


# -- what a user gives -------------------------------------------------------------------------


def require_loss(loss: Any, kind: type) -> None:
    """Raises TypeError if it is no Variable (or Value), ValueError if it has several elements."""
    if not isinstance(loss, kind):
        raise TypeError(
            f"append_backward: expected loss to be a {kind.__name__}, but got "
            f"{type(loss).__name__}. Pass the loss of a program; in dygraph call loss.backward()."
        )
    if math.prod(loss.shape) != 1:
        raise ValueError(
            f"append_backward: expected a loss with one element, but got shape {list(loss.shape)}. "
            "Take its mean or sum first."
        )


def given_gradients(who: str, targets: Sequence[Any], given: Any) -> list[Any]:
    """The gradients of the targets that a user gives, None for ones. Raises ValueError if there
    are too many or too few.
    """
    if given is None:
        return [None] * len(targets)
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(found) != len(targets):
        raise ValueError(
            f"{who}: expected one gradient for each of the {len(targets)} targets, but got "
            f"{len(found)}. Give None for ones."
        )
    return found
