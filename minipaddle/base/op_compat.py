"""Old names: a Program's op types, slots and attributes are older than phi's, and differ.

    phi:      matmul(x, y, transpose_x=False)
    Program:  {Out=['o']} = matmul_v2(inputs={X=['x'], Y=['y']}, trans_x = False)

An op that is not in the table keeps its name; its slots are its parameters in CamelCase
(`learning_rate`: LearningRate).

Paddle: paddle/phi/ops/yaml/op_compat.yaml.
Left out: lists of Variables for an attribute (ShapeTensorList and its like).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from minipaddle.base.op_desc import Scalars
from minipaddle.phi.core.op import OPS


@dataclass(frozen=True)
class OpCompat:
    """How one phi op appears in a Program.

    Attributes:
        type: the op type.
        renamed: "x=Ids dtype=out_dtype": phi's names of inputs and outputs = slots, where they are
            not just CamelCase; phi's names of attributes = the Program's, where they differ.
        extra: attributes that phi does not have: a value, or a function of phi's attributes and
            the inputs' MetaTensors.
        defaults: a Program's attributes with a default value that phi's don't have.
        layer: what names of its outputs start with, if not the type.
        tensors: attribute -> the slot in which it may be given as a Variable, if that is not
            `<Attribute>Tensor`.
        always_tensors: attributes that a Program has as Variables only.
        written: attribute -> the function that makes the Program's value of phi's.
        xshape: it has an output XShape more: the input's shape, which is all that its gradient
            needs, behind a 0. So the input itself need not be kept.
        grad_slots: slots of the `<op>_grad` that have another name there.
        all_outputs: also outputs that this call does not compute get a variable.
        which: where several phi ops have one type: the attributes that tell this one.
        which_slot: the same: the input slot that tells this one.
    """

    type: str
    renamed: str = ""
    extra: dict[str, Any | Callable[[dict, Any], Any]] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    layer: str = ""
    tensors: dict[str, str] = field(default_factory=dict)
    always_tensors: tuple[str, ...] = ()
    written: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    xshape: bool = False
    grad_slots: dict[str, str] = field(default_factory=dict)
    all_outputs: bool = False
    which: dict[str, Any] = field(default_factory=dict)
    which_slot: str = ""

    @cached_property
    def names(self) -> dict[str, str]:
        """`renamed`, taken apart."""
        return dict(_pairs(self.renamed))

    def tensor_slot(self, attr: str) -> str:
        """The slot for an attribute that is given as a Variable."""
        return self.tensors.get(attr, f"{camel_case(attr)}Tensor")


def _pairs(text: str) -> list[list[str]]:
    return [pair.split("=") for pair in text.split()]


@cache
def camel_case(name: str) -> str:
    """`learning_rate` -> LearningRate."""
    return "".join(word.capitalize() for word in name.split("_"))


_ONE_AXIS = {"dim": [0], "keep_dim": False, "reduce_all": False}


def _reduction(name: str, **extra: Any) -> OpCompat:
    return OpCompat(
        f"reduce_{name}",
        "axis=dim keepdim=keep_dim",
        extra={"in_dtype": -1, "out_dtype": -1, **extra},
        defaults=_ONE_AXIS,
        layer=name,
    )


def _with_xshape(type: str, renamed: str = "", **others: Any) -> OpCompat:
    return OpCompat(type, renamed, xshape=True, grad_slots={"x": "XShape"}, **others)


def _number_text(attrs: dict[str, Any], inputs: Any) -> str:
    """All digits of the value: a FLOAT attribute has 32 bits only."""
    number = attrs["value"]
    return str(float(number) if attrs["dtype"].numpy_dtype.kind in "fb" else int(number))


def _in_32_bits(numbers: Any) -> tuple[int, ...]:
    """ "To the end" is a very large number; a Program has 32 bits for it."""
    return tuple(max(1 - 2**31, min(number, 2**31 - 1)) for number in numbers)


def _as_float32(numbers: Any) -> list[float]:
    """The numbers as 32 bits keep them."""
    return [float(np.float32(number)) for number in numbers]


_SLICE_BOUNDS = {"starts": _in_32_bits, "ends": _in_32_bits}


def _shape_of_y(attrs: dict[str, Any], inputs: Any) -> Any:
    return attrs["target_shape"] if inputs[1] is None else inputs[1].shape


def _dtype_of_x(attrs: dict[str, Any], inputs: Any) -> Any:
    return inputs[0].dtype


def _no_axes(attrs: dict[str, Any], inputs: Any) -> bool:
    return not attrs["axis"]


OP_COMPAT: dict[str, OpCompat] = {
    "frobenius_norm": OpCompat(
        "frobenius_norm", "axis=dim", extra={"in_dtype": -1, "out_dtype": -1}, defaults=_ONE_AXIS
    ),
    "numel": OpCompat("size", "x=Input size=Out", layer="numel"),
    "increment": OpCompat("increment", "value=step"),
    "addmm": OpCompat("addmm", "alpha=Alpha beta=Beta"),
    "repeat_interleave_with_tensor_index": OpCompat(
        "repeat_interleave",
        "repeats=RepeatsTensor axis=dim",
        extra={"Repeats": 0},
        which_slot="RepeatsTensor",
    ),
    "repeat_interleave": OpCompat("repeat_interleave", "axis=dim repeats=Repeats"),
    "mish": OpCompat("mish", "lambda_=threshold"),
    "einsum": OpCompat("einsum", "x=Operands"),
    "leaky_relu": OpCompat("leaky_relu", "negative_slope=alpha"),
    "hardtanh": OpCompat("brelu", layer="hardtanh"),
    "hardsigmoid": OpCompat("hard_sigmoid", layer="hardsigmoid"),
    "hardswish": OpCompat(
        "hard_swish", extra={"offset": 3.0, "scale": 6.0, "threshold": 6.0}, layer="hardswish"
    ),
    "add_n": OpCompat("sum", "inputs=X"),
    "sum": OpCompat(
        "reduce_sum",
        "axis=dim keepdim=keep_dim dtype=out_dtype",
        extra={"reduce_all": _no_axes, "in_dtype": -1},
        defaults=_ONE_AXIS,
        layer="sum",
    ),
    "mean": OpCompat(
        "reduce_mean",
        "axis=dim keepdim=keep_dim",
        extra={"reduce_all": _no_axes, "in_dtype": -1, "out_dtype": -1},
        defaults=_ONE_AXIS,
        layer="mean",
    ),
    "matmul": OpCompat("matmul_v2", "transpose_x=trans_x transpose_y=trans_y"),
    "pow": OpCompat("pow", "y=factor"),
    "reshape": _with_xshape(
        "reshape2", extra={"mkldnn_data_type": "float32", "use_quantizer": False}
    ),
    "transpose": _with_xshape("transpose2", "perm=axis", layer="transpose"),
    "unsqueeze": _with_xshape("unsqueeze2", "axis=axes"),
    "squeeze": _with_xshape("squeeze2", "axis=axes"),
    "expand_as": OpCompat("expand_as_v2", extra={"target_shape": _shape_of_y}),
    "one_hot": OpCompat(
        "one_hot_v2",
        "num_classes=depth",
        extra={"dtype": 5, "allow_out_of_range": False},
        tensors={"num_classes": "depth_tensor"},
    ),
    "flatten": _with_xshape("flatten_contiguous_range", layer="flatten"),
    "split": OpCompat("split", extra={"num": 0}, defaults={"axis": 0}, which={"num": 0}),
    "split_with_num": OpCompat("split", extra={"sections": []}, defaults={"axis": 0}),
    "tril": OpCompat("tril_triu", extra={"lower": True}, which={"lower": True}),
    "triu": OpCompat("tril_triu", extra={"lower": False}, which={"lower": False}),
    "cast": OpCompat("cast", "dtype=out_dtype", extra={"in_dtype": _dtype_of_x}),
    "tile": OpCompat("tile", tensors={"repeat_times": "RepeatTimes"}),
    "print": OpCompat("print", "x=In"),
    "scale": OpCompat("scale", written={"scale": float}),
    "meshgrid": OpCompat("meshgrid", "inputs=X"),
    "expand": OpCompat("expand_v2", tensors={"shape": "Shape"}),
    "slice": OpCompat("slice", "input=Input", written=_SLICE_BOUNDS),
    "strided_slice": OpCompat(
        "strided_slice",
        "x=Input",
        extra={"decrease_axis": [], "infer_flags": lambda attrs, inputs: [1] * len(attrs["axes"])},
        written=_SLICE_BOUNDS,
    ),
    "set_value_with_tensor": OpCompat(
        "set_value",
        "x=Input values=ValueTensor",
        extra={"dtype": _dtype_of_x, "values": Scalars(), "shape": [1]},
        which_slot="ValueTensor",
    ),
    "set_value": OpCompat(
        "set_value", "x=Input", extra={"dtype": _dtype_of_x}, written={"values": Scalars}
    ),
    "fill": OpCompat("fill_any", written={"value": float}),
    "assign_value": OpCompat("assign_value", written={"values": Scalars}),
    "accuracy": OpCompat("accuracy", "x=Out"),
    "scatter": OpCompat("scatter", "index=Ids"),
    "index_select": OpCompat("index_select", "axis=dim"),
    "take_along_axis": OpCompat("take_along_axis", "arr=Input indices=Index out=Result axis=Axis"),
    "put_along_axis": OpCompat(
        "put_along_axis",
        "arr=Input indices=Index values=Value out=Result "
        "axis=Axis reduce=Reduce include_self=Include_self",
    ),
    "embedding": OpCompat("lookup_table_v2", "x=Ids weight=W sparse=is_sparse"),
    "topk": OpCompat("top_k_v2", tensors={"k": "K"}),
    "unique": OpCompat("unique", "inverse=Index", extra={"is_sorted": True}, all_outputs=True),
    "arange": OpCompat(
        "range",
        tensors={"start": "Start", "end": "End", "step": "Step"},
        always_tensors=("start", "end", "step"),
    ),
    "clip": OpCompat("clip", tensors={"min": "Min", "max": "Max"}),
    "gather": OpCompat("gather", tensors={"axis": "Axis"}),
    "linspace": OpCompat(
        "linspace",
        tensors={"start": "Start", "stop": "Stop", "number": "Num"},
        always_tensors=("start", "stop", "number"),
    ),
    "sequence_mask": OpCompat("sequence_mask", "y=Y max_len=maxlen"),
    "pad3d": OpCompat("pad3d", "pad_value=value", tensors={"paddings": "Paddings"}),
    "gaussian": OpCompat(
        "gaussian_random", defaults={"shape": [], "mean": 0.0, "std": 1.0, "seed": 0, "dtype": 5}
    ),
    "dropout": OpCompat("dropout", "seed_tensor=Seed p=dropout_prob mode=dropout_implementation"),
    "cross_entropy_with_softmax": OpCompat("softmax_with_cross_entropy", "input=Logits"),
    "bce_loss": OpCompat("bce_loss", "input=X", layer="binary_cross_entropy"),
    "huber_loss": OpCompat("huber_loss", "input=X label=Y"),
    "kldiv_loss": OpCompat("kldiv_loss", "label=Target out=Loss", layer="kl_div"),
    "label_smooth": OpCompat("label_smooth", "label=X"),
    "nll_loss": OpCompat("nll_loss", "input=X total_weight=Total_weight"),
    "sigmoid_cross_entropy_with_logits": OpCompat(
        "sigmoid_cross_entropy_with_logits", "pos_weight=pos_weight"
    ),
    "full": OpCompat(
        "fill_constant",
        extra={"force_cpu": False, "place_type": -1, "str_value": _number_text},
        defaults={"shape": [], "str_value": ""},
        written={"value": float},
    ),
    "full_like": OpCompat("fill_any_like", defaults={"value": 0.0}),
    "uniform": OpCompat("uniform_random", extra={"diag_num": 0, "diag_step": 0, "diag_val": 1.0}),
    "pool2d": OpCompat("pool2d", "kernel_size=ksize", extra={"use_cudnn": True}),
    "max_pool2d_with_index": OpCompat("max_pool2d_with_index", "kernel_size=ksize"),
    "batch_norm_": OpCompat(
        "batch_norm",
        "out=Y data_format=data_layout",
        defaults={"is_test": False, "momentum": 0.9, "epsilon": 1e-5, "data_layout": "NCHW"}
        | {"use_global_stats": False, "trainable_statistics": False},
        grad_slots={"mean_out": "Mean", "variance_out": "Variance"},
    ),
    "group_norm": OpCompat("group_norm", "data_format=data_layout"),
    "fc": OpCompat("fc", "input=Input w=W bias=Bias"),
}

_TYPES = """
    diag=diag_v2 isfinite=isfinite_v2 isinf=isinf_v2 isnan=isnan_v2 argmax=arg_max argmin=arg_min
    fmax=elementwise_fmax fmin=elementwise_fmin matmul_with_flatten=mul mean_all=mean
    nonzero=where_index
