# %% [markdown]
# # 1.2 What does a program hold, and what not?
#
# In lesson 1.1 you read a Program as text. But a Program also travels: into a file, to another machine, from Python into the C++ that runs it. For that it has a form that belongs to no
# language: a **description**, in bytes.
# **What stands in these bytes? And what doesn't: where, for example, are the weights of a network?**
#
# Time: 25 minutes. You need: lesson 1.1. You will use it in: [1 · exercise](exercise.ipynb), task 6.

# %% [markdown]
# ## Two programs
# A network has weights, and somebody must give them their first numbers, once. The work on a batch of data is done again and again. So Paddle writes **two** programs at the same time: the
# **startup** program is run once, the **main** program for each batch.

# %%
import numpy as np

import minipaddle as paddle
from minipaddle import viz

paddle.enable_static()


def network(inputs, outputs):
    """A function that writes mean(x @ w), with a weight w [inputs, outputs]."""

    def write():
        x = paddle.static.data("x", [-1, inputs], "float32")
        half = paddle.nn.initializer.Constant(0.5)
        w = paddle.static.create_parameter(
            [inputs, outputs],
            "float32",
            attr=paddle.ParamAttr("w", half),
        )
        paddle.mean(x @ w)

    return write


# %% [markdown]
# ## Predict
# `create_parameter` is one call, and two programs are open. **Write down:**
# 1. In which of the two does a variable `w` appear? In which is the op that makes its numbers?
# 2. A program can be turned into bytes. A float32 has 4 of them. How much longer are the bytes of a main program with a weight of 3000 x 2000 than those of one with 3 x 2?
#
# The player runs `write()` line by line.

# %%
with paddle.pir_utils.OldIrGuard(), paddle.utils.unique_name.guard():
    main, startup = paddle.static.Program(), paddle.static.Program()
    player = viz.growth_steps(network(3, 2), main, startup)
player


# %%
def programs(write):
    """The main program and the startup program of what write() writes."""
    with paddle.pir_utils.OldIrGuard(), paddle.utils.unique_name.guard():
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            write()
    return main, startup


def length(write):
    return len(programs(write)[0].serialize_to_string())


main, startup = programs(network(3, 2))
more = length(network(3000, 2000)) - length(network(3, 2))
print(f"3000 x 2000 takes {more} bytes more than 3 x 2")

# %% [markdown]
# `w` is in **both**. In main it is only announced: a name, a shape, a dtype. In startup it is announced too, and there is the op `fill_constant`, which writes it.
#
# And 6 million weights more cost a handful of bytes: those for writing "3000" and "2000" where "3" and "2" stood. **A Program holds no numbers of a weight.** It holds the recipe.
#
# ## Where the numbers are
# When the Executor runs the startup program, `fill_constant` writes `w`, and `w` is *persistable*: it outlives the run. It goes into the **Scope**, a dictionary from names to
# arrays that belongs to no program.

# %%
executor = paddle.static.Executor()
scope = paddle.static.global_scope()
print("before:", scope.find_var("w"))
executor.run(startup)
print("after: ", np.array(scope.find_var("w").get_tensor()).tolist())

# %% [markdown]
# The two programs have no other connection than this: both say `w`, and the Scope has something under this name.
#
# ## Predict
# `other` is a second network, written by the same lines. Its startup program is never run. Then we write 2.0 into the Scope, under `w`. **Write down what the four lines print**: a number,
# or an error? (`x` is all ones, so mean(x @ w) is three times the weight.)

# %%
other, _ = programs(network(3, 2))
feed = {"x": np.ones([4, 3], "float32")}


def loss_of(program):
    try:
        (loss,) = executor.run(program, feed=feed, fetch_list=["mean_0.tmp_0"])
        return float(loss)
    except RuntimeError as error:
        return str(error).partition(".")[0]


print("main                ", loss_of(main))
print("other               ", loss_of(other))
scope.find_var("w").get_tensor().set(np.full([3, 2], 2.0, "float32"), paddle.CPUPlace())
print("other, w is now 2.0 ", loss_of(other))
with paddle.static.scope_guard(paddle.static.Scope()):
    print("main, another Scope:", loss_of(main))

