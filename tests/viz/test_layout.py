"""Layout: boxes don't overlap, edges respect ranks and boxes, clusters hold their own."""

from __future__ import annotations

import cProfile
import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minipaddle.viz.layout import Box, Placement, place


def random_graph(seed: int, nodes: int, acyclic: bool = True):
    pick = random.Random(seed)
    sizes = {f"n{i}": (pick.randrange(58, 200), pick.choice([32, 46, 60])) for i in range(nodes)}
    edges = []
    for i in range(1, nodes):
        for _ in range(pick.randrange(0, 3)):
            a, b = pick.randrange(0, i), i
            edges.append((b, a) if not acyclic and pick.random() < 0.2 else (a, b))
    return sizes, [(f"e{k}", f"n{a}", f"n{b}") for k, (a, b) in enumerate(edges)]


def overlap(a: Box, b: Box) -> bool:
    return (
        abs(a.x - b.x) * 2 < a.width + b.width - 0.5
        and abs(a.y - b.y) * 2 < a.height + b.height - 0.5
    )


def assert_sound(placed: Placement, edges, direction: str = "down") -> None:
    for (n, a), (m, b) in itertools.combinations(placed.boxes.items(), 2):
        assert not overlap(a, b), f"{n} and {m} overlap"
    for box in [*placed.boxes.values(), *placed.clusters.values()]:
        assert box.x - box.width / 2 >= 0 and box.x + box.width / 2 <= placed.width
        assert box.y - box.height / 2 >= 0 and box.y + box.height / 2 <= placed.height
    for key, src, dst in edges:
        if src == dst:
            continue
        step = placed.ranks[dst] - placed.ranks[src]
        assert (step < 0) == (key in placed.turned) and step != 0
        assert_clear(placed, placed.edges[key], src, dst)


def assert_clear(placed: Placement, points, src: str, dst: str) -> None:
    """A straight piece misses all boxes; a curve stays between the ranks of its two ends."""
    for (ax, ay), (bx, by) in itertools.pairwise(points):
        left, right = min(ax, bx), max(ax, bx)
        top, bottom = min(ay, by), max(ay, by)
        for n, box in placed.boxes.items():
            if n in (src, dst):
                continue
            assert not (
                left < box.x + box.width / 2 - 0.5
                and right > box.x - box.width / 2 + 0.5
                and top < box.y + box.height / 2 - 0.5
                and bottom > box.y - box.height / 2 + 0.5
            ), f"{src} -> {dst} runs through {n}"


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("seed", range(8))
def test_random_graphs(seed, direction):
    sizes, edges = random_graph(seed, nodes=40)
    assert_sound(place(sizes, edges, direction=direction), edges)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(1, 59), st.booleans(), st.sampled_from(["down", "right"])
)
def test_no_node_on_another_no_edge_through_a_node(seed, nodes, acyclic, direction):
    sizes, edges = random_graph(seed, nodes, acyclic)
    placed = place(sizes, edges, direction=direction)
    assert_sound(placed, edges, direction)
    assert place(sizes, edges, direction=direction) == placed


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 5))
def test_clusters_hold_their_nodes_and_no_others_whatever_the_graph(seed, nodes, count):
    sizes, edges = random_graph(seed, nodes)
    pick = random.Random(seed)
    parents = [
        "",
        *(f"c{pick.randrange(0, i)}" if pick.random() < 0.5 else "" for i in range(1, count)),
    ]
    homes = {n: pick.randrange(-1, count) for n in sizes}
    clusters = [(f"c{i}", parents[i], [n for n in sizes if homes[n] == i]) for i in range(count)]
    placed = place(sizes, edges, clusters)
    assert_sound(placed, edges)
    inside = {f"c{i}": set(members) for i, (_, _, members) in enumerate(clusters)}
    for i in reversed(range(count)):  # a parent has a smaller number
        if parents[i]:
            inside[parents[i]] |= inside[f"c{i}"]
    for id_, frame in placed.clusters.items():
        for n, box in placed.boxes.items():
            assert contains(frame, box) if n in inside[id_] else not overlap(frame, box)


