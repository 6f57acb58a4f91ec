"""One backward, step by step: the queue, the in-degrees, the gradients that have arrived.

    viz.backward_steps(loss, labels={"x": x, "w": w})

How it is watched: every node gets a hook (`gradient_hooks`, as Tensor.register_hook uses), which
the engine calls when the node's gradients are complete, just before it runs. So order and values
are the engine's own. What lies between two calls, the queue and the in-degrees, follows from the
edges by the rule in eager/backward.py, and is worked out here by the same rule.

Paddle has no counterpart: GLOG_v=4 logs the same story as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minipaddle.eager.backward import get_in_degree_map, run_backward
from minipaddle.eager.grad_node_info import GradNodeBase, HookRemoveHelper
from minipaddle.eager.tensor import Tensor

from .frame import Step, TablePane, step, table
from .frame_checks import listed
from .grad_graph import NodeNumbers, is_leaf, next_nodes
from .player import Player

Seen = list[tuple[GradNodeBase, int, np.ndarray]]  # node, slot, gradient: in the order of the run


def backward_steps(
    tensors: Tensor | Iterable[Tensor],
    grad_tensors: Sequence[Tensor | None] | None = None,
    *,
    labels: Mapping[str, Tensor] | None = None,
    retain_graph: bool = False,
) -> Player:
    """Runs backward from `tensors` and shows it: one step for each node that runs.

    It is a real backward: afterwards the leaves have their `.grad`, and the graph is freed unless
    `retain_graph`. `labels`: names of Tensors; each is written into the node of its Tensor.

    Raises:
        TypeError: `tensors` are no Tensors of minipaddle.
        ValueError: nothing to run, because all `tensors` stop gradients.
        RuntimeError: what backward raises.
    """
    who = "viz.backward_steps"
    starts = [tensors] if isinstance(tensors, Tensor) else listed(who, "tensors", tensors)
    for start in starts:
        if not isinstance(start, Tensor):
            raise TypeError(
                f"{who}: expected Tensors of minipaddle, but got {type(start).__name__}. "
                "Pass the loss, or a list of Tensors."
            )
    roots = [t.grad_fn for t in starts if not t.stop_gradient and t.grad_fn is not None]
    if not roots:
        raise ValueError(
            "viz.backward_steps: expected a Tensor with a grad_fn, but all stop gradients. "
            "Set stop_gradient=False on an input, and compute the loss again."
        )
    film = _Film(list(dict.fromkeys(roots)), dict(labels or {}))
    film.before()
    given = list(grad_tensors) if grad_tensors is not None else [None] * len(starts)
    for node, grads in _watched(film.order, starts, given, retain_graph):
        film.run(node, grads)
    film.after()
    return Player(film.steps)


def _watched(
    nodes: Iterable[GradNodeBase],
    tensors: Sequence[Tensor],
    grads: Sequence[Tensor | None],
    retain_graph: bool,
) -> list[tuple[GradNodeBase, dict[int, np.ndarray]]]:
    """Runs backward; the nodes that ran, in that order, with their complete gradients by slot."""
    seen: Seen = []
    hooked = []

    def watch(node: GradNodeBase, slot: int) -> Any:
        def hook(grad: Tensor) -> None:
            seen.append((node, slot, np.array(grad.numpy())))

        return hook

    for node in nodes:
        before = node.gradient_hooks
        node.gradient_hooks = {slot: dict(hooks) for slot, hooks in (before or {}).items()}
        for slot in range(len(node.specs)):  # last: it sees what the other hooks made of it
            HookRemoveHelper(node.gradient_hooks.setdefault(slot, {}), watch(node, slot))
        hooked.append((node, before))
    try:
        run_backward(tensors, grads, retain_graph)
    finally:
        for node, before in hooked:
            node.gradient_hooks = before
    runs: dict[GradNodeBase, dict[int, np.ndarray]] = {}
    for node, slot, grad in seen:
        runs.setdefault(node, {})[slot] = grad
    return list(runs.items())


@dataclass
class _Film:
    """The engine's state, replayed. `missing`: gradients that are still to come, by node."""

    roots: list[GradNodeBase]
    labels: dict[str, Tensor]
    numbers: NodeNumbers = field(default_factory=NodeNumbers)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.degrees = get_in_degree_map(self.roots)
        self.missing = dict(self.degrees)
        self.order = list(self.degrees)
        self.queue = [root for root in self.roots if not self.missing[root]]
        self.done: list[GradNodeBase] = []
        self.values: dict[GradNodeBase, str] = {}

    def before(self) -> None:
        names = ", ".join(self._name(node) for node in self.queue)
        self._take(
            "Before: count the edges into each node",
            f"A node may run when all its gradients are there. {names} waits for none, so it is "
            "in the queue.",
            None,
        )

    def run(self, node: GradNodeBase, grads: Mapping[int, np.ndarray]) -> None:
        self._forget_silent(node)
        self.queue.remove(node)
        self.values[node] = "; ".join(_short(grads[slot]) for slot in sorted(grads))
        ready = self._pass_on(node)
        if is_leaf(node):
            note = "A leaf: the gradient is added to the Tensor's .grad."
        else:
            ends = [self._name(target) for target in next_nodes(node) if target is not None]
            note = f"Its results go to {', '.join(dict.fromkeys(ends)) or 'nobody'}."
        if ready:
            names = ", ".join(self._name(one) for one in ready)
            note += f" Now {names} {'has' if len(ready) == 1 else 'have'} all gradients: queued."
        self.done.append(node)
        self._take(f"Run {self._name(node)}", note, node)

    def after(self) -> None:
        leaves = [self._name(node) for node in self.done if is_leaf(node)]
        self._take("Done", f"{', '.join(leaves) or 'No leaf'} got a gradient.", None)

    def _pass_on(self, node: GradNodeBase) -> list[GradNodeBase]:
        ready = []
        for target in next_nodes(node):
            if target is None:
                continue
            self.missing[target] -= 1
            if not self.missing[target]:
                self.queue.insert(0 if is_leaf(target) else len(self.queue), target)
                ready.append(target)
        return ready

    def _forget_silent(self, until: GradNodeBase) -> None:
        """Nodes in the queue before `until` got no gradient: the engine passes them by."""
        while self.queue and self.queue[0] is not until:
            silent = self.queue.pop(0)
            self.values[silent] = "none came: not run"
            self._pass_on(silent)
            self.done.append(silent)

    def _take(self, title: str, note: str, now: GradNodeBase | None) -> None:
        states = dict.fromkeys(self.order, "waiting")
        states.update(dict.fromkeys(self.queue, "ready"))
        states.update(dict.fromkeys(self.done, "done"))
        if now is not None:
            states[now] = "now"
        picture = self.numbers.graph(self.roots, self.labels, None, states)
        self.steps.append(step(title, picture, self._queue(), self._holders(now), note=note))

    def _queue(self) -> TablePane:
        rows = [[number, self._name(node)] for number, node in enumerate(self.queue, 1)]
        return table(["place", "node"], rows or [["", "empty"]], name="Queue")

    def _holders(self, now: GradNodeBase | None) -> TablePane:
        rows, highlight = [], []
        for node in self.order:
            if node is now:
                highlight.append(len(rows))
            came = self.degrees[node] - self.missing[node]
            arrived = f"{came} of {self.degrees[node]}" if self.degrees[node] else "given"
            rows.append([self._name(node), self.missing[node], arrived, self.values.get(node, "")])
        columns = ["node", "in-degree", "arrived", "gradient, complete"]
        return table(columns, rows, highlight=highlight, name="Gradient holders")

    def _name(self, node: GradNodeBase) -> str:
        if not self.numbers.names:
            self.numbers.graph(self.roots, self.labels, None)
        name = self.numbers.names.get(node)
        same = [other for other in self.order if other.name() == node.name()]
        number = f" {same.index(node) + 1}" if len(same) > 1 and not name else ""
        return f"{node.name()}{number}" + (f" of {name}" if name else "")


def _short(array: np.ndarray) -> str:
    line = " ".join(np.array2string(array, precision=3, threshold=6, edgeitems=1).split())
    return line if len(line) <= 34 else line[:32] + " …"
