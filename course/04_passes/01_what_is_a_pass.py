# %% [markdown]
# # 4.1 What is a pass?
#
# You wrote a model. Before it runs, Paddle may rewrite it: drop what nobody needs, turn three operations into one. Each such rewriting is a **pass**, a program that takes a
# program and changes it. **How does a pass know what it may change?**
#
# Time: 25 minutes. You need: lesson 3.1 (values, uses, erase). You will build two passes in [4 · exercise](exercise.ipynb).

# %% [markdown]
# ## A program with work that nobody wants
# One layer of a network. Two lines are left from debugging, and one makes a copy that nobody needs.

# %%
import numpy as np

import minipaddle as paddle
from minipaddle import viz

paddle.enable_static()


def layer(fetch=True):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 3], "float32")
        w = paddle.static.data("w", [3, 4], "float32")
        b = paddle.static.data("b", [4], "float32")
        y = paddle.nn.functional.relu(paddle.matmul(x, w) + b)
        doubled = paddle.scale(y, 2.0)  # forgotten
        paddle.nn.functional.softmax(doubled)  # forgotten
        copied = paddle.assign(y)  # a copy
        if fetch:
            paddle._pir_ops.fetch(copied, "y", 0)  # "I want this one"
    return main


main = layer()
print([op.name() for op in main.global_block().ops])

# %% [markdown]
# ## The smallest pass
# A pass is a class with a name and a `run`. `run` changes the program in place and returns how many places it changed. Here is one that removes copies (`pd_op.assign`): readers of
# the copy can as well read the original. It is made of two edits from lesson 3.1.

# %%
from minipaddle.pir.pass_manager import Pass, register_pass


@register_pass("remove_copies_pass")
class RemoveCopiesPass(Pass):
    def run(self, program):
        copies = [op for op in program.global_block().ops if op.name() == "pd_op.assign"]
        for op in copies:
            op.result(0).replace_all_uses_with(op.operand_source(0))
            op.erase()
        return len(copies)


# %% [markdown]
# ## Predict
# **Write down: how many operations will this pass erase here, and which operation reads another value afterwards?** Then step through it.

# %%
viz.Player(viz.pass_steps(main, ["remove_copies_pass"]))

# %% [markdown]
# One goes, `assign`, and `fetch` reads the result of `relu` now. The player worked on a copy; `main` is as it was.
#
# You don't call `run` yourself. A **PassManager** holds a list of passes and runs them in order. After each pass it checks the program with the *verifier* (is every value
# made before it is read? do the types fit?), and it keeps a record.

# %%
manager = paddle.pir.PassManager()
manager.add_pass("remove_copies_pass", {})
manager.add_pass("dead_code_elimination_pass", {})
manager.run(main)
for record in manager.records:  # a record keeps the text before and after: one operation a line
    before, after = record.before.count(" = "), record.after.count(" = ")
    print(f"{record.name:28s} changed {record.changed}, operations {before} -> {after}")

# %% [markdown]
# The second pass, **dead-code elimination** (DCE), erased three operations. We wrote only two forgotten lines. Which was the third?
#
# ## Predict
# DCE erases an operation if nobody reads its results. But `scale` *is* read: by `softmax`.
# **Write down: in which order should DCE look at the operations, so that one walk is enough? And which three go?**
#
# Then step through it. The sign on a node says how far the walk has come; the table shows who reads each operation *now*. (Here DCE runs alone, so `assign` is still there.)

# %%
viz.Player(viz.dce_steps(layer()))

# %% [markdown]
# From the end. A value is made before it is read, so in program order every reader stands below its maker. A walk upwards has judged all readers of an
# operation before it meets the operation. The third was `full 2`: the 2.0 of `scale` is an operand (lesson 3.1), and its only reader had gone.
#
# ## Who may never go
# `fetch` has no readers either. It stays, because it has a **side effect**: something outside of the program sees what it does. This can't be found out from use lists, so it is
# declared with the operation, as a *trait*. Most operations are `Pure`: they only compute their results.

