"""The data structures of PIR: types, attributes, values, operations, blocks, programs.

Paddle: paddle/pir/include/core/.
"""
