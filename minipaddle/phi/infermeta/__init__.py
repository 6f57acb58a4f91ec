"""InferMeta rules: shapes and dtypes of an op's outputs, and the error messages when its inputs
don't fit.

    binary      InferMeta rules of ops with two Tensor inputs
    conv        InferMeta rules of convolutions, unfold and fold
    enforce     checks that many rules share: axes, shapes, dtypes
    indexing    InferMeta rules of ops that read or write parts of a Tensor
    loss        InferMeta rules of losses
    norm        InferMeta rules of normalisations
    pooling     InferMeta rules of poolings, and the windows that their attributes describe
    reduction   InferMeta rules of reductions
    unary       InferMeta rules of ops with one Tensor input

Paddle: paddle/phi/infermeta/.
"""
