"""append_backward: a Program that computes a loss gets the ops that compute its gradients.

The forward ops are walked in reverse. A variable that several ops read has several gradients;
they are summed by a `sum` op at the point where the last of them has been computed.

Paddle: python/paddle/base/backward.py.
Left out: gradients of control flow, checkpoints (recompute), distributed attributes, a second
backward in one Program.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from minipaddle.base.framework import (
    Operator,
    OpRole,
    Parameter,
    Program,
    Variable,
    attr_variables,
    phi_attrs,
    program_guard,
)
from minipaddle.base.layer_helper import append_phi_op
from minipaddle.base.op_compat import compat_of, output_slot, slot_of
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import world_guard


def grad_var_name(name: str) -> str:
    """`w` -> `w@GRAD`."""
    return f"{name}@GRAD"


def append_backward(
    loss: Variable,
    parameter_list: Iterable[Any] | None = None,
    no_grad_set: Iterable[Any] | None = None,
) -> list[tuple[Parameter, Variable]]:
    """Appends the gradient ops of `loss` to its Program.

    Args:
        loss: the Variable to start from; one element.
        parameter_list: the parameters that are wanted (Variables or names; default: all trainable).
        no_grad_set: Variables (or names) through which no gradient goes.

    Returns:
        (parameter, its gradient) pairs.

    Raises:
        TypeError: loss is no Variable.
        ValueError: loss has more than one element, or does not depend on what needs gradients.
        NoGradientError: an op on the way has no gradient rule.
    """
    if not isinstance(loss, Variable):
        raise TypeError(
            f"append_backward: expected loss to be a Variable, but got {type(loss).__name__}. "
            "Pass the loss of a Program; in dygraph call loss.backward()."
        )
    if loss.shape.numel() != 1:
        raise ValueError(
            f"append_backward: expected a loss with one element, but got shape {list(loss.shape)}. "
            "Take its mean or sum first."
        )
    program = loss.block.program
    gradients = calc_gradient(loss, no_grad_set)
    wanted = (
        program.all_parameters()
        if parameter_list is None
        else [
            item if isinstance(item, Variable) else program.global_block().var(item)
            for item in parameter_list
        ]
    )
    block = program.global_block()
    pairs = []
    for parameter in wanted:
        if parameter.name in gradients and not parameter.stop_gradient:
            pairs.append((parameter, block.var(gradients[parameter.name])))
    return pairs


def calc_gradient(loss: Variable, no_grad_set: Iterable[Any] | None = None) -> dict[str, str]:
    """Appends the gradient ops; returns variable name -> name of its gradient."""
    program: Program = loss.block.program
    block = program.global_block()
    stopped = {item if isinstance(item, str) else item.name for item in no_grad_set or ()}
    stopped |= {name for name, variable in block.vars.items() if variable.stop_gradient}
    path = _path_to(loss, block.ops, stopped)
    if not path:
        raise ValueError(
            f"append_backward: expected {loss.name!r} to depend on a variable with "
            "stop_gradient=False, but got "
            "none. Set stop_gradient=False on an input, or use a parameter."
        )
    taken = [
        grad_var_name(name)
        for name in dict.fromkeys(name for operator in path for name in operator.input_arg_names)
        if name not in stopped and block.has_var(grad_var_name(name))
    ]
    if taken:
        raise ValueError(
            f"append_backward: expected a Program without gradients of {loss.name!r}, but got one "
            f"that has {taken}. Add the losses and call it once, or use a PIR program."
        )
    first_new_op = len(block.ops)
    known_before = set(block.vars)
    with program_guard(program), world_guard("program"), program._role_guard(OpRole.BACKWARD):
        walk = _Walk(block, stopped, path)
        walk.start(loss)
        try:
            for operator in reversed(path):
                program._origin = operator
                walk.append_gradient_of(operator)
        finally:
            program._origin = None
        walk.finish()
    path[-1]._set_attr("op_role", OpRole.LOSS)
    block.ops[first_new_op]._set_attr("op_role", OpRole.LOSS | OpRole.BACKWARD)
    block.ops[first_new_op]._set_attr("op_namescope", "")
    block.ops[first_new_op]._set_attr("str_value", "")
    for operator in block.ops[first_new_op:]:
        pairs = [
            name
            for grad in operator.output_arg_names
            for name in (grad.removesuffix("@GRAD"), grad)
            if isinstance(block.vars.get(grad.removesuffix("@GRAD")), Parameter)
        ]
        operator._set_attr("op_role_var", pairs)
    fresh = sorted(set(block.vars) - known_before)  # Paddle lists the new variables by name
    for name in fresh:
        block.vars[name] = block.vars.pop(name)
    return walk.gradients


def _path_to(loss: Variable, ops: list[Operator], stopped: set[str]) -> list[Operator]:
    """The ops through which a gradient flows from `loss`."""
    needed, path = {loss.name}, []
    for operator in reversed(ops):
        if needed.isdisjoint(operator.output_arg_names):
            continue
        inputs = [name for name in operator.input_arg_names if name not in stopped]
        if (
            inputs
            and operator.phi_op.vjp_rule is None
            and {"ForwardOnly", "Constant"}.isdisjoint(operator.phi_op.traits)
        ):
            operator.phi_op.require_vjp()
        if inputs and operator.phi_op.vjp_rule is not None:
            path.append(operator)
            needed.update(inputs)
    return path[::-1]


class _Walk:
    """One walk backwards: which gradients exist so far, and under which names."""

    def __init__(self, block: Any, stopped: set[str], path: list[Operator]) -> None:
        self.block = block
        self.stopped = stopped
        self.pieces: dict[str, list[str]] = defaultdict(list)
        self.gradients: dict[str, str] = {}
        # how many gradients each variable will get: with more than one, each needs a name of its
        # own
        self.expected = Counter(
            name for operator in path for name in self._differentiable_inputs(operator)
        )

    def _differentiable_inputs(self, operator: Operator) -> list[str]:
        op, compat = operator.phi_op, compat_of(operator.phi_op.name)
        names = [n for item in op.require_vjp().wrt for n in operator.input(slot_of(compat, item))]
        return [name for name in names if name not in self.stopped]

    def start(self, loss: Variable) -> None:
        """The gradient of the loss is 1."""
        name = grad_var_name(loss.name)
        attrs = OPS["full"].complete({"shape": list(loss.shape), "value": 1.0, "dtype": loss.dtype})
        append_phi_op(OPS["full"], [], attrs, {"out": name})
        self.block.var(name).stop_gradient = False
        self.pieces[loss.name].append(name)

    def gradient_of(self, name: str) -> Variable | None:
        """The whole gradient of a variable: the sum of its pieces."""
        if name not in self.gradients:
            pieces = self.pieces[name]
            if not pieces:
                return None
            if len(pieces) > 1:
                variables = [self.block.var(piece) for piece in pieces]
                append_phi_op(OPS["add_n"], [variables], {}, {"out": grad_var_name(name)})
                self.block.var(grad_var_name(name)).stop_gradient = False
            self.gradients[name] = grad_var_name(name)
        return self.block.var(self.gradients[name])

    def _new_piece(self, name: str) -> str:
        grad = grad_var_name(name)
        if self.expected[name] > 1:
            grad = f"{grad}@RENAME@block0@{len(self.pieces[name])}"
        self.pieces[name].append(grad)
        return grad

    def append_gradient_of(self, operator: Operator) -> None:
        """Appends the gradient op (or, for `invoke` rules, the rule's own ops) of one forward
        op.
        """
        op = operator.phi_op
        compat, vjp, attrs = compat_of(op.name), op.require_vjp(), phi_attrs(operator)
        attrs |= {a: self.block.var(name) for a, name in attr_variables(operator).items()}
        values = {}
        for item in op.inputs:
            found = [self.block.var(name) for name in operator.input(slot_of(compat, item.name))]
            values[item.name] = found if item.is_list else found[0] if found else None
        for name in op.outputs:
            made = [self.block.var(n) for n in operator.output(output_slot(compat, name))]
            if name in op.list_outputs:
                values[name] = made
                known = [(v, self.gradient_of(v.name)) for v in made]
                grads = [self._zeros_like(v) if g is None else g for v, g in known]
                values[f"{name}_grad"] = grads
            elif made:
                values[name] = made[0]
                values[f"{name}_grad"] = self.gradient_of(made[0].name)
            else:
                values[name] = values[f"{name}_grad"] = None
        for item in vjp.inputs:
            unused = item.name.endswith("_grad") and values[item.name] is None
            if unused and values[item.name.removesuffix("_grad")] is not None:
                values[item.name] = self._zeros_like(values[item.name.removesuffix("_grad")])
        inputs = [values[item.name] for item in vjp.inputs]
        rule_attrs = op_attrs(vjp.attrs, attrs)
        targets = [operator.input(slot_of(compat, name)) for name in vjp.wrt]
        if vjp.invoke:
            self._append_rule(vjp, inputs, rule_attrs, targets)
            return
        names: dict[str, Any] = {}
        for name, target in zip(vjp.wrt, targets, strict=True):
            wanted = [n for n in target if n not in self.stopped]
            if f"{name}_grad" in op.grad_op.list_outputs and wanted:
                names[f"{name}_grad"] = [self._new_piece(n) for n in target]
            else:
                names[f"{name}_grad"] = self._new_piece(wanted[0]) if wanted else None
        for made in append_phi_op(op.grad_op, inputs, rule_attrs, names):
            for variable in made if isinstance(made, list) else [made]:
                if variable is not None:
                    variable.stop_gradient = False

    def _append_rule(self, vjp: Any, inputs: list, attrs: dict, targets: list[list[str]]) -> None:
        """Runs a rule on Variables: its ops land in the block; the results get the gradients'
        names.
        """
        before = set(self.block.vars)
        results = vjp.rule(*inputs, **attrs)
        for names, result in zip(targets, results, strict=True):
            pieces = result if isinstance(result, list) else [result]
            for name, piece in zip(names, pieces, strict=False):
                if name in self.stopped or piece is None:
                    continue
                new_name = self._new_piece(name)
                if piece.name in before or piece.name.endswith("@GRAD"):
                    append_phi_op(OPS["assign"], [piece], {}, {"out": new_name})
                else:
                    self.block._rename_var(piece.name, new_name)
                self.block.var(new_name).stop_gradient = False

    def _zeros_like(self, variable: Variable) -> Variable:
        """The gradient of an output that nobody used."""
        attrs = OPS["full_like"].complete({"value": 0.0, "dtype": variable.dtype})
        names: dict[str, str | None] = {"out": grad_var_name(variable.name)}
        (zeros,) = append_phi_op(OPS["full_like"], [variable], attrs, names)
        assert zeros is not None
        return zeros

    def finish(self) -> None:
        """Sums what is left: variables that no op made (parameters, data)."""
        for name in list(self.pieces):
            self.gradient_of(name)


def op_attrs(rule_attrs: Iterable[Any], attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes that a gradient rule reads: the forward op's, or the rule's own defaults."""
    return {attr.name: attrs.get(attr.name, attr.default) for attr in rule_attrs}
