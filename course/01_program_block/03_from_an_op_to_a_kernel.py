# %% [markdown]
# # 1.3 How does a call reach its kernel?
#
# You write `F.relu(x)`. Somewhere there is a function that takes an array and computes: the **kernel**. On a GPU it is another one than on the CPU; for float64 it may be another one than for float32. You name none of them.
# **Which stations lie between the name and the function, and who decides?**
#
# Time: 25 minutes. You need: lessons 1.1 and 1.2. You will use it in: [1 · exercise](exercise.ipynb), tasks 1, 3 and 8.

# %% [markdown]
# ## One name, three meanings
# Our example is an op that this lesson declares. It has a kernel and an InferMeta function (1.1), and both say when they are called.

# %%
import numpy as np

import minipaddle as paddle
from minipaddle import viz
from minipaddle.phi import OPS, find_op, op

called = []
OPS.pop("halve", None)  # an op is declared once; so this cell can be run again


@op(source="this lesson")
def halve(xp, x):
    """x / 2. `xp` is the module that computes, x an array of it."""
    called.append(f"kernel, with {xp.__name__} and {x.dtype}")
    return x / 2


@halve.infer_meta
def halve_infer_meta(x):
    called.append(f"InferMeta, with {x}")
    return x  # a MetaTensor: the result has the shape and dtype of x


def report(title):
    print(title, *dict.fromkeys(called), sep="\n    ")
    called.clear()


# %% [markdown]
# ## Predict
# `halve(x)` three times: with a Tensor; with a Variable, while a Program is written; and then this Program is run, twice. **Write down for each: is the kernel called? Is InferMeta?**

# %%
halve(paddle.ones([2]))
report("an eager call:")

paddle.enable_static()
with paddle.pir_utils.OldIrGuard():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        y = halve(paddle.static.data("x", [-1, 2], "float32"))
report("writing it into a Program:")

executor = paddle.static.Executor()
for title in ("the first run:", "the second run:"):
    executor.run(main, feed={"x": np.ones([3, 2], "float32")}, fetch_list=[y])
    report(title)
paddle.disable_static()

# %% [markdown]
# The same call means "compute" in one place, and "write down" in another. An op asks **in which world am I?**, and each world has its own answer:
#
# | world | what a call does | InferMeta | kernel |
# |---|---|---|---|
# | dygraph (eager) | computes | not needed: the array says its shape. Asked only when a kernel fails, to explain why | at once |
# | a classic Program | appends an Operator | now: the Variable needs a shape and a dtype | later, at each run |
# | a PIR program (module 3) | appends an operation | now | later, at each run |
#
# ## Station by station
# Now the whole way of a call in a Program, from the line that you write to the kernel. `sys.setprofile` tells us of each Python function that starts; we keep those that are stations; the next cell lists them, and says what each is for. Read it, then **predict:** which of them does the *second*
# run leave out?

# %%
import sys

stations = {
    "Op.__call__": "The op is called. It asks in which world it is.",
    "_call_program": "The world's answer, here: append it to the Program.",
    "append_phi_op": "Makes the Variables for the results. So it needs their shapes.",
    "halve_infer_meta": "Shapes and dtypes in, shapes and dtypes out.",
    "Block._append": "Its OpDesc (1.2) is in the Block. The call is over, and nothing is computed.",
    "Executor.run": "You ask for the result.",
    "lower_program": "Each OpDesc becomes an instruction: its op is looked up by name.",
    "write_function": "The instructions become one Python function.",
    "Interpreter.run": "Feeds are checked, and the function runs.",
    "halve": "The kernel.",
}


def on_the_way(work):
    """The stations that work() passes, in order, each once: {function: file}."""
    found = {}

    def watch(frame, event, _argument):
        name, module = frame.f_code.co_qualname, frame.f_globals.get("__name__")
        if event == "call" and name in stations:
            found.setdefault(name, "this lesson" if module == "__main__" else module)

    sys.setprofile(watch)
    work()
    sys.setprofile(None)
    return found


# %%
def write():
    with paddle.pir_utils.OldIrGuard(), paddle.static.program_guard(main):
        return halve(main.global_block().var("x"))


