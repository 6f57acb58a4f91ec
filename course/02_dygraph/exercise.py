# %% [markdown]
# # 2 · exercise: Backward, from the graph to a new op
#
# Nine tasks, 36 points. No task needs your answer to another one. But each needs the cells that are given: run those from the top, once.
#
# | tasks | about | lesson |
# |---|---|---|
# | 1, 2 | the graph: the edges that arrive at a node, the GradNode of a new op | 2.2 |
# | 3, 4 | backward: the walk, and what a leaf does with a gradient | 2.3 |
# | 5 | paddle.grad: what it doesn't run | 2.4 |
# | 6, 7 | PyLayer; versions, and when backward refuses | 2.5 |
# | 8, 9 | **contributor exercise**: an op with its gradient and the gradient of that, and the test for it | all |
#
# After each task there is a check that answers at once.
# Run All stops at the first check that fails; to do a later task first, run its cells by hand (Shift+Enter).

# %% nbgrader={"grade_id": "setup"}
import numpy as np

import minipaddle as paddle
from minipaddle import viz
from minipaddle.eager.grad_node_info import Edge, GradNodeBase

a = paddle.to_tensor([2.0], stop_gradient=False)
c = a * 3.0
b = a * c
viz.grad_graph(b, labels={"a": a, "b": b, "c": c})

# %% [markdown]
# ## Task 1 · How many gradients will arrive?   (4 points)
# Look at the picture. `a` is used twice: in `c = a * 3` and in `b = a * c`. So two gradients will arrive at its node, and backward must not use the first before the
# second is there. It has to know, before it starts, how many to wait for. Write
#
#     in_degree_map(roots) -> dict[node, int]
#
# `roots` is a list of GradNodes. The answer has one entry for every node that can be reached from them, the roots included: **the number of edges that arrive at
# it** from nodes in the map.
#
# | graph | answer |
# |---|---|
# | `b = a * (a * 3)`, from b's node | b: 0, c: 1, a: **2** |
# | `y = x + x`, from y's node | y: 0, x: **2** (two edges between the same two nodes) |
# | the same, from the list [y's node, y's node] | the same: a root that is named twice is still one node |
# | `b` as above, from [b's node, c's node] | the same: a root, too, can have edges that arrive at it |
#
# `node.edges` is a sequence with one entry per input of the op: an `Edge`, with `edge.node`, or None where no gradient goes. Visit each node once, however many paths
# lead to it; don't use recursion (a graph can be 100,000 nodes deep); leave the graph as it is.
#
# Why Paddle has it: `getInDegreeMap` in `paddle/fluid/eager/backward.cc`. Each backward starts with it.
#
# <details><summary>Hint 1</summary>You need the nodes that you have met, and the nodes that you still have to look at. A node may be met often, but looked at only
# once.</details>
#
# <details><summary>Hint 2</summary>The dict itself can say which nodes you have met: put a node in with 0 when you meet it first.</details>
#
# <details><summary>Hint 3</summary>For each edge: first see whether its node is new (then it also goes into the queue), and in any case add 1 to its
# count.</details>


# %% nbgrader={"grade_id": "task1", "solution": true}
def in_degree_map(roots):
    ### BEGIN SOLUTION
    degrees = dict.fromkeys(roots, 0)
    queue = list(degrees)
    for node in queue:  # the list grows while we walk
        for edge in node.edges:
            if edge is None:
                continue
            if edge.node not in degrees:
                degrees[edge.node] = 0
                queue.append(edge.node)
            degrees[edge.node] += 1
    return degrees
    ### END SOLUTION


# %% nbgrader={"grade_id": "task1_check", "points": 2}
from grader.checks import Checks, experiment


def diamond():
    """The graph of the picture: Tensors by name."""
    a = paddle.to_tensor([2.0], stop_gradient=False)
    c = a * 3.0
    return {"a": a, "c": c, "b": a * c}


def twice():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    return {"x": x, "y": x + x}


def with_constant():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    return {"x": x, "y": x * paddle.to_tensor([5.0])}


def with_stem():
    """x is below stem, and stem is below both sides of a diamond."""
    x = paddle.to_tensor([1.0], stop_gradient=False)
    stem = x * 2.0
    left, right = stem * 3.0, stem * 4.0
    return {"x": x, "stem": stem, "left": left, "right": right, "top": left + right}


def chain():
    """3,000 ops in a row; the names are numbers."""
    tensors = {0: paddle.to_tensor([1.0], stop_gradient=False)}
    for number in range(1, 3001):
        tensors[number] = tensors[number - 1] * 1.0
    return tensors


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def degrees(build, roots, *args):
    """What in_degree_map says about a graph, with the names of Tensors in place of nodes."""
    tensors = build(*args)
    found = in_degree_map([tensors[name].grad_fn for name in roots])
    names = {tensor.grad_fn: name for name, tensor in tensors.items()}
    return {names.get(node, node): count for node, count in found.items()}


with Checks("Task 1") as check:
    check.equal(
        "the diamond",
        lambda: degrees(diamond, ["b"]),
        {"b": 0, "c": 1, "a": 2},
        look="Count every edge, also one that leads to a node that you have met before.",
    )
    check.equal(
        "both inputs are the same Tensor",
        lambda: degrees(twice, ["y"]),
        {"y": 0, "x": 2},
        look="There are two edges between the same two nodes. Go over the edges, not over a set of nodes.",
    )
    check.equal(
        "an input without a gradient",
        lambda: degrees(with_constant, ["y"]),
        {"y": 0, "x": 1},
        look="The edge of the other input is None: nothing to count.",
    )
    check.equal(
        "a diamond with an op below it",
        lambda: degrees(with_stem, ["top"]),
        {"top": 0, "left": 1, "right": 1, "stem": 2, "x": 1},
        look="A count is too high: was a node looked at twice?",
    )
    check.equal(
        "a root below another root",
        lambda: degrees(diamond, ["b", "c"]),
        {"b": 0, "c": 1, "a": 2},
        look="A root starts at 0, but edges may arrive at it. It, too, is looked at once.",
    )
    check.equal(
        "3,000 ops in a row",
        lambda: degrees(chain, [3000]),
        {number: int(number < 3000) for number in range(3001)},
        look="A RecursionError? Use a queue: a list of nodes that still have to be looked at.",
    )

# %% nbgrader={"grade_id": "task1_hidden", "points": 2}
# Hidden checks, run when your work is graded: random graphs, roots named twice, many paths, and a very deep graph.
### BEGIN HIDDEN TESTS
from unittest import mock

from grader.checks import Checks, experiment


def secret_random(seed):
    """A random graph of Tensors, named 0, 1, 2 ..."""
    rng = np.random.default_rng(seed)
    tensors = [paddle.to_tensor([1.0], stop_gradient=bool(rng.random() < 0.3)) for _ in range(3)]
    for _ in range(int(rng.integers(1, 20))):
        i, j = (int(n) for n in rng.integers(0, len(tensors), 2))
        how = rng.random()
        if how < 0.2:
            tensors.append(tensors[i] * 2.0)
        else:
            tensors.append(tensors[i] + tensors[j] if how < 0.6 else tensors[i] * tensors[j])
    return dict(enumerate(tensors))


def secret_edges_of(tensors):
    """All edges of a graph, by name; None where no gradient goes."""
    nodes = {tensor.grad_fn: name for name, tensor in tensors.items() if tensor.grad_fn is not None}
    return {name: [e and nodes[e.node] for e in node.edges] for node, name in nodes.items()}


def secret_definition(edges, roots):
    """First all nodes, then all edges between them, counted one by one."""
    nodes, todo = set(roots), list(roots)
    while todo:
        for name in edges[todo.pop()]:
            if name is not None and name not in nodes:
                nodes.add(name)
                todo.append(name)
    arriving = [name for node in nodes for name in edges[node] if name is not None]
    return {node: arriving.count(node) for node in nodes}


secret_rng = np.random.default_rng(21)
secret_cases = []  # seeds, the edges of the graph, and up to three roots: one can be named twice
for secret_seed in range(100):
    secret_edges = secret_edges_of(secret_random(secret_seed))
    if secret_edges:
        secret_roots = secret_rng.choice(list(secret_edges), 3).tolist()
        secret_cases.append((secret_seed, secret_edges, secret_roots))


@experiment
def secret_degrees(cases):
    return [degrees(secret_random, roots, seed) for seed, roots in cases]


@experiment
def secret_afterwards(seed, roots):
    """The answer for a random graph; then the roots and the edges, as they are after it."""
    tensors = secret_random(seed)
    names = {tensor.grad_fn: name for name, tensor in tensors.items()}
    given = [tensors[name].grad_fn for name in roots]
    found = {names[node]: count for node, count in in_degree_map(given).items()}
    return found, [names[node] for node in given], secret_edges_of(tensors)


class SecretNode(GradNodeBase):
    """Counts how often somebody asks for its edges."""

    asked = 0

    @property
    def edges(self):
        type(self).asked += 1
        if type(self).asked > 300_000:
            raise RuntimeError("nodes are looked at again and again")
        return self.kept

    @edges.setter
    def edges(self, value):
        self.kept = value


def secret_widths(length):
    """How many edges lead from each node of a row to the next: one, two or three."""
    return np.random.default_rng(length).integers(1, 4, length).tolist()


@experiment
def secret_row(length):
    """The answer for a row of nodes, from the root to the end."""
    nodes = [SecretNode([], [])]
    for width in secret_widths(length):
        nodes.append(SecretNode([Edge(nodes[-1], 0) for _ in range(width)], []))
    with mock.patch("minipaddle.eager.backward.get_in_degree_map", None):  # ours is no answer
        found = in_degree_map([nodes[-1]])
    return [found[node] for node in reversed(nodes)]


@experiment
def secret_deep(length):
    """How many nodes have 0, 1, 2 and 3 edges that arrive."""
    return np.bincount(secret_row(length)).tolist()


with Checks("Task 1", hidden=True) as check:
    check.equal(
        "100 random graphs",
        lambda: secret_degrees([(seed, roots) for seed, _, roots in secret_cases]),
        [secret_definition(edges, roots) for _, edges, roots in secret_cases],
        look="Expected are the edges, counted one by one.",
    )
    check.equal(
        "a root named twice, and no roots",
        lambda: [
            degrees(twice, ["y", "y"]),
            degrees(with_stem, ["stem", "stem"]),
            degrees(twice, []),
        ],
        [{"y": 0, "x": 2}, {"stem": 0, "x": 1}, {}],
        look="It is one node: look at its edges once.",
    )
    check.equal(
        "many paths",
        lambda: secret_row(40),
        [0, *reversed(secret_widths(40))],
        look="Look at each node once, however many paths lead to it.",
    )
    check.equal(
        "20,000 nodes in a row",
        lambda: secret_deep(12_000),
        [1, *np.bincount(secret_widths(12_000))[1:].tolist()],
        look="No recursion.",
    )
    secret_seed, secret_edges, secret_roots = secret_cases[-1]
    check.equal(
        "the graph afterwards",
        lambda: secret_afterwards(secret_seed, secret_roots),
        (secret_definition(secret_edges, secret_roots), secret_roots, secret_edges),
        look="The edges and the list of roots stay as they were.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 2 · The GradNode of an op   (4 points)
# `logaddexp(x, y) = ln(eˣ + eʸ)` adds two probabilities that are given as logarithms. In real Paddle, `paddle.logaddexp` is put together from seven other ops, so it leaves
# seven GradNodes. Here it gets a kernel of its own, and you give it a gradient: then it leaves **one**.
#
# The kernel and InferMeta are there. Write the gradient rule, the *vjp* (vector-Jacobian product). Its parameters say what the GradNode keeps: the inputs `x` and `y`, and the
# output `out`. `out_grad` is the gradient that arrives, with the shape of `out`. Return two gradients: one for `x`, one for `y`.
#
# 1. `x_grad = out_grad · ∂out/∂x`, and the same for y.
# 2. **A gradient has the shape of its Tensor.** Shapes broadcast: where a row `y [3]` was used in every line of `x [2, 3]`, its gradient is the sum over the lines.
#    `reduce_as(g, y)` sums `g` to the shape of `y`.
# 3. It holds for large numbers, too: at `x = 1000`, `y = 999` the gradients are 0.731 and 0.269. But `exp(1000)` is `inf`, and `inf / inf` is not a number.
#
# In a rule, use `+ - * /` and the ops `exp` and `reduce_as`, by these names. From such a rule minipaddle makes the GradNode, the op `logaddexp_grad` of a Program, and the
# gradient of the gradient. (numpy's functions and `paddle.exp` know only one of these worlds, so they don't work here.)
#
# | x | y | out_grad | x_grad | y_grad |
# |---|---|---|---|---|
# | `[0.]` | `[0.]` | `[1.]` | `[0.5]` | `[0.5]` |
# | `[[0.], [0.]]` | `[0.]` | `[[1.], [4.]]` | `[[0.5], [2.]]` | `[2.5]` |
#
# Why Paddle has it: each op has such an entry in `paddle/phi/ops/yaml/backward.yaml`, from which its GradNode is generated. And each new op is tested as below: `OpTest.check_grad`
# compares the gradient with slopes that are *measured*, by moving each number a little.
#
# <details><summary>Hint 1</summary>The chain rule: the derivative of ln(s) is 1/s, and that of s = eˣ + eʸ with respect to x is eˣ. So what is ∂out/∂x?</details>
#
# <details><summary>Hint 2</summary>s is e to the power out. A quotient of two powers of e is one power of e: no large number ever appears.</details>
#
# <details><summary>Hint 3</summary>x_grad is reduce_as(out_grad * exp(x - out), x). Now y.</details>

# %% nbgrader={"grade_id": "task2_setup"}
from minipaddle.phi import OPS, op
from minipaddle.phi.infermeta.binary import elementwise
from minipaddle.phi.ops.elementary import exp
from minipaddle.phi.ops.manipulation import reduce_as

OPS.pop("logaddexp", None)  # an op is declared once; so this cell can be run again


@op(source="python/paddle/tensor/math.py: logaddexp", promote=("x", "y"))
def logaddexp(xp, x, y):
    """ln(e^x + e^y), computed so that large numbers don't overflow."""
    return xp.logaddexp(x, y)


logaddexp.infer_meta(elementwise("logaddexp"))


def weights_like(out):
    """Some numbers of the shape of out: the gradient that arrives."""
    return np.cos(np.arange(out.size, dtype="float64")).reshape(out.shape)


def measured(function, *arrays, step=1e-5):
    """The slopes of sum(weights * function(...)), one array per input, without any gradient rule."""
    with paddle.no_grad():
        slopes = []
        for which, array in enumerate(arrays):
            slope = np.zeros_like(array)
            for place in np.ndindex(array.shape):
                values = []
                for move in (step, -step):
                    moved = [np.array(one) for one in arrays]
                    moved[which][place] += move
                    out = function(*(paddle.to_tensor(one) for one in moved)).numpy()
                    values.append((weights_like(out) * out).sum())
                slope[place] = (values[0] - values[1]) / (2 * step)
            slopes.append(slope)
    return slopes


# %% nbgrader={"grade_id": "task2", "solution": true}
@logaddexp.vjp
def logaddexp_rule(x, y, out, out_grad):
    ### BEGIN SOLUTION
    return reduce_as(out_grad * exp(x - out), x), reduce_as(out_grad * exp(y - out), y)
    ### END SOLUTION


# %% nbgrader={"grade_id": "task2_check", "points": 2}
from grader.checks import Checks, experiment

rng = np.random.default_rng(0)
matrix, other, row = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(3,))


