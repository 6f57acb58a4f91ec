# %% [markdown]
# # 3.1 Why a new IR?
#
# A compiler person says **IR**, *intermediate representation*, for the form that a program has between your Python code and the kernels. A classic `Program`
# (lesson 1.1) is one: ops that read and write named variables. It has carried Paddle for years. Still, Paddle 3 builds another one by default: **PIR**, short for
# Paddle IR. **What can a Program not say?**
#
# Time: 30 minutes. You need: lesson 1.1. You will use it in: [3 · exercise](exercise.ipynb), and in every lesson about passes.

# %% [markdown]
# ## One question to a Program
# Here is a classic Program of four ops. The third op writes into `h`, which exists already: the name is used again. Paddle allows it, and it saves memory.

# %%
import minipaddle as paddle
from minipaddle import viz

paddle.enable_static()

with paddle.pir_utils.OldIrGuard():  # inside: classic Programs, as in lesson 1.1
    old = paddle.static.Program()
    with paddle.static.program_guard(old):
        x = paddle.static.data("x", [1, 3], "float32")
        h = paddle.nn.functional.relu(x)
        s = h + x
        old.global_block().append_op(type="relu", inputs={"X": [s]}, outputs={"Out": [h]})
        out = h + s


def line(op):
    return f"{', '.join(op.output_arg_names)} = {op.type}({', '.join(op.input_arg_names)})"


ops = old.global_block().ops
for number, op in enumerate(ops, 1):
    print(number, line(op))

# %% [markdown]
# ## Predict
# You want to improve this program. To remove or replace an op, you must know who reads its result.
# **Write down: which ops read the result of op 1? And which would you find if you searched for its name?**

# %%
written = ops[0].output_arg_names[0]
print("op 1 writes", written)
print("found by name:", [n for n, op in enumerate(ops, 1) if written in op.input_arg_names])

# %% [markdown]
# The search finds ops 2 and 4. Now run the program, and see what op 4 finds under that name. Watch the row of `relu_0.tmp_0`, above all at line 3.

# %%
import numpy as np

viz.executor_steps(old, {"x": np.array([[-1, 2, 3]], "float32")}, [out])

# %% [markdown]
# Only op 2 is right. Line 3 puts another array into the same row, so op 4 reads *that* one.
#
# A name is a box, not a value. To ask "who reads this result?", you must walk from the writer to the next writer of the same name, through the whole block, for
# every question. Each program that rewrites programs had to do that, and where one forgot it, the numbers came out wrong, without an error.
#
# Three things are missing in a Program:
#
# | a Program has | so it can't say |
# |---|---|
# | names that can be written twice | which result an op reads |
# | no list of readers | whether a result is still needed |
# | shape and dtype on the *name* | what type each result had, once the name is written again |

# %% [markdown]
# ## The same model as PIR
# Outside of `OldIrGuard`, the same calls build a PIR program. There is no way to write into `h`: each call gives a new **Value**.

# %%
main = paddle.static.Program()
with paddle.static.program_guard(main):
    x = paddle.static.data("x", [1, 3], "float32")
    h1 = paddle.nn.functional.relu(x)
    s = h1 + x
    h2 = paddle.nn.functional.relu(s)
    out = h2 + s
    paddle._pir_ops.fetch(out, "out", 0)  # "I want this one"

film = viz.ProgramFilm(main)
picture = film.take("One model, two programs", "Program: boxes with names. IR text: values.")
classic = viz.text([line(op) for op in ops], language="program", name="Program")
value_graph, ir_text = picture["panes"]
viz.Player(viz.step(picture["title"], value_graph, classic, ir_text, note=picture["note"]))