paddle.enable_static()
y = write()
feed = {"x": np.ones([3, 2], "float32")}
columns, rows, steps = ["when", "function", "where"], [], []
for when, work in (
    ("you write it", write),
    ("first run", lambda: executor.run(main, feed=feed, fetch_list=[y])),
    ("second run", lambda: executor.run(main, feed=feed, fetch_list=[y])),
):
    for name, where in on_the_way(work).items():
        rows.append([when, name, where])
        table = viz.table(
            columns, list(rows), highlight=len(rows) - 1, changed=[], name="On the way"
        )
        steps.append(viz.step(f"{when}: {name}", table, note=stations[name]))
paddle.disable_static()
viz.Player(steps, label="The way of a call")

# %% [markdown]
# So the stations are: **API → op → world → InferMeta**, and later **plan → kernel**. The *plan* is what the first run makes: the instructions, and the function written from them (lesson 1.4). The second run leaves out the look-up and the writing: three stations are left. (In real Paddle an eager call asks InferMeta *before* the kernel, every time: a C++ kernel gets its result's memory from outside, and somebody must say how much.)
#
# ## Two answers to one question
# InferMeta says which shape comes out. The kernel makes it. If the two disagree, then a program is written with one shape and runs with another. Whoever writes an op tests this first. The trap is nearly always the same: **0-D tensors**, that is, shape `[]`. One number, no axis. Not the same as `[1]`.
#
# ## Predict
# `x` is `[2, 3]`, `zero` is `[]`. **Write down the shapes of** `x.sum()`, `x.sum(0)`, `x[0, 0]`, `x[0, 0:1]`, `zero + x`, `zero * zero`, `stack([zero, zero])`, and `x.argmax()`.

# %%
from minipaddle.compare import both

both(
    """
    x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    zero = paddle.to_tensor(3.0)
    for title, tensor in (
        ("x.sum()", x.sum()),
        ("x.sum(0)", x.sum(0)),
        ("x[0, 0]", x[0, 0]),
        ("x[0, 0:1]", x[0, 0:1]),
        ("zero + x", zero + x),
        ("zero * zero", zero * zero),
        ("stack", paddle.stack([zero, zero])),
        ("argmax", x.argmax()),
    ):
        print(title.ljust(12), "shape", list(tensor.shape), " numbers:", int(tensor.size))
    """,
    same=True,
)

# %% [markdown]
# An index (`x[0, 0]`) takes an axis away; a slice (`0:1`) keeps it. A reduction over all axes leaves none. Before version 2.5, Paddle had no shape `[]`: a sum was `[1]`. Hundreds of ops had to learn it, one pull request after the other: kernel, InferMeta, gradient, and a test for each.
#
# Here is such a test, for three ops of ours: does the kernel make what InferMeta says, also for `[]`?


# %%
from minipaddle.phi.core.meta_tensor import MetaTensor


def agree(name, *shapes, **attrs):
    """Runs InferMeta and the kernel on the same shapes, and shows both answers."""
    declared, dtype = find_op(name), "float32"
    attrs = declared.complete(attrs)
    said = declared.meta(*(MetaTensor(shape, dtype) for shape in shapes), **attrs)
    made = declared.run(np, *(np.ones(shape, dtype) for shape in shapes), **attrs)
    print(f"{name:9} InferMeta {list(said.shape)!s:8} kernel {list(made.shape)!s:8}", end="")
    print(f"a {type(made).__name__}")


agree("add", [2, 3], [3])
agree("add", [], [])
agree("sum", [2, 3])
agree("sum", [2, 3], axis=(0,), keepdim=True)
agree("transpose", [], perm=())

# %% [markdown]
# All agree. But look at the last column: numpy's `+` on two 0-D arrays does not return an array. It returns a `numpy.float32`, a *number*. CuPy, which has numpy's functions for NVIDIA's GPUs, returns an array here. So a kernel that goes on with `out[...] = 0` works on the GPU, and fails on the CPU, and only for `[]`.
# (That is why the kernel of `sum` says `xp.asarray(...)`.)
#
# ## The key
# So far each op had one kernel for everything. Now it gets more. A kernel is registered under a **KernelKey** of three parts:
#
# | part | says | for example |
# |---|---|---|
# | backend | on what it runs | `cpu`, `gpu`; in Paddle also `XPU`, `ONEDNN`, `GPUDNN` |
# | layout | in which order the axes lie in memory | `NCHW`, `NHWC`, any |
# | dtype | the numbers it takes | `float32`, `int64` |
#
# `"ALL"` stands for "any". The kernels of one op are its **KernelFactory**. Below is what `halve` has, and what we add. One of the three is a correction: `x / 2` of whole numbers gives float64 in numpy, but our InferMeta promises the dtype of `x`.

