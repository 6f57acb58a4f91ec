"""Pieces that several kernels share. A kernel itself stands with its op, in phi/ops/.

Paddle: paddle/phi/kernels/funcs/.
"""
