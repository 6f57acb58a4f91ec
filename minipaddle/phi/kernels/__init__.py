"""Pieces that several kernels share. A kernel itself stands with its op, in phi/ops/.

    bessel        the modified Bessel functions for arrays
    erf           the error function for arrays
    gamma         the gamma function's relatives for arrays
    im2col        a convolution as a matrix product
    interpolate   which numbers count for a place of a resized image, and how much
    normalize     rows with mean 0 and variance 1, and the way back
    pooling       pooling along one axis at a time
    windows       where a kernel of a convolution or of a pooling lies on its input, along one axis

Paddle: paddle/phi/kernels/funcs/.
"""