@experiment
def by_backward(*arrays):
    """The slopes of sum(weights * logaddexp(...)) by backward, so by your rule."""
    tensors = [paddle.to_tensor(array, stop_gradient=False) for array in arrays]
    out = logaddexp(*tensors)
    out.backward(paddle.to_tensor(weights_like(out.numpy()).astype(out.numpy().dtype)))
    return [tensor.grad.numpy() for tensor in tensors]


@experiment
def in_a_program(x_array, y_array):
    """The gradient of x that a Program computes for mean(logaddexp(x, y))."""
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main):
                first = paddle.static.data("x", x_array.shape, "float32")
                second = paddle.static.data("y", y_array.shape, "float32")
                first.stop_gradient = False
                paddle.static.append_backward(paddle.mean(logaddexp(first, second)))
            feed = {"x": x_array, "y": y_array}
            return paddle.static.Executor().run(main, feed=feed, fetch_list=["x@GRAD"])[0]
    finally:
        paddle.disable_static()


with Checks("Task 2") as check:
    check.equal(
        "two numbers",
        lambda: [
            by_backward(np.array([0.0]), np.array([0.0])),
            by_backward(np.array([1.0]), np.array([0.0])),
        ],
        [[np.array([0.5]), np.array([0.5])], [np.array([0.7310586]), np.array([0.2689414])]],
        look="First both are e^0 / (e^0 + e^0); then x has e^1 / (e^1 + e^0).",
    )
    check.equal(
        "two matrices",
        lambda: by_backward(matrix, other),
        measured(logaddexp, matrix, other),
        look="Expected are the slopes that were measured. Is out_grad in both products?",
    )
    check.equal(
        "a matrix and a row",
        lambda: by_backward(matrix, row),
        measured(logaddexp, matrix, row),
        look="The row was used in two lines: its gradient is the sum of both. See reduce_as.",
    )
    check.equal(
        "large numbers",
        lambda: by_backward(np.array([1000.0]), np.array([999.0])),
        [np.array([0.7310586]), np.array([0.2689414])],
        look="Rule 3: exp(1000) is inf. Subtract before exp.",
    )
    check.equal(
        "the rule in a Program",
        lambda: in_a_program(np.array([1.0], "float32"), np.array([0.0], "float32")),
        np.array([0.7310586], "float32"),
        look="Write the rule with the ops exp and reduce_as and with + - * / only.",
    )

# %% nbgrader={"grade_id": "task2_hidden", "points": 2}
# Hidden checks, run when your work is graded: other shapes, large numbers, gradients of gradients, and the same rule in a Program.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment

secret_rng = np.random.default_rng(22)


@experiment
def secret_ops(shapes):
    """The ops that the rule adds to a Program, and the names of its two gradients."""
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main):
                given = [paddle.static.data(n, s, "float64") for n, s in shapes.items()]
                gradients = logaddexp_rule(*given)
            return main, [gradient.name for gradient in gradients]
    finally:
        paddle.disable_static()


def secret_by_ops(first, second):
    """The two gradients: the rule's own ops, run by our Executor."""
    out = np.logaddexp(first, second)
    feed = {"x": first, "y": second, "out": out, "out_grad": weights_like(out)}
    program, names = secret_ops({name: list(array.shape) for name, array in feed.items()})
    return paddle.static.Executor().run(program, feed=feed, fetch_list=names)


def secret_share(first, second):
    """e^first / (e^first + e^second): how much of out is first's."""
    return 1 / (1 + np.exp(second - first))


@experiment
def secret_with_its_double(array):
    tensor = paddle.to_tensor(array, stop_gradient=False)
    logaddexp(tensor, tensor * 2.0).sum().backward()
    return tensor.grad


@experiment
def secret_second(*arrays):
    """The gradient of the gradient, in x and y."""
    both = [paddle.to_tensor(array, stop_gradient=False) for array in arrays]
    (first,) = paddle.grad(logaddexp(*both).sum(), both[0], create_graph=True)
    return paddle.grad(first.sum(), both)


@experiment
def secret_one_input(first, second):
    one, two = paddle.to_tensor(first, stop_gradient=False), paddle.to_tensor(second)
    logaddexp(one, two).sum().backward()
    return [one.grad, two.grad]


