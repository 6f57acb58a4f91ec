"""The ops, declared. Importing this package fills the registry `minipaddle.phi.core.op.OPS`.

Paddle: paddle/phi/ops/yaml/ and paddle/phi/kernels/.
"""

from minipaddle.phi.ops import (
    activation,
    batch_norm,
    control_flow,
    conv,
    creation,
    diagonal,
    einsum,
    elementary,
    fused,
    gather,
    indexing,
    join,
    linalg,
    logic,
    loss,
    manipulation,
    math,
    metric,
    norm,
    optimizer,
    p_norm,
    pad,
    pooling,
    random,
    reduction,
    search,
)
