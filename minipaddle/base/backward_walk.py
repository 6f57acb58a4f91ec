"""Walk: one backward walk over the ops of a plan.

`append_gradient_of` is called for each of them, the last one first. The pieces of a variable's
gradient are summed by one `sum` op at the point where the last piece has been computed.

Paddle: python/paddle/base/backward.py (_append_backward_ops_, _addup_repetitive_outputs_).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from minipaddle.base.backward_plan import GRADIENT_MAKERS, Plan, origin
from minipaddle.base.framework import Block, Operator, Variable
from minipaddle.base.layer_helper import append_named, append_phi_op
from minipaddle.common import unique_name
from minipaddle.phi.core.backward import gradients_of, rule_attrs, rule_inputs
from minipaddle.phi.core.op import Op


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
        self, block: Block, no_grad: set[str], forward_block: Block | None = None, order: int = 1
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
                append_named("add_n", [found], whole)
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
        op, keys = operator.phi_op, operator.phi_slots()
        vjp, attrs = op.require_vjp(), rule_attrs(op, self._attrs(operator))
        inputs = rule_inputs(self, op, keys)
        self.pass_by(operator)
        if vjp.invoke:
            self._append_rule(op, inputs, attrs, keys)
            return
        names: dict[str, Any] = {}
        for name in vjp.wrt:
            wanted = [key for key in keys[name] if self.takes_gradient(key)]
            several = keys[name] if op.is_list(name) else wanted[:1]
            pieces = [self.new_piece(key) for key in several if wanted]
            names[f"{name}_grad"] = pieces if op.is_list(name) else next(iter(pieces), None)
        for made in append_phi_op(op.grad_op, inputs, attrs, names):
            for variable in made if isinstance(made, list) else [made]:
                if variable is not None:
                    variable.stop_gradient = False

    def _append_rule(self, op: Op, inputs: list, attrs: dict, keys: dict[str, list[str]]) -> None:
        """Runs a rule on Variables: its ops land in the block; the results get the gradients'
        names.
        """
        first = len(self.block.ops)
        results = op.require_vjp().rule(*inputs, **attrs)
        new_ops = self.block.ops[first:]
        fresh = {name for operator in new_ops for name in operator.output_arg_names}
        for name, piece in gradients_of(self, op, keys, results):
            new_name = self.new_piece(name)
            if piece.name in fresh:
                self.block._rename_var(piece.name, new_name, new_ops)
            else:  # it is an input of the rule, or has a gradient's name already
                append_named("assign", [piece], new_name)
            self.variable(new_name).stop_gradient = False

    def zeros_like(self, name: str) -> Variable:
        """Appends the gradient of an output that nobody used."""
        variable = self.value_of(name)
        whole, dtype = self.base_name(name), variable.dtype
        zeros = append_named("full_like", [variable], whole, value=0.0, dtype=dtype)
        self._without_scope()
        return zeros