# %%
print("before:", *halve.kernels.kernels, sep="\n    ")


@halve.kernel(dtype="int64")
def _(xp, x):
    called.append("the kernel for int64: whole numbers stay whole")
    return x // 2


@halve.kernel(backend="gpu")
def _(xp, x):
    called.append(f"the kernel for the GPU, with {xp.__name__}")
    return (x / 2).astype(x.dtype)


@halve.kernel(backend="cpu", dtype="float32")
def _(xp, x):
    called.append("the kernel for float32 on the CPU")
    return np.multiply(x, np.float32(0.5))


# %% [markdown]
# ## Predict
# The rule: of the kernels that *fit*, the one whose key *says most*; and to name the backend says more than to name the dtype. **Write down**, then step: which of the four is chosen for (cpu, float32), (cpu, float64), (cpu, int64), (gpu, float32) and (gpu, int64)?


# %%
def choice(backend, dtype):
    """A step: which keys fit, and which of them is chosen."""
    kernels = halve.kernels.kernels
    chosen = halve.kernels.select(backend, getattr(paddle, dtype))
    rows = []
    for key in kernels:
        fits = key.fits(backend, dtype)
        rows.append(
            [key.backend, key.dtype, "fits" if fits else "-", key.precision if fits else ""]
        )
    columns = ["backend", "dtype", "fits?", "says"]
    at = list(kernels.values()).index(chosen)
    table = viz.table(columns, rows, highlight=at, changed=[], name="Kernels of halve")
    return viz.step(f"Wanted: {backend}, {dtype}", table, note=f"Chosen: the one in row {at + 1}.")


requests = [("cpu", "float32"), ("cpu", "float64"), ("cpu", "int64")]
requests += [("gpu", "float32"), ("gpu", "int64")]
viz.Player([choice(*request) for request in requests], label="Which kernel?")

# %% [markdown]
# Nobody had to touch the API, the op's name or InferMeta. That is the point of the key: a new device brings its kernels and its word for *backend*, and all programs that exist run on it.
#
# ## Who says "cpu" and "float32"?
# The arrays do. The dtype is that of the first input. The backend follows from the **place**: where the arrays lie. With `paddle.set_device("gpu")` new Tensors are CuPy's arrays, and `Executor(paddle.CUDAPlace(0))` runs a program there. And each kernel gets the module of
# its arrays as `xp`: numpy or CuPy. They have the same functions under the same names, so *one* text can serve both. That is why nearly all our ops have a single kernel for "ALL".
#
# We can look at this without a GPU. `Listening` is a module that passes everything on to numpy, notes what was asked for, and calls itself cupy.
#
# **Predict:** which functions does softmax ask `xp` for? And which kernel of `halve` will run?


# %%
class Listening:
    __name__ = "cupy"

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        self.asked.append(name)
        return getattr(np, name)


xp = Listening()
find_op("softmax").run(xp, np.ones([2, 3], "float32"), axis=-1)
print("softmax asked for", *dict.fromkeys(xp.asked))
called.clear()
halve.run(xp, np.ones([2], "float32"))
report("halve:")

# %% [markdown]
# What comes out of a kernel's `xp.something` on a GPU is a kernel in a second sense of the word: a program for the graphics processor, started by CuPy. In Paddle, a GPU kernel of phi, its library of kernels, starts those itself.
#
# ## When the plan knows better
# In an eager call the choice is made at each call. In a Program it could be made once. **Predict:** `main`, the program from above, has run already, when `halve` had one kernel. We have added three since. Which one will run now?

# %%
paddle.enable_static()
executor.run(main, feed={"x": np.ones([3, 2], "float32")}, fetch_list=[y])
report("a program that ran before:")
paddle.disable_static()
for dtype in ("float32", "float64", "int64"):
    halve(paddle.ones([2], dtype))
report("eager calls:")

# %% [markdown]
# The new one. A plan holds the kernels that it found; so the Executor also notes how many kernels were registered by then, and plans anew if there are more. (Real kernels are registered while the library is loaded, before anything can run: that question does not come up there.)
#
# And in the second list, each dtype found its own kernel. With float64 the general one was left.
#
# ## When there is none
# **Predict:** what happens if no key fits? Is there another kernel that could step in: one for another dtype, for another device?