def training_graph(layers: int):
    """As a training program: what forward keeps is read by backward, parameters by the update."""
    sizes, edges = {"x": (60.0, 32.0), "loss": (60.0, 32.0)}, []

    def add(a: str, b: str) -> None:
        edges.append((len(edges), a, b))

    before, back = "x", "loss"
    for i in range(layers):
        for kind in ("w", "f", "b", "u"):
            sizes[f"{kind}{i}"] = (120.0, 46.0)
        add(before, f"f{i}")
        add(f"w{i}", f"f{i}")
        before = f"f{i}"
    add(before, "loss")
    for i in reversed(range(layers)):
        for a, b in ((back, "b"), (f"f{i}", "b"), (f"w{i}", "b"), (f"b{i}", "u"), (f"w{i}", "u")):
            add(a, f"{b}{i}")
        back = f"b{i}"
    return sizes, edges


def test_300_nodes_with_long_edges_take_little_more_than_their_share():
    """Calls are counted, which are the same on each machine. It was 1,450,000: half a second."""

    def calls(layers):
        sizes, edges = training_graph(layers)
        profile = cProfile.Profile()
        placed = profile.runcall(place, sizes, edges)
        return sum(entry.callcount for entry in profile.getstats()), placed, len(sizes)

    (few, _, _), (many, placed, nodes) = calls(25), calls(75)
    assert nodes > 300
    assert many < 4 * few and many < 3_000_000
    assert placed.width < 8_000


def test_long_edges_from_one_node_share_a_trunk():
    sizes = dict.fromkeys("abcde", (60.0, 32.0))
    edges = [
        (0, "a", "b"),
        (1, "b", "c"),
        (2, "c", "d"),
        (3, "d", "e"),
        (4, "a", "d"),
        (5, "a", "e"),
    ]
    edges = [(str(k), a, b) for k, a, b in edges]
    placed = place(sizes, edges)
    shorter, longer = placed.edges["4"], placed.edges["5"]
    assert shorter[:2] == longer[:2]  # they leave together
    assert shorter[-1] != longer[-1]
    assert_sound(placed, edges)


def test_what_runs_straight_is_one_piece():
    sizes = {str(i): (60.0, 32.0) for i in range(30)}
    edges = [(i, str(i), str(i + 1)) for i in range(29)] + [(99, "0", "29")]
    assert len(place(sizes, edges).edges[99]) <= 6


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 25))
def test_graphs_with_cycles(seed, nodes):
    sizes, edges = random_graph(seed, nodes, acyclic=False)
    assert_sound(place(sizes, edges), edges)


def test_same_input_same_picture():
    sizes, edges = random_graph(3, 60)
    assert place(sizes, edges) == place(dict(sizes), list(edges))


def test_inputs_stand_in_the_order_of_their_slots():
    sizes = dict.fromkeys(("b", "w", "x", "mm", "add"), (80.0, 32.0))
    edges = [(0, "x", "mm"), (1, "w", "mm"), (2, "mm", "add"), (3, "b", "add")]
    boxes = place(sizes, edges).boxes
    assert boxes["x"].x < boxes["w"].x and boxes["mm"].x < boxes["b"].x


def test_parallel_edges_are_apart():
    placed = place({"x": (90, 32), "y": (90, 32)}, [(0, "x", "y"), (1, "x", "y")])
    assert abs(placed.edges[0][-1][0] - placed.edges[1][-1][0]) >= 10


def test_a_chain_is_straight():
    sizes = {str(i): (60.0 + 10 * i, 32.0) for i in range(5)}
    edges = [(i, str(i), str(i + 1)) for i in range(4)]
    placed = place(sizes, edges)
    assert {x for points in placed.edges.values() for x, _ in points} == {placed.boxes["0"].x}


def test_a_cycle_and_a_loop_are_drawn():
    sizes = dict.fromkeys("abc", (60.0, 32.0))
    placed = place(sizes, [(0, "a", "b"), (1, "b", "c"), (2, "c", "a"), (3, "b", "b")])
    assert placed.turned == {2}
    assert placed.edges[2][0][1] > placed.edges[2][-1][1]  # from c up to a
    assert len(placed.edges[3]) == 4


