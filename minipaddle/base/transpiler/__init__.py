"""transpiler: programs that rewrite a program in place.

    memory_optimization_transpiler   memory_optimize: a variable takes over a dead one's memory

Paddle: python/paddle/fluid/transpiler/ in Paddle 1.x. Today passes over a graph do such work.
Left out: DistributeTranspiler.
"""

from minipaddle.base.transpiler.memory_optimization_transpiler import MemoryReport, memory_optimize

__all__ = ["MemoryReport", "memory_optimize"]