# %%
from minipaddle.pir.core.dialect import get_op_info

for name in ("pd_op.relu", "pd_op.fetch", "builtin.set_parameter", "pd_op.sgd_"):
    print(f"{name:22s}", sorted(get_op_info(name).traits))

# %% [markdown]
# `set_parameter` stores a parameter, `sgd_` changes one in place. Erase them, and the program still looks fine. It only doesn't train any more.
#
# ## Predict
# **Write down: what is left of the program if nobody fetches `y`?**

# %%
forgotten = layer(fetch=False)
manager.run(forgotten)
print([op.name() for op in forgotten.global_block().ops])

# %% [markdown]
# Everything went but the inputs. That is right: without a fetch, nothing in this program can be seen from outside. People meet this when they run passes on a program of their
# own: first say what you want, then optimise.
#
# ## When a pass is wrong
# This pass moves the last operation to the front. The manager notices, and says which pass it was:


# %%
import textwrap


@register_pass("clumsy_pass")
class ClumsyPass(Pass):
    def run(self, program):
        block = program.global_block()
        block.move_op(block.ops[-1], 0)
        return 1


manager = paddle.pir.PassManager()
manager.add_pass("clumsy_pass", {})
try:
    manager.run(layer())
except Exception as error:
    print(textwrap.fill(f"{type(error).__name__}: {error}", 96))

# %% [markdown]
# What the verifier can *not* see is a program that is well formed and computes something else. So each pass comes with a test: the same inputs, before and after. The rule of
# every pass is: **what can be observed stays the same.**
#
# ## A pass that makes something new
# DCE only erases. A *fusion* replaces several operations by one that does the same faster. The matmul, the add and the relu of a layer become `pd_op.fc` (fully connected): one kernel
# call instead of three, and two arrays less that must be written to memory and read again.
#
# To write that with loops and `if`s is dull, and easy to get wrong. Paddle has a small language for it: **DRR**, *declarative rewrite rules*. You draw what to look for (the source
# pattern), and what shall stand there (the result pattern). Equal names are equal tensors.
#
# **Predict** from the drawing below: which operations of `main` will be marked as the match? And which operation that is *not* in the match reads another value afterwards?

# %%
context = paddle.pir.DrrPatternContext()
pat = context.SourcePattern()
pat.Op("pd_op.matmul")([pat.Tensor("x"), pat.Tensor("w")], [pat.Tensor("product")])
pat.Op("pd_op.add")([pat.Tensor("product"), pat.Tensor("bias")], [pat.Tensor("sum")])
pat.Op("pd_op.relu")([pat.Tensor("sum")], [pat.Tensor("out")])
pat.AddConstraint(lambda match: match.Tensor("bias").ndim == 1)

res = pat.ResultPattern()
attributes = {"in_num_col_dims": 1, "activation_type": "relu"}
res.Op("pd_op.fc", attributes)(
    [res.Tensor("x"), res.Tensor("w"), res.Tensor("bias")], [res.Tensor("out")]
)
viz.Player(viz.fusion_steps(main, [context]))

# %% [markdown]
# `matmul`, `add` and `relu` match; `fetch` reads `fc` now. Three things were done for us: finding the match, moving the readers of `out`, erasing the old operations. And one thing was checked: `product` and `sum` will not exist any more, so
# **nobody outside of the match may read them**. If the program fetched `sum` too, the pattern would not match.
#
# The real pattern checks more (no transposes, `w` has two axes, the sizes fit). It is the pass `matmul_add_act_fuse_pass`. Does it keep what can be observed?

# %%
rng = np.random.default_rng(0)
shapes = {"x": [2, 3], "w": [3, 4], "b": [4]}
feed = {name: rng.standard_normal(shape).astype("float32") for name, shape in shapes.items()}
executor = paddle.static.Executor()
before = executor.run(main, feed=feed, fetch_list=["y"])[0]

