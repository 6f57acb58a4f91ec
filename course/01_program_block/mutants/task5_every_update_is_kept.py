written = {name for one in block.ops for name in one.output_arg_names}
needed = {*fetch, *(name for name in written if block.var(name).persistable)}
kept = []
for number in reversed(range(len(block.ops))):
    one = block.ops[number]
    updates = any(block.var(name).persistable for name in one.output_arg_names)
    if updates or one.type in SIDE_EFFECTS or needed.intersection(one.output_arg_names):
        kept.append(number)
        needed.difference_update(one.output_arg_names)
        needed.update(one.input_arg_names)
return kept[::-1], sorted(needed)
