program = program_of(ops)
block = program.global_block()
for name in block.vars:
    block.var(name).stop_gradient = name in stopped
before = len(block.ops)
paddle.static.append_backward(block.var(loss))
made = [Op("ones_like", [loss], [f"{loss}@GRAD"])]
kinds = {"elementwise_add_grad": "add_grad", "elementwise_mul_grad": "multiply_grad"}
kinds.update({"reduce_mean_grad": "mean_grad", "matmul_v2_grad": "matmul_grad"})
for one in block.ops[before + 1 :]:
    inputs, outputs = one.input_arg_names, [name or "" for name in one.output_arg_names]
    made.append(Op(kinds.get(one.type, one.type), inputs, outputs))
return made
