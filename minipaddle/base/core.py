"""core: what Python can ask about ops and their kernels.

    from minipaddle.base import core
    core._get_registered_phi_kernels()["relu"]  ->  ["(ALL, Undefined(AnyLayout), ALL)"]

Real Paddle has one kernel per backend and dtype, so its list of `relu` is long. Most kernels here
serve every backend and dtype: numpy and CuPy find the code for a dtype themselves.

Paddle: `paddle.base.core`, the C++ part, bound in paddle/fluid/pybind/pybind.cc.
Left out: all but the questions about kernels, the descriptions (desc.py) and one hook of
`core.eager`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minipaddle.base.desc import AttrType, BlockDesc, OpDesc, ProgramDesc, VarDesc  # noqa: F401
from minipaddle.base.op_compat import compat_of
from minipaddle.common.enforce import require_one_of
from minipaddle.common.place import is_compiled_with_cuda
from minipaddle.phi.core.kernel import KernelKey
from minipaddle.phi.core.op import OPS, Op, find_op
from minipaddle.phi.core.world import tracer


class eager:
    """What people call of the eager engine's C++ part."""

    @staticmethod
    def _add_backward_final_hook(hook: Callable[[], Any]) -> None:
        """Calls `hook()` once, at the end of the backward that runs now or comes next."""
        if not callable(hook):
            raise TypeError(
                f"_add_backward_final_hook: expected a function, but got {type(hook).__name__}. "
                "Give one that takes nothing."
            )
        tracer.final_hooks = (*tracer.final_hooks, hook)


_LAYOUT = "Undefined(AnyLayout)"


def _all_ops() -> list[Op]:
    """The declared ops and the gradient ops that follow from them."""
    gradients = [op.grad_op for op in OPS.values() if op.vjp_rule is not None]
    return [*OPS.values(), *gradients]


def _get_registered_phi_kernels(kernel_registered_type: str = "function") -> dict[str, list[str]]:
    """phi op -> the keys of its kernels, as "(backend, layout, dtype)".

    Args:
        kernel_registered_type: "function" or "all"; "structure" gives nothing, as every kernel
            here is a function.

    Raises:
        ValueError: it is none of these.
    """
    kind, known = kernel_registered_type, ("function", "structure", "all")
    require_one_of("_get_registered_phi_kernels", "kernel_registered_type", kind, known)
    if kernel_registered_type == "structure":
        return {}
    return {
        op.name: [f"({key.backend.upper()}, {_LAYOUT}, {key.dtype})" for key in op.kernels.kernels]
        for op in _all_ops()
    }


def _get_all_register_op_kernels(lib: str = "all") -> dict[str, list[str]]:
    """The op types of classic Programs -> the keys of their kernels.

    Args:
        lib: "phi" or "all"; "fluid" gives nothing: older than phi, it has no kernels any more.

    Raises:
        ValueError: it is none of these.
    """
    require_one_of("_get_all_register_op_kernels", "lib", lib, ("phi", "fluid", "all"))
    found: dict[str, list[str]] = {}
    for op in _all_ops() if lib != "fluid" else ():
        keys = found.setdefault(compat_of(op.name).type, [])
        keys += [_as_op_kernel(key) for key in op.kernels.kernels]
    return found


def _as_op_kernel(key: KernelKey) -> str:
    return f"{{data_type[{key.dtype}]; data_layout[{_LAYOUT}]; place[Place({key.backend})]}}"


def get_all_op_names() -> list[str]:
    """The op types that a classic Program may have."""
    return list(_get_all_register_op_kernels())


def op_support_gpu(op_type: str) -> bool:
    """Is there a kernel of this phi op that runs on a GPU?

    Raises:
        KeyError: there is no such op.
    """
    keys = find_op(op_type).kernels.kernels
    return is_compiled_with_cuda() and any(key.backend in ("ALL", "gpu") for key in keys)
