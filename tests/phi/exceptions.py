"""Where minipaddle differs from real Paddle, and why. Every line has its reason; there are no others.
"""
