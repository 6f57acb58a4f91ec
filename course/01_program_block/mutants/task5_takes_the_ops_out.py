written = {name for one in block.ops for name in one.output_arg_names}
needed = {*fetch, *(name for name in written if block.var(name).persistable)}
kept = []
for number in reversed(range(len(block.ops))):
    one = block.ops[number]
    if one.type in SIDE_EFFECTS or needed.intersection(one.output_arg_names):
        kept.append(number)
        needed.difference_update(one.output_arg_names)
        needed.update(one.input_arg_names)
block.ops[:] = [block.ops[number] for number in kept[::-1]]
return kept[::-1], sorted(needed)