# %% [markdown]
# - `other` runs without a startup of its own: the name is enough. This is how a training program and a test program share their weights. It is also how two networks share
#   them *by accident*, if you give both parameters the same name. (That is why `unique_name` numbers the names that you don't choose.)
# - A program can't tell who wrote `w`: a startup program, a file, or you. To load saved weights is to fill the Scope.
# - In a new Scope there is no `w`. (The message goes on: "Run the startup program first". Everyone meets it once.)
#
# | | lives in | example |
# |---|---|---|
# | what shall be computed | the Program: bytes, can be saved and sent | ops, attributes, names, shapes |
# | what lives from run to run | the Scope | weights, the optimizer's state, the learning rate |
# | what lives in one run | the run itself; freed at its last use (lesson 1.4) | `x`, `tmp_0` |
#
# ## The four messages
# The bytes are written by **protobuf**, a format for messages with numbered fields. Four matter here, one within the other:
#
# | message | its fields, with their numbers |
# |---|---|
# | `ProgramDesc` | `blocks` 1, `version` 4 |
# | `BlockDesc` | `idx` 1, `parent_idx` 2, `vars` 3, `ops` 4, `forward_block_idx` 5 |
# | `VarDesc` | `name` 1, `type` 2, `persistable` 3, `need_check_feed` 4, `is_parameter` 5, `stop_gradient` 6 |
# | `OpDesc` | `inputs` 1, `outputs` 2, `type` 3, `attrs` 4, `is_target` 5 |
#
# In minipaddle a `Variable` is a thin Python object around its VarDesc: all that it knows stands in there, in `x.proto`. This is `x`:

# %%
x = main.global_block().var("x")
print(x.proto)

# %% [markdown]
# ## Byte by byte
# In the bytes there are no field *names*, only numbers. Before each value stands one byte (field numbers above 15 need more), the **key**: field number × 8 + kind. Kind 0 is a whole number, kind 2 is "a length, and so many
# bytes": a text, or another message. A whole number is written as a **varint**: in groups of 7 bits, the lowest first; the top bit of a byte says "more follows". So small numbers take one byte.
#
# This is a whole reader. It needs the list of fields (`message.DESCRIPTOR`) only to say their names.


# %%
def number(data, at):
    """Reads a varint. Returns the number, and where it ends."""
    value = shift = 0
    while data[at] >= 128:
        value, shift, at = value | (data[at] - 128) << shift, shift + 7, at + 1
    return value | data[at] << shift, at + 1


