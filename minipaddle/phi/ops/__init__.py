"""The ops, declared. Importing this package fills the registry `minipaddle.phi.core.op.OPS`.

    activation          activations
    batch_norm          batch_norm_: each channel with mean 0 and variance 1 over all images
    control_flow        ops that watch over a program, and that join and part its branches
    conv                convolutions
    creation            ops that make Tensors from nothing but numbers
    diagonal            reading and writing diagonals, a matrix made of one, and their sum
    einsum              sums of products, said in letters
    elementary          functions of one number: roots, exponentials, logarithms, sines, rounding
    fused               ops that only passes make: several ops in one
    gather              reading and writing at places that a Tensor of ints names
    indexing            reading and writing slices of a Tensor
    interpolate         images of another size
    join                several Tensors into one, one Tensor into several, and one Tensor repeated
    linalg              products of matrices
    logic               comparisons, logic, bits, and questions about numbers
    loss                losses
    manipulation        ops that change shape, dtype or order of one Tensor, but no numbers
    math                arithmetic, with two Tensors or with a Tensor and a number
    metric              how many predictions are right
    norm                normalisations: layer_norm, group_norm, instance_norm, rms_norm
    optimizer           optimizer steps as ops
    p_norm              norms: how long a vector is
    pad                 adding a border
    pooling             one number for each window of an image: its maximum or its mean
    random              random numbers
    reduction           one number from many, along some axes or all; cumulative sums
    repeat_interleave   each element several times, side by side
    search              sorting, finding, choosing by a condition
    special             logit, the gamma function's relatives, Bessel's functions

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
    interpolate,
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
    repeat_interleave,
    search,
    special,
)