with Checks("Task 2", hidden=True) as check:
    for secret_name, secret_x, secret_y in (
        ("both are repeated", (2, 1), (1, 3)),
        ("x is the shorter one", (3,), (4, 2, 3)),
        ("a Tensor without axes", (), (2, 2)),
    ):
        secret_arrays = [np.asarray(secret_rng.normal(size=s)) for s in (secret_x, secret_y)]
        check.equal(
            secret_name,
            lambda: [by_backward(*secret_arrays), secret_by_ops(*secret_arrays)],
            [measured(logaddexp, *secret_arrays)] * 2,
            look="By backward, and by the ops that the rule adds to a Program.",
        )
    secret_x, secret_y = secret_rng.normal(size=(2, 4))
    check.equal(
        "the same Tensor twice",
        lambda: secret_with_its_double(secret_x),
        secret_share(secret_x, 2 * secret_x) + 2 * secret_share(2 * secret_x, secret_x),
    )
    secret_large = [secret_x + [2000, -2000, 800, 900], secret_y + [2000, -2000, 800, 900]]
    secret_shares = [secret_share(secret_x, secret_y), secret_share(secret_y, secret_x)]
    secret_slopes = [weights_like(secret_x) * share for share in secret_shares]
    check.equal(
        "large numbers",
        lambda: [by_backward(*secret_large), secret_by_ops(*secret_large)],
        [secret_slopes, secret_slopes],
        look="exp(1000) is inf: subtract before exp.",
    )
    check.equal(
        "float32 stays float32",
        lambda: [
            (str(gradient.dtype), gradient)
            for gradient in by_backward(secret_x.astype("float32"), secret_y.astype("float32"))
        ],
        [("float32", slope) for slope in secret_slopes],
    )
    check.equal(
        "the gradient of the gradient",
        lambda: secret_second(secret_x, secret_y),
        [secret_shares[0] * secret_shares[1], -secret_shares[0] * secret_shares[1]],
        look="Write the rule with the ops exp and reduce_as and with + - * / only.",
    )
    secret_column, secret_row = secret_x[:2, None], secret_y[:3]
    check.equal(
        "the rule in a Program",
        lambda: in_a_program(secret_column.astype("float32"), secret_row.astype("float32")),
        secret_share(secret_column, secret_row).sum(axis=1, keepdims=True) / 6,
    )
    check.equal(
        "an input that stops gradients",
        lambda: secret_one_input(secret_x, secret_y),
        [secret_shares[0], None],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 3 · The walk of backward   (4 points)
# In the diamond `b = a * (a * 3)`, b's node hands one gradient to a's node at once. The other comes later, by way of c. A walk that runs a's node when the first one is there
# hands on a part as if it were the whole, or runs the node twice. Write the walk that waits:
#
#     run_backward(root, gradient)
#
# `root` is a GradNode, and `gradient` is what arrives at the first output of its op (its *slot* 0). Nothing is returned: the nodes of leaves, where the walk ends, keep what
# they get.
#
# 1. Each node has a **holder** while it waits: a list with one place per output of its op, so `len(node.specs)` places. A place where nothing has arrived holds None. A second
#    gradient for the same place is **added** to the first. Make a new sum, `held + new`: one array may have been handed to several nodes.
# 2. A node runs **once**, when every edge that leads to it has been gone over. Running means `results = node(holder)`. It gives a list: one result per edge of `node.edges`.
# 3. An edge says where a result belongs: to place `edge.slot` of the holder of `edge.node`. A result may be None: then nothing is added, but this edge, too, has been gone over.
# 4. A node whose holder got no gradient at all isn't called. Those behind it must hear of it, or they would wait forever: its edges count as gone over, each with None.
#
# How many edges lead to each node, `get_in_degree_map([root])` tells you, as a dict: our own version of task 1.
#
# | graph | calls |
# |---|---|
# | `b = a * (a * 3)` at `a = 2`, from b's node with 1 | b's node with `[1]`, c's with `[2]`, a's with `[12]`: 6 + 2·3 |
# | an op with two outputs, only the second was used | its node with `[None, g]` |
#
# An edge in `node.edges` may be None: no gradient goes there. Don't use recursion.
#
# Why Paddle has it: this is `RunBackward` in `paddle/fluid/eager/backward.cc`; the holders are in `grad_tensor_holder.h`.
#
# <details><summary>Hint 1</summary>You need three things: how many edges each node still waits for, the holders, and the queue of nodes that may run. At the start the queue
# has one node.</details>
#
# <details><summary>Hint 2</summary>For each edge of the node that has just run: first put the result into the holder of the next node (if there is a result), then count down.
# When is the next node put into the queue?</details>
#
# <details><summary>Hint 3</summary>holders is a dict: node to list. holders.setdefault(edge.node, [None] * len(edge.node.specs)) finds the holder, or makes it. If the node that
# comes out of the queue has no holder, its results are [None] * len(node.edges).</details>

# %% nbgrader={"grade_id": "task3_setup"}
from minipaddle.eager.backward import get_in_degree_map


class NotedNode(GradNodeBase):
    """A node for the checks, without an op: it notes what it is called with.

    `edges`: for each, (label of the next node, slot, factor). On this edge it gives its gradient
    times the factor; or None, where the factor is None.
    """

    def __init__(self, label, outputs, edges, nodes, log):
        targets = [Edge(nodes[next_label], slot) for next_label, slot, _ in edges]
        super().__init__(targets, [((), np.dtype("float64"))] * outputs)
        self.label, self.log = label, log
        self.factors = [factor for _, _, factor in edges]

    def __call__(self, grads, create_graph=False):
        self.log.append((self.label, [g if g is None else np.array(g).tolist() for g in grads]))
        total = grads[0] if len(grads) == 1 else weighted_sum(grads)
        return [f if f is None else total if f == 1.0 else total * f for f in self.factors]


def weighted_sum(grads):
    """First output + 2 · second output + 3 · third ..."""
    return sum((slot + 1) * grad for slot, grad in enumerate(grads) if grad is not None)


def noted_nodes(graph, log):
    """The nodes of a graph that is given as data, see below; leaves come first."""
    nodes = {}
    for label, (outputs, edges) in graph.items():
        nodes[label] = NotedNode(label, outputs, edges, nodes, log)
    return nodes


x = paddle.to_tensor([2.0], stop_gradient=False)
y = x * 3.0
viz.backward_steps(x * y, labels={"x": x, "y": y})  # what yours has to do: step through it


# %% nbgrader={"grade_id": "task3", "solution": true}
def run_backward(root, gradient):
    ### BEGIN SOLUTION
    waiting = get_in_degree_map([root])
    holders = {root: [gradient] + [None] * (len(root.specs) - 1)}
    queue = [root]
    for node in queue:  # the list grows while we walk
        holder = holders.pop(node, None)
        results = [None] * len(node.edges) if holder is None else node(holder)
        for edge, result in zip(node.edges, results):
            if edge is None:
                continue
            if result is not None:
                next_holder = holders.setdefault(edge.node, [None] * len(edge.node.specs))
                held = next_holder[edge.slot]
                next_holder[edge.slot] = result if held is None else held + result
            waiting[edge.node] -= 1
            if waiting[edge.node] == 0:
                queue.append(edge.node)
    ### END SOLUTION


# %% nbgrader={"grade_id": "task3_check", "points": 2}
from grader.checks import Checks, experiment

# label: (how many outputs, the edges). An edge: (to which node, to which slot, times what)
diamond_graph = {
    "a": (1, []),
    "c": (1, [("a", 0, 3.0)]),
    "b": (1, [("a", 0, 6.0), ("c", 0, 2.0)]),
}
longer_path = {
    "w": (1, []),
    "x": (1, [("w", 0, 5.0)]),
    "p": (1, [("x", 0, 2.0)]),
    "q": (1, [("p", 0, 2.0)]),
    "root": (1, [("x", 0, 1.0), ("q", 0, 1.0)]),
}
second_output = {
    "x": (1, []),
    "split": (2, [("x", 0, 1.0)]),
    "root": (1, [("split", 1, 4.0)]),
}
nothing_arrives = {
    "x": (1, []),
    "silent": (1, [("x", 0, 7.0)]),
    "root": (1, [("silent", 0, None), ("x", 0, 3.0)]),
}


def chain_graph(length):
    graph = {"0": (1, [])}
    for number in range(1, length):
        graph[str(number)] = (1, [(str(number - 1), 0, -1.0)])
    return graph


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def calls(graph, root, gradient):
    """Which nodes run_backward has called, and with what; sorted by their labels."""
    log = []
    run_backward(noted_nodes(graph, log)[root], gradient)
    return sorted(log, key=lambda call: call[0])


@experiment
def calls_of_chain(length, gradient):
    """The same for a chain: how many nodes are called, and what the first and the last get."""
    log = calls(chain_graph(length), str(length - 1), gradient)
    return len(log), dict(log)[str(length - 1)], dict(log)["0"]


@experiment
def on_tensors(numbers):
    """The gradient of sum(x * x * x)."""
    x = paddle.to_tensor(numbers, stop_gradient=False)
    y = x * x
    loss = (y * x).sum()
    run_backward(loss.grad_fn, paddle.ones(loss.shape))
    return x.grad.numpy()


with Checks("Task 3") as check:
    check.equal(
        "the diamond",
        lambda: calls(diamond_graph, "b", 1.0),
        [("a", [12.0]), ("b", [1.0]), ("c", [2.0])],
        look="a's node has to wait for two gradients: 6 from b, and 2 · 3 by way of c.",
    )
    check.equal(
        "a short and a long path",
        lambda: calls(longer_path, "root", 1.0),
        [("p", [2.0]), ("q", [1.0]), ("root", [1.0]), ("w", [25.0]), ("x", [5.0])],
        look="x's node runs once, when p's has run. A node goes into the queue at 0, not before.",
    )
    check.equal(
        "the second of two outputs",
        lambda: calls(second_output, "root", 1.0),
        [("root", [1.0]), ("split", [None, 4.0]), ("x", [8.0])],
        look="A holder has len(node.specs) places; edge.slot says which one is meant.",
    )
    check.equal(
        "a node to which no gradient comes",
        lambda: calls(nothing_arrives, "root", 1.0),
        [("root", [1.0]), ("x", [3.0])],
        look="Rule 4: it isn't called, but its edges count as gone over, so that x's node can run.",
    )
    check.equal(
        "Tensors",
        lambda: on_tensors([2.0, 3.0]),
        np.array([12.0, 27.0], "float32"),
        look="The gradient of x³ is 3x².",
    )
    check.equal(
        "3,000 nodes in a row",
        lambda: calls_of_chain(3000, 1.0),
        (3000, [1.0], [-1.0]),
        look="A RecursionError? Use a queue.",
    )

# %% nbgrader={"grade_id": "task3_hidden", "points": 2}
# Hidden checks, run when your work is graded: random graphs, arrays that several nodes share, and a very deep graph.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment


def secret_graph(seed):
    """A random graph whose last node is the root; edges without gradient, ops with more outputs."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, int(rng.integers(4, 14))).tolist()
    graph = {}
    for number, outputs in enumerate(sizes):
        edges = []
        for _ in range(int(rng.integers(1, 4)) if number > 1 else 0):
            target = int(rng.integers(max(0, number - 5), number))
            factor = [None, 1.0, 1.0, -2.0, 0.5][int(rng.integers(0, 5))]
            edges.append((str(target), int(rng.integers(0, sizes[target])), factor))
        graph[str(number)] = (outputs, edges)
    return graph


def secret_calls(graph, root, gradient):
    """What arrives where, from the root down: a graph lists a node after those behind it."""
    arrived = {label: [None] * outputs for label, (outputs, _) in graph.items()}
    arrived[root][0] = np.array(gradient)
    for label in reversed(list(graph)):
        grads = arrived[label]
        if all(grad is None for grad in grads):
            continue
        total = grads[0] if len(grads) == 1 else weighted_sum(grads)
        for target, slot, factor in graph[label][1]:
            if factor is not None:
                before = arrived[target][slot]
                arrived[target][slot] = total * factor + (0.0 if before is None else before)
    return [
        (label, [g if g is None else g.tolist() for g in grads])
        for label, grads in sorted(arrived.items())
        if any(g is not None for g in grads)
    ]


@experiment
def secret_batch(graphs, gradient):
    return [calls(graph, list(graph)[-1], np.array(gradient)) for graph in graphs]


def secret_expected(graphs, gradient):
    return [secret_calls(graph, list(graph)[-1], gradient) for graph in graphs]


secret_graphs = [secret_graph(seed) for seed in range(60)]
secret_shared = {  # each factor is 1: one array goes to several nodes
    "x": (1, []),
    "w": (1, []),
    "left": (1, [("x", 0, 1.0)]),
    "right": (1, [("x", 0, 1.0), ("w", 0, 1.0)]),
    "root": (1, [("left", 0, 1.0), ("right", 0, 1.0), ("x", 0, 1.0), ("x", 0, 1.0)]),
}


@experiment
def secret_given(graph, root, gradient):
    """The calls, and the array that was handed in, as it is afterwards."""
    array = np.array(gradient)
    return calls(graph, root, array), array


def secret_cube(numbers):
    return 3 * np.array(numbers, "float32") ** 2


with Checks("Task 3", hidden=True) as check:
    check.equal(
        "60 random graphs",
        lambda: secret_batch(secret_graphs, [1.0, -3.0]),
        secret_expected(secret_graphs, [1.0, -3.0]),
        look="Edges that carry None, ops with several outputs, two edges to the same place.",
    )
    check.equal(
        "graphs without None",
        lambda: [calls(g, "root", 2.5) for g in (longer_path, second_output)],
        [secret_calls(g, "root", 2.5) for g in (longer_path, second_output)],
        look="Each node once, with the sum of what arrives.",
    )
    check.equal(
        "arrays that are shared",
        lambda: secret_given(secret_shared, "root", [1.0, 10.0]),
        (secret_calls(secret_shared, "root", [1.0, 10.0]), np.array([1.0, 10.0])),
        look="Make a new sum: held + new. An array may have been handed to several nodes.",
    )
    check.equal(
        "10,000 nodes in a row, and Tensors",
        lambda: (calls_of_chain(10_000, 3.0), on_tensors([-1.0, 0.5, 7.0])),
        ((10_000, [3.0], [-3.0]), secret_cube([-1.0, 0.5, 7.0])),
        look="No recursion; and no search through a long list for each node.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 4 · What a leaf does with a gradient   (4 points)
# The walk ends at the node of a leaf, the `GradNodeAccumulation`. It adds what arrives to the leaf's `grad`. Before that, the leaf's **hooks** see the gradient, and may change
# it: a hook is a function that somebody has registered, to clip gradients, to print them, or (in data parallel) to send them to other processes. Write the work of this node:
#
#     accumulate(leaf, grad)
#
# To keep it short, a gradient is a numpy array here. `leaf.grad` is None or an array. `leaf.hooks` is a dict, number to hook, in the order in which they were registered.
#
# 1. Each hook is called with the gradient that arrives now (not with the sum), **as the hook before has left it**. It returns a new array, or None: "I change nothing".
# 2. The first gradient becomes `leaf.grad`, as an array of its own: a hook may have kept the one that it returned. Each further gradient is added **into the array that is there**: whoever
#    holds `leaf.grad`, such as an optimizer, sees the new numbers.
# 3. The array `grad` belongs to others, too (for `x + y` both leaves get the same array). It must stay as it is: not even a hook that writes into what it gets may change
#    it, and it must not become `leaf.grad` itself. Copy it first.
# 4. A hook may remove itself while it runs (one that should run only once). The others still run.
# 5. If a hook returns something else than an array or None, raise a `TypeError`; `leaf.grad` stays as it was.
#
# | hooks | `leaf.grad` after `[1, 5]` has arrived | and after `[2, 0]`, too |
# |---|---|---|
# | none | `[1, 5]` | `[3, 5]` |
# | times 2 | `[2, 10]` | `[6, 10]` |
# | plus 1, then times 2 | `[4, 12]` | `[10, 14]` |
#
# Why Paddle has it: `GradNodeAccumulation` in `paddle/fluid/eager/accumulation/accumulation_node.cc`. Data parallel hangs its communication there.
#
# <details><summary>Hint 1</summary>Three steps: copy, run the hooks, keep or add. A gradient of zeros is a gradient: ask `is None`, not whether it is true.</details>
#
# <details><summary>Hint 2</summary>A dict that changes while you go over it raises a RuntimeError. Go over a list of its values.</details>
#
# <details><summary>Hint 3</summary>`leaf.grad = leaf.grad + grad` makes a new array; `leaf.grad += grad` writes into the one that is there.</details>


# %% nbgrader={"grade_id": "task4_setup"}
class Leaf:
    """What a leaf knows about its gradient."""

    def __init__(self):
        self.grad = None
        self.hooks = {}
        self.registered = 0

    def register_hook(self, hook):
        """Adds a hook. Returns a function that takes it away again."""
        number, self.registered = self.registered, self.registered + 1
        self.hooks[number] = hook
        return lambda: self.hooks.pop(number, None) is not None


# %% nbgrader={"grade_id": "task4", "solution": true}
def accumulate(leaf, grad):
    ### BEGIN SOLUTION
    grad = grad.copy()
    for hook in list(leaf.hooks.values()):
        changed = hook(grad)
        if changed is None:
            continue
        if not isinstance(changed, np.ndarray):
            raise TypeError(
                f"register_hook: expected the hook to return an array or None, but got "
                f"{type(changed).__name__}. Return the new gradient, or nothing."
            )
        grad = changed
    if leaf.grad is None:
        leaf.grad = grad.copy()  # a hook may have kept what it returned
    else:
        leaf.grad += grad
    ### END SOLUTION


# %% nbgrader={"grade_id": "task4_check", "points": 2}
from grader.checks import Checks, experiment


def add_hooks(leaf, kinds, seen):
    """Registers hooks of these kinds. What a "note" sees is added to `seen`."""
    once = []  # what takes the hooks of this kind away again

    def run_once(grad):
        once.pop(0)()
        return grad + 100.0

    hooks = {
        "times 2": lambda grad: grad * 2.0,
        "plus 1": lambda grad: grad + 1.0,
        "zeros": lambda grad: grad * 0.0,
        "clip in place": lambda grad: np.clip(grad, -1.0, 1.0, out=grad) * 1.0,
        "zeros in place": lambda grad: grad.fill(0.0),  # returns None
        "note": lambda grad: seen.append(grad.tolist()),  # returns None
        "plus 100, once": run_once,
        "a text": lambda grad: "no gradient",
    }
    for kind in kinds:
        remove = leaf.register_hook(hooks[kind])
        if kind == "plus 100, once":
            once.append(remove)


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def leaf_after(kinds, *grads):
    """A leaf with these hooks, after these gradients."""
    leaf, seen, first = Leaf(), [], None
    add_hooks(leaf, kinds, seen)
    arrived = [np.array(grad) for grad in grads]
    for grad in arrived:
        accumulate(leaf, grad)
        first = leaf.grad if first is None else first
    numbers = [None if one is None else one.tolist() for one in (leaf.grad, first)]
    afterwards = [grad.tolist() for grad in arrived]
    return dict(zip(("grad", "held", "seen", "arrived"), [*numbers, seen, afterwards]))


@experiment
def after_an_error(kinds, first, second):
    """A leaf that has a gradient, and then hooks that fail: the kind of error, and the gradient."""
    leaf = Leaf()
    accumulate(leaf, np.array(first))
    add_hooks(leaf, kinds, [])
    try:
        accumulate(leaf, np.array(second))
    except Exception as error:
        return type(error).__name__, leaf.grad.tolist()
    return "no error", leaf.grad.tolist()


def a_leaf(grad, seen, arrived):
    """What is expected: who held the first gradient sees the sum in it."""
    return {"grad": grad, "held": grad, "seen": seen, "arrived": arrived}


one, two = [1.0, 5.0], [2.0, 0.0]
with Checks("Task 4") as check:
    check.equal(
        "no hooks",
        lambda: leaf_after([], one, two),
        a_leaf([3.0, 5.0], [], [one, two]),
        look="'held' is the array of the first call: the second gradient is added into it. "
        "'arrived' are the arrays that were handed in: they stay as they were.",
    )
    check.equal(
        "the order of hooks",
        lambda: leaf_after(["plus 1", "note", "times 2", "note"], one, two),
        a_leaf(
            [10.0, 14.0],
            [[2.0, 6.0], [4.0, 12.0], [3.0, 1.0], [6.0, 2.0]],
            [one, two],
        ),
        look="Each hook gets what the one before has left; and this call's gradient, not the sum.",
    )
    check.equal(
        "a hook that writes into what it gets",
        lambda: leaf_after(["clip in place", "note"], one, two),
        a_leaf([2.0, 1.0], [[1.0, 1.0], [1.0, 0.0]], [one, two]),
        look="'arrived' must stay as it was: copy before the first hook.",
    )
    check.equal(
        "a hook that removes itself",
        lambda: leaf_after(["plus 100, once", "times 2"], one, two),
        a_leaf([206.0, 210.0], [], [one, two]),
        look="A dict can't be gone over while it changes. Go over a list of its values.",
    )
    check.equal(
        "a gradient of zeros",
        lambda: leaf_after(["zeros", "note"], [7.0], [8.0]),
        a_leaf([0.0], [[0.0], [0.0]], [[7.0], [8.0]]),
        look="An array [0.] counts as false in Python. Ask: changed is None?",
    )
    check.equal(
        "a hook that returns a text",
        lambda: after_an_error(["times 2", "a text"], one, two),
        ("TypeError", [1.0, 5.0]),
        look="Rule 5. Keep or add only after all hooks have run.",
    )

# %% nbgrader={"grade_id": "task4_hidden", "points": 2}
# Hidden checks, run when your work is graded: many hooks in random order, many gradients, other shapes.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment

SECRET_KINDS = [
    "times 2",
    "plus 1",
    "zeros",
    "clip in place",
    "zeros in place",
    "note",
    "plus 100, once",
]


def secret_case(seed):
    """Hooks in random order, and some gradients."""
    rng = np.random.default_rng(seed)
    kinds = [SECRET_KINDS[n] for n in rng.integers(0, len(SECRET_KINDS), rng.integers(1, 6))]
    shape = [(2,), (1,), (3,), (2, 2)][int(rng.integers(0, 4))]
    return kinds, [rng.integers(-3, 4, shape).astype(float).tolist() for _ in range(3)]


def secret_leaf(kinds, grads):
    """The same by the rules, with plain numbers and no hooks."""
    changes = {
        "times 2": lambda grad: grad * 2.0,
        "plus 1": lambda grad: grad + 1.0,
        "zeros": lambda grad: grad * 0.0,
        "zeros in place": lambda grad: grad * 0.0,
        "clip in place": lambda grad: np.clip(grad, -1.0, 1.0),
        "plus 100, once": lambda grad: grad + 100.0,
    }
    total, seen, kinds = 0.0, [], list(kinds)
    for given in grads:
        grad = np.array(given)
        for kind in kinds:
            if kind == "note":
                seen.append(grad.tolist())
            else:
                grad = changes[kind](grad)
        kinds = [kind for kind in kinds if kind != "plus 100, once"]
        total = total + grad
    return a_leaf(np.asarray(total).tolist(), seen, grads)


@experiment
def secret_leaves(cases):
    return [leaf_after(kinds, *grads) for kinds, grads in cases]


@experiment
def secret_removed(first, second):
    """Three hooks, of which the middle one is taken away between two gradients."""
    leaf = Leaf()
    removers = [leaf.register_hook(lambda grad, n=n: grad * n + 1.0) for n in (2.0, 3.0, 5.0)]
    accumulate(leaf, np.array(first))
    before = leaf.grad.tolist()
    removers[1]()
    accumulate(leaf, np.array(second))
    return before, leaf.grad.tolist()


@experiment
def secret_kept(grad):
    """A hook keeps what it has returned; then a second gradient comes."""
    leaf, kept = Leaf(), []

    def keep(given):
        kept.append(given * 3.0)
        return kept[-1]

    leaf.register_hook(keep)
    accumulate(leaf, np.array(grad))
    accumulate(leaf, np.array(grad))
    return [one.tolist() for one in kept], leaf.grad.tolist()


secret_cases = [secret_case(seed) for seed in range(60)]
secret_noted = [(kinds, grads) for kinds, grads in secret_cases if "note" in kinds]
with Checks("Task 4", hidden=True) as check:
    check.equal(
        "60 leaves",
        lambda: secret_leaves(secret_cases),
        [secret_leaf(*case) for case in secret_cases],
        look="Hooks in any order, three gradients, shapes from [1] to [2, 2].",
    )
    check.equal(
        "what hooks see",
        lambda: secret_leaves(secret_noted),
        [secret_leaf(*case) for case in secret_noted],
        look="The gradient that arrives now, as the hook before has left it.",
    )
    check.equal(
        "a hook is taken away; a hook keeps what it returned",
        lambda: (secret_removed([1.0], [2.0]), secret_kept([1.0, 2.0])),
        (
            ([((1.0 * 2 + 1) * 3 + 1) * 5 + 1], [51.0 + (2.0 * 2 + 1) * 5 + 1]),
            ([[3.0, 6.0], [3.0, 6.0]], [6.0, 12.0]),
        ),
        look="leaf.grad is an array of its own: nobody else's numbers may change with it.",
    )
    check.equal(
        "errors",
        lambda: [
            after_an_error(["a text"], [4.0], [2.0]),
            after_an_error(["plus 1", "zeros in place"], [4.0, 3.0], [2.0, 9.0]),
            after_an_error(["clip in place", "a text", "times 2"], [0.5], [2.0]),
        ],
        [("TypeError", [4.0]), ("no error", [4.0, 3.0]), ("TypeError", [0.5])],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 5 · What paddle.grad doesn't run   (4 points)
# `loss.backward()` goes to all leaves. `paddle.grad(loss, x)` wants the gradient of `x` only. Nodes that don't lead to `x` would compute for nothing, and their hooks would be called
# though nobody asked for their gradients. So the graph is *pruned* first. Write
#
#     nodes_on_the_path(root, wanted) -> set of nodes, or None
#
# `root` and `wanted` are GradNodes. The answer says **which nodes must run so that the gradient of `wanted` arrives**: those that can be reached from `root` (the root included), and
# from which at least one edge leads on to `wanted`, directly or by way of others. `wanted` itself need not run: we want what arrives there.
#
# If `wanted` can't be reached from `root`, the answer is **None**. (paddle.grad says so too: it raises a ValueError, or with `allow_unused=True` gives None.)
#
# For the graph in the picture:
#
# | root, wanted | answer |
# |---|---|
# | loss, x | {loss, c, a}: neither `side` nor `b` |
# | loss, w | {loss, c, b, side} |
# | loss, c | {loss} |
# | loss, loss | set(): the gradient is there already |
# | loss, other; also b, x | None |
#
# Look at each node once, however many paths there are; don't use recursion; leave the graph as it is. `node.edges` is as in task 1: an `Edge` with `edge.node`, or None.
#
# Why Paddle has it: `GeneralGrad` in `paddle/fluid/eager/general_grad.h`. With several inputs, `paddle.grad` runs the nodes that one of them needs.
#
# <details><summary>Hint 1</summary>"Can be reached from root" is a walk along the edges. "Leads to wanted" is a walk against them. A node of the answer has been met on both.</details>
#
# <details><summary>Hint 2</summary>Edges can't be followed backwards. But on the first walk you can note, for each node, from which nodes an edge leads to it.</details>
#
# <details><summary>Hint 3</summary>users = {node: the nodes whose edges lead to it}. If wanted was not met on the first walk: None. Otherwise start at wanted, and collect users, and
# the users of users.</details>


# %% nbgrader={"grade_id": "task5_setup"}
def branches():
    """The graph of the picture: Tensors by name. `other` is used in another computation."""
    x, w, other = (paddle.to_tensor([n], stop_gradient=False) for n in (1.0, 2.0, 3.0))
    a, b = x * 2.0, w * w
    c, side = a * b, w * 3.0
    found = {"x": x, "w": w, "other": other, "a": a, "b": b, "c": c, "side": side}
    return {**found, "loss": c + side, "far": other * 4.0}


picture = branches()
viz.grad_graph(picture["loss"], labels=picture)


# %% nbgrader={"grade_id": "task5", "solution": true}
def nodes_on_the_path(root, wanted):
    ### BEGIN SOLUTION
    users = {root: []}
    queue = [root]
    for node in queue:  # the list grows while we walk
        for edge in node.edges:
            if edge is None:
                continue
            if edge.node not in users:
                users[edge.node] = []
                queue.append(edge.node)
            users[edge.node].append(node)
    if wanted not in users:
        return None
    found = set()
    queue = [wanted]
    for node in queue:
        for user in users[node]:
            if user not in found:
                found.add(user)
                queue.append(user)
    return found
    ### END SOLUTION


# %% nbgrader={"grade_id": "task5_check", "points": 2}
from grader.checks import Checks, experiment


def x_only():
    """The root's edges: one to x, one None."""
    x = paddle.to_tensor([1.0], stop_gradient=False)
    return {"x": x, "root": x * paddle.to_tensor([5.0])}


def long_chain():
    """3,000 ops in a row, and a leaf at every one; the names are numbers and texts."""
    tensors = {0: paddle.to_tensor([1.0], stop_gradient=False)}
    for number in range(1, 3001):
        tensors[f"leaf {number}"] = paddle.to_tensor([1.0], stop_gradient=False)
        tensors[number] = tensors[number - 1] * tensors[f"leaf {number}"]
    return tensors


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def path(build, root, wanted, *args):
    """What nodes_on_the_path says about a graph, with the names of Tensors in place of nodes."""
    tensors = build(*args)
    names = {tensor.grad_fn: name for name, tensor in tensors.items()}
    found = nodes_on_the_path(tensors[root].grad_fn, tensors[wanted].grad_fn)
    return None if found is None else {names.get(node, str(node)) for node in found}


with Checks("Task 5") as check:
    check.equal(
        "to x, and to b's node, which doesn't lead there",
        lambda: [path(branches, "loss", "x"), path(branches, "b", "x")],
        [{"loss", "c", "a"}, None],
        look="b and side don't lead to x. And from b there is no way to x: None.",
    )
    check.equal(
        "two ways to w",
        lambda: path(branches, "loss", "w"),
        {"loss", "c", "b", "side"},
        look="Both ways are needed: by c and b, and by side.",
    )
    check.equal(
        "an inner node, and the node next to the root",
        lambda: [path(branches, "loss", "b"), path(branches, "loss", "side")],
        [{"loss", "c"}, {"loss"}],
        look="The wanted node itself need not run, nor what is behind it.",
    )
    check.equal(
        "wanted is the root; and another computation",
        lambda: [
            path(branches, "loss", "loss"),
            path(branches, "loss", "other"),
            path(branches, "far", "other"),
        ],
        [set(), None, {"far"}],
        look="The gradient of the root is there already: an empty set. None means: no way there.",
    )
    check.equal(
        "an edge that is None",
        lambda: path(x_only, "root", "x"),
        {"root"},
        look="An edge may be None: skip it.",
    )
    check.equal(
        "3,000 ops in a row",
        lambda: path(long_chain, 2500, "leaf 1000"),
        set(range(1000, 2501)),
        look="A RecursionError? Use a queue.",
    )

# %% nbgrader={"grade_id": "task5_hidden", "points": 2}
# Hidden checks, run when your work is graded: random graphs, many paths, a very deep graph, and Tensors.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment


def secret_branches(seed):
    """Edges of a random graph by number: node -> the nodes behind it, or None; 0 to 3 are leaves."""
    rng = np.random.default_rng(seed)
    edges = {number: [] for number in range(4)}
    for number in range(4, int(rng.integers(8, 16))):
        count = int(rng.integers(1, 4))
        edges[number] = [
            None if rng.random() < 0.2 else int(rng.integers(max(0, number - 6), number))
            for _ in range(count)
        ]
    return edges


class SecretEdges(GradNodeBase):
    """Counts how often somebody asks for its edges."""

    asked = 0

    @property
    def edges(self):
        type(self).asked += 1
        if type(self).asked > 500_000:
            raise RuntimeError("nodes are looked at again and again")
        return self.kept

    @edges.setter
    def edges(self, value):
        self.kept = value


def secret_nodes(edges):
    nodes = {}
    for number, behind in edges.items():
        nodes[number] = SecretEdges([None if b is None else Edge(nodes[b], 0) for b in behind], [])
    return nodes


@experiment
def secret_paths(cases):
    """The answers for graphs, each with pairs of (root, wanted); and the edges afterwards."""
    answers = []
    for edges, pairs in cases:
        nodes = secret_nodes(edges)
        numbers = {node: number for number, node in nodes.items()}
        for root, wanted in pairs:
            found = nodes_on_the_path(nodes[root], nodes[wanted])
            answers.append(found if found is None else {numbers[node] for node in found})
        answers.append([[e and numbers[e.node] for e in node.kept] for node in nodes.values()])
    return answers


def secret_definition_of_paths(cases):
    """By asking for each node: can the root reach it, and can it reach wanted?"""
    answers = []
    for edges, pairs in cases:
        reach = {number: {number} for number in edges}
        for number, behind in edges.items():  # those behind come first
            for b in behind:
                reach[number] |= set() if b is None else reach[b]
        for root, wanted in pairs:
            on_it = {n for n in reach[root] if n != wanted and wanted in reach[n]}
            answers.append(on_it if wanted in reach[root] else None)
        answers.append(list(edges.values()))
    return answers


def secret_pairs(edges, seed):
    return np.random.default_rng(seed).choice(list(edges), (12, 2)).tolist()


secret_graphs = [secret_branches(seed) for seed in range(40)]
secret_cases = [(edges, secret_pairs(edges, seed)) for seed, edges in enumerate(secret_graphs)]
secret_ladder = {0: [], 1: [0]}  # 40 steps, and twice as many paths after each
for secret_number in range(2, 40):
    secret_ladder[secret_number] = [secret_number - 1, secret_number - 2, secret_number - 1]


def secret_long_row(length):
    """A row with a leaf beside every node: even numbers are the row."""
    edges = {0: [], 1: []}
    for number in range(2, 2 * length, 2):
        edges[number], edges[number + 1] = [number - 1, None, number - 2], []
    return edges


@experiment
def secret_long(length, root, wanted):
    """How many nodes are on the path, and the sum of their numbers."""
    nodes = secret_nodes(secret_long_row(length))
    numbers = {node: number for number, node in nodes.items()}
    found = {numbers[node] for node in nodes_on_the_path(nodes[root], nodes[wanted])}
    return len(found), sum(found)


secret_on_row = range(2_002, 20_002, 2)  # from the node above wanted up to the root
with Checks("Task 5", hidden=True) as check:
    check.equal(
        "40 random graphs, 12 pairs in each",
        lambda: secret_paths(secret_cases),
        secret_definition_of_paths(secret_cases),
        look="Expected are the nodes that the root can reach, and that can reach wanted.",
    )
    check.equal(
        "many paths",
        lambda: secret_paths([(secret_ladder, [(39, 0), (30, 11), (11, 30)])]),
        secret_definition_of_paths([(secret_ladder, [(39, 0), (30, 11), (11, 30)])]),
        look="Look at each node once, however many paths lead through it.",
    )
    check.equal(
        "a very deep graph",
        lambda: secret_long(12_000, 20_000, 2_000),
        (len(secret_on_row), sum(secret_on_row)),
        look="No recursion; and no search through a long list for each node.",
    )
    check.equal(
        "Tensors",
        lambda: [path(branches, *pair) for pair in (("c", "w"), ("side", "w"), ("side", "x"))],
        [{"c", "b"}, {"side"}, None],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 6 · A node of your own: PyLayer   (4 points)
# Sometimes you want to write a gradient yourself, in Python, without declaring an op: a *PyLayer* is a class with two static methods. `forward` computes; the ops in it aren't recorded. The whole
# call leaves **one** node, and this node calls `backward`. The next cell has an example. Write
#
#     to_xy(radius, angle, unit) -> x, y
#
# with such a class inside (or above) it. It turns a radius and an angle into a point: `x = radius · cos(unit · angle)` and `y = radius · sin(unit · angle)`. Radius and angle are Tensors of
# the same shape. `unit` is a plain number: π/180 if angles are in degrees.
#
# 1. `forward(ctx, radius, angle, unit)` returns two Tensors. `backward(ctx, x_grad, y_grad)` gets two gradients, one for each of them. (If only x was used, y_grad is zeros.)
# 2. Keep radius and angle with `ctx.save_for_backward(...)`, and take them out with `ctx.saved_tensor()`. This way backward refuses if an in-place op has changed them. (Paddle 3.3.1
#    doesn't notice such a change here.) What is no Tensor, such as unit, becomes an attribute of `ctx`.
# 3. `backward` returns one gradient for each argument of forward **that is a Tensor**, in their order: two, and nothing for unit. Where a Tensor has `stop_gradient=True`, it returns
#    None (in Paddle, too, anything else is an error).
# 4. Write backward with ops of paddle (`paddle.cos`, `paddle.sin`, `+ - *`), not with numpy. So it can itself be recorded, for gradients of gradients.
#
# How much x and y change with each input:
#
# | | radius | angle |
# |---|---|---|
# | x | cos(unit · angle) | - unit · radius · sin(unit · angle) |
# | y | sin(unit · angle) | unit · radius · cos(unit · angle) |
#
# An example: for radius 2, angle 90 and unit π/180, (x, y) is (0, 2). If x_grad = 1 and y_grad = 10 arrive, the gradient of radius is 10, and that of angle is -2 · π/180.
#
# Why Paddle has it: `python/paddle/autograd/py_layer.py`; its node is in `paddle/fluid/eager/pylayer/py_layer_node.cc`. Recompute, which saves memory, is written as a PyLayer.
#
# <details><summary>Hint 1</summary>radius feeds both outputs. So its gradient has two parts: x_grad times the slope of x, plus y_grad times the slope of y. So has that of
# angle.</details>
#
# <details><summary>Hint 2</summary>radius, angle = ctx.saved_tensor() gives Tensors that still know their stop_gradient: None if radius.stop_gradient else
# ...</details>
#
# <details><summary>Hint 3</summary>class ToXY(PyLayer), with @staticmethod above both methods, then return ToXY.apply(radius, angle, unit). In backward: turn = angle * ctx.unit; the
# gradient of radius is x_grad * paddle.cos(turn) + y_grad * paddle.sin(turn).</details>

# %% nbgrader={"grade_id": "task6_setup"}
from minipaddle.autograd import PyLayer


class Power(PyLayer):
    """An example: x to the power n. n is a plain number."""

    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, out_grad):
        (x,) = ctx.saved_tensor()
        return out_grad * ctx.n * x ** (ctx.n - 1)


t = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
Power.apply(t, 3).sum().backward()
print(t.grad.numpy())


# %% nbgrader={"grade_id": "task6", "solution": true}
def to_xy(radius, angle, unit):
    ### BEGIN SOLUTION
    class ToXY(PyLayer):
        @staticmethod
        def forward(ctx, radius, angle, unit):
            ctx.save_for_backward(radius, angle)
            ctx.unit = unit
            return radius * paddle.cos(angle * unit), radius * paddle.sin(angle * unit)

        @staticmethod
        def backward(ctx, x_grad, y_grad):
            radius, angle = ctx.saved_tensor()
            cos, sin = paddle.cos(angle * ctx.unit), paddle.sin(angle * ctx.unit)
            return (
                None if radius.stop_gradient else x_grad * cos + y_grad * sin,
                None if angle.stop_gradient else (y_grad * cos - x_grad * sin) * radius * ctx.unit,
            )

    return ToXY.apply(radius, angle, unit)
    ### END SOLUTION


# %% nbgrader={"grade_id": "task6_check", "points": 2}
from grader.checks import Checks, experiment


def by_hand(radius, angle, unit, x_weight, y_weight):
    """x, y, and the slopes of x_weight · x + y_weight · y by radius and by angle."""
    cos, sin = np.cos(unit * angle), np.sin(unit * angle)
    by_radius = x_weight * cos + y_weight * sin
    by_angle = unit * radius * (y_weight * cos - x_weight * sin)
    return [radius * cos, radius * sin, by_radius, by_angle]


def numbers(tensor):
    return None if tensor is None else tensor.numpy()


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def with_gradients(radius, angle, unit, x_weight, y_weight, stopped=()):
    """x, y, and the gradients of radius and angle. A weight of None: that output isn't used."""
    r = paddle.to_tensor(radius, stop_gradient="radius" in stopped)
    a = paddle.to_tensor(angle, stop_gradient="angle" in stopped)
    outs = to_xy(r, a, unit)
    parts = [out * w for out, w in zip(outs, (x_weight, y_weight)) if w is not None]
    sum(parts[1:], parts[0]).sum().backward()
    return [*(out.numpy() for out in outs), numbers(r.grad), numbers(a.grad)]


@experiment
def nodes(radius, angle, unit):
    """x, and the names of the nodes behind it, and behind y."""
    r, a = (paddle.to_tensor(n, stop_gradient=False) for n in (radius, angle))
    x, y = to_xy(r * 2.0, a, unit)
    behind = [[n.name() for n in out.grad_fn.next_functions] for out in (x, y)]
    return x.numpy(), behind, "one node" if x.grad_fn is y.grad_fn else "two nodes"


@experiment
def changed(radius, angle, unit, which):
    """radius or angle is changed in place before backward: x, and the kind of error."""
    r, a = (paddle.to_tensor(n, stop_gradient=False) * 1.0 for n in (radius, angle))
    x, y = to_xy(r, a, unit)
    if which != "neither":
        (r if which == "radius" else a).scale_(2.0)
    try:
        (x + y).sum().backward()
    except Exception as error:
        return x.numpy(), type(error).__name__
    return x.numpy(), "no error"


@experiment
def second_gradient(radius, angle, unit):
    """The gradient of radius for x + y, and how it changes with the angle."""
    r, a = (paddle.to_tensor(n, stop_gradient=False) for n in (radius, angle))
    x, y = to_xy(r, a, unit)
    (first,) = paddle.grad((x + y).sum(), r, create_graph=True)
    (second,) = paddle.grad(first.sum(), a)
    return [first.numpy(), second.numpy()]


degree = np.pi / 180
radii, angles = np.array([2.0, 1.0, 3.0]), np.array([90.0, 60.0, -45.0])
with Checks("Task 6") as check:
    check.equal(
        "points and gradients",
        lambda: with_gradients(radii, angles, degree, 1.0, 10.0),
        by_hand(radii, angles, degree, 1.0, 10.0),
        look="In this order: x, y, the gradients of radius and of angle. Did you use both x_grad "
        "and y_grad?",
    )
    check.equal(
        "only one output is used",
        lambda: [
            with_gradients(radii, angles, degree, 2.0, None),
            with_gradients(radii, angles, 1.0, None, 2.0),
        ],
        [by_hand(radii, angles, degree, 2.0, 0.0), by_hand(radii, angles, 1.0, 0.0, 2.0)],
        look="The other gradient is zeros. And the second time, unit is 1.",
    )
    check.equal(
        "one node",
        lambda: nodes(radii, angles, degree),
        (
            2 * by_hand(radii, angles, degree, 1.0, 1.0)[0],
            [["ScaleGradNode", "GradNodeAccumulation"]] * 2,
            "one node",
        ),
        look="Call the class by its apply: to_xy leaves one node, with an edge per Tensor.",
    )
    check.equal(
        "an input that stops gradients",
        lambda: [
            with_gradients(radii, angles, degree, 1.0, 1.0, ["angle"]),
            with_gradients(radii, angles, degree, 1.0, 1.0, ["radius"]),
        ],
        [
            [*by_hand(radii, angles, degree, 1.0, 1.0)[:3], None],
            [*by_hand(radii, angles, degree, 1.0, 1.0)[:2], None]
            + by_hand(radii, angles, degree, 1.0, 1.0)[3:],
        ],
        look="Rule 3: return None for a Tensor whose stop_gradient is True.",
    )
    check.equal(
        "an in-place op before backward",
        lambda: [changed(radii, angles, 1.0, which) for which in ("angle", "neither")],
        [(radii * np.cos(angles), "RuntimeError"), (radii * np.cos(angles), "no error")],
        look="Keep radius and angle with ctx.save_for_backward: it notices the change.",
    )
    check.equal(
        "the gradient of the gradient",
        lambda: second_gradient(radii, angles, 0.1),
        [
            np.cos(0.1 * angles) + np.sin(0.1 * angles),
            0.1 * (np.cos(0.1 * angles) - np.sin(0.1 * angles)),
        ],
        look="Write backward with ops of paddle, and with the Tensors of ctx.saved_tensor().",
    )

# %% nbgrader={"grade_id": "task6_hidden", "points": 2}
# Hidden checks, run when your work is graded: other numbers, shapes and units; two calls side by side.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment

secret_rng = np.random.default_rng(26)
secret_cases = []
for secret_shape in ((4,), (2, 3), (2, 1, 2), (1,)):
    secret_radius, secret_angle = secret_rng.normal(size=(2, *secret_shape))
    secret_numbers = secret_rng.normal(size=3).tolist()
    secret_cases.append((secret_radius, secret_angle, *secret_numbers))


@experiment
def secret_batch(cases, stopped=()):
    return [with_gradients(*case, stopped) for case in cases]


@experiment
def secret_side_by_side(radius, angle, units):
    """Several calls with different units, and one backward through all of them."""
    r, a = (paddle.to_tensor(n, stop_gradient=False) for n in (radius, angle))
    total = r * 0.0
    for unit in units:
        x, y = to_xy(r, a, unit)
        total = total + x * y
    total.sum().backward()
    return [r.grad.numpy(), a.grad.numpy()]


def secret_products(radius, angle, units):
    """x · y is radius² · sin(2 · unit · angle) / 2."""
    by_radius = sum(radius * np.sin(2 * unit * angle) for unit in units)
    by_angle = sum(radius**2 * unit * np.cos(2 * unit * angle) for unit in units)
    return [by_radius, by_angle]


@experiment
def secret_changes(cases):
    return [changed(*case) for case in cases]


secret_radius, secret_angle = secret_cases[1][:2]
secret_kinds = ["neither", "radius", "angle", "radius", "neither"]
secret_units = [0.5, -1.0, 2.0, 3.0, 0.25]
with Checks("Task 6", hidden=True) as check:
    check.equal(
        "other numbers and shapes",
        lambda: secret_batch(secret_cases),
        [by_hand(*case) for case in secret_cases],
    )
    check.equal(
        "inputs that stop gradients",
        lambda: [secret_batch(secret_cases, ["radius"]), secret_batch(secret_cases, ["angle"])],
        [
            [[x, y, None, by_angle] for x, y, _, by_angle in (by_hand(*c) for c in secret_cases)],
            [[x, y, by_radius, None] for x, y, by_radius, _ in (by_hand(*c) for c in secret_cases)],
        ],
        look="None for such an input; the other one gets its gradient.",
    )
    check.equal(
        "calls side by side",
        lambda: secret_side_by_side(secret_radius, secret_angle, [1.0, 0.5, -2.0]),
        secret_products(secret_radius, secret_angle, [1.0, 0.5, -2.0]),
        look="Each call keeps its own unit: on ctx, not on the class.",
    )
    check.equal(
        "in-place ops",
        lambda: secret_changes(
            [(secret_radius, secret_angle, u, k) for u, k in zip(secret_units, secret_kinds)]
        ),
        [
            (
                secret_radius * np.cos(u * secret_angle),
                "no error" if k == "neither" else "RuntimeError",
            )
            for u, k in zip(secret_units, secret_kinds)
        ],
        look="ctx.save_for_backward(radius, angle).",
    )
    check.equal(
        "gradients of gradients, and one node",
        lambda: [
            second_gradient(secret_radius, secret_angle, 0.7),
            nodes(secret_radius, secret_angle, 0.7),
        ],
        [
            [
                np.cos(0.7 * secret_angle) + np.sin(0.7 * secret_angle),
                0.7 * (np.cos(0.7 * secret_angle) - np.sin(0.7 * secret_angle)),
            ],
            (
                2 * secret_radius * np.cos(0.7 * secret_angle),
                [["ScaleGradNode", "GradNodeAccumulation"]] * 2,
                "one node",
            ),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 7 · What a node keeps, and when it refuses   (4 points)
# For `y * y`, the GradNode keeps y until backward. If an **in-place** op (its name ends in `_`, as in `y.scale_(3.0)`) changes y's numbers meanwhile, the gradient would be wrong, and
# nobody would notice. So each Tensor has a *version*, `tensor.inplace_version`: how often in-place ops have changed its numbers. Write what a node uses to keep a Tensor:
#
#     keep(tensor, only_meta=False) -> recover
#
# `recover` is a function without parameters that gives the Tensor back, or refuses:
#
# 1. `recover()` returns a Tensor with the same numbers, **not a copy**: both share one memory. It is connected as `tensor` was: same `grad_fn`, same `stop_gradient`.
# 2. If an in-place op has changed the numbers since `keep`, it raises a `RuntimeError`. The message names both versions: the one then, and the one now.
# 3. **Views**: `tensor[0]` or `tensor.reshape([4])` show the same memory, and count their changes together with `tensor`. A change through any of them counts.
# 4. It must not keep the Tensor itself alive, only its memory and what it knows about gradients. (In the real thing the Tensor may hold the node, and the node would hold
#    the Tensor: neither would ever be freed.)
# 5. With `only_meta=True` (the gradient of `mean` needs to know how many numbers there were, not which), `recover()` returns `(shape, dtype)`, as they were at `keep`: a list
#    and a text, `([2, 3], "float32")`. It never refuses, and keeps no memory.
#
# Two tools: `tensor.detach()` gives another Tensor that shows the same memory and counts versions together with it, but knows nothing about gradients. What a Tensor knows about
# gradients is its `tensor.autograd_meta`; you may set it.
#
# | between `keep(y)` and `recover()` | |
# |---|---|
# | `y + 1.0`, `y.reshape([4])` | y comes back: nothing has changed |
# | `y.scale_(3.0)` | RuntimeError: kept at version 0, now 1 |
# | `y[0].scale_(3.0)` | the same |
# | `y.add_(zeros)` | the same: a version counts changes, it doesn't compare numbers |
#
# Why Paddle has it: `TensorWrapper` in `paddle/fluid/eager/tensor_wrapper.h`; rule 5 is what `backward.yaml` calls `no_need_buffer`. Write it without our own TensorWrapper.
#
# <details><summary>Hint 1</summary>At `keep`, note three things: where the memory is, the version, and the AutogradMeta. `recover` is a function inside `keep`; it sees
# them.</details>
#
# <details><summary>Hint 2</summary>If you hold `tensor.detach()` instead of `tensor`, the Tensor itself can go. Ask the detached one for the version: it counts with the
# others.</details>
#
# <details><summary>Hint 3</summary>In recover: compare kept.inplace_version with the version you noted; then again = kept.detach(); again.autograd_meta = meta; return
# again. For only_meta: note list(tensor.shape) and tensor.dtype.name, and nothing else.</details>


# %% nbgrader={"grade_id": "task7", "solution": true}
def keep(tensor, only_meta=False):
    ### BEGIN SOLUTION
    if only_meta:
        shape, dtype = list(tensor.shape), tensor.dtype.name
        return lambda: (shape, dtype)
    kept, version, meta = tensor.detach(), tensor.inplace_version, tensor.autograd_meta

    def recover():
        if kept.inplace_version != version:
            raise RuntimeError(
                f"backward: expected a Tensor at version {version}, but got version "
                f"{kept.inplace_version}. An in-place op has changed it since it was kept."
            )
        again = kept.detach()
        again.autograd_meta = meta
        return again

    return recover
    ### END SOLUTION


# %% nbgrader={"grade_id": "task7_check", "points": 2}
import re
import weakref

from grader.checks import Checks, experiment


def make(rows):
    """A Tensor that an op has made; its version is 0."""
    return paddle.to_tensor(rows, stop_gradient=False) * 1.0


def change(tensor, how):
    """What may happen to a Tensor between keep and recover."""
    changes = {
        "nothing": lambda t: t + 1.0,
        "in place": lambda t: t.scale_(3.0),
        "zeros in place": lambda t: t.add_(paddle.zeros(t.shape)),
        "a row": lambda t: t[0].scale_(3.0),
        "a flat view": lambda t: t.reshape([-1]).scale_(3.0),
        "a view of a view": lambda t: t.reshape([-1])[1:].scale_(3.0),
        "a view, not changed": lambda t: t.reshape([-1]) * 3.0,
    }
    changes[how](tensor)


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def kept(rows, before, after, only_meta=False):
    """What recover gives: before and after are the changes before and after keep."""
    tensor = make(rows)
    for how in before:
        change(tensor, how)
    recover = keep(tensor, only_meta)
    for how in after:
        change(tensor, how)
    try:
        again = recover()
    except Exception as error:
        return type(error).__name__, sorted(int(n) for n in re.findall(r"\d+", str(error)))
    if only_meta:
        return again
    same_node = again.grad_fn is tensor.grad_fn
    return again.numpy(), again.stop_gradient, again.grad_fn.name(), same_node


@experiment
def through_the_view(rows, after):
    """A view is kept, and the Tensor below it is changed."""
    tensor = make(rows)
    recover = keep(tensor[1])
    for how in after:
        change(tensor, how)
    try:
        return recover().numpy()
    except Exception as error:
        return type(error).__name__, sorted(int(n) for n in re.findall(r"\d+", str(error)))


@experiment
def when_the_tensor_goes(rows):
    """Is the Tensor still there after `del`, with recover at hand? And what does recover give?"""
    tensor = make(rows)
    alive = weakref.ref(tensor)
    recover = keep(tensor)
    del tensor
    return ("alive" if alive() is not None else "gone"), recover().numpy()


@experiment
def when_the_memory_goes(rows):
    """With only_meta: is the memory still there after `del`?"""
    tensor = make(rows)
    alive = weakref.ref(tensor._data)
    recover = keep(tensor, only_meta=True)
    del tensor
    return ("alive" if alive() is not None else "gone"), recover()


def versions(found, *wanted):
    """Does the message of an error name these versions? A list of those that it names."""
    if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[1], list):
        return found
    return found[0], [version for version in wanted if version in found[1]]


square = [[1.0, 2.0], [3.0, 4.0]]
with Checks("Task 7") as check:
    check.equal(
        "nothing has changed",
        lambda: [kept(square, [], ["nothing"]), kept(square, [], ["a view, not changed"])],
        [(np.array(square, "float32"), False, "ScaleGradNode", True)] * 2,
        look="The same numbers, stop_gradient, and the same grad_fn: autograd_meta has them.",
    )
    check.equal(
        "in-place ops",
        lambda: [
            versions(kept(square, [], ["in place"]), 0, 1),
            versions(kept(square, ["in place"] * 4, ["zeros in place"] * 3), 4, 7),
        ],
        [("RuntimeError", [0, 1]), ("RuntimeError", [4, 7])],
        look="Name both versions in the message: the one at keep, and the one now.",
    )
    check.equal(
        "a change before keep",
        lambda: [
            kept(square, ["in place"], ["nothing"])[:2],
            versions(kept(square, ["in place"], ["a row"]), 1, 2),
        ],
        [(3 * np.array(square, "float32"), False), ("RuntimeError", [1, 2])],
        look="Only changes since keep count. The second time there is one.",
    )
    check.equal(
        "a change through a view, or below a view",
        lambda: [
            versions(kept(square, [], ["a row", "a flat view"]), 0, 2),
            versions(through_the_view(square, ["in place"]), 0, 1),
        ],
        [("RuntimeError", [0, 2]), ("RuntimeError", [0, 1])],
        look="Views count together. Ask for inplace_version again, when recover is called.",
    )
    check.equal(
        "the Tensor goes",
        lambda: when_the_tensor_goes(square),
        ("gone", np.array(square, "float32")),
        look="Rule 4: keep tensor.detach(), not tensor.",
    )
    check.equal(
        "only_meta",
        lambda: [kept(square, [], ["in place"], only_meta=True), when_the_memory_goes(square)],
        [([2, 2], "float32"), ("gone", ([2, 2], "float32"))],
        look="Note list(tensor.shape) and tensor.dtype.name; nothing else.",
    )

# %% nbgrader={"grade_id": "task7_hidden", "points": 2}
# Hidden checks, run when your work is graded: random changes before and after, what comes back is changed itself, constants.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment

SECRET_CHANGES = [
    "nothing",
    "in place",
    "zeros in place",
    "a row",
    "a flat view",
    "a view of a view",
    "a view, not changed",
]
SECRET_QUIET = ("nothing", "a view, not changed")


def secret_story(seed):
    """Numbers, and changes before and after keep."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 9, (int(rng.integers(2, 4)), 3)).astype(float).tolist()
    names = [SECRET_CHANGES[n] for n in rng.integers(0, 7, int(rng.integers(2, 7)))]
    cut = int(rng.integers(0, len(names)))
    allowed = [SECRET_CHANGES, SECRET_QUIET, (*SECRET_QUIET, "zeros in place")][seed % 3]
    return rows, names[:cut], [name for name in names[cut:] if name in allowed]


def secret_tensor(rows, names):
    """The numbers after these changes, by numpy; and the version."""
    array, version = np.array(rows, "float32"), 0
    for name in names:
        version += name not in SECRET_QUIET
        if name == "a row":
            array[0] *= 3
        elif name == "a view of a view":
            array.reshape(-1)[1:] *= 3
        elif name in ("in place", "a flat view"):
            array *= 3
    return array, version


def secret_expected_story(rows, before, after):
    array, version = secret_tensor(rows, before)
    now = secret_tensor(rows, before + after)[1]
    if now != version:
        return "RuntimeError", [version, now]
    return array, False


@experiment
def secret_stories(stories):
    return [kept(*story) for story in stories]


def secret_versions(stories):
    """The answers, shortened to what is asked: the versions named, or numbers and stop_gradient."""
    found = []
    for story, answer in zip(stories, secret_stories(stories)):
        wanted = secret_expected_story(*story)
        if wanted[0] is not None and isinstance(wanted[0], str):
            answer = versions(answer, *wanted[1])
        found.append(answer[:2] if isinstance(answer, tuple) else answer)
    return found


@experiment
def secret_shared(rows, factor):
    """What recover gave is changed in place: the first one sees it, and recover refuses."""
    tensor = make(rows)
    recover = keep(tensor)
    recover().detach().scale_(factor)
    try:
        recover()
    except RuntimeError as error:
        found = sorted(int(n) for n in re.findall(r"\d+", str(error)))
        return tensor.numpy(), tensor.inplace_version, found
    return tensor.numpy(), tensor.inplace_version, "not refused"


@experiment
def secret_gradient(rows, factor):
    """A gradient that goes on from what recover gave, after the Tensor itself has gone."""
    leaf = paddle.to_tensor(rows, stop_gradient=False)
    recover = keep(leaf * factor)
    again = recover()
    (again * again).sum().backward()
    constant = keep(paddle.to_tensor(rows))()
    return leaf.grad.numpy(), constant.stop_gradient, constant.grad_fn, constant.numpy()


@experiment
def secret_metas(cases):
    """What only_meta notes; some Tensors get another shape in place afterwards."""
    found = []
    for shape, dtype, after in cases:
        tensor = paddle.zeros(shape, dtype)
        recover = keep(tensor, only_meta=True)
        if after:
            tensor.reshape_(after)
        found.append(recover())
    return found


def secret_pair(answer):
    array, version, found = answer
    return array, version, [n for n in (0, 1) if n in found] if isinstance(found, list) else found


secret_cases = [secret_story(seed) for seed in range(40)]
secret_rows = [[2.0, -1.0, 0.5]] * 2
secret_shapes = [([2, 3], "int64", [6]), ([], "float64", None), ([4, 1, 2], "float32", [8])]
with Checks("Task 7", hidden=True) as check:
    check.equal(
        "40 stories",
        lambda: secret_versions(secret_cases),
        [secret_expected_story(*story) for story in secret_cases],
        look="Changes before keep don't count, changes after it do; also through views.",
    )
    check.equal(
        "one memory",
        lambda: [secret_pair(secret_shared(secret_rows, factor)) for factor in (2.0, 5.0)],
        [(f * np.array(secret_rows, "float32"), 1, [0, 1]) for f in (2.0, 5.0)],
        look="What recover gives shows the same memory, and counts its changes together with it.",
    )
    check.equal(
        "gradients, and constants; the Tensor goes",
        lambda: [when_the_tensor_goes([[7.0]]), secret_gradient(secret_rows, 3.0)],
        [
            ("gone", np.array([[7.0]])),
            (
                18 * np.array(secret_rows, "float32"),
                True,
                None,
                np.array(secret_rows, "float32"),
            ),
        ],
        look="The graph goes on behind what recover gives. A constant stays a constant.",
    )
    check.equal(
        "shapes and dtypes; the memory goes",
        lambda: [
            secret_metas(secret_shapes),
            when_the_memory_goes(secret_rows),
        ],
        [
            [(shape, dtype) for shape, dtype, _ in secret_shapes],
            ("gone", ([2, 3], "float32")),
        ],
        look="only_meta notes shape and dtype as they were at keep.",
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 8 · Contributor exercise, part 1: an op with both gradients   (4 points)
# `stanh(x) = b · tanh(a · x)` is an old activation function that Paddle has as an op. But its gradient has no gradient: in Paddle 3.3.1, `paddle.grad(..., create_graph=True)` ends in "The Op
# stanh_grad doesn't have any grad op". Bring the op to minipaddle, with what Paddle lacks: **a gradient that can itself be differentiated**. Write the whole declaration:
#
#     declare_stanh() -> the op
#
# 1. **The kernel**: `stanh(xp, x, *, scale_a: float = 0.67, scale_b: float = 1.7159)`. `xp` is numpy (or cupy), `x` an array. What is after the `*` are the op's *attributes*, a and b;
#    their names and defaults are Paddle's. The decorator `@op(source="...")` makes an op of it; `source` says where Paddle declares it, `"paddle/phi/ops/yaml/ops.yaml: stanh"`.
# 2. **InferMeta**: shape and dtype of the result, before anything is computed. They are those of `x`: `unchanged`. The dtype must be true: float32 in, float32 out.
# 3. **The gradient rule**, a vjp as in task 2. It may read `x`, `out`, `out_grad`, and, after a `*`, the attributes. It returns a tuple with one gradient. In a rule, use `+ - * /` and the op
#    `tanh` only, called by this name; so the same rule also serves for gradients of gradients and in Programs.
# 4. It also works for `scale_b = 0`: the gradient is 0, not `nan`.
#
# So that you see the form, the next cell declares another op in this way: `shifted_square(x) = (x + shift)²`. Look at how its parts are put together.
#
# | x, a, b | out | gradient for `out_grad = 1` | gradient of this gradient |
# |---|---|---|---|
# | 0, 0.67, 1.7159 | 0 | a·b = 1.149653 | 0 |
# | 1, 2, 3 | 2.892083 | 0.423905 | -1.634607 |
#
# Why Paddle has it: an op there is an entry in `paddle/phi/ops/yaml/ops.yaml`, with InferMeta and kernel, and one in `backward.yaml` for its gradient; a second entry there, such as
# `tanh_double_grad`, gives the gradient of the gradient. `stanh` has no second one.
#
# <details><summary>Hint 1</summary>The derivative of tanh(s) is 1 - tanh(s)². And s = a · x: the chain rule gives one more factor.</details>
#
# <details><summary>Hint 2</summary>Take tanh(x * scale_a) anew in the rule, instead of out / scale_b: that would be 0 / 0 for b = 0.</details>
#
# <details><summary>Hint 3</summary>The rule: def rule(x, out_grad, *, scale_a: float, scale_b: float): t = tanh(x * scale_a); the gradient is out_grad * (1.0 - t * t) * (scale_a *
# scale_b), returned as a tuple: with a comma behind it.</details>

# %% nbgrader={"grade_id": "task8_setup"}
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.infermeta.unary import unchanged
from minipaddle.phi.ops.activation import tanh


def declare_shifted_square():
    """An example: the op (x + shift)², with its gradient."""
    OPS.pop("shifted_square", None)  # an op is declared once; so this function can be called again

    @op(source="an example, not in Paddle")
    def shifted_square(xp, x, *, shift: float = 1.0):
        return xp.square(x + x.dtype.type(shift))  # a number of x's dtype: float32 stays float32

    shifted_square.infer_meta(unchanged)

    @shifted_square.vjp
    def rule(x, out_grad, *, shift: float):
        return (out_grad * 2.0 * (x + shift),)

    return shifted_square


shifted_square = declare_shifted_square()
t = paddle.to_tensor([0.0, 2.0], stop_gradient=False)
shifted_square(t, shift=3.0).sum().backward()
print(t.grad.numpy())

# %% nbgrader={"grade_id": "task8", "solution": true}
OPS.pop("stanh", None)


def declare_stanh():
    ### BEGIN SOLUTION
    @op(source="paddle/phi/ops/yaml/ops.yaml: stanh")
    def stanh(xp, x, *, scale_a: float = 0.67, scale_b: float = 1.7159):
        """b · tanh(a · x)."""
        a, b = x.dtype.type(scale_a), x.dtype.type(scale_b)
        return b * xp.tanh(a * x)

    stanh.infer_meta(unchanged)

    @stanh.vjp
    def rule(x, out_grad, *, scale_a: float, scale_b: float):
        t = tanh(x * scale_a)
        return (out_grad * (1.0 - t * t) * (scale_a * scale_b),)

    return stanh
    ### END SOLUTION


# %% nbgrader={"grade_id": "task8_check", "points": 2}
from grader.checks import Checks, experiment


def by_numpy(array, a=0.67, b=1.7159):
    """stanh, its slope, and the slope of the slope."""
    t = np.tanh(a * array)
    return [b * t, a * b * (1 - t * t), -2 * a * a * b * t * (1 - t * t)]


def new_stanh():
    OPS.pop("stanh", None)
    return declare_stanh()


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def stanh_of(array, **attrs):
    """out; its gradient for weights_like(out); and the gradient of this gradient's sum."""
    x = paddle.to_tensor(array, stop_gradient=False)
    out = new_stanh()(x, **attrs)
    weights = weights_like(out.numpy()).astype(array.dtype)
    (first,) = paddle.grad(out, x, paddle.to_tensor(weights), create_graph=True)
    (second,) = paddle.grad(first.sum(), x)
    return [out.numpy(), first.numpy(), second.numpy()]


@experiment
def declared():
    """What the declaration says."""
    found = new_stanh()
    return found.signature, found.source


@experiment
def promised(shape, dtype):
    """Shape and dtype: by InferMeta, of a result, and of its gradient."""
    stanh = new_stanh()
    x = paddle.to_tensor(np.ones(shape, dtype), stop_gradient=False)
    out = stanh(x)
    out.sum().backward()
    metas = [stanh.meta(MetaTensor(shape, dtype)), out, x.grad]
    return [(list(meta.shape), meta.dtype.name) for meta in metas]


points = np.array([0.0, 1.0, -2.0])
with Checks("Task 8") as check:
    check.equal(
        "the declaration",
        lambda: (declared(), stanh_of(points)[0]),
        (
            ("stanh(x, scale_a=0.67, scale_b=1.7159)", "paddle/phi/ops/yaml/ops.yaml: stanh"),
            by_numpy(points)[0],
        ),
        look="Names, order and defaults as in rule 1; then the numbers by the kernel.",
    )
    check.equal(
        "InferMeta, a result and its gradient",
        lambda: [
            promised([2, 3], "float32"),
            promised([4], "float64"),
            stanh_of(points, scale_a=0.5)[0],
        ],
        [[([2, 3], "float32")] * 3, [([4], "float64")] * 3, by_numpy(points, 0.5)[0]],
        look="infer_meta(unchanged). If a result is float64: x.dtype.type(scale_a), as in the "
        "example.",
    )
    check.equal(
        "the gradient",
        lambda: [stanh_of(points)[1], stanh_of(points, scale_a=2.0, scale_b=3.0)[1]],
        [weights_like(points) * by_numpy(points, *ab)[1] for ab in ((), (2.0, 3.0))],
        look="out_grad · a · b · (1 - tanh(a x)²). Is each factor there?",
    )
    check.equal(
        "the gradient of the gradient",
        lambda: stanh_of(points, scale_a=2.0, scale_b=3.0)[2],
        weights_like(points) * by_numpy(points, 2.0, 3.0)[2],
        look="In the rule use + - * / and tanh only: numpy's functions leave no nodes.",
    )
    check.equal(
        "b = 0",
        lambda: [stanh_of(points, scale_b=0.0), stanh_of(points, scale_b=-1.0)],
        [
            [points * 0.0] * 3,
            [
                n * (weights_like(points) if i else 1.0)
                for i, n in enumerate(by_numpy(points, 0.67, -1.0))
            ],
        ],
        look="Rule 4: don't divide by scale_b.",
    )

# %% nbgrader={"grade_id": "task8_hidden", "points": 2}
# Hidden checks, run when your work is graded: other attributes and shapes, the third gradient, and the rule in a Program.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment


def secret_stanh(array, a, b):
    """What stanh_of gives: out, and two gradients for weights_like."""
    out, first, second = by_numpy(array, a, b)
    weights = weights_like(array)
    return [np.asarray(one) for one in (out, weights * first, weights * second)]


@experiment
def secret_batch(cases):
    return [stanh_of(array, scale_a=a, scale_b=b) for array, a, b in cases]


@experiment
def secret_third(array, a, b):
    """The gradient of the gradient of the gradient."""
    x = paddle.to_tensor(array, stop_gradient=False)
    found = new_stanh()(x, scale_a=a, scale_b=b)
    for _ in range(2):
        (found,) = paddle.grad(found.sum(), x, create_graph=True)
    return paddle.grad(found.sum(), x)[0].numpy()


@experiment
def secret_rule(shapes, attrs):
    """The ops that the rule adds to a Program, and the name of the gradient."""
    vjp = new_stanh().vjp_rule
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main):
                given = [
                    paddle.static.data(item.name, shapes[item.name], "float64")
                    for item in vjp.inputs
                ]
                wanted = {attr.name: attrs[attr.name] for attr in vjp.attrs}
                (gradient,) = vjp.rule(*given, **wanted)
            return main, gradient.name
    finally:
        paddle.disable_static()


def secret_by_ops(array, a, b):
    """The gradient by the rule's own ops, run by our Executor."""
    out = by_numpy(array, a, b)[0]
    feed = {"x": array, "out": out, "out_grad": weights_like(array)}
    shapes = {name: list(value.shape) for name, value in feed.items()}
    program, name = secret_rule(shapes, {"scale_a": a, "scale_b": b})
    declared = {var.name for var in program.global_block().vars.values()}
    feed = {name: value for name, value in feed.items() if name in declared}
    return paddle.static.Executor().run(program, feed=feed, fetch_list=[name])[0]


@experiment
def secret_in_a_program(array, a, b):
    """mean(stanh(x)) and the gradient of x, computed by a Program."""
    stanh = new_stanh()
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main):
                x = paddle.static.data("x", array.shape, "float32")
                x.stop_gradient = False
                loss = paddle.mean(stanh(x, scale_a=a, scale_b=b))
                paddle.static.append_backward(loss)
            feed, fetch = {"x": array}, [loss.name, "x@GRAD"]
            return paddle.static.Executor().run(main, feed=feed, fetch_list=fetch)
    finally:
        paddle.disable_static()


