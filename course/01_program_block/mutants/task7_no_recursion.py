seen, read, written, body = set(known), set(op.inputs), set(), []
for one in op.body:
    for name in one.inputs:
        if name not in seen:
            raise ValueError(f"complete: expected a known name, but {one.type} reads {name!r}.")
    body.append(one)
    read.update(one.inputs)
    written.update(one.outputs)
    seen.update(one.outputs)
(condition,) = op.inputs
if condition not in known:
    raise ValueError(f"complete: expected a known condition, but got {condition!r}.")
outputs = written & set(known)
if op.type == "while" and condition not in outputs:
    raise ValueError(f"complete: expected a body that writes {condition!r}. It never ends.")
others = ((read & set(known)) | outputs) - {condition}
return Op(op.type, [condition, *sorted(others)], sorted(outputs), body)
