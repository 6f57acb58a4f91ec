"""transpiler: programs that rewrite a program in place.

Paddle: python/paddle/fluid/transpiler/, until version 2.4. Today passes over a graph do such work.
Left out: DistributeTranspiler.
"""

from minipaddle.base.transpiler.memory_optimization_transpiler import (
    ControlFlowGraph,
    MemoryReport,
    memory_optimize,
)

__all__ = ["ControlFlowGraph", "MemoryReport", "memory_optimize"]
