"""sot, symbolic opcode translator: captures a graph by running a function's bytecode on symbols.

    f's bytecode -> OpcodeExecutor -> FunctionGraph (PIR)  -> a compiled graph function
                                   -> Guard                -> when may it be used again?
                                   -> PyCodeGen            -> new bytecode that calls it

Paddle: python/paddle/jit/sot/. Real Paddle hooks CPython's frame evaluation in C (PEP 523);
here the function is wrapped.
Left out: graph breaks with resume functions (a function that can't be captured whole runs as
plain Python), loops, side effects.
"""

from minipaddle.jit.sot.translate import StaticFunction, symbolic_translate

__all__ = ["StaticFunction", "symbolic_translate"]
