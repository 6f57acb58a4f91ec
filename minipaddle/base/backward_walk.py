"""Walk: one backward walk over the ops of a plan.

`append_gradient_of` is called for each of them, the last one first. The pieces of a variable's
gradient are summed by one `sum` op at the point where the last piece has been computed.

Paddle: python/paddle/base/backward.py (_append_backward_ops_, _addup_repetitive_outputs_).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from minipaddle.base.backward_plan import GRADIENT_MAKERS, Plan, op_attrs, origin
from minipaddle.base.framework import Block, Operator, Variable
from minipaddle.base.layer_helper import append_phi_op
from minipaddle.base.op_compat import compat_of, output_slot, slot_of
from minipaddle.common import unique_name
from minipaddle.phi.core.op import OPS


def grad_var_name(name: str) -> str:
    """`w` -> `w@GRAD`."""
    return f"{name}@GRAD"


class Walk(Plan):
    """One walk backwards: which gradients exist so far, and under which names.

    Attributes:
        order: which backward of the Program this is, from 1.
        gradients: variable -> the name of its whole gradient.
        base_names: variable -> what its gradient is called, where that is decided.
    """

    def __init__(
        self,
        block: Block,
        no_grad: set[str],
        forward_block: Block | None = None,
        order: int = 1,
    ) -> None:
        super().__init__(block, no_grad, forward_block)
        self.order = order
        self.gradients: dict[str, str] = {}
        self.base_names: dict[str, str] = {}
        self._pieces: dict[str, list[str]] = defaultdict(list)
        self._passed: Counter[str] = Counter()  # variable -> how many of its values lie behind

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

    def pass_by(self, operator: Operator) -> None:
        """The gradients of what an op has written are read: from here on, those of the values
        before it count.
        """
        for name in self._overwritten(operator):
            self._passed[name] += 1
            self.gradients.pop(name, None)
            self._pieces.pop(name, None)

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
        self.require_values(operator)
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