secret_rng = np.random.default_rng(28)
secret_cases = [
    (np.asarray(secret_rng.normal(size=shape)), *secret_rng.normal(size=2).tolist())
    for shape in ((5,), (2, 3), (), (1, 4), (3, 1, 2))
]
with Checks("Task 8", hidden=True) as check:
    check.equal(
        "other attributes and shapes",
        lambda: [found[:2] for found in secret_batch(secret_cases)],
        [secret_stanh(*case)[:2] for case in secret_cases],
        look="out, and the gradient.",
    )
    check.equal(
        "the gradient of the gradient",
        lambda: [found[2] for found in secret_batch(secret_cases)],
        [secret_stanh(*case)[2] for case in secret_cases],
    )
    secret_array, secret_a, secret_b = secret_cases[0]
    secret_tanh = np.tanh(secret_a * secret_array)
    check.equal(
        "the third gradient",
        lambda: secret_third(secret_array, secret_a, secret_b),
        -2 * secret_a**3 * secret_b * (1 - secret_tanh**2) * (1 - 3 * secret_tanh**2),
        look="In the rule use + - * / and tanh only.",
    )
    check.equal(
        "the rule in a Program",
        lambda: [secret_by_ops(*secret_cases[1]), secret_by_ops(secret_array, 0.5, 0.0)],
        [secret_stanh(*secret_cases[1])[1], secret_array * 0.0],
        look="The ops that the rule adds to a Program. tanh by this name, not paddle.tanh.",
    )
    secret_small = secret_cases[1][0].astype("float32")
    check.equal(
        "the op in a Program, in float32",
        lambda: [(str(n.dtype), n) for n in secret_in_a_program(secret_small, 1.5, -2.0)],
        [
            ("float32", np.array(by_numpy(secret_small, 1.5, -2.0)[0].mean(), "float32")),
            ("float32", by_numpy(secret_small, 1.5, -2.0)[1] / secret_small.size),
        ],
    )
    check.equal(
        "shapes and dtypes",
        lambda: [promised([], "float32"), promised([3, 1, 2], "float64"), stanh_of(secret_array)],
        [
            [([], "float32")] * 3,
            [([3, 1, 2], "float64")] * 3,
            secret_stanh(secret_array, 0.67, 1.7159),
        ],
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Task 9 · Contributor exercise, part 2: a test that finds wrong rules   (4 points)
# A new op comes with a test, and a reviewer asks: *would this test have found a mistake?* Write the test. The checks hand in ops with right rules and with wrong ones.
#
#     verdict(function, *arrays) -> "right", "wrong gradient" or "wrong second gradient"
#
# `function` takes as many Tensors as there are arrays (float64), and gives one Tensor.
#
# - **"wrong gradient"**: for one of the inputs, the gradient of `sum(weights * function(...))` by backward is not the slope that is measured.
# - **"wrong second gradient"**: the gradients are right, but for one of them, its own gradient is not the slope that is measured; or backward can't compute it.
# - **"right"**: all agree.
#
# Measured slopes come from `measured(function, *arrays)` of task 2: one array per input. Its weights are `weights_like(out)`, so this is also what backward must start with: with
# ones, a rule that forgets `out_grad` would look right. Two arrays agree if their shapes do and `np.allclose(gradient, slope, rtol=1e-4, atol=1e-7)`.
#
# If backward raises an error, the gradient is wrong. (`function` itself always works.) If backward gives None for an input, this stands for zeros: nothing depends on it.
#
# For the second gradient there is `gradient_of(function, which)` in the next cell. It gives the gradient for input `which`, again as a function of the same Tensors: **so it can be tested
# in the same way as `function`**. It runs backward itself, so it may raise an error: then the second gradient is wrong.
#
# Why Paddle has it: `OpTest.check_grad` in `test/legacy_test/op_test.py` compares with measured slopes; `double_grad_check` in `test/legacy_test/gradient_checker.py` does it for the gradient of
# the gradient.
#
# <details><summary>Hint 1</summary>Write a function agrees(function, arrays) first: True if all gradients are the measured slopes. verdict asks it for function, and then for each
# gradient_of(function, which).</details>
#
# <details><summary>Hint 2</summary>The gradients of all inputs at once: paddle.grad(out, tensors, paddle.to_tensor(weights_like(out.numpy())), allow_unused=True). Put it into try, with except
# Exception: return False.</details>
#
# <details><summary>Hint 3</summary>np.allclose stretches shapes ([1] and [3] would agree), so compare gradient.shape with slope.shape first; and it is False where a nan is,
# as it should be. abs(gradient - slope).max() > tolerance would let nan through.</details>


# %% nbgrader={"grade_id": "task9_setup"}
def gradient_of(function, which):
    """The gradient of sum(weights * function(...)) for input `which`, as a function of Tensors."""

    def gradient(*tensors):
        with paddle.enable_grad():
            for tensor in tensors:
                tensor.stop_gradient = False
            out = function(*tensors)
            weights = paddle.to_tensor(weights_like(out.numpy()))
            (found,) = paddle.grad(
                out, [tensors[which]], weights, create_graph=True, allow_unused=True
            )
            return tensors[which] * 0.0 if found is None else found

    return gradient


# %% nbgrader={"grade_id": "task9", "solution": true}
def verdict(function, *arrays):
    ### BEGIN SOLUTION
    def agrees(function):
        tensors = [paddle.to_tensor(array, stop_gradient=False) for array in arrays]
        try:
            out = function(*tensors)
            weights = paddle.to_tensor(weights_like(out.numpy()))
            gradients = paddle.grad(out, tensors, weights, allow_unused=True)
        except Exception:
            return False
        for gradient, slope in zip(gradients, measured(function, *arrays)):
            found = np.zeros_like(slope) if gradient is None else gradient.numpy()
            if found.shape != slope.shape or not np.allclose(found, slope, rtol=1e-4, atol=1e-7):
                return False
        return True

    if not agrees(function):
        return "wrong gradient"
    if not all(agrees(gradient_of(function, which)) for which in range(len(arrays))):
        return "wrong second gradient"
    return "right"
    ### END SOLUTION


# %% nbgrader={"grade_id": "task9_check", "points": 2}
from grader.checks import Checks, experiment

# Rules for the op x · x · y. The first one is right.


def right_rule(x, y, out_grad):
    return reduce_as(out_grad * 2.0 * x * y, x), reduce_as(out_grad * x * x, y)


def forgets_out_grad(x, y, out_grad):
    return reduce_as(2.0 * x * y, x), reduce_as(x * x, y)


def forgets_two(x, y, out_grad):
    return reduce_as(out_grad * x * y, x), reduce_as(out_grad * x * x, y)


def wrong_for_y(x, y, out_grad):
    return reduce_as(out_grad * 2.0 * x * y, x), reduce_as(out_grad * x, y)


def leaves_no_nodes(x, y, out_grad):
    """The right numbers, but numpy's: nobody can find the way back through them."""
    slope = 2.0 * np.asarray(x) * np.asarray(y)
    return reduce_as(out_grad * slope, x), reduce_as(out_grad * x * x, y)


def product_with(rule):
    """The op x · x · y with this rule."""
    OPS.pop("square_times", None)

    @op(source="for the checks", promote=("x", "y"))
    def square_times(xp, x, y):
        return x * x * y

    square_times.infer_meta(elementwise("square_times"))
    square_times.vjp(rule)
    return square_times


# An experiment runs where your answer is; what it returns is judged here.
@experiment
def verdicts(rules, *arrays):
    """What your test says about the op with each of these rules."""
    return [verdict(product_with(rule), *arrays) for rule in rules]


@experiment
def about_paddle(*arrays):
    """What your test says about functions that are right."""
    functions = [paddle.multiply, lambda x, y: paddle.tanh(x) / paddle.exp(y), lambda x, y: x + x]
    return [verdict(function, *arrays) for function in functions]


rng = np.random.default_rng(9)
first, second, short = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(3,))
with Checks("Task 9") as check:
    check.equal(
        "a right rule, and one that forgets a factor",
        lambda: verdicts([right_rule, forgets_two], first, second),
        ["right", "wrong gradient"],
        look="Compare the gradients by backward with measured(function, *arrays).",
    )
    check.equal(
        "a rule that forgets out_grad",
        lambda: verdicts([forgets_out_grad, right_rule], first, second),
        ["wrong gradient", "right"],
        look="Start backward with weights_like(out), not with ones.",
    )
    check.equal(
        "a rule that is wrong for y",
        lambda: verdicts([right_rule, wrong_for_y], first, second),
        ["right", "wrong gradient"],
        look="Compare the gradients of all inputs.",
    )
    check.equal(
        "a rule that leaves no nodes",
        lambda: verdicts([leaves_no_nodes, right_rule], first, second),
        ["wrong second gradient", "right"],
        look="Its gradients are right. Test each gradient_of(function, which) as well.",
    )
    check.equal(
        "a matrix and a row",
        lambda: verdicts([right_rule, forgets_two], first, short),
        ["right", "wrong gradient"],
        look="The gradient of the row has the shape of the row.",
    )
    check.equal(
        "ops of minipaddle, and a right and a wrong rule",
        lambda: (about_paddle(first, second), verdicts([right_rule, forgets_two], short, short)),
        (["right", "right", "right"], ["right", "wrong gradient"]),
        look="In x + x nothing depends on y: the gradient is None, which stands for zeros.",
    )

