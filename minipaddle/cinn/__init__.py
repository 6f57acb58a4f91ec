"""cinn: groups of element-by-element operations become one kernel.

    compute    what one element of the result is: an expression, from the operations' declarations
    schedule   how the loop runs over the elements: here numba's vectorize, compiled to machine code

    fusion   finds groups of operations, and writes one loop for each

Paddle: paddle/cinn/. The CPU wheel of Paddle 3.3 is built without it.
Left out: reductions in a group, schedules of one's own, GPU kernels.
"""

from minipaddle.cinn.fusion import FusionGroup, compile_group, find_groups

__all__ = ["FusionGroup", "compile_group", "find_groups"]
