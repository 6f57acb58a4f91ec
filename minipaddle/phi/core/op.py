"""The declaration of an op. Everything that is known about an op stands in one place:

    @op(source="paddle/phi/ops/yaml/ops.yaml: tanh")
    def tanh(xp, x):                    # the kernel; xp is numpy or cupy
        return xp.tanh(x)               # positional parameters: Tensors; keyword-only: attributes

    tanh.infer_meta(unchanged)          # MetaTensors in, MetaTensor out

    @tanh.vjp                           # the gradient, written in ops
    def _(out, out_grad):               # names say what is kept: inputs, outputs, <output>_grad
        return (out_grad * (1.0 - out * out),)

From it follow the dygraph function and its GradNode, the Program op and the PIR op, their
gradients and the op `tanh_grad`. A gradient rule calls ops and operators only, so that it can be
*bound*: to kernels it computes with arrays, to InferMeta functions it computes shapes, unbound it
records in whatever world it is called.

Paddle: paddle/phi/ops/yaml/ops.yaml and backward.yaml, paddle/phi/kernels/. There the pieces
are apart, and generators join them.
Left out: layouts, kernels with several dtypes in one key, inplace and view maps for strided
kernels.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.common.errors import NoGradientError
from minipaddle.common.place import CPU
from minipaddle.phi.core.attribute import convert, has_symbolic, is_symbolic
from minipaddle.phi.core.derived import grad_infer_meta_of, grad_kernel_of, inplace_kernel_of
from minipaddle.phi.core.kernel import KernelFactory, KernelKey
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.signature import (
    Attr,
    Input,
    NoNeedBuffer,
    Optional,
    TensorList,
    parameters,
    read_signature,
    require_known,
    require_parameters,
)
from minipaddle.phi.core.vjp import Vjp
from minipaddle.phi.core.world import current_world, state

# what a file with declarations needs, in one place
__all__ = [
    "OPS",
    "Attr",
    "Input",
    "NoNeedBuffer",
    "Op",
    "Optional",
    "TensorList",
    "Vjp",
    "find_op",
    "op",
    "stacked",
]

OPS: dict[str, Op] = {}

TRAITS = ("Pure", "SideEffect", "Random", "View", "ForwardOnly", "Constant", "Operator")
TRAITS += ("IntegersStop",)
AMP = ("", "white", "black", "black_o1", "none")


class Op:
    """One op. Calling it carries it out in the current world.

    Args:
        source: where Paddle declares it.
        outputs: the names of the results; "out[]" is a list of Tensors.
        traits: what others may know about it:
            "Pure": it computes its results and does nothing else;
            "SideEffect": it does more, so it stays in a program though nobody reads its results;
            "Random": it draws random numbers;
            "View": its result shares memory with its first input;
            "ForwardOnly": it has no gradient, and none flows through it;
            "IntegersStop": in dygraph its float32 results of integers have no gradient;
            "Constant": it reads an input's shape only, so no gradient flows through it;
            "Operator": it stands behind one of Python's operators, beside which a Tensor without
                dimensions is promoted like a number.
        inplace: output -> the input whose memory it takes over: in the op itself where its name
            ends in "_", otherwise in its in-place form, see `inplace_op`.
        same_dtype: inputs that must have one dtype.
        promote: inputs that are cast to a common dtype first.
        amp: in `auto_cast`, "white" ops compute in float16 and "black" ones in float32 ("black_o1":
            at level O1 only); "": in float32 where dtypes mix; "none": auto_cast leaves it alone.
        scalar: what one element of the result is, for a compiler that fuses ops into one loop, with
            inputs and attributes in braces: "{x} + {y}".
        grad_node: the name of its GradNode, where it doesn't follow from the op's.
    """

    changes = 0  # grows when a kernel or a rule is added, so that an Executor compiles anew

    def __init__(
        self,
        name: str,
        kernel: Callable,
        inputs: tuple[Input, ...],
        attrs: tuple[Attr, ...],
        *,
        source: str = "",
        doc: str | None = None,
        outputs: Sequence[str] = ("out",),
        traits: Iterable[str] = (),
        inplace: dict[str, str] | None = None,
        same_dtype: Sequence[str] = (),
        promote: Sequence[str] = (),
        amp: str = "",
        scalar: str = "",
        grad_node: str = "",
    ) -> None:
        self.name = name
        self.source = source
        self.traits = frozenset(traits)
        self.outputs = tuple(item.removesuffix("[]") for item in outputs)
        self.list_outputs = frozenset(o.removesuffix("[]") for o in outputs if o.endswith("[]"))
        forms = dict(inplace or {})
        self.inplace = forms if name.endswith("_") else {}
        self.inplace_form = {} if name.endswith("_") else forms
        self.inputs, self.attrs = inputs, attrs
        self.same_dtype, self.promote = tuple(same_dtype), tuple(promote)
        self.amp, self.scalar, self.grad_node = amp, scalar, grad_node
        require_known(f"op {name}", "traits", self.traits, TRAITS)
        require_known(f"op {name}", "amp", (amp,), AMP)
        require_known(f"op {name}", "inplace outputs", forms, self.outputs)
        names, both = [x.name for x in inputs], [x.name for x in (*inputs, *attrs)]
        require_known(f"op {name}", "inplace inputs", forms.values(), names)
        require_known(f"op {name}", "same_dtype", self.same_dtype, names)
        require_known(f"op {name}", "promote", self.promote, names)
        require_known(f"op {name}", "names in scalar", re.findall(r"{(\w+)", scalar), both)
        self.kernels = KernelFactory(name)
        self.kernels.register(KernelKey(), kernel)
        self.infer_meta_fn: Callable | None = None
        self.vjp_rule: Vjp | None = None
        self.grad_kernel_fn: Callable | None = None
        self.inplace_kernel_fn: Callable | None = None
        self.decomp_rule: Callable | None = None
        self.forward_op: Op | None = None  # of a `<op>_grad` op: the op that it belongs to
        self.pure_op: Op | None = None  # of an in-place form: the op that it is a form of
        self.dygraph_function: Callable | None = None  # written from all this at the first call
        self.__name__ = name
        self.__doc__ = doc

    # -- the rest of the declaration -----------------------------------------------------------

    def infer_meta(self, function: Callable) -> Callable:
        """Sets the InferMeta function: MetaTensors and attributes in, MetaTensor(s) out.

        Raises:
            TypeError: the function can't take the op's inputs and attributes.
        """
        require_parameters(f"{self.name}.infer_meta", function, self.inputs, self.attrs)
        self.infer_meta_fn = function
        return function

    def vjp(
        self,
        rule: Callable | None = None,
        *,
        wrt: Sequence[str] | None = None,
        invoke: bool = False,
        double_grad: bool = True,
        zero_grad: bool = False,
    ) -> Any:
        """Sets the gradient rule. `wrt` names the inputs that have a gradient (default: all of
        them); `double_grad=False` says that the gradient has no gradient. For `invoke` and
        `zero_grad` see Vjp.
        """
        if rule is None:
            options = {"invoke": invoke, "double_grad": double_grad, "zero_grad": zero_grad}
            return partial(self.vjp, wrt=wrt, **options)
        self.vjp_rule = Vjp(self, rule, wrt, invoke, double_grad, zero_grad)
        self._forget_derived()
        return rule

    def grad_kernel(self, function: Callable) -> Callable:
        """Sets a hand-written kernel of `<op>_grad`, where it is clearly faster than the rule.

        It has the parameters of the rule, after `xp` and `wanted`: one bool per gradient. Where
        `wanted` is False, it may return None. The rule stays: it says what is right, it serves
        gradients of gradients, and a test compares the two.
        """
        self.grad_kernel_fn = function
        self._forget_derived()
        return function

    def inplace_kernel(self, function: Callable) -> Callable:
        """Sets a hand-written kernel of the in-place form, for an op that writes a small part: the
        derived one computes the whole result and copies it. Same parameters as the kernel.
        """
        self.inplace_kernel_fn = function
        self._forget_derived()
        return function

    def _forget_derived(self) -> None:
        """What was written from the old declaration is out of date, in this op and in the rules
        that call it.
        """
        Op.changes += 1
        self.dygraph_function = None
        self.__dict__.pop("grad_op", None)
        self.__dict__.pop("inplace_op", None)
        for bound in Vjp.all_bound:
            bound.clear()
        Vjp.all_bound.clear()

    def decomp(self, rule: Callable) -> Callable:
        """Sets the decomposition: the op in terms of simpler ops, written in ops."""
        self.decomp_rule = rule
        return rule

    def kernel(self, backend: str = "ALL", dtype: str = "ALL") -> Callable[[Callable], Callable]:
        """Registers a kernel for one backend ("cpu", "gpu") or dtype only."""

        def register(function: Callable) -> Callable:
            self.kernels.register(KernelKey(backend, "ALL_LAYOUT", dtype), function)
            self._forget_derived()
            return function

        return register

    # -- what follows from it ------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.dygraph_function
        if function is None or state.world != "dygraph":
            return current_world().call(self, args, kwargs)
        try:
            return function(*args, **kwargs)  # the usual case, with nothing else to pay for
        except TypeError as error:
            self.explain_call(error, args, kwargs)
            raise

    def explain_call(self, error: TypeError, args: Any, kwargs: dict[str, Any]) -> None:
        """If it was the call itself that failed, because of an argument too many or too few, says
        so in our words.
        """
        frames = []
        traceback = error.__traceback__
        while traceback is not None:
            frames.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        if f"{self.name}_ad_func" not in frames:
            self.bind(args, kwargs)

    def __repr__(self) -> str:
        return f"<op {self.signature}>"

    @property
    def signature(self) -> str:
        """As a user calls it: `matmul(x, y, transpose_x=False, transpose_y=False)`."""
        parts = [f"{item.name}=None" if item.optional else item.name for item in self.inputs]
        parts += [a.name if a.required else f"{a.name}={a.default!r}" for a in self.attrs]
        return f"{self.name}({', '.join(parts)})"

    def run(self, xp: types.ModuleType, *inputs: Any, **attrs: Any) -> Any:
        """Computes on arrays, with the kernel that fits them best."""
        if self.kernels.only is not None:
            return self.kernels.only(xp, *inputs, **attrs)
        first = next((item for item in inputs if hasattr(item, "dtype")), None)
        from_array = None if first is None else MetaTensor(first.shape, first.dtype).dtype
        backend = "cpu" if xp.__name__ == "numpy" else "gpu"
        return self.kernels.select(backend, from_array)(xp, *inputs, **attrs)

    def meta(self, *inputs: Any, **attrs: Any) -> Any:
        """Runs InferMeta. Raises NotImplementedError if the op has none."""
        if self.infer_meta_fn is None:
            raise NotImplementedError(
                f"{self.name}: expected an InferMeta function, but got none. "
                f"Declare one with @{self.name}.infer_meta."
            )
        return self.infer_meta_fn(*inputs, **attrs)

    def infer_metas(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """InferMeta's answer as a tuple, one MetaTensor (or None) per output."""
        result = self.meta(*inputs, **attrs)
        return result if isinstance(result, tuple) else (result,)

    def require_vjp(self) -> Vjp:
        """The gradient rule. Raises NoGradientError if there is none."""
        if self.vjp_rule is None:
            raise NoGradientError(
                f"{self.name} has no gradient rule. Declare one with @{self.name}.vjp, or set "
                "stop_gradient=True on its inputs."
            )
        return self.vjp_rule

    @property
    def ends_gradient(self) -> bool:
        """True if no gradient flows through it."""
        return not {"ForwardOnly", "Constant"}.isdisjoint(self.traits)

    def is_list(self, name: str) -> bool:
        """True for the name of a list input or output, or of its gradient."""
        return name.removesuffix("_grad") in self.list_outputs or any(
            item.is_list and item.name == name for item in self.inputs
        )

    @cached_property
    def grad_op(self) -> Op:
        """The op `<name>_grad`, derived from the rule."""
        if self.pure_op is not None:
            return self.pure_op.grad_op
        vjp = self.require_vjp()
        derived = Op(
            # batch_norm_ writes in place, its gradient batch_norm_grad does not
            f"{self.name.removesuffix('_')}_grad",
            grad_kernel_of(self),
            tuple(item._replace(is_list=self.is_list(item.name)) for item in vjp.inputs),
            vjp.attrs,
            source=self.source.replace("ops.yaml", "backward.yaml"),
            doc=f"The gradient of {self.name}.",
            outputs=[f"{x}_grad[]" if self.is_list(x) else f"{x}_grad" for x in vjp.wrt],
        )
        derived.infer_meta_fn = grad_infer_meta_of(self)
        derived.forward_op = self
        return derived

    @cached_property
    def inplace_op(self) -> Op:
        """The in-place form, `relu_` of `relu`: the same rules, and a kernel that writes the result
        into the input's memory.

        Raises:
            KeyError: the op has no in-place form.
        """
        if not self.inplace_form:
            raise KeyError(f"{self.name} has no in-place form. Use {self.name} itself.")
        derived = Op(
            f"{self.name}_",
            self.inplace_kernel_fn or inplace_kernel_of(self),
            self.inputs,
            self.attrs,
            source=self.source,
            doc=f"{self.name}, written into the memory of its input.",
            outputs=[f"{out}[]" if self.is_list(out) else out for out in self.outputs],
            traits=self.traits - {"Operator"},  # `x += y` keeps x's dtype or is refused
            inplace=self.inplace_form,
            same_dtype=self.same_dtype,
            promote=self.promote,
        )
        derived.infer_meta_fn, derived.vjp_rule = self.infer_meta_fn, self.vjp_rule
        derived.grad_kernel_fn, derived.pure_op = self.grad_kernel_fn, self
        return derived

    def on_arrays(self, xp: types.ModuleType) -> Callable:
        """The kernel as a rule calls the op: with attributes by name or by position.

        It is written as text, because a rule is called at each step of a training:
        `lambda x, axis=..., keepdim=...: kernel(xp, x, axis=axis, keepdim=keepdim)`.
        """
        params = ", ".join(parameters(self.inputs, self.attrs))
        given = "".join(f", {item.name}" for item in self.inputs)
        given += "".join(f", {attr.name}={attr.name}" for attr in self.attrs)
        defaults = {attr.name: attr.default for attr in self.attrs}
        names = {"kernel": self.kernels.only or self.run, "xp": xp, "defaults": defaults}
        return eval(f"lambda {params}: kernel(xp{given})", names)

    def on_metas(self, *args: Any, **kwargs: Any) -> Any:
        """InferMeta as a rule calls the op: attributes that are not given take their defaults."""
        inputs, attrs = self.bind(args, kwargs)
        return self.meta(*inputs, **attrs)

    def complete(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Checks and converts the attributes, and adds the defaults, in the order of the
        declaration.

        Raises:
            TypeError: an attribute is unknown, missing, or of the wrong kind.
        """
        given = dict(attrs)
        full = {}
        for attr in self.attrs:
            if attr.name in given:
                value = convert(self.name, attr.name, attr.kind, given.pop(attr.name))
                full[attr.name] = stacked(value) if has_symbolic(value) else value
            elif attr.required:
                raise TypeError(
                    f"{self.name}: expected the attribute {attr.name!r}, but got none. Call it as "
                    f"{self.signature}."
                )
            else:
                full[attr.name] = convert(self.name, attr.name, attr.kind, attr.default)
        if given:
            raise TypeError(
                f"{self.name}: expected the attributes {[a.name for a in self.attrs]}, but got "
                f"{sorted(given)}. Call it as {self.signature}."
            )
        return full

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Sorts a call's arguments into (inputs, attributes).

        Raises:
            TypeError: too many arguments, an input is missing, or an attribute is wrong.
        """
        kwargs = dict(kwargs)
        kwargs.pop("name", None)  # Paddle's APIs take name=, for the reader of a program only
        names = [item.name for item in self.inputs] + [attr.name for attr in self.attrs]
        if len(args) > len(names):
            raise TypeError(
                f"{self.name}: expected at most {len(names)} arguments, but got {len(args)}. "
                f"Call it as {self.signature}."
            )
        given = dict(zip(names, args, strict=False))
        twice = sorted(set(given) & set(kwargs))
        if twice:
            raise TypeError(
                f"{self.name}: expected each argument once, but got {twice} twice. Call it as "
                f"{self.signature}."
            )
        given.update(kwargs)
        inputs = []
        for item in self.inputs:
            value = given.pop(item.name, None)
            if value is None and not item.optional:
                raise TypeError(
                    f"{self.name}: expected the input {item.name!r}, but got none. Call it as "
                    f"{self.signature}."
                )
            inputs.append(value)
        return inputs, self.complete(given)


def stacked(items: Sequence[Any]) -> Any:
    """A list of ints and of 0-D Variables or Values as one: what Paddle makes of `[batch, 10]`."""
    numbers = [
        item
        if is_symbolic(item)
        else OPS["full"](shape=(), value=item, dtype=dtypes.int64, place=CPU)
        for item in items
    ]
    return OPS["stack"](numbers)


def op(
    source: str = "", *, name: str | None = None, **declaration: Any
) -> Callable[[Callable], Op]:
    """Declares an op; the decorated function is its kernel. See the module's docstring.

    Args:
        source: where Paddle declares it.
        name: the op's name, if it is not the function's.
        declaration: outputs, traits, inplace, same_dtype, promote, amp, scalar, grad_node; see Op.

    Raises:
        ValueError: an op of that name exists, or the declaration names an unknown trait, AMP class,
            input or output.
        TypeError: the kernel's parameters are not `xp`, inputs, and annotated attributes.
    """

    if not isinstance(source, str):
        raise TypeError(
            f"op: expected @op(source=...), but got @op on {source.__name__} itself. Say where "
            'Paddle declares it: @op(source="paddle/phi/ops/yaml/ops.yaml: <name>").'
        )

    def declare(kernel: Callable) -> Op:
        inputs, attrs = read_signature(kernel, skip=1)
        doc = inspect.getdoc(kernel)
        declared = Op(
            name or kernel.__name__, kernel, inputs, attrs, source=source, doc=doc, **declaration
        )
        if declared.name in OPS:
            raise ValueError(
                f"op: expected a new name, but got {declared.name!r}, which is declared already. "
                "Choose another name, or remove one declaration."
            )
        OPS[declared.name] = declared
        return declared

    return declare


def find_op(name: str) -> Op:
    """The op of that name; `<op>_grad` and the in-place form `<op>_` are derived if need be.

    Raises:
        KeyError: there is no such op.
    """
    if name in OPS:
        return OPS[name]
    base = name.removesuffix("_grad")
    forward = OPS.get(base) or OPS.get(f"{base}_")
    if name.endswith("_grad") and forward is not None and forward.vjp_rule is not None:
        return forward.grad_op
    pure = OPS.get(name.removesuffix("_"))
    if name.endswith("_") and pure is not None and pure.inplace_form:
        return pure.inplace_op
    close = [known for known in OPS if known.startswith(name[:3])]
    raise KeyError(
        f"find_op: expected the name of a declared op, but got {name!r}. "
        f"Declare it with @op, or use one of {sorted(close) or sorted(OPS)}."
    )
