"""Old names: a Program's op types, slots and attributes are older than phi's, and differ.

    phi:      matmul(x, y, transpose_x=False)
    Program:  {Out=['o']} = matmul_v2(inputs={X=['x'], Y=['y']}, trans_x = False)

An op that is not in the table keeps its name; its slots are its parameters in CamelCase
(`learning_rate`: LearningRate).

Paddle: paddle/phi/ops/yaml/op_compat.yaml.
Left out: XShape outputs; lists of Variables for an attribute (ShapeTensorList and its like).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from minipaddle.phi.core.op import OPS


@dataclass(frozen=True)
class OpCompat:
    """How one phi op appears in a Program.

    Attributes:
        type: the op type.
        slots: phi's input and output names -> slots, where they are not just CamelCase.
        attrs: phi's attribute names -> the Program's.
        extra: attributes that phi does not have: a value, or a function of phi's attributes.
        layer: what names of its outputs start with, if not the type.
        tensors: attribute -> the slot in which it may be given as a Variable, if that is not
            `<Attribute>Tensor`.
    """

    type: str
    slots: dict[str, str] = field(default_factory=dict)
    attrs: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any | Callable[[dict], Any]] = field(default_factory=dict)
    layer: str = ""
    tensors: dict[str, str] = field(default_factory=dict)

    def tensor_slot(self, attr: str) -> str:
        """The slot for an attribute that is given as a Variable."""
        return self.tensors.get(attr, f"{camel_case(attr)}Tensor")


def camel_case(name: str) -> str:
    """`learning_rate` -> LearningRate."""
    return "".join(word.capitalize() for word in name.split("_"))


def _elementwise(name: str) -> OpCompat:
    return OpCompat(f"elementwise_{name}", extra={"axis": -1})


def _reduction(name: str, **extra: Any) -> OpCompat:
    names = {"axis": "dim", "keepdim": "keep_dim"}
    return OpCompat(
        f"reduce_{name}", attrs=names, extra={"in_dtype": -1, "out_dtype": -1, **extra}, layer=name
    )


def _no_axes(attrs: dict[str, Any]) -> bool:
    return not attrs["axis"]


OP_COMPAT: dict[str, OpCompat] = {
    "add": _elementwise("add"),
    "subtract": _elementwise("sub"),
    "multiply": _elementwise("mul"),
    "divide": _elementwise("div"),
    "floor_divide": _elementwise("floordiv"),
    "remainder": _elementwise("mod"),
    "elementwise_pow": _elementwise("pow"),
    "maximum": _elementwise("max"),
    "minimum": _elementwise("min"),
    "fmax": OpCompat("elementwise_fmax"),
    "fmin": OpCompat("elementwise_fmin"),
    "max": _reduction("max", reduce_all=_no_axes),
    "min": _reduction("min", reduce_all=_no_axes),
    "amax": _reduction("amax", reduce_all=_no_axes),
    "amin": _reduction("amin", reduce_all=_no_axes),
    "all": _reduction("all", reduce_all=_no_axes),
    "any": _reduction("any", reduce_all=_no_axes),
    "prod": _reduction("prod"),
    "frobenius_norm": OpCompat(
        "frobenius_norm", attrs={"axis": "dim"}, extra={"in_dtype": -1, "out_dtype": -1}
    ),
    "isnan": OpCompat("isnan_v2"),
    "isinf": OpCompat("isinf_v2"),
    "isfinite": OpCompat("isfinite_v2"),
    "numel": OpCompat("size", slots={"x": "Input", "size": "Out"}, layer="numel"),
    "increment": OpCompat("increment", attrs={"value": "step"}),
    "addmm": OpCompat("addmm", attrs={"alpha": "Alpha", "beta": "Beta"}),
    "einsum": OpCompat("einsum", slots={"x": "Operands"}),
    "leaky_relu": OpCompat("leaky_relu", attrs={"negative_slope": "alpha"}),
    "hardtanh": OpCompat("brelu", layer="hardtanh"),
    "hardsigmoid": OpCompat("hard_sigmoid", layer="hardsigmoid"),
    "hardswish": OpCompat(
        "hard_swish",
        extra={"offset": 3.0, "scale": 6.0, "threshold": 6.0},
        layer="hardswish",
    ),
    "add_n": OpCompat("sum", slots={"inputs": "X"}),
    "sum": OpCompat(
        "reduce_sum",
        attrs={"axis": "dim", "keepdim": "keep_dim", "dtype": "out_dtype"},
        extra={"reduce_all": lambda attrs: not attrs["axis"], "in_dtype": -1},
        layer="sum",
    ),
    "mean": OpCompat(
        "reduce_mean",
        attrs={"axis": "dim", "keepdim": "keep_dim"},
        extra={"reduce_all": lambda attrs: not attrs["axis"], "in_dtype": -1, "out_dtype": -1},
        layer="mean",
    ),
    "mean_all": OpCompat("mean"),
    "matmul": OpCompat("matmul_v2", attrs={"transpose_x": "trans_x", "transpose_y": "trans_y"}),
    "pow": OpCompat("pow", attrs={"y": "factor"}),
    "argmax": OpCompat("arg_max"),
    "reshape": OpCompat("reshape2"),
    "transpose": OpCompat("transpose2", attrs={"perm": "axis"}),
    "unsqueeze": OpCompat("unsqueeze2", attrs={"axis": "axes"}),
    "squeeze": OpCompat("squeeze2", attrs={"axis": "axes"}),
    "expand_as": OpCompat("expand_as_v2"),
    "one_hot": OpCompat("one_hot_v2", attrs={"num_classes": "depth"}),
    "flatten": OpCompat("flatten_contiguous_range"),
    "stack": OpCompat("stack", slots={"out": "Y"}),
    "unbind": OpCompat("unbind", slots={"input": "X"}),
    "unstack": OpCompat("unstack", slots={"out": "Y"}),
    "broadcast_tensors": OpCompat("broadcast_tensors", slots={"input": "X"}),
    "meshgrid": OpCompat("meshgrid", slots={"inputs": "X"}),
    "expand": OpCompat("expand_v2"),
    "slice": OpCompat("slice", slots={"input": "Input"}),
    "strided_slice": OpCompat("strided_slice", slots={"x": "Input"}),
    "set_value": OpCompat("set_value", slots={"x": "Input"}),
    "scatter": OpCompat("scatter", slots={"index": "Ids"}),
    "index_select": OpCompat("index_select", attrs={"axis": "dim"}),
    "take_along_axis": OpCompat(
        "take_along_axis",
        slots={"arr": "Input", "indices": "Index", "out": "Result"},
        attrs={"axis": "Axis"},
    ),
    "put_along_axis": OpCompat(
        "put_along_axis",
        slots={"arr": "Input", "indices": "Index", "values": "Value", "out": "Result"},
        attrs={"axis": "Axis", "reduce": "Reduce", "include_self": "Include_self"},
    ),
    "embedding": OpCompat("lookup_table_v2", slots={"x": "Ids", "weight": "W"}),
    "argmin": OpCompat("arg_min"),
    "topk": OpCompat("top_k_v2"),
    "nonzero": OpCompat("where_index"),
    "unique": OpCompat("unique", slots={"inverse": "Index"}),
    "masked_select": OpCompat("masked_select", slots={"out": "Y"}),
    "arange": OpCompat("range"),
    "linspace": OpCompat("linspace"),
    "sequence_mask": OpCompat("sequence_mask", slots={"y": "Y"}, attrs={"max_len": "maxlen"}),
    "pad3d": OpCompat("pad3d", attrs={"pad_value": "value"}),
    "gaussian": OpCompat("gaussian_random"),
    "dropout": OpCompat(
        "dropout",
        slots={"seed_tensor": "Seed"},
        attrs={"p": "dropout_prob", "mode": "dropout_implementation"},
    ),
    "cross_entropy_with_softmax": OpCompat("softmax_with_cross_entropy", slots={"input": "Logits"}),
    "bce_loss": OpCompat("bce_loss", slots={"input": "X"}, layer="binary_cross_entropy"),
    "huber_loss": OpCompat("huber_loss", slots={"input": "X", "label": "Y"}),
    "kldiv_loss": OpCompat("kldiv_loss", slots={"label": "Target", "out": "Loss"}, layer="kl_div"),
    "label_smooth": OpCompat("label_smooth", slots={"label": "X"}),
    "nll_loss": OpCompat("nll_loss", slots={"input": "X", "total_weight": "Total_weight"}),
    "sigmoid_cross_entropy_with_logits": OpCompat(
        "sigmoid_cross_entropy_with_logits", slots={"pos_weight": "pos_weight"}
    ),
    "full": OpCompat(
        "fill_constant",
        extra={
            "force_cpu": False,
            "place_type": -1,
            "str_value": lambda attrs: str(attrs["value"]),
        },
    ),
    "allclose": OpCompat("allclose", slots={"x": "Input", "y": "Other"}),
    "isclose": OpCompat("isclose", slots={"x": "Input", "y": "Other"}),
    "full_like": OpCompat("fill_any_like"),
    "uniform": OpCompat("uniform_random"),
    "conv2d": OpCompat("conv2d", slots={"out": "Output"}),
    "depthwise_conv2d": OpCompat("depthwise_conv2d", slots={"out": "Output"}),
    "unfold": OpCompat("unfold", slots={"out": "Y"}),
    "fold": OpCompat("fold", slots={"out": "Y"}),
    "pool2d": OpCompat("pool2d", attrs={"kernel_size": "ksize"}, extra={"use_cudnn": True}),
    "max_pool2d_with_index": OpCompat("max_pool2d_with_index", attrs={"kernel_size": "ksize"}),
    "batch_norm_": OpCompat("batch_norm", slots={"out": "Y"}, attrs={"data_format": "data_layout"}),
    "layer_norm": OpCompat("layer_norm", slots={"out": "Y"}),
    "group_norm": OpCompat("group_norm", attrs={"data_format": "data_layout"}),
    "sgd_": OpCompat("sgd"),
    "momentum_": OpCompat("momentum"),
    "adam_": OpCompat("adam"),
    "adamw_": OpCompat("adamw"),
    "fc": OpCompat("fc", slots={"input": "Input", "w": "W", "bias": "Bias"}),
}

_BY_TYPE = {compat.type: name for name, compat in OP_COMPAT.items()}


def compat_of(phi_name: str) -> OpCompat:
    """The names of a phi op in a Program; those of a `<op>_grad` follow from its forward op."""
    if phi_name in OP_COMPAT:
        return OP_COMPAT[phi_name]
    forward = phi_name.removesuffix("_grad")
    if forward not in OP_COMPAT:
        forward = f"{forward}_"  # batch_norm_grad belongs to batch_norm_
    if phi_name.endswith("_grad") and forward in OP_COMPAT:
        compat = OP_COMPAT[forward]
        return OpCompat(
            f"{compat.type}_grad", compat.slots, compat.attrs, compat.extra, tensors=compat.tensors
        )
    if phi_name.endswith("_"):  # an in-place op has the plain name, and writes its input's name
        return compat_of(phi_name.removesuffix("_"))
    return OpCompat(phi_name)


def phi_name_of(op_type: str) -> str:
    """The phi op of a Program's op type."""
    if op_type in _BY_TYPE:
        return _BY_TYPE[op_type]
    forward = op_type.removesuffix("_grad")
    if op_type.endswith("_grad") and forward in _BY_TYPE:
        return f"{_BY_TYPE[forward].removesuffix('_')}_grad"
    return f"{op_type}_" if op_type not in OPS and f"{op_type}_" in OPS else op_type


def slot_of(compat: OpCompat, name: str) -> str:
    """The slot of a phi parameter: `x` -> X, `out_grad` -> Out@GRAD."""
    base = name.removesuffix("_grad")
    slot = compat.slots.get(base) or camel_case(base)
    return f"{slot}@GRAD" if base != name else slot


def output_slot(compat: OpCompat, name: str) -> str:
    """The slot of an output: `out` -> Out, and `param_out` -> ParamOut."""
    return slot_of(compat, name.removesuffix("_out")) + "Out" * name.endswith("_out")
