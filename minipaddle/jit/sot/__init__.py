"""sot, symbolic opcode translator: captures a graph by running a function's bytecode on symbols.

    f's bytecode -> OpcodeExecutor -> FunctionGraph (PIR)  -> a compiled graph function
                                   -> Guard                -> when may it be used again?
                                   -> PyCodeGen            -> new bytecode that calls it

    function_graph     the PIR program that a trace fills, and the function compiled from it
    guard              under which conditions a captured graph may be used again
    opcode_executor    runs bytecode on variables instead of objects; one method per opcode
    pycode_generator   writes the new bytecode
    tracker            where a variable came from: how to load it again, how to guard it
    translate          wraps a function so that its graph is captured, cached and used again
    variables          what stands on the symbolic stack instead of the real objects

Paddle: python/paddle/jit/sot/. Real Paddle hooks CPython's frame evaluation in C (PEP 523);
here the function is wrapped.
Left out: graph breaks with resume functions (a function that can't be captured whole runs as
plain Python), loops, side effects.
"""

from minipaddle.jit.sot.translate import StaticFunction, symbolic_translate

__all__ = ["StaticFunction", "symbolic_translate"]