# %% nbgrader={"grade_id": "task9_hidden", "points": 2}
# Hidden checks, run when your work is graded: more rules, right and wrong ones, on other inputs.
### BEGIN HIDDEN TESTS
from grader.checks import Checks, experiment


def secret_by_parts(x, y, out_grad):
    slope = out_grad * x
    return reduce_as(slope * y + slope * y, x), reduce_as(slope * x, y)


def secret_no_reduce(x, y, out_grad):
    return out_grad * 2.0 * x * y, out_grad * x * x


def secret_swapped(x, y, out_grad):
    return reduce_as(out_grad * x * x, x), reduce_as(out_grad * 2.0 * x * y, y)


def secret_one_percent(x, y, out_grad):
    return reduce_as(out_grad * 2.0 * x * y, x), reduce_as(out_grad * 1.01 * x * x, y)


def secret_nothing_for_x(x, y, out_grad):
    return reduce_as(out_grad * 0.0 * x * y, x), reduce_as(out_grad * x * x, y)


def secret_nan(x, y, out_grad):
    nothing = (x - x) / (x - x)
    return reduce_as(out_grad * 2.0 * x * y + nothing, x), reduce_as(out_grad * x * x, y)


def secret_raises(x, y, out_grad):
    raise ValueError("no gradient today")


