made = [Op("ones_like", [loss], [f"{loss}@GRAD"])]
writer = {op.outputs[0]: op for op in ops}


def back(name):
    op = writer.get(name)
    if op is None:
        return
    made.append(grad_op(op, ["" if n in stopped else f"{n}@GRAD" for n in op.inputs]))
    for n in op.inputs:
        if n not in stopped:
            back(n)


back(loss)
return made
