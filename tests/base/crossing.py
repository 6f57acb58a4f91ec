"""One op in a classic Program of ours, with its gradient: what goes to real Paddle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import minipaddle as paddle
from minipaddle.base.layer_helper import append_phi_op
from minipaddle.common import unique_name
from minipaddle.phi.core.op import OPS, Op
from tests.phi.table import counted_outputs, each, flat, gradient_inputs, is_float, loss_weights


@dataclass
class Case:
    """A Program and how to run it.

    Attributes:
        main: the Program, with gradients if the op has any.
        forward: its bytes before append_backward.
        feed: arrays by name.
        outputs: the names of the op's outputs.
        loss: the name of the loss, or None.
        gradients: the names of the gradients.
    """

    main: Any
    forward: bytes = b""
    feed: dict[str, np.ndarray] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    loss: str | None = None
    gradients: list[str] = field(default_factory=list)

    def run(self, program: Any, fetch: list[str]) -> list[np.ndarray]:
        """What our Executor computes."""
        feed = {name: array.copy() for name, array in self.feed.items()}
        paddle.seed(1)
        return paddle.static.Executor().run(
            program, feed=feed, fetch_list=fetch, scope=paddle.static.Scope()
        )


def build(op: Op, inputs: list, attrs: dict[str, Any], gradient: bool = True) -> Case:
    """The Program of one op on these inputs, with its gradient. Call it inside OldIrGuard."""
    main = paddle.static.Program()
    case = Case(main)
    wanted = gradient_inputs(op, inputs) if gradient else []
    with unique_name.guard(), paddle.static.program_guard(main, paddle.static.Program()):

        def data(array: Any) -> Any:
            name = f"x{len(case.feed)}"
            case.feed[name] = np.array(array)
            return paddle.static.data(name, array.shape, str(array.dtype))

        variables = [each(data, [value])[0] for value in inputs]
        for position in wanted:
            for variable in flat([variables[position]]):
                variable.stop_gradient = False
                case.gradients.append(f"{variable.name}@GRAD")
        outputs = append_phi_op(op, variables, op.complete(attrs))
        case.outputs = [variable.name for variable in flat(outputs)]
        if wanted:
            _append_loss(case, op, outputs)
        case.forward = main.serialize_to_string()
        if case.loss:
            paddle.static.append_backward(main.global_block().var(case.loss))
            there = main.global_block().vars
            case.gradients = [name for name in case.gradients if name in there]
        else:
            case.gradients = []
    return case


def _append_loss(case: Case, op: Op, outputs: list) -> None:
    """The sum of all outputs that have a gradient, each number with a weight of its own."""
    values = dict(zip(case.outputs, case.run(case.main, case.outputs), strict=True))
    terms = []
    for name, output in zip(op.outputs, outputs, strict=True):
        for piece in flat([output]):
            if name in counted_outputs(op) and is_float(values[piece.name]):
                key = f"w{len(terms)}"
                case.feed[key] = loss_weights(values[piece.name])
                weights = paddle.static.data(key, piece.shape, piece.dtype)
                (product,) = append_phi_op(OPS["multiply"], [piece, weights], {})
                terms += append_phi_op(OPS["sum"], [product], OPS["sum"].complete({}))
    if terms and not all(term.stop_gradient for term in terms):
        case.loss = append_phi_op(OPS["add_n"], [terms], {})[0].name
