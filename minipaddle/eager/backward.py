"""Eager backward: walks GradNodes from the loss to the leaves, in the order in which their
gradients are complete.

A node may run when *all* its gradients have arrived. How many that will be is counted before the
walk starts: the number of edges into the node, its in-degree.

Paddle: paddle/fluid/eager/backward.cc (RunBackward, getInDegreeMap), general_grad.h.
Left out: the queue of nodes that are forced to run first, NaN checks, dist Tensors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from minipaddle.common.place import module_of
from minipaddle.eager.accumulation_node import add_grads, after_hooks
from minipaddle.eager.autograd_meta import AutogradMeta
from minipaddle.eager.grad_node_info import GradNodeBase, zeros_like_output
from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import tracer

# What has arrived at the nodes that did not run yet. A list has one place per output of the forward
# op; a second gradient for a place is added to the first. Paddle: grad_tensor_holder.h.
Holders = dict[GradNodeBase, list[Tensor | None]]


def get_in_degree_map(roots: Iterable[GradNodeBase]) -> dict[GradNodeBase, int]:
    """How many edges arrive at each node that can be reached from `roots`."""
    in_degree = dict.fromkeys(roots, 0)
    queue = deque(in_degree)
    while queue:
        for edge in queue.popleft().edges:
            if edge is None:
                continue
            next_node = edge.node
            if next_node in in_degree:
                in_degree[next_node] += 1
            else:
                in_degree[next_node] = 1
                if not next_node.accumulates:  # a leaf's node has no edges
                    queue.append(next_node)
    return in_degree


class GeneralGrad:
    """What `paddle.grad` wants: the gradients of `inputs` only, and no node run that does not
    lead to one of them.

    Paddle: the class of that name in paddle/fluid/eager/general_grad.h.
    """

    def __init__(
        self,
        inputs: Sequence[Tensor],
        no_grad_vars: Sequence[Tensor],
        roots: Iterable[GradNodeBase],
    ) -> None:
        self.blocked = {tensor._grad_edge() for tensor in no_grad_vars} - {None}
        self.wanted: dict[tuple[GradNodeBase, int], int] = {}
        for position, tensor in enumerate(inputs):
            edge = tensor._grad_edge()
            if edge is not None and (edge.node, edge.slot) in self.wanted:
                first = self.wanted[(edge.node, edge.slot)]
                raise RuntimeError(
                    f"grad: expected each input once, but got input {first} again as input "
                    f"{position}. Name each input once."
                )
            if edge is not None:
                self.wanted[(edge.node, edge.slot)] = position
        self.results: list[Tensor | None] = [None] * len(inputs)
        self.needed = self._nodes_that_lead_to_inputs(roots)

    def _nodes_that_lead_to_inputs(self, roots: Iterable[GradNodeBase]) -> set[GradNodeBase]:
        """Walks the graph backwards, from the wanted nodes to the roots."""
        users: dict[GradNodeBase, list[GradNodeBase]] = {}
        queue = deque(roots)
        seen = set(queue)
        while queue:
            node = queue.popleft()
            for edge in node.edges:
                if edge is None or edge in self.blocked:
                    continue
                users.setdefault(edge.node, []).append(node)
                if edge.node not in seen:
                    seen.add(edge.node)
                    queue.append(edge.node)
        needed = {node for node, _slot in self.wanted if node in seen}
        queue = deque(needed)
        while queue:
            for user in users.get(queue.popleft(), ()):
                if user not in needed:
                    needed.add(user)
                    queue.append(user)
        return needed

    def take(self, node: GradNodeBase, grads: Sequence[Tensor | None]) -> None:
        """Notes the gradients that arrived at `node`, where they are wanted."""
        for slot, grad in enumerate(grads):
            position = self.wanted.get((node, slot))
            if position is not None:  # an unused output of an op with several has zeros
                zeros = grad is None
                self.results[position] = zeros_like_output(node, slot, grads) if zeros else grad

    def must_run(self, node: GradNodeBase) -> bool:
        """False for nodes that lead to no input; at an input the walk ends, unless another input
        lies behind it.
        """
        return any(edge is not None and edge.node in self.needed for edge in node.edges)

    def cut(self, node: GradNodeBase, results: Sequence[Tensor | None]) -> list[Tensor | None]:
        """The node's results, without those that go to a Tensor of `no_grad_vars`."""
        return [
            None if edge in self.blocked else result for edge, result in zip(node.edges, results)
        ]


