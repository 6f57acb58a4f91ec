# %% [markdown]
# # 2 · exercise: The graph of GradNodes
#
# Two tasks, 8 points. You need lesson 2.1. First you read a graph that is there: how many edges arrive at each node? Then you give a new op its own GradNode.
# After each task there is a check that answers at once.
# Run All stops at the first check that fails; to do task 2 first, run its cells by hand (Shift+Enter).

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
        "100,000 nodes in a row",
        lambda: secret_deep(100_000),
        [1, *np.bincount(secret_widths(100_000))[1:].tolist()],
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
# **Where this leads.** The result of your op has a node like any other; the cell below draws it. The next lessons use both of your pieces: backward takes the nodes whose
# count has gone down to 0, and calls their rules. Our own version of task 1 is `get_in_degree_map` in `minipaddle/eager/backward.py`.

# %%
x = paddle.to_tensor([[0.0, 1.0]], stop_gradient=False)
y = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
viz.grad_graph(logaddexp(x, y), labels={"x": x, "y": y})
