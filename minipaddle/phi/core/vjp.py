"""The gradient rule of an op, and how it is bound.

A rule is written in ops. Unbound, it records in whatever world it is called; bound to kernels, it
computes with arrays; bound to InferMeta functions, it computes shapes. Binding makes a copy of the
function in which the names of ops mean something else.

Paddle: paddle/phi/ops/yaml/backward.yaml; there a kernel, an InferMeta function and a `vjp`
function of the composite rules are written apart.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from minipaddle.phi.core.signature import read_signature, require_known

if TYPE_CHECKING:
    from minipaddle.phi.core.op import Op


class Vjp:
    """The gradient rule of an op.

    Attributes:
        rule: the function.
        inputs: what it reads, by name: inputs and outputs of the forward op, and `<output>_grad`.
        attrs: the attributes that it reads.
        wrt: the forward inputs that get a gradient, one per result.
        invoke: the rule stands for itself in static programs, with no `<op>_grad` op around it.
        double_grad: the rule can be differentiated again. It can't where it reads an output whose
            own dependence on the inputs it does not see.
        zero_grad: the gradient of an input depends on this input too, with zeros where its formula
            does not: x's in x * y is out_grad * y. Paddle's `<op>_double_grad` decides.
    """

    all_bound: list[dict[object, Callable]] = []  # of all rules, to be made anew after a change

    def __init__(
        self,
        op: Op,
        rule: Callable,
        wrt: Sequence[str] | None,
        invoke: bool,
        double_grad: bool = True,
        zero_grad: bool = False,
    ) -> None:
        self.rule = rule
        self._kind = type(op)
        self.invoke = invoke
        self.double_grad = double_grad
        self.zero_grad = zero_grad
        self.inputs, self.attrs = read_signature(rule, skip=0)
        self.wrt = tuple(wrt or (item.name for item in op.inputs))
        self._bound: dict[object, Callable] = {}
        known = {item.name for item in op.inputs} | set(op.outputs)
        known |= {f"{name}_grad" for name in op.outputs}
        unknown = [item.name for item in self.inputs if item.name not in known]
        if unknown:
            raise ValueError(
                f"@{op.name}.vjp: expected parameters among {sorted(known)}, but got {unknown}. "
                "A rule names what it reads: inputs, outputs, <output>_grad."
            )
        require_known(f"@{op.name}.vjp", "wrt", self.wrt, [item.name for item in op.inputs])

    def on_arrays(self, xp: types.ModuleType) -> Callable:
        """The rule as a function of arrays: each op that it calls is that op's kernel."""
        return self._bound.get(xp) or self.bound_to(xp, lambda op: op.on_arrays(xp))

    def bound_to(self, key: object, meaning: Callable[[Op], Callable]) -> Callable:
        """The rule as a plain function in which each op is replaced by `meaning(op)`: those that it
        calls itself, and those that its helper functions call.
        """
        if key not in self._bound:
            Vjp.all_bound.append(self._bound)
            self._bound[key] = bind(self.rule, self._kind, meaning)
        return self._bound[key]


def bind(function: Callable, kind: type[Op], meaning: Callable[[Op], Callable]) -> Callable:
    """A copy of a function in which each op that it names is replaced by `meaning(op)`; so is each
    in the functions that it calls by a bare name, as far as ops are called there. `kind`: Op, which
    this file can't import.
    """
    copies: dict[Callable, Callable] = {}

    def replaced(value: Any) -> Any:
        if isinstance(value, kind):
            return meaning(value)
        return copied(value) if _calls_ops(value, kind, set()) else value

    def copied(original: Any) -> Callable:
        if original not in copies:
            names: dict[str, Any] = {"__builtins__": builtins}  # C code looks there
            cells = tuple(types.CellType() for _ in original.__closure__ or ())
            copies[original] = copy = types.FunctionType(
                original.__code__, names, original.__name__, original.__defaults__, cells
            )
            copy.__kwdefaults__ = original.__kwdefaults__
            names.update((name, replaced(value)) for name, value in _globals_of(original).items())
            for cell, own in zip(cells, original.__closure__ or ()):
                cell.cell_contents = replaced(own.cell_contents)
        return copies[original]

    return copied(function)


def _globals_of(function: types.FunctionType) -> dict[str, Any]:
    """What a function, and those written inside it, may find under names of its module."""
    codes, names = [function.__code__], set()
    while codes:
        code = codes.pop()
        names |= set(code.co_names)
        codes += [item for item in code.co_consts if isinstance(item, types.CodeType)]
    return {name: function.__globals__[name] for name in names & function.__globals__.keys()}


def _calls_ops(value: Any, kind: type[Op], seen: set[Any]) -> bool:
    """True for a function that names an op, or a function that does. `seen`: those in question."""
    if not isinstance(value, types.FunctionType) or value in seen:
        return False
    seen.add(value)
    used = [*_globals_of(value).values(), *(c.cell_contents for c in value.__closure__ or ())]
    return any(isinstance(item, kind) or _calls_ops(item, kind, seen) for item in used)