def run_backward(
    tensors: Sequence[Tensor],
    grad_tensors: Sequence[Tensor | None],
    retain_graph: bool = False,
    create_graph: bool = False,
    inputs: Sequence[Tensor] | None = None,
    no_grad_vars: Sequence[Tensor] = (),
) -> list[Tensor | None]:
    """Runs backward from `tensors`.

    Args:
        tensors: where to start.
        grad_tensors: their gradients; None stands for ones.
        retain_graph: keep what the nodes saved, for another backward.
        create_graph: record the backward itself.
        inputs: collect the gradients of these, instead of adding to the leaves' `.grad`.
        no_grad_vars: with `inputs`: no gradient flows through these.

    Returns:
        The gradients of `inputs` (None where there is none); empty without `inputs`.

    Raises:
        RuntimeError: the graph was freed, a saved Tensor was changed in place, a rule gave a
            gradient of the wrong shape, or a Tensor is named twice.
        AssertionError: a first gradient is no Tensor or doesn't fit its Tensor, or their numbers
            differ.
    """
    holders = _first_holders(tensors, grad_tensors, create_graph)
    general_grad = None if inputs is None else GeneralGrad(inputs, no_grad_vars, holders)
    in_degree = get_in_degree_map(holders)
    queue: deque[GradNodeBase] = deque()
    for node in holders:
        if not in_degree[node]:
            queue.append(node)
    while queue:
        node = queue.popleft()
        grads = holders.pop(node, None)
        if grads is None or (general_grad is not None and node not in general_grad.needed):
            # no gradient has come, or nobody needs it; those behind must still hear of it
            results = [None] * len(node.edges)
        else:
            if node.gradient_hooks or node.post_hooks or general_grad is not None:
                results = _run_with_hooks(node, grads, create_graph, general_grad)
            else:
                results = node(grads, create_graph)
            if not retain_graph and node.edges:  # a leaf's node keeps nothing
                node.clear_tensor_wrappers()
        for edge, result in zip(node.edges, results):
            if edge is None:
                continue
            next_node, slot = edge
            if result is not None:
                specs = next_node.specs
                if result._data.shape != specs[slot][0]:
                    raise _wrong_shape(node, specs[slot][0], result)
                wanted = specs[slot][1]
                if result._data.dtype is not wanted and wanted.kind != "f":  # as in Paddle
                    result = OPS["cast"](result, dtype=wanted)
                holder = holders.get(next_node)
                if holder is None:
                    holder = holders[next_node] = [None] * len(specs)
                held = holder[slot]
                holder[slot] = result if held is None else add_grads(held, result, create_graph)
            waits_for = in_degree[next_node] = in_degree[next_node] - 1
            if not waits_for:
                if next_node.accumulates:
                    queue.appendleft(next_node)  # a leaf's hooks run as early as they can
                else:
                    queue.append(next_node)
    if tracer.final_hooks:
        hooks, tracer.final_hooks = tracer.final_hooks, ()
        for hook in hooks:
            hook()
    return [] if general_grad is None else general_grad.results


def _first_holders(
    tensors: Sequence[Tensor], grad_tensors: Sequence[Tensor | None], create_graph: bool
) -> Holders:
    """Where the walk starts: the nodes of `tensors`, with the first gradients."""
    if len(grad_tensors) != len(tensors):
        raise AssertionError(
            f"backward: expected one gradient for each of the {len(tensors)} Tensors, but got "
            f"{len(grad_tensors)}. Give None for ones."
        )
    if len(tensors) > 1 and len(set(map(id, tensors))) < len(tensors):
        raise RuntimeError(_TWICE)
    holders: Holders = {}
    for tensor, grad in zip(tensors, grad_tensors):
        edge = tensor._grad_edge()
        if edge is None:
            continue
        node, slot = edge
        holder = holders.setdefault(node, [None] * len(node.specs))
        first, held = _initial_grad(tensor, grad), holder[slot]
        holder[slot] = first if held is None else add_grads(held, first, create_graph)
    return holders