# %%
OPS.pop("third", None)


@op(source="this lesson")
def third(xp, x):
    return x / 3


third.infer_meta(halve_infer_meta)
third.kernels.kernels.clear()
third.kernel(backend="gpu", dtype="float32")(lambda xp, x: x / 3)
try:
    third(paddle.ones([2]))
except (NotImplementedError, RuntimeError) as error:
    print(error)

# %% [markdown]
# Nothing steps in. To use a kernel of another dtype would change your numbers in silence; to use another device would move data to and fro, and be slow in silence.
#
# Real Paddle decides the second question the other way: if a GPU kernel is missing, it takes the CPU's, and copies inputs and results (a *fallback*; `FLAGS_enable_api_kernel_fallback` switches it off). Your program runs; you only wonder why it is slow. The first question it decides as we do:

# %%
both(
    """
    for dtype in ("float32", "float64", "float16", "int64"):
        try:
            paddle.nn.functional.relu(paddle.ones([2], dtype))
            print(dtype, "has a kernel")
        except Exception as error:
            print(dtype, "has none:", type(error).__name__)
    """,
    same=False,
)

# %% [markdown]
# Real `relu` on the CPU was registered for float32 and float64 and nothing else. The message ends with the list of what is supported. int64 is refused by both, only the kind of error differs. With float16 we differ: numpy has it, so ours takes it; in Paddle, no CPU kernel for it was registered.
#
# ## In Paddle itself
# Paddle's table of kernels is in C++, but Python may look at it:

# %%
both(
    """
    kernels = paddle.base.core._get_registered_phi_kernels("function")
    for name in ("relu", "matmul"):
        print(name)
        for key in sorted(kernels[name]):
            if "ONEDNN" not in key:  # kernels of a library for Intel's processors
                print("   ", key)
    """,
    same=False,
)

# %% [markdown]
# One kernel of ours for everything; one for each dtype there, because a C++ function must know its numbers' size when it is compiled. `relu` has two, as we found out by trying. This installation of Paddle was built without GPUs; in one with them, the same list has `(GPU, ...)` lines.
#
# In the source, the stations of an eager `F.relu(x)` are:
#
# | station | here | in Paddle |
# |---|---|---|
# | API | `minipaddle/nn/functional/` | `python/paddle/nn/functional/activation.py`: `relu` |
# | which world? | `Op.__call__`, `minipaddle/phi/core/world.py` | `in_dynamic_or_pir_mode()` in each Python API, then `_C_ops.relu` |
# | the op's function | generated: lesson 2.7 | `paddle::experimental::relu`, generated into `paddle/phi/api/lib/api.cc` |
# | InferMeta | `@op.infer_meta` | `paddle/phi/infermeta/unary.cc`: `UnchangedInferMeta` |
# | the key | `Op.run` | `paddle/phi/api/lib/kernel_dispatch.h`: `KernelKeyParser` reads backend, layout and dtype off the Tensors |
# | the table | `minipaddle/phi/core/kernel.py` | `paddle/phi/core/kernel_factory.h`, `.cc`: `SelectKernelOrThrowError` |
# | the entry | `@op`, `@op.kernel(...)` | `PD_REGISTER_KERNEL(relu, CPU, ALL_LAYOUT, phi::ReluKernel, float, double)` in `paddle/phi/kernels/cpu/activation_kernel.cc` |
# | the kernel | the decorated function | `phi::ReluKernel<T, Context>`; what is called `xp` here is `Context` there: the device |
#
# ## What we left out
# Layouts: all our arrays lie in one order, so the middle part of the key never decides. In Paddle an input whose layout, dtype or place does not fit the chosen kernel is *transformed* first (`paddle/phi/api/lib/data_transform.cc`). A kernel there is also compiled: one function per dtype, out of one template.
#
# **Next**: [1.4](04_the_executor.ipynb) runs whole programs. In [1 · exercise](exercise.ipynb), task 1 is an InferMeta, task 3 the choice of a kernel by its key, and task 8 a whole new API. A new operator in Paddle is exactly these pieces: a line in `ops.yaml`, an InferMeta, a kernel for the CPU and one for the GPU with their `PD_REGISTER_KERNEL`, and a test that includes `[]`.
