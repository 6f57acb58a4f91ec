from minipaddle.base.prune import prune as framework_prune

written = {name for one in block.ops for name in one.output_arg_names}
names = {*fetch, *(name for name in written if block.var(name).persistable)}
last = {name: n for n, one in enumerate(block.ops) for name in one.output_arg_names}
targets = {last[name] for name in names if name in last}
targets |= {n for n, one in enumerate(block.ops) if one.type in SIDE_EFFECTS}
left = list(framework_prune(block.program.proto, targets, names, set()).blocks[0].ops)
kept, made, needed = [], set(), set()
for n in reversed(range(len(block.ops))):
    if left and left[-1] == block.ops[n].proto:
        kept.append(n)
        left.pop()
kept.reverse()
for n in kept:
    needed |= set(block.ops[n].input_arg_names) - made
    made |= set(block.ops[n].output_arg_names)
return kept, sorted(needed | (set(fetch) - made))
