"""autograd: backward from several Tensors, gradients as values, gradients of your own.

    py_layer              PyLayer: an op whose forward and backward are written in Python
    saved_tensors_hooks   what happens to a Tensor when a GradNode keeps it, and when it needs it

Paddle: python/paddle/autograd/.
Left out: jacobian and hessian.
"""

from minipaddle.autograd.py_layer import PyLayer, PyLayerContext
from minipaddle.autograd.saved_tensors_hooks import saved_tensors_hooks
from minipaddle.eager import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from minipaddle.eager.backward import backward, grad
from minipaddle.eager.dygraph_function import source_of
from minipaddle.pir import ir_backward

__all__ = [
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "grad",
    "ir_backward",
    "is_grad_enabled",
    "no_grad",
    "saved_tensors_hooks",
    "set_grad_enabled",
    "source_of",
]
