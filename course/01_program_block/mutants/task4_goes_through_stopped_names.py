from collections import Counter, defaultdict

stopped = set(stopped)
for one in ops:
    if stopped.issuperset(one.inputs):
        stopped.update(one.outputs)
if loss in stopped:
    raise ValueError(f"backward_ops: expected a loss that needs a gradient, but got {loss!r}.")
path, reached = [], {loss}
for one in reversed(ops):
    if reached.issuperset(one.outputs):
        reached.update(one.inputs)
        if not stopped.issuperset(one.inputs):
            path.append(one)
expected = Counter(name for one in path for name in one.inputs if name not in stopped)
pieces = defaultdict(list)

def piece(name):
    if name in stopped:
        return ""
    grad = f"{name}@GRAD"
    if expected[name] > 1:
        grad += f"@RENAME@{len(pieces[name])}"
    pieces[name].append(grad)
    return grad

made = [Op("ones_like", [loss], [f"{loss}@GRAD"])]
for one in path:
    made.append(grad_op(one, [piece(name) for name in one.inputs]))
    for name in dict.fromkeys(one.inputs):
        if expected[name] > 1 and len(pieces[name]) == expected[name]:
            made.append(Op("sum", pieces[name], [f"{name}@GRAD"]))
return made