def secret_mean(x, y, out_grad):
    """The right shape and the right sum, but the same number everywhere."""
    slopes = np.asarray(out_grad) * 2.0 * np.asarray(x) * np.asarray(y)
    same = reduce_as(out_grad * 0.0 + slopes.mean(), x)
    return same, reduce_as(out_grad * x * x, y)


def secret_no_nodes_for_y(x, y, out_grad):
    square = np.square(np.asarray(x))
    return reduce_as(out_grad * 2.0 * x * y, x), reduce_as(out_grad * square, y)


def secret_wrong_only_twice(x, y, out_grad):
    """Right as a gradient. But it hides a factor 1 that grows when it is differentiated."""
    one = y / np.asarray(y)
    return reduce_as(out_grad * 2.0 * x * y * one, x), reduce_as(out_grad * x * x, y)


SECRET_FIRST = [
    secret_no_reduce,
    secret_swapped,
    secret_one_percent,
    secret_nothing_for_x,
    secret_nan,
    secret_raises,
    secret_mean,
]
SECRET_SECOND = [secret_no_nodes_for_y, secret_wrong_only_twice, leaves_no_nodes]
SECRET_RIGHT = [right_rule, secret_by_parts]


def secret_table(seed, rules):
    """Rules in random order, and what is expected of each."""
    rng = np.random.default_rng(seed)
    rules = [rules[n] for n in rng.permutation(len(rules))]
    names = ["wrong gradient" if r in SECRET_FIRST else "right" for r in rules]
    names = ["wrong second gradient" if r in SECRET_SECOND else n for r, n in zip(rules, names)]
    return rules, names


