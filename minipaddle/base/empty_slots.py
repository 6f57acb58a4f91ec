"""Input slots that an Operator has with nothing in them: reshape2(inputs={Shape=[], X=['x']}).

Paddle lists every slot that the op could have. Here it matters for the text only, so that printed
programs look alike.

Paddle: the `AsDispensable` inputs of each op's OpProtoMaker; Operator.__init__ in
python/paddle/base/framework.py.
Left out: those of fill_constant, which Paddle lists for paddle.full and not for initializers.
"""

EMPTY_SLOTS = {
    "adam": ("Beta1Tensor", "Beta2Tensor", "EpsilonTensor"),
    "adamw": ("Beta1Tensor", "Beta2Tensor", "EpsilonTensor"),
    "allclose": ("Atol", "Rtol"),
    "assign_value": ("ValuesTensor",),
    "batch_norm": ("MomentumTensor",),
    "clip": ("Max", "Min"),
    "concat": ("AxisTensor",),
    "empty": ("ShapeTensor", "ShapeTensorList"),
    "expand_v2": ("Shape", "expand_shapes_tensor"),
    "gather": ("Axis",),
    "gaussian_random": ("ShapeTensor", "ShapeTensorList"),
    "isclose": ("Atol", "Rtol"),
    "one_hot_v2": ("depth_tensor",),
    "pad3d": ("Paddings",),
    "pow": ("FactorTensor",),
    "randint": ("ShapeTensor", "ShapeTensorList"),
    "reduce_all": ("AxisTensor", "AxisTensorList"),
    "reduce_amax": ("AxisTensor", "AxisTensorList"),
    "reduce_amin": ("AxisTensor", "AxisTensorList"),
    "reduce_any": ("AxisTensor", "AxisTensorList"),
    "reshape2": ("Shape", "ShapeTensor"),
    "roll": ("ShiftsTensor",),
    "scale": ("BiasTensor", "ScaleTensor"),
    "sequence_mask": ("MaxLenTensor",),
    "set_value": ("EndsTensorList", "StartsTensorList", "StepsTensorList", "ValueTensor"),
    "slice": ("EndsTensor", "EndsTensorList", "StartsTensor", "StartsTensorList"),
    "split": ("AxisTensor", "SectionsTensorList"),
    "strided_slice": (
        "EndsTensor",
        "EndsTensorList",
        "StartsTensor",
        "StartsTensorList",
        "StridesTensor",
        "StridesTensorList",
    ),
    "tile": ("RepeatTimes", "repeat_times_tensor"),
    "top_k_v2": ("K",),
    "uniform_random": ("ShapeTensor", "ShapeTensorList"),
    "unsqueeze2": ("AxesTensor", "AxesTensorList"),
}
