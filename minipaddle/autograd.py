"""autograd: backward from several Tensors. Paddle: python/paddle/autograd/."""

from minipaddle.eager.backward import backward, grad
from minipaddle.eager.dygraph_function import source_of
from minipaddle.pir import ir_backward

__all__ = ["backward", "grad", "ir_backward", "source_of"]
