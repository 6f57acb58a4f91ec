"""Writes the dygraph function of an op and its GradNode class, as straight-line Python.

The text is written the first time that the op is called; dygraph_function.py compiles it. Print it
with `source_of("matmul")`, and read this file beside it.

What the text does, in this order: take the arrays out of the Tensors; see to their dtypes; run
the kernel (if it fails, InferMeta is asked to say why in the user's words); wrap the result;
and, if a gradient is wanted, make the GradNode, let it keep what the rule will need, and
connect its edges.

Paddle: paddle/fluid/eager/auto_code_generator/generator/eager_gen.py, which writes C++ when Paddle
is built.
Left out: layout tuning, the profiler's events.
"""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.attribute import (
    Axes,
    Floats,
    IntArray,
    Ints,
    Number,
    Scalar,
    ScalarDouble,
    ScalarInt,
    ScalarInt64,
    Strings,
)
from minipaddle.phi.core.op import Input, Op, Vjp
from minipaddle.phi.core.signature import parameters

# an attribute of exactly this type needs no conversion, so the text asks for the type first
EXACT_TYPE: dict[Any, type] = {
    IntArray: tuple,
    Ints: tuple,
    Axes: tuple,
    Floats: tuple,
    Strings: tuple,
    Scalar: float,
    ScalarDouble: float,
    ScalarInt: int,
    ScalarInt64: int,
    Number: float,
}


def text_of(op: Op) -> str:
    """The text: the GradNode class, if the op has a gradient, and the function."""
    lines = _grad_node_lines(op, op.vjp_rule) if op.vjp_rule else []
    lines += _function_lines(op)
    return "\n".join(piece for line in lines for piece in _wrapped(line)) + "\n"


def node_name(op: Op) -> str:
    """The name of the op's node: "cross_entropy_with_softmax" gives
    "CrossEntropyWithSoftmaxGradNode", and "relu_" gives "ReluGradNode".
    """
    words = op.name.split("_")
    return op.grad_node or "".join(word.capitalize() for word in words) + "GradNode"


def _function_lines(op: Op) -> list[str]:
    tensors = [item.name for item in op.inputs]
    params = parameters(op.inputs, op.attrs)
    attrs = ", ".join(f"{attr.name}={attr.name}" for attr in op.attrs)
    lines = [
        f"def {op.name}_ad_func({', '.join([*params, 'name=None'])}):",
        *_docstring_lines(op.__doc__ or op.name),
    ]
    for attr in op.attrs:
        kind: Any = EXACT_TYPE.get(attr.kind, attr.kind)
        a, exact = attr.name, kind.__name__
        lines.append(f"    if type({a}) is not {exact}:")
        lines.append(f'        {a} = convert("{op.name}", "{a}", kinds["{a}"], {a})')
    if op.vjp_rule is not None and not op.inplace and op.amp != "none":
        names = _tuple(tensors)
        lines.append("    if tracer.amp_dtype is not None:")
        lines.append(f'        {names} = amp_cast("{op.name}", {names})')
    written = _differentiable_targets(op)
    if written:
        lines += ["    if tracer.has_grad:", *(f"        require_no_leaf({x})" for x in written)]
    lines += [f"    {x}_target = {x}" for x in _promoted_targets(op)]
    lines.append("    try:")
    for item in op.inputs:
        data = f"{item.name}_data"
        if item.is_list:
            lines.append(f"        {data} = [t._data for t in {item.name}]")
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
        lines.append(f"        xp = np if type({sample}) is ndarray else module_of({sample})")
    for x in written:
        if any(item.name == x and not item.meta_only for item in _saved(op, op.require_vjp())):
            lines.append(f"        {x}_before = Tensor({x}_data.copy())  # for the gradient")
            lines.append(f"        {x}_before.autograd_meta = {x}.autograd_meta")
    arguments = ", ".join(["xp", *(f"{name}_data" for name in tensors), *filter(None, [attrs])])
    results = ", ".join(f"{name}_data" for name in op.outputs)
    results = f"{results} = " if results else ""
    lines += [
        f"        {results}kernel({arguments})",
        "    except Exception:",
        f"        explain(op, {_tuple(tensors)}, dict({attrs}))",
        "        raise",
    ]
    lines += _recording_lines(op, op.vjp_rule) if op.vjp_rule else _wrapping_lines(op, "    ")
    return [*lines, f"    return {', '.join(op.outputs) or None}"]


