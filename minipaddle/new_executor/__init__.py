"""new_executor: from a list of instructions to one Python function.

Both kinds of program (base's and pir's) are lowered to the same instructions.

Paddle: paddle/fluid/framework/new_executor/.
"""
