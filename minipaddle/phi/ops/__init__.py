"""The ops, declared. Importing this package fills the registry `minipaddle.phi.core.op.OPS`.

Paddle: paddle/phi/ops/yaml/ and paddle/phi/kernels/.
"""

from minipaddle.phi.ops import (
    activation,
    creation,
    linalg,
    loss,
    manipulation,
    math,
    optimizer,
)

__all__ = ["activation", "creation", "linalg", "loss", "manipulation", "math", "optimizer"]