def _differentiable_targets(op: Op) -> list[str]:
    """The inputs that an in-place op overwrites, and that have a gradient."""
    if op.vjp_rule is None:
        return []
    return [source for source in op.inplace.values() if source in op.vjp_rule.wrt]


def _promoted_targets(op: Op) -> list[str]:
    """The inputs that an in-place op overwrites, though it computes with what they were cast to."""
    return [source for source in op.inplace.values() if source in op.promote]


def _wrapping_lines(op: Op, indent: str) -> list[str]:
    """The part that makes Tensors of the results."""
    lines = []
    for name in op.outputs:
        if name in op.inplace:
            source = op.inplace[name]
            target = f"{source}_target" if source in _promoted_targets(op) else source
            lines += [
                f"{target}._data = {name}_data",
                f"{target}._version[0] += 1",
                f"{name} = {target}",
            ]
            item = next(item for item in op.inputs if item.name == source)
            if item.optional:
                lines[-3:] = [
                    f"if {target} is not None:",
                    *(f"    {line}" for line in lines[-3:-1]),
                    f"{name} = {target}",
                ]
        elif name in op.list_outputs:
            lines.append(f"{name} = [Tensor(data) for data in {name}_data]")
        elif len(op.outputs) > 1 and op.vjp_rule is None:  # some outputs may be missing
            lines.append(f"{name} = None if {name}_data is None else Tensor({name}_data)")
        else:
            lines.append(f"{name} = Tensor({name}_data)")
    if "View" in op.traits and not op.inplace:
        lines += _sharing_lines(op)
    return [indent + line for line in lines]


def _sharing_lines(op: Op) -> list[str]:
    """The part that lets a view and its Tensor count their changes together."""
    x, out = op.inputs[0].name, op.outputs[0]
    if op.is_list(out):
        return [f"for t in {out}:", f"    share_version(t, {x})"]
    return [f"share_version({out}, {x})"]


def _recording_lines(op: Op, vjp: Vjp) -> list[str]:
    """The part that makes Tensors of the results and, when a gradient is wanted, the GradNode."""
    edges, metas, wanted, lists = [], [], [], []
    for item in op.inputs:
        x = item.name
        if x not in vjp.wrt:
            continue
        if item.is_list:
            lists += [f"        {x}_edges = [t._grad_edge() for t in {x}]"]
            edges.append(f"*{x}_edges")
            wanted.append(f"any({x}_edges)")
        else:
            missing = f"None if {x} is None else " if item.optional else ""
            stop = "IntegersStop" in op.traits
            integers = f' or {x}_data.dtype.kind != "f"' if stop else ""
            metas += [
                f"        {x}_meta = {missing}{x}.autograd_meta",
                f"        {x}_edge = (",
                f"            None if {x}_meta is None or {x}_meta.stop_gradient{integers}",
                f"            else {x}_meta.edge or {x}._grad_edge()",
                "        )",
            ]
            edges.append(f"{x}_edge")
            wanted.append(f"{x}_edge is not None")
    outputs = [name for name in op.outputs if op.inplace.get(name, vjp.wrt[0]) in vjp.wrt]
    specs = ", ".join(
        f"*[(t.shape, t.dtype) for t in {name}_data]"
        if name in op.list_outputs
        else f"({name}_data.shape, {name}_data.dtype)"
        for name in op.outputs
    )
    lines = [
        "    node = None",
        "    if tracer.has_grad:",
        *metas,
        *lists,
        f"        if {' or '.join(wanted)}:",
        f"            node = {node_name(op)}({_tuple(edges)}, ({specs},))",
    ]
    saved = _saved(op, vjp)
    before = [item for item in saved if item.name not in op.outputs]
    lines += [f"            {_save_line(op, item)}" for item in before]
    lines += [f"            node.attr_{name} = {name}" for name in _kept_attrs(op, vjp)]
    lines += _wrapping_lines(op, "    ")
    lines.append("    if node is not None:")
    for slot, name in enumerate(op.outputs):
        if name in op.list_outputs:
            lines.append(f"        for slot, t in enumerate({name}, {slot}):")
            lines.append("            t.autograd_meta = AutogradMeta(False, node, slot)")
        elif name in outputs:
            lines.append(f"        {name}.autograd_meta = AutogradMeta(False, node, {slot})")
            if name in op.inplace:  # what it has of an earlier backward stays, as in Paddle
                x = f"{op.inplace[name]}_meta"
                lines.append(f"        {name}.autograd_meta.grad = {x} and {x}.grad")
    lines += [f"        {_save_line(op, item)}" for item in saved if item.name in op.outputs]
    return lines


