"""Plan: the ops of a block through which a gradient flows, and how many pieces each gradient has.

A variable that several ops read gets a piece of its gradient from each of them. A variable that is
written again, in a loop, has a gradient for each of its values.

A gradient op can be differentiated too. Its gradient rule is made of ops, so the plan writes these
ops into the block and goes on through them. They compute once more what the gradient op computed,
which is why an alias, and no op, joins the two.

Paddle: python/paddle/base/backward.py (_find_op_path_). It has hand-written gradients of gradients
(`tanh_grad_grad`) instead.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from minipaddle.base.framework import Block, Operator, Variable
from minipaddle.base.op_attrs import attr_variables, phi_attrs
from minipaddle.base.op_compat import compat_of, slot_of
from minipaddle.base.op_desc import EMPTY
from minipaddle.common.errors import NoGradientError
from minipaddle.phi.core.backward import rule_attrs

if TYPE_CHECKING:
    from minipaddle.base.backward_walk import Walk


class GradientMaker(Protocol):
    """How an op that is no phi op, but has blocks of its own, gets its gradient."""

    def sources(self, plan: Plan, operator: Operator, needed: set[str]) -> list[str]:
        """The names that the op reads and that get a gradient, if `needed` have one."""
        ...

    def append(self, walk: Walk, operator: Operator) -> None:
        """Appends the gradient op: reads `walk.gradient_of(output)`, calls `walk.pass_by(operator)`
        and makes `walk.new_piece`.
        """
        ...


GRADIENT_MAKERS: dict[str, GradientMaker] = {}  # op type -> its maker


class Plan:
    """Which ops a walk goes through.

    Attributes:
        block: gets the gradient ops.
        forward_block: holds the ops that are walked. The same block, except in control flow.
        no_grad: names through which no gradient goes.
        stand_ins: forward variable -> the variable to read instead of it.
    """

    def __init__(self, block: Block, no_grad: set[str], forward_block: Block | None = None) -> None:
        self.block = block
        self.forward_block = forward_block or block
        self.no_grad = no_grad
        self.stand_ins: dict[str, str] = {}
        # variable -> variables whose gradient is a piece of its gradient
        self._aliases: dict[str, list[str]] = defaultdict(list)
        # (variable, which of its values, counted from the last one) -> how many pieces it will have
        self._expected: Counter[tuple[str, int]] = Counter()
        # variable -> the position of the last op that writes it; op (by id) -> its own position
        self._last_writes: dict[str, int] = {}
        self._positions: dict[int, int] = {}
        self._planned: Counter[str] = Counter()  # variable -> how many values lie behind the plan
        self._cuts: set[int] = set()  # ops (by id) that end a gradient: what they write is constant

    def variable(self, name: str) -> Variable:
        """The variable of that name, in sight of one of the two blocks."""
        for block in (self.block, self.forward_block):
            found = block._find_var_recursive(name)
            if found is not None:
                return found
        return self.block._var_recursive(name)  # which raises

    def takes_gradient(self, name: str) -> bool:
        if name == EMPTY or name in self.no_grad:
            return False
        return not self.variable(name).stop_gradient

    def sources(self, operator: Operator, needed: set[str]) -> list[str]:
        """The names that get a gradient from an op. Raises NoGradientError if it has no rule."""
        maker = GRADIENT_MAKERS.get(operator.type)
        if maker is not None:
            return maker.sources(self, operator, needed)
        op = operator.phi_op
        if op.ends_gradient:
            return []
        if op.vjp_rule is None:
            names = [name for name in operator.input_arg_names if self.takes_gradient(name)]
            if names and op.forward_op is None:
                op.require_vjp()
            return names
        keys = operator.phi_slots()
        names = [name for item in op.vjp_rule.wrt for name in keys[item]]
        return [name for name in names if self.takes_gradient(name)]

    def plan(
        self, targets: Sequence[str], ops: Sequence[Operator], within: set[str] | None = None
    ) -> list[Operator]:
        """The ops, in order, through which a gradient flows from `targets`.

        Each target counts as one piece of its own: call `new_piece` for it before the walk.

        Args:
            within: if given, only ops that read one of these names. Gradient ops that are
                differentiated add the names of their rule's results.
        """
        for position, operator in enumerate(ops):
            self._positions[id(operator)] = position
            self._last_writes.update((name, position) for name in operator.output_arg_names)
        self._expected.update((name, self._planned[name]) for name in targets)
        needed = set(targets)
        path = self._plan(needed, ops, within)
        for name, others in self._aliases.items():
            self._expected[name, 0] += len(needed.intersection(others))
        return path[::-1]

    def _plan(
        self, needed: set[str], ops: Sequence[Operator], within: set[str] | None
    ) -> list[Operator]:
        path: list[Operator] = []
        for operator in reversed(ops):
            if needed.isdisjoint(operator.output_arg_names):
                continue
            reached = within is None or not within.isdisjoint(operator.input_arg_names)
            sources = self.sources(operator, needed) if reached else []
            overwritten = self._overwritten(operator)
            if not sources and needed.isdisjoint(overwritten):
                continue
            if (
                sources
                and operator.type not in GRADIENT_MAKERS
                and operator.phi_op.vjp_rule is None
            ):
                rule_ops = self._write_rule(operator, needed)
                if within is not None:
                    reached_from(within, rule_ops, self)
                path += self._plan(needed, rule_ops, within)
                continue
            path.append(operator)
            if not sources:
                self._cuts.add(id(operator))
            self._planned.update(overwritten)
            needed.difference_update(overwritten)
            self._expected.update((name, self._planned[name]) for name in sources)
            needed.update(name for name in sources if not self.variable(name).is_parameter)
        return path

    def reaches(self, name: str) -> bool:
        """After `plan`: true if the value that a variable has before the first op gets a
        gradient.
        """
        return self._expected[name, self._planned[name]] > 0

    def require_values(self, operator: Operator) -> None:
        """Raises ValueError if the gradient of an op reads what an op after it writes over.

        Parameters may change: the optimizer of another loss does so. A block of a loop keeps its
        values for each turn.
        """
        if self.forward_block is not self.block or id(operator) not in self._positions:
            return
        position = self._positions[id(operator)]
        inputs, outputs = read_by_gradient(operator)
        limits = {**dict.fromkeys(outputs, position + 1), **dict.fromkeys(inputs, position)}
        for name, limit in limits.items():
            kept = name in self.stand_ins or self.variable(name).persistable
            if self._last_writes.get(name, -1) >= limit and not kept:
                raise ValueError(
                    f"{operator.type}: expected {name!r} to keep its value for the gradient, but "
                    "got an op after it that writes over it. Write into a new variable; call "
                    "memory_optimize after the backward."
                )

    def _overwritten(self, operator: Operator) -> list[str]:
        """Which of its outputs have had another value before."""
        inputs, own = operator.input_arg_names, operator.block.vars
        return [name for name in operator.output_arg_names if name in inputs or name not in own]

    def _write_rule(self, operator: Operator, needed: set[str]) -> list[Operator]:
        """Writes the rule of a gradient op into the block, as ops; they are what it computes."""
        forward = operator.phi_op.forward_op
        assert forward is not None
        rule, compat = forward.require_vjp(), compat_of(operator.phi_op.name)
        if not rule.double_grad:
            raise NoGradientError(
                f"{operator.type} has no gradient rule: the gradient of {forward.name} can't be "
                "differentiated. Write the loss in simpler ops, or set stop_gradient=True on the "
                "first gradient."
            )
        first = len(self.block.ops)
        inputs = []
        for item in operator.phi_op.inputs:
            slot = slot_of(compat, item.name)
            found = [self.variable(name) for name in operator.input(slot)]
            if slot == "XShape":
                found = [self.variable(found[0].op.input("X")[0])]  # whose shape it holds
            inputs.append(found if item.is_list else found[0] if found else None)
        with origin(operator):
            results = rule.rule(*inputs, **rule_attrs(forward, self._attrs(operator)))
        for name, result in zip(rule.wrt, results, strict=True):
            outputs = operator.output(slot_of(compat, f"{name}_grad"))
            pieces = result if isinstance(result, list) else [result]
            for output, piece in zip(outputs, pieces, strict=False):
                if piece is not None and output in needed:
                    self._aliases[piece.name].append(output)
                    needed.add(piece.name)
        return self.block.ops[first:]

    def _attrs(self, operator: Operator) -> dict[str, Any]:
        """The attributes of an op, those that are Variables included."""
        computed = {a: self.value_of(name) for a, name in attr_variables(operator).items()}
        return phi_attrs(operator) | computed

    def value_of(self, name: str) -> Variable:
        """The value that a gradient op reads: the forward variable, or what stands in for it."""
        return self.variable(self.stand_ins.get(name, name))


def read_by_gradient(operator: Operator) -> tuple[list[str], list[str]]:
    """The inputs and the outputs of an op whose values its gradient reads."""
    op = operator.declaration
    if op is None or op.vjp_rule is None:
        return [], []
    read = [item.name for item in op.vjp_rule.inputs if not item.meta_only]
    keys = operator.phi_slots()
    inputs = [name for item in op.inputs if item.name in read for name in keys[item.name]]
    return inputs, [name for output in op.outputs if output in read for name in keys[output]]


@contextlib.contextmanager
def origin(operator: Operator) -> Iterator[None]:
    """Inside, new ops have the place in the user's code, and the name scope, of this op."""
    program = operator.block.program
    before, program._origin = program._origin, operator
    try:
        yield
    finally:
        program._origin = before


def reached_from(names: set[str], ops: Iterable[Operator], plan: Plan) -> None:
    """Adds to `names` what the ops compute from them and what takes a gradient."""
    for operator in ops:
        if not names.isdisjoint(operator.input_arg_names):
            names.update(name for name in operator.output_arg_names if plan.takes_gradient(name))
