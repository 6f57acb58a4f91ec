"""The ops, declared. Importing this package fills the registry `minipaddle.phi.core.op.OPS`.

Paddle: paddle/phi/ops/yaml/ and paddle/phi/kernels/.
"""

from minipaddle.phi.ops import (
    activation,
    conv,
    creation,
    indexing,
    linalg,
    logic,
    loss,
    manipulation,
    math,
    norm,
    optimizer,
    pooling,
    random,
    reduction,
    search,
)
