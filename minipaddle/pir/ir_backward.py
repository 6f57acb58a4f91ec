"""ir_backward: gradients of a PIR program.

Operations are walked in reverse; each adds its `<op>_grad`. Values have no names here: which
gradient belongs to which value stands in a map.

Paddle: python/paddle/autograd/ir_backward.py, backward_utils.py.
Left out: control flow, higher orders, pruning of forward operations that only gradients used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from minipaddle.phi.core.backward import (
    given_gradients,
    gradients_of,
    require_loss,
    rule_attrs,
    rule_inputs,
)
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import world_guard
from minipaddle.pir.core.block import Program
from minipaddle.pir.core.builder import append_phi_op, program_guard
from minipaddle.pir.core.constant import attribute_operands, attribute_values
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.value import Value
from minipaddle.pir.core.vector import all_results, combined_values, split_values


def append_backward(
    loss: Value, parameter_list: Iterable[Value] | None = None, no_grad_set: Any = None
) -> list[tuple[Value, Value]]:
    """Adds the operations that compute the gradients of `loss`.

    Returns:
        (parameter, its gradient) pairs, in the order of the parameters.

    Raises:
        TypeError: loss is no Value.
        ValueError: loss has more than one element, or depends on nothing that needs a gradient.
        NoGradientError: an operation on the way has no gradient rule.
    """
    require_loss(loss, Value)
    block = loss.get_defining_op().parent
    assert block is not None
    wanted = block.all_parameters()
    if parameter_list is not None:
        wanted = _values("parameter_list", parameter_list, block.program)
    gradients = calc_gradient([loss], [None], block.program, no_grad_set)
    return [
        (parameter, gradients[parameter])
        for parameter in wanted
        if parameter in gradients and not parameter.stop_gradient
    ]


def grad(
    outputs: Value | Sequence[Value],
    inputs: Value | Sequence[Value],
    grad_outputs: Any = None,
    no_grad_vars: Any = None,
) -> list[Value | None]:
    """The gradients of `outputs` with respect to `inputs`; None where there is none."""
    starts = [outputs] if isinstance(outputs, Value) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Value) else list(inputs)
    given = given_gradients("grad", starts, grad_outputs)
    block = starts[0].get_defining_op().parent
    assert block is not None
    gradients = calc_gradient(starts, given, block.program, no_grad_vars)
    return [gradients.get(value) for value in wanted]


def calc_gradient(
    outputs: Sequence[Value],
    grad_outputs: Sequence[Value | None],
    program: Program,
    no_grad_set: Any = None,
) -> dict[Value, Value]:
    """Adds the gradient operations; returns value -> gradient."""
    stopped = set(_values("no_grad_set", no_grad_set or (), program))
    path = _path_to(outputs, program.global_block().ops, stopped)
    if not path:
        raise ValueError(
            "append_backward: expected the loss to depend on a value with stop_gradient=False, "
            "but got none. "
            "Set stop_gradient=False on an input, or use a parameter."
        )
    walk = _Walk(stopped)
    with program_guard(program), world_guard("pir"):
        for output, given in zip(outputs, grad_outputs, strict=True):
            walk.add(output, given if given is not None else _ones_like(output))
        for op in reversed(path):
            walk.through(op)
        for value in list(walk.pieces):
            walk.gradient_of(value)
    return walk.gradients


def _values(who: str, items: Iterable[Any], program: Program) -> list[Value]:
    """Values, given as such or by name."""
    values = [program.get_value_by_name(item) if isinstance(item, str) else item for item in items]
    for value in values:
        if not isinstance(value, Value):
            raise TypeError(
                f"append_backward: expected {who} to hold Values or names, but got "
                f"{type(value).__name__}. Pass parameters of this program."
            )
    return values


def _needs_grad(value: Value | None, stopped: set[Value]) -> bool:
    return value is not None and value not in stopped and not value.stop_gradient


def _sources(op: Operation) -> list[Value]:
    """The values that get a gradient from an operation, looking through builtin.combine."""
    declaration = op.info.op
    assert declaration is not None
    vjp = declaration.vjp_rule
    return [
        piece
        for item, value in zip(declaration.inputs, op.operands_source(), strict=False)
        if vjp is None or item.name in vjp.wrt
        for piece in combined_values(value)
    ]


def _path_to(
    outputs: Sequence[Value], ops: Sequence[Operation], stopped: set[Value]
) -> list[Operation]:
    """The operations through which a gradient flows from `outputs`."""
    needed, path = set(outputs), []
    for op in reversed(ops):
        if op.info.op is None or needed.isdisjoint(all_results(op)):
            continue
        sources = [value for value in _sources(op) if _needs_grad(value, stopped)]
        if not sources or op.info.op.ends_gradient:
            continue
        op.info.op.require_vjp()
        path.append(op)
        needed.update(sources)
    return path[::-1]


def _ones_like(value: Value) -> Value:
    attrs = OPS["full_like"].complete({"value": 1.0, "dtype": value.dtype})
    return append_phi_op(OPS["full_like"], [value], attrs)[0]


class _Walk:
    """One walk backwards."""

    def __init__(self, stopped: set[Value]) -> None:
        self.stopped = stopped
        self.pieces: dict[Value, list[Value]] = {}
        self.gradients: dict[Value, Value] = {}

    def add(self, value: Value, gradient: Value) -> None:
        """Notes one more gradient of a value."""
        self.pieces.setdefault(value, []).append(gradient)

    def gradient_of(self, value: Value) -> Value | None:
        """The whole gradient: the sum of its pieces."""
        pieces = self.pieces.get(value)
        if not pieces:
            return None
        if value not in self.gradients:
            if len(pieces) > 1:
                pieces = append_phi_op(OPS["add_n"], [pieces], {})
            self.gradients[value] = pieces[0]
        return self.gradients[value]

    def through(self, op: Operation) -> None:
        """Adds the gradient of one operation."""
        declaration = op.info.op
        assert declaration is not None
        vjp = declaration.require_vjp()
        pairs = zip(declaration.inputs, op.operands_source(), strict=False)
        keys = {item.name: combined_values(source) for item, source in pairs}
        keys |= dict(zip(declaration.outputs, map(split_values, op.results()), strict=True))
        inputs = rule_inputs(self, declaration, keys)
        operands = attribute_operands(op)
        # what is computed later stays a Value
        attrs = rule_attrs(declaration, {**operands, **attribute_values(op)})
        if vjp.invoke:  # the gradient reads the operands that the operation itself reads
            shared = {name: value for name, value in operands.items() if name in attrs}
            results = vjp.rule(*inputs, **{**attrs, **shared})
        else:
            wanted = [any(map(self.takes_gradient, keys[name])) for name in vjp.wrt]
            grad_op = declaration.grad_op
            results = append_phi_op(grad_op, inputs, attrs, attr_operands=operands, wanted=wanted)
        for value, gradient in gradients_of(self, declaration, keys, results):
            if gradient.type() is not None:
                self.add(value, gradient)

    def takes_gradient(self, value: Value) -> bool:
        return _needs_grad(value, self.stopped)

    def value_of(self, value: Value) -> Value:
        return value

    def zeros_like(self, value: Value) -> Value:
        """The gradient of a result that nobody used."""
        attrs = OPS["full_like"].complete({"value": 0.0, "dtype": value.dtype})
        return append_phi_op(OPS["full_like"], [value], attrs)[0]
