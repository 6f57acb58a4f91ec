"""Prints the declaration of an op as Paddle writes it: its entry in ops.yaml, and that of its
gradient in backward.yaml.

    python -m tools.ops_to_yaml matmul        one op; several names, or none for all

Here the YAML follows from the Python declaration; in Paddle it is the other way round: C++ is
generated from the YAML. So this is the step from here to a pull request there: the entry is a
first draft. Names of InferMeta functions and kernels are guessed from the op's name, where Paddle
often has a shared one.

Paddle: paddle/phi/ops/yaml/ops.yaml, backward.yaml.
Left out: spmd_rule, data_transform, composite; interfaces.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
import textwrap
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import minipaddle.phi.ops  # noqa: F401  (declares the ops)
from minipaddle.common.dtype import DataType
from minipaddle.common.place import CPU, Place
from minipaddle.phi.core import attribute as kinds
from minipaddle.phi.core.op import OPS, Op

# our kind of an attribute -> Paddle's. (Where Paddle has int[] and int64_t[], ours is one kind.)
KINDS: dict[Any, str] = {
    kinds.IntArray: "IntArray",
    kinds.Scalar: "Scalar",
    kinds.ScalarDouble: "Scalar(double)",
    kinds.ScalarInt: "Scalar(int)",
    kinds.ScalarInt64: "Scalar(int64_t)",
    kinds.Number: "Scalar",
    kinds.Ints: "int64_t[]",
    kinds.Axes: "int64_t[]",
    kinds.Floats: "Scalar[]",
    kinds.Strings: "str[]",
    DataType: "DataType",
    Place: "Place",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
}
TRAITS = {
    "ForwardOnly": "paddle::dialect::ForwardOnlyTrait",
    "SideEffect": "pir::SideEffectTrait",
}
# InferMeta functions that many ops share, and what Paddle calls them
INFER_META = {
    "unchanged": "UnchangedInferMeta",
    "elementwise": "ElementwiseInferMeta",
    "compared": "CompareInferMeta",
    "reduced": "ReduceInferMeta",
}


def ops_yaml(op: Op) -> str:
    """The op's entry in ops.yaml."""
    lines = [
        f"- op : {op.name}",
        f"  args : ({', '.join(_tensors(op.inputs) + _attributes(op.attrs))})",
        f"  output : {_outputs(op)}",
        "  infer_meta :",
        f"    func : {_infer_meta(op)}",
        "  kernel :",
        f"    func : {op.name.rstrip('_')}",
    ]
    lines += _optional(op)
    pairs = [f"({source} -> {out})" for out, source in (op.inplace or op.inplace_form).items()]
    if pairs:
        lines.append(f"  inplace : {', '.join(pairs)}")
    if op.vjp_rule:
        lines.append(f"  backward : {op.grad_op.name}")
    traits = [TRAITS[trait] for trait in sorted(op.traits) if trait in TRAITS]
    if traits:
        lines.append(f"  traits : {', '.join(traits)}")
    return "\n".join(lines)


def backward_yaml(op: Op) -> str:
    """The entry of the op's gradient in backward.yaml.

    Raises:
        NoGradientError: the op has none.
    """
    vjp = op.require_vjp()
    grad = op.grad_op
    forward = ", ".join(_tensors(op.inputs) + _attributes(op.attrs))
    lines = [
        f"- backward_op : {grad.name}",
        f"  forward : {op.name} ({forward}) -> {_outputs(op)}",
        f"  args : ({', '.join(_tensors(grad.inputs) + _attributes(grad.attrs))})",
        f"  output : {_outputs(grad)}",
    ]
    if vjp.invoke:
        lines.append(f"  invoke : {_invoked(op)}")
        return "\n".join(lines)
    like = "General" + {1: "Unary", 2: "Binary", 3: "Ternary"}.get(len(vjp.wrt), "Quaternary")
    lines += [
        "  infer_meta :",
        f"    func : {'UnchangedInferMeta' if len(vjp.wrt) == 1 else f'{like}GradInferMeta'}",
        f"    param : [{', '.join(vjp.wrt)}]",
        "  kernel :",
        f"    func : {grad.name}",
    ]
    lines += _optional(grad)
    unused = [item.name for item in grad.inputs if item.meta_only]
    if unused:
        lines.append(f"  no_need_buffer : {', '.join(unused)}")
    return "\n".join(lines)


def _tensors(inputs: Any) -> list[str]:
    return [f"Tensor{'[]' if item.is_list else ''} {item.name}" for item in inputs]


def _attributes(attrs: Any) -> list[str]:
    return [
        f"{KINDS[attr.kind]} {attr.name}"
        + ("" if attr.required else f" = {_literal(attr.default)}")
        for attr in attrs
    ]


def _literal(value: Any) -> str:
    """A default as C++ writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "{" + ", ".join(_literal(item) for item in value) + "}"
    if isinstance(value, DataType):
        return f"DataType::{value.name.upper()}"
    if isinstance(value, Place):
        return "CPUPlace()" if value == CPU else "{}"
    return repr(value)


def _outputs(op: Op) -> str:
    return ", ".join(
        f"Tensor{'[]' if name in op.list_outputs else ''}({name})" for name in op.outputs
    )


def _optional(op: Op) -> list[str]:
    names = [item.name for item in op.inputs if item.optional]
    return [f"  optional : {', '.join(names)}"] if names else []


def _infer_meta(op: Op) -> str:
    function = op.infer_meta_fn
    shared = function.__qualname__.split(".")[0] if function else ""
    own = "".join(word.capitalize() for word in op.name.rstrip("_").split("_"))
    return INFER_META.get(shared, f"{own}InferMeta")


def _invoked(op: Op) -> str:
    """What the rule calls, without the names of keywords: `flip(out_grad, axis)`."""
    rule = op.require_vjp().rule
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(rule))).body
    result: Any = function.body[-1].value  # type: ignore[attr-defined]
    called = result.elts[0] if isinstance(result, ast.Tuple) else result
    if not isinstance(called, ast.Call):
        return ast.unparse(called)
    name = ast.unparse(called.func)
    arguments = [*called.args, *(keyword.value for keyword in called.keywords)]
    name = getattr(rule.__globals__.get(name), "name", name)  # scale's rule calls it _SCALE
    return f"{name}({', '.join(map(ast.unparse, arguments))})"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Prints ops as Paddle's YAML entries.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="an op; none: all ops")
    names = parser.parse_args(arguments).names or sorted(OPS)
    unknown = [name for name in names if name not in OPS]
    if unknown:
        parser.error(f"expected names of ops, but got {unknown}. All: {' '.join(sorted(OPS))}")
    entries = [ops_yaml(OPS[name]) for name in names]
    entries += [backward_yaml(OPS[name]) for name in names if OPS[name].vjp_rule]
    print("\n\n".join(entries))


if __name__ == "__main__":
    main()