# %% [markdown]
# Read one line of PIR from left to right:
#
#     (%2) = "pd_op.add" (%1, %0) -> tensor<1x3xf32>
#
# - `(%2)`: the **result**, a Value. It has a number, not a name. Numbers are given when the program is printed.
# - `"pd_op.add"`: the **operation**. `pd_op` is its *dialect*, the family that it belongs to.
# - `(%1, %0)`: the **operands**, the values that it reads.
# - `tensor<1x3xf32>`: the **type** of the result: sizes and dtype. It belongs to the value, so it can never be overwritten.
#
# Every value is written exactly once. This rule has a name: **SSA**, *static single assignment*. `%1` is one result of one operation, forever.
#
# The full text says more. Two parts are missing in our picture: the attributes in braces, and the operands' types.

# %%
for part in str(main).splitlines()[3].split(" : "):
    print(part.strip())

# %% [markdown]
# **Operand or attribute?** What is computed is an operand. What is fixed when the program is built is an attribute, like `stop_gradient` here.
# Some numbers could be either: the 2.0 of `scale(x, 2.0)`, say. A Program keeps two places for it, an attribute and an input called `ScaleTensor`, and everybody who reads the
# op must look into both. PIR has one place: an operand.
#
# **Predict**: how many operations does `scale(x, 2.0)` add to a PIR program? Real Paddle's answer stands beside ours, where it is installed.

# %%
from minipaddle.compare import real_paddle


def scaled(paddle):
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        paddle.scale(paddle.static.data("x", [2, 3], "float32"), 2.0)
    return main


programs = {"minipaddle": scaled(paddle)}
if real := real_paddle():
    programs["real Paddle"] = scaled(real)
graphs = [{**viz.program_step(p)["panes"][0], "name": name} for name, p in programs.items()]
viz.Player(viz.step("A number is a value too", *graphs, note="scale has two operands."))

# %% [markdown]
# Two: a small operation makes the number (`pd_op.full`), and `scale` reads it.
#
# ## Use-def chains
# Now ask the question again. A Value knows its maker (the *def*) and its readers (the *uses*). A use is an `OpOperand`: "operand number i of this operation".

# %%
print("h1 is made by", h1.get_defining_op().name())
print("h1 is read by", [(use.owner().name(), use.index()) for use in h1.uses()])
print("s  is read by", [(use.owner().name(), use.index()) for use in s.uses()])
print("is anybody reading out?", not out.use_empty())
print("one type object for both:", h1.type() is h2.type(), h1.type())

# %% [markdown]
# No search, no walk: one look. And because the lists are kept up to date at each edit, they can be trusted.
#
# ## Predict
# We will now edit the program: put a `tanh` where the first `relu` is. Three edits: **insert** `tanh`, let all readers of `h1` read the new value, **erase** `relu`.
# **Write down: how many operands change in the second edit? What would happen if the third edit came before the second?**

# %%
import textwrap

film = viz.ProgramFilm(main, uses=True)
film.take("Before", "relu (%1) is read by one operand of one operation.")

with paddle.static.program_guard(main):
    paddle.pir.set_insertion_point(h1.get_defining_op())
    new = paddle.tanh(x)
film.take("Insert tanh", "It stands before relu. Nobody reads it yet. x has one more use.")
try:
    h1.get_defining_op().erase()
except Exception as error:
    print(textwrap.fill(f"{type(error).__name__}: {error}", 96))

# %% [markdown]
# An operation whose result is in use can't be erased: somebody would read a value that nobody makes. minipaddle raises an error. *Real Paddle ends the whole process here
# (abort), so don't try it there.* First move the readers, then erase:

# %%
h1.replace_all_uses_with(new)
film.take(
    "replace_all_uses_with", "The reader of relu reads tanh now. Both use lists have followed."
)
h1.get_defining_op().erase()
film.take("Erase relu", "It had no reader any more. x has one use less.")
film.take("After", "Every value is made before it is read.")
main.verify()
viz.Player(film.steps)

# %% [markdown]
# Step through it. Green lines are new, red ones have gone; the table shows the use lists. The player keeps the old numbers so that you can follow
# them; `print(main)` would number again. One operand changed, in one line. In a large model it could be a hundred, and
# `replace_all_uses_with` would be the same single call.
#
# Insert, replace all uses, erase: nearly every rewriting in Paddle is made of these three edits. You will build one in the exercise.