def fields(data, at, end, descriptor, depth=0):
    """Yields (first byte, end, depth, name, value) of each field in data[at:end]."""
    while at < end:
        start = at
        key, at = number(data, at)
        field = descriptor.fields_by_number[key // 8]
        value, at = number(data, at)  # kind 0: the value; kind 2: the length
        if key % 8 == 0:
            yield start, at, depth, field.name, value
        elif field.message_type:
            yield start, at, depth, field.name, f"a message of {value} bytes"
            yield from fields(data, at, at + value, field.message_type, depth + 1)
        else:
            yield start, at + value, depth, field.name, data[at : at + value].decode()
        at += value if key % 8 == 2 else 0


# %% [markdown]
# ## Predict
# The description of `x` has 34 bytes: a name of one letter, a dtype, two sizes (-1 and 3), four yes-or-no flags, and messages around them. **Which part takes the most bytes?** Then step through. (On the left, the number before each colon says where in the 34 bytes a part begins.)

# %%
data = x.proto.SerializeToString()
steps, lines, rows = [], [], []
for start, end, depth, name, value in fields(data, 0, len(data), x.proto.DESCRIPTOR):
    lines.append(f"{start:2}: {data[start:end].hex(' ')}")
    rest = [f"{end:2}: {data[end:].hex(' ', 8)}"] if end < len(data) else []
    rows.append([f"{'. ' * depth}{name}", data[start] // 8, data[start] % 8, value])
    shown = viz.text(lines + rest, highlight=len(lines), name="Bytes; last line: not read yet")
    columns = ["field", "number", "kind", "value"]
    table = viz.table(columns, rows, highlight=len(rows) - 1, name="What they say")
    steps.append(viz.step(f"Byte {start}: {name}", shown, table))
viz.Player(steps, label="The description of x")

# %% [markdown]
# The size -1, with its key, takes 11 of the 34 bytes. A negative number is written as a 64-bit number with all its upper bits set, and in groups of 7 bits that makes ten bytes. (The value that our small reader shows, 18446744073709551615, is
# 2⁶⁴ − 1: the same bits, read without a sign.)
#
# `type: 7` is `DENSE_TENSOR` and `data_type: 5` is `FP32`: enums are numbers too. Why such a form? A field that a reader does not know
# can be skipped, because its kind says how long it is. So an old Paddle can read a new file, and the other way round. Therefore a field's number must never change, and nobody gives a removed field's number to a new one.
#
# ## What an op looks like
# The same for the `matmul_v2`, now as text. `op_callstack`, if an op has it, is left out: it names files on your machine.

# %%
op = main.global_block().ops[0]
for field, item in op.proto.ListFields():
    if field.name in ("inputs", "outputs"):
        print(field.name, {slot.parameter: list(slot.arguments) for slot in item})
    elif field.name == "attrs":
        shown = [(attr.name, attr.type) for attr in item if attr.name != "op_callstack"]
        print("attrs, each with its kind", *sorted(shown), sep="\n    ")
    else:
        print(field.name, repr(item))

# %% [markdown]
# An attribute says its own kind (0 is INT, 2 STRING, 5 STRINGS, 6 BOOLEAN, 8 BLOCK: the number of another block). The inputs are **names** only. Not a pointer, not an object. Whoever has the bytes
# must find out by name who wrote `w`; that is what makes a description easy to send, and what makes it slow and risky to change. (Module 3 starts with this.)
#
# ## There and back
# **Predict:** we turn `main` into bytes, the bytes into a Program, and print it. Is the text the same? Does the copy run? What is lost?

# %%
copy = type(main).parse_from_string(main.serialize_to_string())
print("same text: ", str(copy) == str(main))
print("same bytes:", copy.serialize_to_string() == main.serialize_to_string())
print("its loss:  ", loss_of(copy))

# %% [markdown]
# Nothing is lost, because nothing else was there. Think of what *was* there when you wrote the program, and never went in: your Python variables `x` and `half`, a Python `if` or `for` around the ops (the
# program only has the ops that came out), the data, what you feed and fetch, the numbers of `w`.
#
# ## A program without an API
# If a Program is nothing but its description, then nobody needs `static.data` or `@` to make one. Let us fill in the messages by hand. InferMeta is not asked here, so we can write what we like: the
# shape of the result, `c`, is a lie.
#
# **Predict:** does it run? If so, what comes out: an error about the shape, 7 numbers, or `[2, 4]`?

# %%
from minipaddle.base.framework_proto import ProgramDesc

desc = ProgramDesc()
block = desc.blocks.add(idx=0, parent_idx=-1, forward_block_idx=-1)
for name, shape in {"a": [2, 3], "b": [3, 4], "c": [7]}.items():
    tensor = block.vars.add(name=name, type={"type": 7}).type.dense_tensor.tensor
    tensor.data_type = 5
    tensor.dims.extend(shape)
matmul = block.ops.add(type="matmul_v2")
matmul.inputs.add(parameter="X", arguments=["a"])
matmul.inputs.add(parameter="Y", arguments=["b"])
matmul.outputs.add(parameter="Out", arguments=["c"])

by_hand = type(main).parse_from_string(desc.SerializeToString())
arrays = {"a": np.ones([2, 3], "float32"), "b": np.ones([3, 4], "float32")}
(c,) = executor.run(by_hand, feed=arrays, fetch_list=["c"])
print("described:", list(by_hand.global_block().var("c").shape), " came out:", list(c.shape))

# %% [markdown]
# It runs, and `[2, 4]` comes out. The shape in a description is a *note* that InferMeta made while the program was written. It is useful to the person who writes on (the next op needs it), but a run has the arrays
# themselves. So don't rely on `shape` in a program that came from elsewhere: what was noted may be old, or -1.
#
# The inputs are different: `need_check_feed`, field 4 of a VarDesc, asks the Executor to compare what you feed with the note. (Ours compares in any case.)
#
# ## In Paddle itself
# The bytes that we have just made by hand, given to both. (The snippet contains them.)

# %%
from minipaddle.compare import both

both(
    f"""
    data = {desc.SerializeToString()!r}
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        program = type(paddle.static.Program()).parse_from_string(data)
        feed = {{"a": np.ones([2, 3], "float32"), "b": np.ones([3, 4], "float32")}}
        (c,) = paddle.static.Executor().run(program, feed=feed, fetch_list=["c"])
    block = program.global_block()
    print("described:", list(block.var("c").shape), " came out:", list(c.shape))
    print("names:", list(block.vars), " ops:", [op.type for op in block.ops])
    """,
    same=True,
)

# %% [markdown]
# Real Paddle reads our bytes and falls for the same lie. Now the other direction: real Paddle builds the network and prints its bytes, as hexadecimal digits; we read them here. (`_remove_attr` takes
# out the call stack.)

# %%
answer = both(
    """
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [-1, 3], "float32")
            w = paddle.static.create_parameter([3, 2], "float32", name="w")
            loss = paddle.mean(x @ w)
        for op in main.global_block().ops:
            op._remove_attr("op_callstack")
        print(main.desc.serialize_to_string().hex())
    """
)
theirs = type(main).parse_from_string(bytes.fromhex(answer.paddle))
print("its loss:", loss_of(theirs))
mine = set(main.global_block().ops[0].attr_names) | {"op_callstack"}
print("only there:", *sorted(set(theirs.global_block().ops[0].attr_names) - mine))

# %% [markdown]
# The same loss, with the weight that lies in our Scope under the name `w`. Paddle's `matmul_v2` brings a few attributes more; they are meant for kernels that we don't have (oneDNN is a library for
# Intel's processors), and an attribute that nobody asks for does no harm.
#
# Startup, main, and the Scope between them:

# %%
both(
    """
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [-1, 3], "float32")
            half = paddle.nn.initializer.Constant(0.5)
            w = paddle.static.create_parameter([3, 2], "float32", default_initializer=half, name="v")
            loss = paddle.mean(x @ w)
        exe, scope = paddle.static.Executor(), paddle.static.global_scope()
        exe.run(startup)
        for number in (0.5, 2.0):
            scope.find_var("v").get_tensor().set(
                np.full([3, 2], number, "float32"), paddle.CPUPlace()
            )
            print(exe.run(main, feed={"x": np.ones([4, 3], "float32")}, fetch_list=[loss])[0])
        for program in (main, startup):
            print([var.name for var in program.list_vars()], end=" ")
            print([op.type for op in program.global_block().ops])
    """,
    same=True,
)

# %% [markdown]
# Where to read on in Paddle's source:
#
# | here | in Paddle |
# |---|---|
# | `minipaddle/base/framework_proto.py` | `paddle/fluid/framework/framework.proto`: the messages; read it from the end |
# | `minipaddle/base/op_desc.py` | `paddle/fluid/framework/op_desc.h`, `attribute.h` |
# | `minipaddle/base/variable.py`: a Variable around its VarDesc | `paddle/fluid/framework/var_desc.h`, and `Variable` in `python/paddle/base/framework.py` |
# | `_create_parameter` in `minipaddle/base/__init__.py` | `python/paddle/base/layer_helper_base.py`: `create_parameter` writes into both programs |
# | `minipaddle/new_executor/scope.py` | `paddle/fluid/framework/scope.h` |
#
# ## What we left out
# Paddle's ProgramDesc also has `op_version_map`: for each op the version of its definition, so that a later Paddle can bring an old program up to date. A VarDesc can describe more than dense tensors: arrays of tensors,
# sparse rows, readers. And in real Paddle, a program lives twice, in Python and in C++: `main.desc` is a C++ object, and Python's `Variable` holds a pointer to it. Here `main.desc` has the same methods (`minipaddle/base/desc.py`), but only looks at what Python holds.
# Saving a program *with* its weights is lesson [1.7](07_programs_that_rewrite_programs.ipynb).
#
# **Next**: [1.3](03_from_an_op_to_a_kernel.ipynb) follows one op from its name to the function that computes. Task 6 of [1 · exercise](exercise.ipynb) renames a variable in these bytes, and leaves everything else as it is. Whenever you add an attribute to an op
# in Paddle, it becomes part of files that people keep: that is why there are op versions, and why reviewers ask about them.

# %%
paddle.disable_static()