@experiment
def secret_verdicts(rules, *arrays):
    with np.errstate(all="ignore"):
        return verdicts(rules, *arrays)


@experiment
def secret_three(*arrays):
    """Functions of one to three Tensors; the last one has no second gradient."""
    found = [
        verdict(lambda x, y, z: paddle.matmul(x, y) + z * z, *arrays),
        verdict(lambda x: paddle.exp(x) * x.detach(), arrays[0]),
        verdict(lambda x: paddle.mean(x * x * x), arrays[1]),
        verdict(lambda x, y: paddle.sum(paddle.matmul(x, y), axis=0), *arrays[:2]),
        verdict(lambda x: x.detach() * x, arrays[2]),
    ]

    from minipaddle.phi.ops.elementary import cos

    OPS.pop("once_only", None)

    @op(source="for the checks")
    def once_only(xp, x):
        return xp.sin(x)

    once_only.infer_meta(unchanged)

    @once_only.vjp(double_grad=False)
    def rule(x, out_grad):
        return (out_grad * cos(x),)

    found.append(verdict(once_only, arrays[1]))
    return found


secret_rng = np.random.default_rng(29)
secret_x, secret_y = secret_rng.uniform(0.5, 2.0, size=(2, 2, 3))
secret_three_arrays = [secret_rng.normal(size=s) for s in ((2, 3), (3, 2), (2, 2))]
secret_first, secret_first_names = secret_table(1, SECRET_RIGHT + SECRET_FIRST[1:])
secret_second, secret_second_names = secret_table(2, SECRET_RIGHT + SECRET_SECOND)
secret_all, secret_all_names = secret_table(3, SECRET_RIGHT + SECRET_FIRST + SECRET_SECOND)
with Checks("Task 9", hidden=True) as check:
    check.equal(
        "wrong gradients",
        lambda: secret_verdicts(secret_first, secret_x, -secret_y),
        secret_first_names,
        look="One input alone may be wrong, by one percent; nan is wrong, and so is an error.",
    )
    check.equal(
        "wrong second gradients",
        lambda: secret_verdicts(secret_second, secret_x, secret_y),
        secret_second_names,
        look="Test gradient_of(function, which) for each input.",
    )
    check.equal(
        "a column and a row",
        lambda: secret_verdicts(secret_all, secret_x[:, :1], secret_y[0]),
        secret_all_names,
        look="Shapes broadcast: gradients have the shapes of the inputs.",
    )
    check.equal(
        "functions of one, two and three Tensors",
        lambda: secret_three(*secret_three_arrays),
        ["right", "wrong gradient", "right", "right", "wrong gradient", "wrong second gradient"],
        look="As many inputs as there are arrays.",
    )
### END HIDDEN TESTS

# %% [markdown]
# **Where this leads.** Your test of task 9 can now judge your op of task 8. If it says "right", the op is ready for a reviewer: declaration, InferMeta, gradient, gradient of the gradient, and a
# test that would have found a mistake. A new op in Paddle needs the same five.

# %%
x = paddle.to_tensor([[0.0, 1.0]], stop_gradient=False)
y = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
OPS.pop("stanh", None)
print(verdict(declare_stanh(), np.array([[0.5, -1.0], [2.0, 0.0]])))
viz.grad_graph(logaddexp(x, y), labels={"x": x, "y": y})
