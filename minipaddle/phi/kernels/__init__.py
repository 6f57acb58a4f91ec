"""Pieces that several kernels share. A kernel itself stands with its op, in phi/ops/.

    erf         the error function for arrays
    im2col      a convolution as a matrix product
    normalize   rows with mean 0 and variance 1, and the way back
    pooling     pooling along one axis at a time
    windows     where a kernel of a convolution or of a pooling lies on its input, along one axis

Paddle: paddle/phi/kernels/funcs/.
"""