def _run_with_hooks(
    node: GradNodeBase,
    grads: list[Tensor | None],
    create_graph: bool,
    general_grad: GeneralGrad | None,
) -> Sequence[Tensor | None]:
    """Hooks on the gradients that arrived, the node itself, hooks on what it gives."""
    if node.gradient_hooks:
        _apply_hooks(node, grads)
    if general_grad is not None:
        general_grad.take(node, grads)
        if not general_grad.must_run(node):
            return [None] * len(node.edges)
    results = node(grads, create_graph)
    if node.post_hooks:
        results = _after_post_hooks(node, results, grads)
    return results if general_grad is None else general_grad.cut(node, results)


_TWICE = "backward: expected each Tensor to start from once, but got one twice. Name each once."


def _initial_grad(tensor: Tensor, grad: Tensor | None) -> Tensor:
    if grad is None:
        data = tensor._data
        ones = module_of(data).empty(data.shape, data.dtype)
        ones.fill(1)
        return Tensor(ones)
    if not isinstance(grad, Tensor):
        raise AssertionError(
            f"backward: expected grad_tensor to be a Tensor or None, but got "
            f"{type(grad).__name__}. Make one with paddle.to_tensor."
        )
    if grad.size != tensor.size:
        raise wrong_first_shape(tensor, grad)
    first: Any = grad
    if grad.shape != tensor.shape:  # [1] for [], as in Paddle
        first = OPS["reshape"](first, shape=tensor.shape)
    return first if first.dtype is tensor.dtype else OPS["cast"](first, dtype=tensor.dtype)


def wrong_first_shape(tensor: Tensor, grad: Tensor) -> AssertionError:
    """The error about a first gradient that doesn't fit."""
    return AssertionError(
        f"backward: expected grad_tensor of shape {list(tensor.shape)}, but got "
        f"{list(grad.shape)}. A gradient has its Tensor's shape."
    )


def _wrong_shape(node: GradNodeBase, wanted: Sequence[int], result: Tensor) -> RuntimeError:
    """The error about a gradient that doesn't have its Tensor's shape."""
    return RuntimeError(
        f"backward: expected {node.name()} to give a gradient of shape {list(wanted)}, but got "
        f"{list(result.shape)}. A gradient has its Tensor's shape: a rule undoes what the op did "
        "to it (reduce_as undoes broadcasting)."
    )


def _apply_hooks(node: GradNodeBase, grads: list[Tensor | None]) -> None:
    """Calls the hooks on the node's gradients, which are complete: zeros for an output that nobody
    used.
    """
    for slot, hooks in (node.gradient_hooks or {}).items():
        if hooks:
            grad = grads[slot]
            grad = zeros_like_output(node, slot, grads) if grad is None else grad
            grads[slot] = after_hooks(hooks.values(), grad)


def _after_post_hooks(
    node: GradNodeBase, results: Sequence[Tensor | None], grads: Sequence[Tensor | None]
) -> Sequence[Tensor | None]:
    """What the node gives, after its own hooks. Raises TypeError if a hook gives something else."""
    for hook in list((node.post_hooks or {}).values()):
        changed = hook(tuple(results), tuple(grads))
        if changed is None:
            continue
        if not isinstance(changed, (list, tuple)) or len(changed) != len(results):
            got = len(changed) if isinstance(changed, (list, tuple)) else type(changed).__name__
            raise TypeError(
                f"{node.name()}.register_hook: expected the hook to return None or a list of "
                f"{len(results)} gradients, but got {got}. Return one for each of its first "
                "argument."
            )
        results = changed
    return results