# %% [markdown]
# ## The text can be read back
# What minipaddle prints is all there is in a PIR program. So a program can be read back from its text.

# %%
copy = paddle.pir.parse_program(str(main))
print("same text again:", str(copy) == str(main))
print("same values:", copy.global_block().ops[1].result(0) is new)

# %% [markdown]
# The copy is equal, and has values of its own. A text that breaks SSA is refused, with the place:

# %%
broken = str(main).replace('(%3) = "pd_op.relu" (%2)', '(%3) = "pd_op.relu" (%4)')
try:
    paddle.pir.parse_program(broken)
except Exception as error:
    for part in f"{type(error).__name__}: {error}".splitlines():
        print(textwrap.fill(part, 96))

# %% [markdown]
# ## In Paddle itself
# The same edits, on minipaddle and on real Paddle. First the classic Program with its name that is written twice:

# %%
from minipaddle.compare import both

both(
    """
paddle.enable_static()
with paddle.pir_utils.OldIrGuard():
    old = paddle.static.Program()
    with paddle.static.program_guard(old):
        x = paddle.static.data("x", [2, 3], "float32")
        h = paddle.nn.functional.relu(x)
        s = h + x
        old.global_block().append_op(type="relu", inputs={"X": [s]}, outputs={"Out": [h]})
    for op in old.global_block().ops:
        print(op.output_arg_names, "=", op.type, op.input_arg_names)
""",
    same=True,
)

# %% [markdown]
# Now PIR: ask for readers, insert, move all uses, erase.

# %%
both(
    """
paddle.enable_static()
main = paddle.static.Program()
with paddle.static.program_guard(main):
    x = paddle.static.data("x", [2, 3], "float32")
    h = paddle.nn.functional.relu(x)
    s = h + x
    paddle.pir.set_insertion_point(h.get_defining_op())
    new = paddle.tanh(x)
    paddle.pir.reset_insertion_point_to_end()
print("h is read by", sorted({op.name() for op in h.all_used_ops()}))
h.replace_all_uses_with(new)
print("h is read:", not h.use_empty(), " new is read:", not new.use_empty())
main.global_block().remove_op(h.get_defining_op())
for line in str(main).splitlines()[1:-1]:
    print(line.split(" {")[0].strip(), "->", line.split("-> ")[1])
""",
    same=True,
)

# %% [markdown]
# Where to read on in Paddle's source:
#
# | idea | file | class |
# |---|---|---|
# | a value and its uses | `paddle/pir/include/core/value.h`, `op_operand.h` | `Value`, `OpOperand` |
# | an operation | `paddle/pir/include/core/operation.h` | `Operation` |
# | the text | `paddle/pir/src/core/ir_printer.cc` | `IrPrinter` |
# | reading it back | `paddle/pir/src/core/parser/ir_parser.cc` | `IrParser` |
# | from a Program to PIR | `paddle/fluid/ir_adaptor/translator/` | `ProgramTranslator` |
#
# Two differences to know: real Paddle's parser can't be reached from Python, so the round trip above works only here; and `Value.uses()` exists in C++, while Python
# has `first_use()` and `all_used_ops()`.
#
# ## What we left out
# Operations that contain blocks (`pd_op.if`, `pd_op.while`), values that a block receives as arguments, and how dialects are declared. Lessons 3.2 to 3.6 will add them.
# In minipaddle all of today's lesson is in `minipaddle/pir/core/value.py` and `operation.py`: a short read, and the names are Paddle's.
#
# **Next**: [3 · exercise](exercise.ipynb). Task 1 follows the chains through a program, which is what `paddle.grad` does before it computes anything. Task 2 rewrites a program with the three edits. Both prepare
# a real kind of contribution: moving an API to PIR, or writing a decomposition rule.