def _save_line(op: Op, item: Input) -> str:
    """`node.x = ...`: what the node keeps of an input or an output."""
    x = item.name
    several = op.is_list(x)
    if item.meta_only:
        if several:
            return f"node.{x} = [(t._data.shape, t._data.dtype) for t in {x}]"
        return f"node.{x} = {x}_data.shape, {x}_data.dtype  # no_need_buffer"
    if several:
        return f"node.{x} = [TensorWrapper(t) for t in {x}]"
    optional = any(i.name == x and i.optional for i in op.inputs)
    name = f"{x}_before" if x in _differentiable_targets(op) else x
    slot = f", {op.outputs.index(x)}" if x in op.outputs else ""
    missing = f"None if {x} is None else " if optional else ""
    return f"node.{x} = {missing}TensorWrapper({name}{slot})"


def _docstring_lines(doc: str) -> list[str]:
    """Its first paragraph."""
    first, *rest = doc.partition("\n\n")[0].splitlines()
    if not rest:
        return [f'    """{first}"""']
    return [f'    """{first}', *(f"    {line}" for line in rest), '    """']


def _wrapped(line: str) -> list[str]:
    """A long line as several: broken behind commas, inside the parentheses."""
    head, parenthesis, arguments = line.partition("(")
    if len(line) <= 100 or not parenthesis or '"""' in line:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 8)
    lines = [head + parenthesis]
    pieces = arguments.split(", ")
    for position, piece in enumerate(pieces):
        piece += ", " if position < len(pieces) - 1 else ""
        if len(lines[-1]) + len(piece) > 100:
            lines.append(indent)
        lines[-1] += piece
    return [piece.rstrip() for piece in lines]


