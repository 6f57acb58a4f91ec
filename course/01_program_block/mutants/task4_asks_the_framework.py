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
    inputs = [n.replace("@block0", "") for n in one.input_arg_names]
    if one.type == "sum":
        made.append(Op("sum", inputs, one.output_arg_names))
        continue
    (out,) = [n.removesuffix("@GRAD") for n in one.input("Out@GRAD")]
    (forward,) = [op for op in ops if op.outputs == [out]]
    given = [(one.output(f"{slot}@GRAD") or [""])[0] for slot in "XY"[: len(forward.inputs)]]
    made.append(grad_op(forward, [n.replace("@block0", "") for n in given]))
return made
