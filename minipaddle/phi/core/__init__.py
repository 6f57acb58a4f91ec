"""What an op is, what a kernel is, and how a call finds the world that carries it out.

    append           what both kinds of program do with an op's inputs before they append it
    attribute        the kinds of attributes that an op can have, and how a user's value becomes one
    backward         what the gradient of one op reads and gives, in both kinds of program
    derived          the kernels that follow from a declaration: `<op>_grad` and `<op>_`
    generator        the random generator of all random ops; `paddle.seed`
    kernel           the functions that compute, and how the right one is found
    meta_tensor      MetaTensor: a Tensor without data
    op               the declaration of an op: everything that is known about it
    signature        which inputs and attributes an op has, read off its kernel
    symbolic         what a Variable and a Value have in common; the programs that are built now
    type_promotion   the dtype in which two Tensors of different dtypes are combined
    vjp              the gradient rule of an op, and how it is bound
    world            what it means to call an op: in dygraph, in a Program, in PIR

Paddle: paddle/phi/core/.
"""
