from minipaddle.base.framework_proto import ProgramDesc

try:
    program = ProgramDesc.FromString(data)
except Exception as error:
    raise ValueError("rename: no ProgramDesc") from error
for block in program.blocks:
    for variable in block.vars:
        variable.name = new if variable.name == old else variable.name
    for one in block.ops:
        for slot in [*one.inputs, *one.outputs]:
            slot.arguments[:] = [new if name == old else name for name in slot.arguments]
return program.SerializeToString()
