"""Writes the dygraph function of an op and its GradNode class, as straight-line Python.

Paddle does the same when it is built:
paddle/fluid/eager/auto_code_generator/generator/eager_gen.py writes C++. Here the text is
written the first time that the op is called, compiled, and put into `linecache`, so that
tracebacks and `inspect.getsource` show it. Print it with `source_of("matmul")`.

What the text does, in this order: take the arrays out of the Tensors; see to their dtypes; run
the kernel (if it fails, InferMeta is asked to say why in the user's words); wrap the result;
and, if a gradient is wanted, make the GradNode, let it keep what the rule will need, and
connect its edges.

Left out: layout tuning, the profiler's events.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.common.dtype import DataType
from minipaddle.common.place import Place, array_module, current_place, module_of
from minipaddle.eager.autograd_meta import AutogradMeta
from minipaddle.eager.grad_node_info import GradNodeBase, require_not_cleared
from minipaddle.eager.tensor import Tensor
from minipaddle.eager.tensor_wrapper import MetaWrapper, TensorWrapper
from minipaddle.phi.core.attribute import (
    Axes,
    Floats,
    IntArray,
    Ints,
    Number,
    Scalar,
    ScalarInt,
    ScalarInt64,
    convert,
)
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import OPS, Attr, Op, Vjp, find_op
from minipaddle.phi.core.world import tracer
from minipaddle.phi.infermeta.binary import promote

# an attribute of exactly this type needs no conversion, so the text asks for the type first
EXACT_TYPE: dict[Any, type] = {
    IntArray: tuple,
    Ints: tuple,
    Axes: tuple,
    Floats: tuple,
    Scalar: float,
    ScalarInt: int,
    ScalarInt64: int,
    Number: float,
}
_sources: dict[str, str] = {}


def ad_func(op: Op) -> Callable:
    """The op's dygraph function; written the first time."""
    if op.dygraph_function is None:
        op.dygraph_function = _generate(op)
    return op.dygraph_function


