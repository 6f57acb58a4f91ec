"""The data structures of PIR: types, attributes, values, operations, blocks, programs.

    attribute    attributes of operations; each exists once
    block        Block and Program: operations in order
    builder      where new operations go, and how a call of an op becomes one
    constant     values whose contents are known before the program runs
    dialect      families of operations, and what is known about each of them
    ir_parser    IrParser: reads the text that IrPrinter writes
    ir_printer   IrPrinter: a program as text, in Paddle's format
    operation    Operation: a name, operands, attributes, results
    type         types of values; each exists once
    value        Value: who made it, and everybody who reads it
    vector       lists of values: builtin.combine and builtin.split
    verify       is this program well formed?

Paddle: paddle/pir/include/core/.
"""
