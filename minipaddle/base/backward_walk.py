"""Walk: one backward walk over the ops of a block.

First `plan` finds the ops through which a gradient flows. Then `append_gradient_of` is called for
each of them, the last one first. A variable that several ops read has several gradients, its
pieces; they are summed by one `sum` op at the point where the last piece has been computed.

A gradient op can be differentiated too. Its gradient rule is made of ops, so `plan` writes these
ops into the block and goes on through them. They compute once more what the gradient op computed,
which is why an alias, and no op, joins the two.

Paddle: python/paddle/base/backward.py (_append_backward_ops_, _addup_repetitive_outputs_).
Paddle has hand-written gradients of gradients (`tanh_grad_grad`) instead.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

from minipaddle.base.framework import Block, Operator, Variable
from minipaddle.base.layer_helper import append_phi_op
from minipaddle.base.op_attrs import attr_variables, phi_attrs
from minipaddle.base.op_compat import compat_of, output_slot, slot_of
from minipaddle.common import unique_name
from minipaddle.common.errors import NoGradientError
from minipaddle.phi.core.op import OPS

EMPTY = "@EMPTY@"  # stands in a slot for a gradient that nobody wants


class GradientMaker(Protocol):
    """How an op that is no phi op, but has blocks of its own, gets its gradient."""

    def sources(self, walk: Walk, operator: Operator, needed: set[str]) -> list[str]:
        """The names that the op reads and that get a gradient, if `needed` have one."""
        ...

    def append(self, walk: Walk, operator: Operator) -> None:
        """Appends the gradient op: reads `walk.gradient_of(output)`, calls `walk.pass_by(operator)`
        and makes `walk.new_piece`.
        """
        ...


GRADIENT_MAKERS: dict[str, GradientMaker] = {}  # op type -> its maker


def grad_var_name(name: str) -> str:
    """`w` -> `w@GRAD`."""
    return f"{name}@GRAD"


class Walk:
    """One walk backwards: which gradients exist so far, and under which names.

    Attributes:
        block: gets the gradient ops.
        forward_block: holds the ops that are walked. The same block, except in control flow.
        no_grad: names through which no gradient goes.
        order: which backward of the Program this is, from 1.
        gradients: variable -> the name of its whole gradient.
        base_names: variable -> what its gradient is called, where that is decided.
        stand_ins: forward variable -> the variable to read instead of it.
    """

    def __init__(
        self,
        block: Block,
        no_grad: set[str],
        forward_block: Block | None = None,
        order: int = 1,
    ) -> None:
        self.block = block
        self.forward_block = forward_block or block
        self.no_grad = no_grad
        self.order = order
        self.gradients: dict[str, str] = {}
        self.stand_ins: dict[str, str] = {}
        self._pieces: dict[str, list[str]] = defaultdict(list)
        self.base_names: dict[str, str] = {}
        # variable -> variables whose gradient is a piece of its gradient
        self._aliases: dict[str, list[str]] = defaultdict(list)
        # how many pieces each variable will have: with more than one, each needs its own name
        self._expected: Counter[tuple[str, int]] = Counter()
        # A variable that is written again, in a loop, has a gradient for each of its values. They
        # are counted from the last one: as far as `plan` has come, and as far as the walk has.
        self._planned: Counter[str] = Counter()
        self._passed: Counter[str] = Counter()
        self._cuts: set[int] = set()  # ops (by id) that end a gradient: what they write is constant

    def variable(self, name: str) -> Variable:
        """The variable of that name, in sight of one of the two blocks."""
        for block in (self.block, self.forward_block):
            found = block._find_var_recursive(name)
            if found is not None:
                return found
        return self.block._var_recursive(name)  # which raises

    @cached_property
    def first_writers(self) -> dict[str, Operator]:
        """Variable -> the first op that writes it, in the block that is walked."""
        found: dict[str, Operator] = {}
        for operator in self.forward_block.ops:
            for name in operator.output_arg_names:
                found.setdefault(name, operator)
        return found

    # -- which ops -----------------------------------------------------------------------------

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
        if not {"ForwardOnly", "Constant"}.isdisjoint(op.traits):
            return []
        if op.vjp_rule is None:
            names = [name for name in operator.input_arg_names if self.takes_gradient(name)]
            if names and op.forward_op is None:
                op.require_vjp()
            return names
        compat = compat_of(op.name)
        names = [name for item in op.vjp_rule.wrt for name in operator.input(slot_of(compat, item))]
        return [name for name in names if self.takes_gradient(name)]

    def plan(
        self,
        targets: Sequence[str],
        ops: Sequence[Operator],
        within: set[str] | None = None,
    ) -> list[Operator]:
        """The ops, in order, through which a gradient flows from `targets`.

        Each target counts as one piece of its own: call `new_piece` for it before the walk.

        Args:
            within: if given, only ops that read one of these names. Gradient ops that are
                differentiated add the names of their rule's results.
        """
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

    def _overwritten(self, operator: Operator) -> list[str]:
        """Which of its outputs have had another value before."""
        inputs, own = operator.input_arg_names, self.forward_block.vars
        return [name for name in operator.output_arg_names if name in inputs or name not in own]

    def pass_by(self, operator: Operator) -> None:
        """The gradients of what an op has written are read: from here on, those of the values
        before it count.
        """
        for name in self._overwritten(operator):
            self._passed[name] += 1
            self.gradients.pop(name, None)
            self._pieces.pop(name, None)

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
                found = [self.variable(self._xshape_sources[found[0].name])]
            inputs.append(found if item.is_list else found[0] if found else None)
        with origin(operator):
            results = rule.rule(*inputs, **op_attrs(rule.attrs, self._attrs(operator)))
        for name, result in zip(rule.wrt, results, strict=True):
            outputs = operator.output(slot_of(compat, f"{name}_grad"))
            pieces = result if isinstance(result, list) else [result]
            for output, piece in zip(outputs, pieces, strict=False):
                if piece is not None and output in needed:
                    self._aliases[piece.name].append(output)
                    needed.add(piece.name)
        return self.block.ops[first:]

    @cached_property
    def _xshape_sources(self) -> dict[str, str]:
        """XShape -> the variable whose shape it holds."""
        return {
            name: operator.input("X")[0]
            for block in self.block.program.blocks
            for operator in block.ops
            for name in operator.output("XShape")
        }

    # -- gradients and their names -------------------------------------------------------------

    def new_piece(self, name: str, gradient: str | None = None) -> str:
        """The name for one more gradient of a variable (or `gradient` itself, if it exists)."""
        if gradient is None:
            gradient = self.base_name(name)
            if self._expected[name, self._passed[name]] > 1:
                number = len(self._pieces[name])
                gradient = f"{gradient}@RENAME@block{self.forward_block.idx}@{number}"
        self._pieces[name].append(gradient)
        return gradient

    def base_name(self, name: str) -> str:
        """`x@GRAD`; in a second backward, where that is taken, `grad/grad/x@GRAD`."""
        if name not in self.base_names:
            plain = grad_var_name(name)
            free = plain
            if free in self.block.vars and self.order > 1:
                free = "grad/" * self.order + plain
            while free in self.block.vars:
                free = unique_name.generate(plain)
            self.base_names[name] = free
        return self.base_names[name]

    def gradient_of(self, name: str) -> Variable | None:
        """The whole gradient of a variable: the sum of its pieces. None if there are none."""
        if name not in self.gradients:
            pieces = [self.gradient_of(other) for other in self._aliases.get(name, ())]
            found = [piece for piece in pieces if piece is not None]
            found += [self.variable(piece) for piece in self._pieces.get(name, ())]
            if not found:
                return None
            whole = found[0].name
            if len(found) > 1:
                whole = self.base_name(name)
                append_phi_op(OPS["add_n"], [found], {}, {"out": whole})
                self._without_scope()
                self.variable(whole).stop_gradient = False
            self.gradients[name] = whole
        return self.variable(self.gradients[name])

    def append_gradients(self, path: Sequence[Operator]) -> None:
        """Appends the gradient ops of all ops of a path."""
        for operator in reversed(path):
            with origin(operator):
                self.append_gradient_of(operator)

    def finish(self) -> None:
        """Sums what is left: the gradients of variables that no op made (parameters, data)."""
        for name in list(self._pieces):
            self.gradient_of(name)

    def _without_scope(self) -> None:
        """The last op belongs to no forward op, so it has no name scope."""
        self.block.ops[-1]._set_attr("op_namescope", "")

    # -- ops -----------------------------------------------------------------------------------

    def append_gradient_of(self, operator: Operator) -> None:
        """Appends the gradient op (or, for `invoke` rules, the rule's own ops) of one forward
        op.
        """
        if id(operator) in self._cuts:
            self.pass_by(operator)
            return
        maker = GRADIENT_MAKERS.get(operator.type)
        if maker is not None:
            maker.append(self, operator)
            return
        op = operator.phi_op
        compat, vjp, attrs = compat_of(op.name), op.require_vjp(), self._attrs(operator)
        values: dict[str, Any] = {}
        for item in op.inputs:
            found = [self._value(name) for name in operator.input(slot_of(compat, item.name))]
            values[item.name] = found if item.is_list else found[0] if found else None
        for name in op.outputs:
            made = operator.output(output_slot(compat, name))
            found = [self._value(each) for each in made]
            grads = [self.gradient_of(each) for each in made]
            if name in op.list_outputs:
                values[name] = found
                values[f"{name}_grad"] = [
                    self._zeros_like(each) if grad is None else grad
                    for each, grad in zip(made, grads, strict=True)
                ]
            else:
                values[name] = found[0] if found else None
                values[f"{name}_grad"] = grads[0] if grads else None
        for item in vjp.inputs:
            output = item.name.removesuffix("_grad")
            if output != item.name and values[item.name] is None and values[output] is not None:
                (unused,) = operator.output(output_slot(compat, output))
                values[item.name] = self._zeros_like(unused)
        self.pass_by(operator)
        inputs = [values[item.name] for item in vjp.inputs]
        rule_attrs = op_attrs(vjp.attrs, attrs)
        targets = [operator.input(slot_of(compat, name)) for name in vjp.wrt]
        if vjp.invoke:
            self._append_rule(vjp, inputs, rule_attrs, targets)
            return
        names: dict[str, Any] = {}
        for name, target in zip(vjp.wrt, targets, strict=True):
            wanted = [each for each in target if self.takes_gradient(each)]
            if f"{name}_grad" in op.grad_op.list_outputs and wanted:
                names[f"{name}_grad"] = [self.new_piece(each) for each in target]
            else:
                names[f"{name}_grad"] = self.new_piece(wanted[0]) if wanted else None
        for made in append_phi_op(op.grad_op, inputs, rule_attrs, names):
            for variable in made if isinstance(made, list) else [made]:
                if variable is not None:
                    variable.stop_gradient = False

    def _attrs(self, operator: Operator) -> dict[str, Any]:
        """The attributes of an op, those that are Variables included."""
        computed = {a: self._value(name) for a, name in attr_variables(operator).items()}
        return phi_attrs(operator) | computed

    def _value(self, name: str) -> Variable:
        """The value that a gradient op reads: the forward variable, or what stands in for it."""
        return self.variable(self.stand_ins.get(name, name))

    def _append_rule(self, vjp: Any, inputs: list, attrs: dict, targets: list[list[str]]) -> None:
        """Runs a rule on Variables: its ops land in the block; the results get the gradients'
        names.
        """
        first = len(self.block.ops)
        results = vjp.rule(*inputs, **attrs)
        new_ops = self.block.ops[first:]
        fresh = {name for operator in new_ops for name in operator.output_arg_names}
        for names, result in zip(targets, results, strict=True):
            pieces = result if isinstance(result, list) else [result]
            for name, piece in zip(names, pieces, strict=False):
                if piece is None or not self.takes_gradient(name):
                    continue
                new_name = self.new_piece(name)
                if piece.name in fresh:
                    self.block._rename_var(piece.name, new_name, new_ops)
                else:  # it is an input of the rule, or has a gradient's name already
                    append_phi_op(OPS["assign"], [piece], {}, {"out": new_name})
                self.variable(new_name).stop_gradient = False

    def _zeros_like(self, name: str) -> Variable:
        """The gradient of an output that nobody used."""
        variable = self._value(name)
        attrs = OPS["full_like"].complete({"value": 0.0, "dtype": variable.dtype})
        names = {"out": self.base_name(name)}
        (zeros,) = append_phi_op(OPS["full_like"], [variable], attrs, names)
        assert zeros is not None
        self._without_scope()
        return zeros


@contextlib.contextmanager
def origin(operator: Operator) -> Iterator[None]:
    """Inside, new ops have the place in the user's code, and the name scope, of this op."""
    program = operator.block.program
    before, program._origin = program._origin, operator
    try:
        yield
    finally:
        program._origin = before


def reached_from(names: set[str], ops: Iterable[Operator], walk: Walk) -> None:
    """Adds to `names` what the ops compute from them and what takes a gradient."""
    for operator in ops:
        if not names.isdisjoint(operator.input_arg_names):
            names.update(name for name in operator.output_arg_names if walk.takes_gradient(name))


def op_attrs(rule_attrs: Iterable[Any], attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes that a gradient rule reads: the forward op's, or the rule's own defaults."""
    return {attr.name: attrs.get(attr.name, attr.default) for attr in rule_attrs}
