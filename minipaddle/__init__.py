"""minipaddle: PaddlePaddle's insides, small enough to read.

    import minipaddle as paddle

gives Paddle 3.3's public names, for the part that is here. Where the real thing is stands at the
top of each file.
"""

from minipaddle.common.dtype import DataType as dtype
from minipaddle.common.dtype import bool_ as bool
from minipaddle.common.dtype import (
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from minipaddle.common.place import CPUPlace, CUDAPlace, get_device, set_device
from minipaddle.common.size import Size
from minipaddle.eager import (
    Tensor,
    enable_grad,
    grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    to_tensor,
)
from minipaddle.phi.core.generator import seed
from minipaddle.phi.core.world import disable_static, enable_static, in_dynamic_mode
from minipaddle.tensor.creation import *
from minipaddle.tensor.linalg import *
from minipaddle.tensor.logic import *
from minipaddle.tensor.manipulation import *
from minipaddle.tensor.math import *
from minipaddle.tensor.random import *
from minipaddle.tensor.search import *
from minipaddle.tensor.stat import *

from minipaddle import (  # isort: skip  (after the worlds above)
    _C_ops,
    _pir_ops,
    amp,
    autograd,
    base,
    cinn,
    decomposition,
    distributed,
    io,
    jit,
    metric,
    nn,
    optimizer,
    pir,
    pir_utils,
    regularizer,
    static,
    transforms,
    utils,
    vision,
)
from minipaddle.nn.param_attr import ParamAttr, create_parameter

__version__ = "0.1.0"
