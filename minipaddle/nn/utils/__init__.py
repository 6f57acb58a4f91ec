"""utils: what one does with the parameters of a network as a whole.

    clip_grad_norm_        clips the gradients of parameters where they are
    transform_parameters   all parameters as one long vector, and back

Paddle: python/paddle/nn/utils/.
Left out: weight_norm, spectral_norm.
"""

from minipaddle.nn.utils.clip_grad_norm_ import clip_grad_norm_, clip_grad_value_
from minipaddle.nn.utils.transform_parameters import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "vector_to_parameters",
]
