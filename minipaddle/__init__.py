"""minipaddle: PaddlePaddle's insides, small enough to read.

    import minipaddle as paddle

gives Paddle 3.3's public names, for the part that is here. Where the real thing is stands at the
top of each file.
"""

import importlib
import os  # pathlib would take a tenth of the time of this import
from typing import TYPE_CHECKING, Any

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
from minipaddle.common.flags import get_flags, set_flags
from minipaddle.common.place import (
    CPUPlace,
    CUDAPlace,
    get_device,
    is_compiled_with_cuda,
    set_device,
)
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
from minipaddle.phi.core.world import disable_static, in_dynamic_mode
from minipaddle.phi.core.world import enable_static as _enable_static
from minipaddle.tensor import INPLACE_FUNCTIONS as _INPLACE_FUNCTIONS
from minipaddle.tensor.aliases import *
from minipaddle.tensor.attribute import *
from minipaddle.tensor.creation import *
from minipaddle.tensor.linalg import *
from minipaddle.tensor.logic import *
from minipaddle.tensor.manipulation import *
from minipaddle.tensor.math import *
from minipaddle.tensor.ops import *
from minipaddle.tensor.random import *
from minipaddle.tensor.search import *
from minipaddle.tensor.stat import *

globals().update(_INPLACE_FUNCTIONS)

__version__ = "0.1.0"

if TYPE_CHECKING:
    from minipaddle import (
        _C_ops,
        _pir_ops,
        amp,
        autograd,
        base,
        cinn,
        decomposition,
        distributed,
        framework,
        hapi,
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
    from minipaddle.framework.io import load, save
    from minipaddle.hapi.model_summary import summary
    from minipaddle.nn.param_attr import ParamAttr, create_parameter

_FOLDER = os.path.dirname(__file__)
_PACKAGES = [
    name.removesuffix(".py")
    for name in os.listdir(_FOLDER)
    if not name.startswith("__")
    and (name.endswith(".py") or os.path.exists(f"{_FOLDER}/{name}/__init__.py"))
]
_FROM_PACKAGES = {
    "ParamAttr": "nn.param_attr",
    "create_parameter": "nn.param_attr",
    "load": "framework.io",
    "save": "framework.io",
    "summary": "hapi.model_summary",
}


def __getattr__(name: str) -> Any:
    """Loads a package when it is first used, so that `import minipaddle` is quick."""
    if name in _PACKAGES:
        return importlib.import_module(f"minipaddle.{name}")
    if name in _FROM_PACKAGES:
        return getattr(importlib.import_module(f"minipaddle.{_FROM_PACKAGES[name]}"), name)
    raise AttributeError(
        f"minipaddle: expected a name that it has, but got {name!r}. dir(paddle) lists them; "
        "real Paddle has many more."
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *_PACKAGES, *_FROM_PACKAGES})


def enable_static() -> None:
    """From now on, ops are appended to the current PIR program."""
    importlib.import_module("minipaddle.static")  # the worlds of programs, if not loaded yet
    _enable_static()