def _tensor_list(who: str, name: str, value: Any) -> list[Tensor]:
    """One Tensor or several, as a list. Raises AssertionError if it is neither."""
    lists = (list, tuple, set) if name == "no_grad_vars" else (list, tuple)
    found = list(value) if isinstance(value, lists) else [value]
    wrong = [type(one).__name__ for one in found if not isinstance(one, Tensor)]
    if wrong or (not found and name != "no_grad_vars"):
        raise AssertionError(
            f"{who}: expected {name} to be a Tensor or a list of Tensors, but got "
            f"{wrong[0] if wrong else value}. Name at least one."
        )
    return found


def _require_flags(who: str, **flags: Any) -> None:
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise AssertionError(
                f"{who}: expected {name} to be True or False, but got {value!r}. Set one of them."
            )


def _first_grads(given: Any, count: int) -> list[Any]:
    """One gradient for each of `count` starts; they are looked at when the walk starts."""
    if given is None:
        return [None] * count
    return list(given) if isinstance(given, (list, tuple)) else [given]


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Any = None,
    retain_graph: bool = False,
) -> None:
    """`paddle.autograd.backward`: one backward from several Tensors."""
    starts = _tensor_list("backward", "tensors", tensors)
    _require_flags("backward", retain_graph=retain_graph)
    if len(set(map(id, starts))) < len(starts):
        raise AssertionError(_TWICE)  # an error of another kind than paddle.grad's, as in Paddle
    run_backward(starts, _first_grads(grad_tensors, len(starts)), retain_graph)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
) -> list[Tensor | None]:
    """`paddle.grad`: the gradients of `outputs` with respect to `inputs`; no `.grad` is touched.

    Args:
        grad_outputs: the gradients to start with, one for each output; None stands for ones.
        retain_graph: has no effect: as in Paddle, the graph of `outputs` can be used again.
        create_graph: record the gradients' own computation, for gradients of gradients.
        only_inputs: only True, as in Paddle.
        allow_unused: give None for an input that the outputs do not depend on, instead of an error.
        no_grad_vars: Tensors through which no gradient flows: they count as constants.

    Raises:
        AssertionError: an argument has the wrong type, or only_inputs is False.
        ValueError: an input is not part of the graph and allow_unused is False.
        RuntimeError: an input or an output is named twice.
    """
    if only_inputs is not True:
        raise AssertionError(
            f"grad: expected only_inputs=True, but got {only_inputs!r}. To add to the leaves' "
            ".grad, call backward()."
        )
    _require_flags("grad", create_graph=create_graph, allow_unused=allow_unused)
    if retain_graph is not None:
        _require_flags("grad", retain_graph=retain_graph)
    starts = _tensor_list("grad", "outputs", outputs)
    wanted = _tensor_list("grad", "inputs", inputs)
    blocked = [] if no_grad_vars is None else _tensor_list("grad", "no_grad_vars", no_grad_vars)
    starting = _first_grads(grad_outputs, len(starts))
    before = tracer.has_grad, tracer.amp_dtype
    if create_graph:  # what the rules compute is recorded, and in the dtype that it has
        tracer.has_grad, tracer.amp_dtype = True, None
    try:
        results = run_backward(starts, starting, True, create_graph, wanted, blocked)
    finally:
        tracer.has_grad, tracer.amp_dtype = before
    for position, result in enumerate(results):
        if result is None and not allow_unused:
            raise ValueError(
                f"grad: expected every input to be used by the outputs, but got input {position}, "
                "which is not. Remove it, or set allow_unused=True to get None for it."
            )
        if result is None:
            continue
        if create_graph:  # x + y gives one Tensor to both; each gets an own one, of the same graph
            results[position] = own = Tensor(result._data)
            own._version, own.autograd_meta = result._version, result.autograd_meta
            if result.stop_gradient:  # it depends on no input, yet in Paddle it says False
                own.autograd_meta = AutogradMeta(False)
                started_there = any(wanted[position] is start for start in starts)
                results[position] = own if started_there else OPS["assign"](own)
        else:  # and of its own memory, for a user who writes into it
            results[position] = Tensor(result._data.copy())
    return results