def _tuple(parts: list[str]) -> str:
    """A tuple in the text: `()`, `(x,)`, `(x, y)`."""
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _grad_node_lines(op: Op, vjp: Vjp) -> list[str]:
    """The class of the op's GradNode."""
    saved = _saved(op, vjp)
    slots = [item.name for item in saved] + [f"attr_{name}" for name in _kept_attrs(op, vjp)]
    read = [item.name for item in vjp.inputs if item.name not in {s.name for s in saved}]
    beside = read[0] if read else "grads[0]"  # a gradient: its device is the one to compute on
    if beside.removesuffix("_grad") in op.list_outputs:
        beside += "[0]"

    results = _tuple([f"{name}_grad" for name in vjp.wrt])
    in_order = [
        f"{'*' if item.is_list else ''}{item.name}_grad"
        for item in op.inputs
        if item.name in vjp.wrt
    ]
    wanted, as_tensors = _results_of(op, vjp)
    by_hand = op.grad_kernel_fn is not None
    kernel = f"grad_kernel(xp, {_tuple(wanted)}, " if by_hand else "rule_on_arrays(xp)("
    lines = [
        f"class {node_name(op)}(GradNodeBase):",
        f"    __slots__ = {_tuple([repr(slot) for slot in slots])}",
        "",
        "    def __call__(self, grads, create_graph=False):",
        "        if self.cleared:",
        "            refuse_cleared(self)",
    ]
    for slot, name in enumerate(op.outputs):
        g = f"{name}_grad"
        if g not in read:
            continue
        if name in op.list_outputs:
            lines += [
                f"        {g} = [zeros_like_output(self, slot, grads) if g is None else g",
                f"            for slot, g in enumerate(grads[{slot}:], {slot})]",
            ]
            continue
        lines.append(f"        {g} = grads[{slot}]")
        if len(op.outputs) > 1:
            lines.append(f"        if {g} is None:")
            lines.append(f"            {g} = zeros_like_output(self, {slot}, grads)")
    lines += [
        "        if create_graph:",
        f"            {results} = rule({_arguments(op, vjp, 'tensor', beside)})"
        if vjp.double_grad
        else "            refuse_double_grad(self)",
        *([f"            {results} = with_zero_grads(self, {results})"] if vjp.zero_grad else []),
        "        else:",
        f"            xp = np if type({beside}._data) is ndarray else module_of({beside}._data)",
        f"            found = {kernel}{_arguments(op, vjp, 'array', beside)})",
        f"            if type(found) is not tuple or len(found) != {len(vjp.wrt)}:",
        "                refuse_results(op, found)",
        f"            {results} = found",
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


def _arguments(op: Op, vjp: Vjp, kind: str, beside: str) -> str:
    """What the rule is called with: each "tensor" or each "array", and the attributes."""
    saved = {item.name for item in _saved(op, vjp)}
    optional = {item.name for item in op.inputs if item.optional}
    attrs = ", ".join(f"{name}=self.attr_{name}" for name in _kept_attrs(op, vjp))
    values = []
    for item in vjp.inputs:
        x = item.name
        several, kept = op.is_list(x), f"self.{x}"
        if x not in saved:  # a gradient
            data = f"[g._data for g in {x}]" if several else f"{x}._data"
            values.append(data if kind == "array" else x)
        elif item.meta_only:
            call = "meta_tensor(*{})" if kind == "array" else f"empty_tensor(*{{}}, {beside})"
            one = f"[{call.format('w')} for w in {kept}]" if several else ""
            values.append(one or call.format(kept))
        else:
            call = "array()" if kind == "array" else "tensor(self)"
            if several:
                values.append(f"[w.{call} for w in {kept}]")
            elif x in optional:
                values.append(f"None if {kept} is None else {kept}.{call}")
            else:
                values.append(f"{kept}.{call}")
    return ", ".join([*values, *filter(None, [attrs])])


def _results_of(op: Op, vjp: Vjp) -> tuple[list[str], list[str]]:
    """Per gradient: whether it is wanted, as the kernel is told; and the line that makes its array
    a Tensor.
    """
    wanted, as_tensors = [], []
    for position, item in enumerate(item for item in op.inputs if item.name in vjp.wrt):
        g = f"{item.name}_grad"
        if item.is_list:
            wanted.append(f"any(self.edges[{position}:])")
            as_tensors.append(f"{g} = [None if g is None else Tensor(g) for g in {g}]")
        else:
            wanted.append(f"self.edges[{position}] is not None")
            may_miss = op.grad_kernel_fn is not None or item.optional
            missing = f"None if {g} is None else " if may_miss else ""
            as_tensors.append(f"{g} = {missing}Tensor({g})")
    return wanted, as_tensors


def _kept_attrs(op: Op, vjp: Vjp) -> list[str]:
    """The attributes that the node keeps: others of the rule have their default always."""
    own = {attr.name for attr in op.attrs}
    return [attr.name for attr in vjp.attrs if attr.name in own]


def _saved(op: Op, vjp: Vjp) -> list:
    """What the node keeps from the forward: the rule's parameters that are not gradients."""
    forward = {item.name for item in op.inputs} | set(op.outputs)
    return [item for item in vjp.inputs if item.name in forward]