def test_nodes_without_edges_make_rows():
    placed = place({str(i): (60.0, 32.0) for i in range(30)}, [])
    assert len({box.y for box in placed.boxes.values()}) == 5
    assert_sound(placed, [])


def contains(outer: Box, inner: Box) -> bool:
    return (
        abs(outer.x - inner.x) * 2 <= outer.width - inner.width
        and abs(outer.y - inner.y) * 2 <= outer.height - inner.height
    )


@pytest.mark.parametrize("direction", ["down", "right"])
def test_clusters_hold_their_nodes_and_no_others(direction):
    sizes, edges = random_graph(5, nodes=30)
    names = list(sizes)
    clusters = [
        ("inner", "outer", names[0:30:3]),
        ("outer", "", names[1:30:3]),
        ("other", "", names[2:15:3]),
    ]
    placed = place(sizes, edges, clusters, direction=direction)
    assert_sound(placed, edges)
    inside = {"inner": set(clusters[0][2]), "other": set(clusters[2][2])}
    inside["outer"] = set(clusters[1][2]) | inside["inner"]
    for id_, frame in placed.clusters.items():
        for n, box in placed.boxes.items():
            assert contains(frame, box) if n in inside[id_] else not overlap(frame, box)
    assert contains(placed.clusters["outer"], placed.clusters["inner"])
    assert not overlap(placed.clusters["outer"], placed.clusters["other"])


def loop_in_a_loop(width: float):
    """A program that runs a block that runs a block; each has operations after that."""
    sizes: dict[str, tuple[float, float]] = {}
    edges: list[tuple[str, str, str]] = []
    clusters = []
    for depth, parent in enumerate(("", "c0", "c1")):
        names = [f"{depth}.{i}" for i in range(5)]
        sizes |= dict.fromkeys(names, (width, 32.0))
        edges += [(f"{a}-{b}", a, b) for a, b in itertools.pairwise(names)]
        if depth:
            edges.append((f"runs {depth}", f"{depth - 1}.2", f"{depth}.0"))
        clusters.append((f"c{depth}", parent, names))
    return sizes, edges, clusters


@pytest.mark.parametrize(("width", "below"), [(100.0, False), (330.0, True)])
def test_an_inner_cluster_stands_beside_and_where_that_gets_wide_below(width, below):
    sizes, edges, clusters = loop_in_a_loop(width)
    placed = place(sizes, edges, clusters)
    assert_sound(placed, edges)
    for depth in (1, 2):
        frame, last = placed.clusters[f"c{depth}"], placed.boxes[f"{depth - 1}.4"]
        assert (frame.y - frame.height / 2 > last.y + last.height / 2) == below
    assert placed.width < (2 if below else 5) * width


def test_clusters_in_ranks_of_their_own_stand_below_each_other():
    sizes = {str(i): (80.0, 32.0) for i in range(6)}
    edges = [(i, str(i), str(i + 1)) for i in range(5)]
    clusters = [("first", "", ["0", "1", "2"]), ("second", "", ["3", "4", "5"])]
    placed = place(sizes, edges, clusters)
    assert len({box.x for box in placed.boxes.values()}) == 1
    assert not overlap(*placed.clusters.values())


def test_the_path_of_the_operations_is_straight_beside_its_inputs():
    sizes = {f"op{i}": (80.0, 32.0) for i in range(8)}
    edges = [(f"{i}", f"op{i}", f"op{i + 1}") for i in range(7)]
    for i in range(1, 8):
        for k in range(3):
            sizes[f"w{i}{k}"] = (120.0, 32.0)
            edges.append((f"w{i}{k}", f"w{i}{k}", f"op{i}"))
    placed = place(sizes, edges)
    assert_sound(placed, edges)
    xs = [placed.boxes[f"op{i}"].x for i in range(1, 8)]
    assert max(xs) - min(xs) < 120
