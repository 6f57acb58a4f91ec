"""Where minipaddle differs from real Paddle, and why. Every line has its reason; there are no others.

A test that uses one of these tables also checks that the exception is still needed where it can.
"""

# Ops whose gradient has no gradient here: the rule calls an op that has none.
NO_SECOND_GRADIENT: dict[str, str] = {}