def call_dygraph(op: Op, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What calling an op means in dygraph."""
    function = op.dygraph_function or ad_func(op)
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            op.bind(args, kwargs)  # the call does not fit the signature: bind says so in our words
        raise


def source_of(name: str) -> str:
    """The generated Python text of an op's dygraph function and GradNode.

    Raises:
        KeyError: there is no op of that name.
    """
    ad_func(find_op(name))
    return _sources[name]


def camel_case(name: str) -> str:
    """The op's name inside its node's name: "cross_entropy_with_softmax" gives
    "CrossEntropyWithSoftmax".
    """
    return "".join(word.capitalize() for word in name.split("_"))


# -- writing the text --------------------------------------------------------------------------


def _generate(op: Op) -> Callable:
    lines = _grad_node_lines(op, op.vjp_rule) if op.vjp_rule else []
    text = "\n".join(lines + _function_lines(op)) + "\n"
    filename = f"<minipaddle {op.name}_ad_func>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    _sources[op.name] = text
    vjp = op.vjp_rule
    names: dict[str, Any] = {
        "op": op,
        "np": np,
        "tracer": tracer,
        "Tensor": Tensor,
        "TensorWrapper": TensorWrapper,
        "MetaWrapper": MetaWrapper,
        "MetaTensor": MetaTensor,
        "AutogradMeta": AutogradMeta,
        "GradNodeBase": GradNodeBase,
        "require_not_cleared": require_not_cleared,
        "kernel": op.run if len(op.kernels.kernels) > 1 else op.kernels.select("cpu", None),
        "grad_kernel": op.grad_op.run if vjp else None,
        "rule": vjp.rule if vjp else None,
        "convert": convert,
        "promote_inputs": promote_inputs,
        "explain": explain,
        "amp_cast": amp_cast,
        "module_of": module_of,
        "DataType": DataType,
        "Place": Place,
        "current_module": lambda: array_module(current_place()),
        "arrays_of": arrays_of,
        "defaults": {attr.name: attr.default for attr in op.attrs},
        "kinds": {attr.name: attr.kind for attr in op.attrs},
    }
    exec(compile(text, filename, "exec"), names)
    return names[f"{op.name}_ad_func"]


def _function_lines(op: Op) -> list[str]:
    tensors = [item.name for item in op.inputs]
    params = [f"{item.name}=None" if item.optional else item.name for item in op.inputs]
    params += [attr.name if attr.required else f"{attr.name}={_default(attr)}" for attr in op.attrs]
    attrs = ", ".join(f"{attr.name}={attr.name}" for attr in op.attrs)
    lines = [
        f"def {op.name}_ad_func({', '.join([*params, 'name=None'])}):",
        f'    """{(op.__doc__ or op.name).splitlines()[0]}"""',
    ]
    for attr in op.attrs:
        kind: Any = EXACT_TYPE.get(attr.kind, attr.kind)
        a, exact = attr.name, kind.__name__
        lines.append(f"    if type({a}) is not {exact}:")
        lines.append(f'        {a} = convert("{op.name}", "{a}", kinds["{a}"], {a})')
    inputs_tuple = _tuple(tensors)
    if "AmpWhite" in op.traits:
        lines.append("    if tracer.amp_dtype is not None:")
        lines.append(f"        {', '.join(tensors)} = amp_cast({', '.join(tensors)})")
    lines.append("    try:")
    for item in op.inputs:
        data = f"{item.name}_data"
        if item.is_list:
            lines.append(f"        {data} = arrays_of({item.name})")
        elif item.optional:
            lines.append(f"        {data} = None if {item.name} is None else {item.name}._data")
        else:
            lines.append(f"        {data} = {item.name}._data")
    if op.promote:
        a, b = op.promote
        lines += [
            f"        if {a}_data.dtype is not {b}_data.dtype:",
            f'            {a}, {b} = promote_inputs("{op.name}", {a}, {b})',
            f"            {a}_data, {b}_data = {a}._data, {b}._data",
        ]
    if op.same_dtype:
        a, b = op.same_dtype
        lines += [
            f"        if {a}_data.dtype is not {b}_data.dtype:",
            f'            raise TypeError("{op.name}: {a} and {b} differ in dtype")',
        ]
    first = next((item for item in op.inputs if not item.optional), None)
    if first is None:
        lines.append("        xp = current_module()")
    else:
        sample = f"{first.name}_data[0]" if first.is_list else f"{first.name}_data"
        lines.append(f"        xp = np if type({sample}) is np.ndarray else module_of({sample})")
    arguments = ", ".join(["xp", *(f"{name}_data" for name in tensors), *filter(None, [attrs])])
    results = ", ".join(f"{name}_data" for name in op.outputs)
    lines += [
        f"        {results} = kernel({arguments})",
        "    except Exception as error:",
        f"        explain(op, {inputs_tuple}, dict({attrs}), error)",
        "        raise",
    ]
    for name in op.outputs:
        if name in op.inplace:
            target = op.inplace[name]
            optional = any(item.name == target and item.optional for item in op.inputs)
            inner = "    " * (1 + optional)
            if optional:
                lines += [f"    {name} = None", f"    if {name}_data is not None:"]
            lines += [
                f"{inner}{target}._data = {name}_data",
                f"{inner}{target}._version[0] += 1",
                f"{inner}{name} = {target}",
            ]
        elif len(op.outputs) > 1:
            lines.append(f"    {name} = None if {name}_data is None else Tensor({name}_data)")
        else:
            lines.append(f"    {name} = Tensor({name}_data)")
    if op.vjp_rule:
        lines += _recording_lines(op, op.vjp_rule)
    return [*lines, f"    return {', '.join(op.outputs)}"]


def _recording_lines(op: Op, vjp: Vjp) -> list[str]:
    """The part that runs when a gradient is wanted."""
    edges = []
    for item in op.inputs:
        if item.name not in vjp.wrt:
            edges.append("None")
        elif item.is_list:
            edges.append(f"*[t._grad_edge() for t in {item.name}]")
        elif item.optional:
            edges.append(f"{item.name} and {item.name}._grad_edge()")
        else:
            edges.append(f"{item.name}._grad_edge()")
    metas = _tuple([f"MetaTensor({name}._data.shape, {name}._data.dtype)" for name in op.outputs])
    lines = [
        "    if tracer.has_grad:",
        f"        edges = {_tuple(edges)}",
        "        if any(edges):",
        f"            node = {camel_case(op.name)}GradNode(edges, {metas})",
    ]
    for slot, name in enumerate(op.outputs):
        lines.append(f"            {name}.autograd_meta = AutogradMeta(False, node, {slot})")
    for item in _saved(op, vjp):
        wrapper = "MetaWrapper" if item.meta_only else "TensorWrapper"
        place = f", {op.outputs.index(item.name)}" if item.name in op.outputs else ""
        if _is_list(op, item.name):
            value = f"[{wrapper}(t) for t in {item.name}]"
        else:
            value = f"{wrapper}({item.name}{'' if item.meta_only else place})"
        lines.append(f"            node.{item.name} = {value}")
    for attr in vjp.attrs:
        known = any(attr.name == own.name for own in op.attrs)
        value = attr.name if known else repr(attr.default)
        lines.append(f"            node.attr_{attr.name} = {value}")
    return lines


def _default(attr: Attr) -> str:
    """An attribute's default in the text: as a literal where there is one."""
    plain = attr.default is None or isinstance(attr.default, (bool, int, float, str, tuple))
    return repr(attr.default) if plain else f'defaults["{attr.name}"]'


def _tuple(parts: list[str]) -> str:
    """A tuple in the text: `()`, `(x,)`, `(x, y)`."""
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _grad_node_lines(op: Op, vjp: Vjp) -> list[str]:
    """The class of the op's GradNode."""
    saved = _saved(op, vjp)
    slots = [item.name for item in saved] + [f"attr_{attr.name}" for attr in vjp.attrs]
    grads = _tuple([f"{name}_grad" for name in op.outputs])
    attrs = ", ".join(f"{attr.name}=self.attr_{attr.name}" for attr in vjp.attrs)

    def arguments(kind: str) -> str:
        values = []
        for item in vjp.inputs:
            if item.name not in {s.name for s in saved}:
                values.append(f"{item.name}._data" if kind == "array" else item.name)
                continue
            call = "array()" if kind == "array" else "tensor(self)"
            if _is_list(op, item.name):
                values.append(f"[w.{call} for w in self.{item.name}]")
            else:
                values.append(f"self.{item.name}.{call}")
        return ", ".join([*values, *filter(None, [attrs])])

    results = _tuple([f"{name}_grad" for name in vjp.wrt])
    in_order = [
        f"{'*' if item.is_list else ''}{item.name}_grad" if item.name in vjp.wrt else "None"
        for item in op.inputs
    ]
    as_tensors = [
        f"{name}_grad = [Tensor(g) for g in {name}_grad]"
        if _is_list(op, name)
        else f"{name}_grad = Tensor({name}_grad)"
        for name in vjp.wrt
    ]
    lines = [
        f"class {camel_case(op.name)}GradNode(GradNodeBase):",
        f"    __slots__ = {_tuple([repr(slot) for slot in slots])}",
        "",
        "    def __call__(self, grads, create_graph=False):",
        "        require_not_cleared(self)",
        f"        {grads} = grads",
        "        if create_graph:",
        f"            {results} = rule({arguments('tensor')})",
        "        else:",
        f"            xp = module_of({op.outputs[0]}_grad._data)",
        f"            {results} = grad_kernel(xp, {arguments('array')})",
        *(f"            {line}" for line in as_tensors),
        f"        return [{', '.join(in_order)}]",
        "",
        "    def clear_tensor_wrappers(self):",
        "        self.cleared = True",
        *(f"        self.{item.name} = None" for item in saved),
        "",
        "",
    ]
    return lines


def _saved(op: Op, vjp: Vjp) -> list:
    """What the node keeps from the forward: the rule's parameters that are not gradients."""
    forward = {item.name for item in op.inputs} | set(op.outputs)
    return [item for item in vjp.inputs if item.name in forward]


def _is_list(op: Op, name: str) -> bool:
    return any(item.name == name and item.is_list for item in op.inputs)


# -- what the text calls -----------------------------------------------------------------------


def arrays_of(tensors: Any) -> list[Any]:
    """The arrays of a list of Tensors."""
    return [tensor._data for tensor in tensors]


def promote_inputs(who: str, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Casts x and y to the dtype in which Paddle combines them.

    Raises:
        TypeError: they don't mix.
    """
    dtype = promote(who, x.dtype, y.dtype)
    cast = ad_func(OPS["cast"])
    return (
        x if x.dtype is dtype else cast(x, dtype=dtype),
        y if y.dtype is dtype else cast(y, dtype=dtype),
    )


def amp_cast(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Casts floating-point Tensors to the dtype of auto_cast. The cast is recorded like any op."""
    dtype, cast = tracer.amp_dtype, ad_func(OPS["cast"])
    return tuple(
        tensor
        if not isinstance(tensor, Tensor)  # the op itself will say so
        or tensor.dtype is dtype
        or not tensor.dtype.is_floating
        else cast(tensor, dtype=dtype)
        for tensor in tensors
    )


def explain(op: Op, inputs: tuple, attrs: dict[str, Any], error: Exception) -> None:
    """Called when a kernel has failed: raises the error that tells the user which input is wrong,
    if there is one.

    Raises:
        ValueError: an input is not a Tensor (as in Paddle), or InferMeta finds that the inputs
            don't fit.
    """
    metas = []
    for item, value in zip(op.inputs, inputs, strict=True):
        values = value if item.is_list and isinstance(value, (list, tuple)) else [value]
        for tensor in values:
            if not isinstance(tensor, Tensor) and not (item.optional and tensor is None):
                advice = "Make one with paddle.to_tensor."
                if isinstance(tensor, (np.ndarray, np.generic)):
                    advice += (
                        " (In a gradient rule, call ops by their bare names: exp, not paddle.exp.)"
                    )
                raise ValueError(
                    f"{op.name}: expected {item.name} to be a Tensor, but got "
                    f"{type(tensor).__name__}. {advice}"
                ) from None
        found = [None if t is None else MetaTensor(t._data.shape, t._data.dtype) for t in values]
        metas.append(found if item.is_list else found[0])
    if op.infer_meta_fn is not None:
        try:
            op.meta(*metas, **attrs)
        except (ValueError, TypeError, IndexError) as better:
            raise better from None
