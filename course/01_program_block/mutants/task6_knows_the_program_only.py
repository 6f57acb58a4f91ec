program = paddle.base.Program.parse_from_string(data)
for block in program.blocks:
    if block.has_var(old):
        block._rename_var(old, new)
return program.serialize_to_string()
