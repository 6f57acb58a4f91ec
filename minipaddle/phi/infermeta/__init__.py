"""InferMeta rules: shapes and dtypes of an op's outputs, and the error messages when its inputs
don't fit.

Paddle: paddle/phi/infermeta/.
"""
