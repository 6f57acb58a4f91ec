"""new_executor: from a list of instructions to one Python function.

Both kinds of program (base's and pir's) are lowered to the same instructions.

    control_flow         `if` and `while`, instructions that run instructions, and their gradients
    dependency_builder   which instructions must have run before another may start
    explain              an instruction failed: which op, which inputs, who appended it
    feed                 what a user gives to a run, checked against what the program asks for
    instruction          one op of a program, ready to run; a list of them knows when values die
    interpreter          writes an InstructionList as one Python function, and compiles it
    parallel             runs instructions side by side, on several threads
    scope                where variables live between runs: parameters, learning rates

Paddle: paddle/fluid/framework/new_executor/.
"""