"""
_ELEMENTWISE = """
    add=add subtract=sub multiply=mul divide=div floor_divide=floordiv remainder=mod
    elementwise_pow=pow maximum=max minimum=min
"""
_SLOTS = {
    "input=X": "broadcast_tensors trunc unbind",
    "out=Output": "conv2d depthwise_conv2d",
    "out=Y": "fold layer_norm masked_select stack unfold unstack",
    "x=Input": "diagonal trace",
}
for _name, _type in _pairs(_TYPES):
    OP_COMPAT[_name] = OpCompat(_type)
for _name, _type in _pairs(_ELEMENTWISE):
    OP_COMPAT[_name] = OpCompat(f"elementwise_{_type}", extra={"axis": -1})
for _renamed, _names in _SLOTS.items():
    OP_COMPAT.update((_name, OpCompat(_name, _renamed)) for _name in _names.split())
for _name in ("max", "min", "amax", "amin", "all", "any"):
    OP_COMPAT[_name] = _reduction(_name, reduce_all=_no_axes)
OP_COMPAT["prod"] = _reduction("prod")
for _name in ("allclose", "isclose"):
    OP_COMPAT[_name] = OpCompat(
        _name,
        "x=Input y=Other",
        tensors={"rtol": "Rtol", "atol": "Atol"},
        written={"rtol": str, "atol": str},
    )
for _name in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"):
    OP_COMPAT[_name] = OpCompat(_name, extra={"axis": -1, "force_cpu": False})
for _name in ("nearest", "linear", "bilinear", "trilinear", "bicubic"):
    OP_COMPAT[f"{_name}_interp"] = OpCompat(
        f"{_name}_interp_v2",
        "scale_tensor=Scale output=Out data_format=data_layout",
        written={"scale": _as_float32},
    )
for _name in ("randint", "randperm"):
    OP_COMPAT[_name] = OpCompat(_name, extra={"seed": 0})

# Younger than the old names: the slots have the names of the parameters.
_YOUNGER = """
    full_int_array gammaln i0 i0e i1 i1e index_put masked_fill median polygamma reduce_as rms_norm
    shape64