manager = paddle.pir.PassManager()
manager.add_pass("matmul_add_act_fuse_pass", {})
manager.run(main)
after = executor.run(main, feed=feed, fetch_list=["y"])[0]
print([op.name() for op in main.global_block().ops])
print("same numbers:", np.allclose(before, after, rtol=1e-5, atol=1e-6))

# %% [markdown]
# ## In Paddle itself
# The same two passes, by the same names, on real Paddle. In the second program the sum is written the other way round, `b + product`.
# **Predict: is it fused?**

# %%
from minipaddle.compare import both

both(
    """
paddle.enable_static()
for turned in (False, True):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 3], "float32")
        w = paddle.static.data("w", [3, 4], "float32")
        b = paddle.static.data("b", [4], "float32")
        product = paddle.matmul(x, w)
        y = paddle.nn.functional.relu(b + product if turned else product + b)
        paddle.nn.functional.softmax(paddle.scale(y, 2.0))
        paddle._pir_ops.fetch(y, "y", 0)
    manager = paddle.pir.PassManager()
    manager.add_pass("dead_code_elimination_pass", {})
    manager.add_pass("matmul_add_act_fuse_pass", {})
    manager.run(main)
    print("turned round:" if turned else manager.passes())
    print(*[op.name() for op in main.global_block().ops if op.name() != "pd_op.data"])
""",
    same=True,
)

# %% [markdown]
# It isn't, on both sides: a pattern finds what was drawn, not what is meant. `b + product` is another drawing. (For its other fused operation, `gemm_epilogue`, Paddle
# does draw both.)
#
# And one difference. A parameter that nobody reads:

# %%
both(
    """
paddle.enable_static()
main = paddle.static.Program()
with paddle.static.program_guard(main):
    w = paddle.static.create_parameter([3, 4], "float32", name="w")
    x = paddle.static.data("x", [2, 3], "float32")
    paddle._pir_ops.fetch(paddle.tanh(x), "y", 0)
manager = paddle.pir.PassManager()
manager.add_pass("dead_code_elimination_pass", {})
manager.run(main)
print(*[op.name() for op in main.global_block().ops])
"""
)

# %% [markdown]
# Real Paddle drops the parameter too (and, if it is told the scope, frees its memory). minipaddle keeps it. Yours will drop it: that is task 1.
#
# Where to read on in Paddle's source:
#
# | idea | file | class |
# |---|---|---|
# | pass and manager | `paddle/pir/include/pass/pass.h`, `pass_manager.h` | `Pass`, `PassManager` |
# | dead code | `paddle/fluid/pir/transforms/general/dead_code_elimination_pass.cc` | `DeadCodeEliminationPass` |
# | the fusion | `paddle/fluid/pir/transforms/gpu/matmul_add_act_fuse_pass.cc` | `MatmulAddPattern`, `MatmulAddActPattern` |
# | the drawing language | `paddle/fluid/pir/drr/include/drr_pattern_base.h` | `DrrPatternBase`, `SourcePattern` |
#
# Paddle's DCE walks in program order, erases what has no reader, and starts again until nothing changes. The result is the same; ours needs one walk.
#
# ## What we left out
# Passes on blocks inside of operations, the order in which patterns compete (*benefit*), analyses that passes share. The manager can print the program around each pass:
# `manager.enable_ir_printing()`, on both sides. minipaddle's two passes are `minipaddle/transforms/*.py`, 30 and 50 lines, and `minipaddle/pir/drr.py`.
#
# **Next**: [4 · exercise](exercise.ipynb). Task 1: dead-code elimination with all of Paddle's rules. Task 2: a DRR pattern that folds two `scale`s into one. Both prepare a contribution that Paddle
# often asks for: a fuse pass with its test.