"""
OP_COMPAT["rms_norm"] = OpCompat("rms_norm", "out=y")

# Types of ops -> the input slots that such an Operator has with nothing in them: Paddle lists every
# slot that the op could have, reshape2(inputs={Shape=[], X=['x']}). It matters for the text only.
# (`AsDispensable` inputs of each op's OpProtoMaker. Left out: those of fill_constant, which Paddle
# lists for paddle.full and not for initializers.)
_EMPTY = {
    "adam adamw": "Beta1Tensor Beta2Tensor EpsilonTensor",
    "allclose isclose": "Atol Rtol",
    "assign_value": "ValuesTensor",
    "batch_norm": "MomentumTensor",
    "clip": "Max Min",
    "concat": "AxisTensor",
    "empty gaussian_random randint uniform_random": "ShapeTensor ShapeTensorList",
    "expand_v2": "Shape expand_shapes_tensor",
    "gather": "Axis",
    "one_hot_v2": "depth_tensor",
    "pad3d": "Paddings",
    "pow": "FactorTensor",
    "reduce_all reduce_amax reduce_amin reduce_any": "AxisTensor AxisTensorList",
    "reshape2": "Shape ShapeTensor",
    "roll": "ShiftsTensor",
    "scale": "BiasTensor ScaleTensor",
    "sequence_mask": "MaxLenTensor",
    "set_value": "EndsTensorList StartsTensorList StepsTensorList ValueTensor",
    "slice": "EndsTensor EndsTensorList StartsTensor StartsTensorList",
    "split": "AxisTensor SectionsTensorList",
    "strided_slice": "EndsTensor EndsTensorList StartsTensor StartsTensorList StridesTensor "
    "StridesTensorList",
    "tile": "RepeatTimes repeat_times_tensor",
    "top_k_v2": "K",
    "unsqueeze2": "AxesTensor AxesTensorList",
}
EMPTY_SLOTS = {type: slots.split() for types, slots in _EMPTY.items() for type in types.split()}

# type -> the phi ops that it may be; the last one is it unless `which` tells another
_BY_TYPE: dict[str, list[str]] = {}
for _name, _compat in OP_COMPAT.items():
    _BY_TYPE.setdefault(_compat.type, []).append(_name)


@cache
def compat_of(phi_name: str) -> OpCompat:
    """The names of a phi op in a Program; those of a `<op>_grad` follow from its forward op."""
    if phi_name in OP_COMPAT:
        return OP_COMPAT[phi_name]
    forward = phi_name.removesuffix("_grad")
    if forward not in OP_COMPAT:
        forward = f"{forward}_"  # batch_norm_grad belongs to batch_norm_
    if phi_name.endswith("_grad") and forward in OP_COMPAT:
        compat = OP_COMPAT[forward]
        return replace(compat, type=f"{compat.type}_grad", layer="")
    if phi_name.endswith("_"):  # an in-place op has the plain name, and writes its input's name
        return compat_of(phi_name.removesuffix("_"))
    return OpCompat(phi_name)


def phi_name_of(op_type: str, operator: Any) -> str:
    """The phi op of a Program's op type. `operator` is the Operator or its like, with `attr` and
    `input`: it tells phi ops apart that have one type.
    """
    forward = op_type.removesuffix("_grad")
    for known, suffix in ((op_type, ""), (forward, "_grad")):
        names = _BY_TYPE.get(known)
        if names and op_type == known + suffix:
            name = next((n for n in names[:-1] if _tells(OP_COMPAT[n], operator)), names[-1])
            return name.removesuffix("_") + suffix if suffix else name
    return f"{op_type}_" if op_type not in OPS and f"{op_type}_" in OPS else op_type


def _tells(compat: OpCompat, operator: Any) -> bool:
    if compat.which_slot and not operator.input(compat.which_slot):
        return False
    return all(
        operator.has_attr(name) and operator.attr(name) == value
        for name, value in compat.which.items()
    )


def slot_of(compat: OpCompat, name: str) -> str:
    """The slot of a phi parameter: `x` -> X, `out_grad` -> Out@GRAD."""
    if name in compat.grad_slots and compat.type.endswith("_grad"):
        return compat.grad_slots[name]
    base = name.removesuffix("_grad")
    younger = compat.type.removesuffix("_grad") in _YOUNGER.split()
    slot = compat.names.get(base) or (base if younger else camel_case(base))
    return f"{slot}@GRAD" if base != name else slot


def output_slot(compat: OpCompat, name: str) -> str:
    """The slot of an output: `out` -> Out, and `param_out` -> ParamOut."""
    return slot_of(compat, name.removesuffix("_out")) + "Out" * name.endswith("_out")
