"""FunctionGraph: the PIR program that a trace fills, and the function compiled from it.

Paddle: python/paddle/jit/sot/opcode_translator/executor/function_graph.py,
jit/dy2static/pir_partial_program.py.
Left out: parameters as builtin.parameter (each Tensor that the function meets is an input,
pd_op.data), in-place ops (they break the graph).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minipaddle.common.place import UNDEFINED
from minipaddle.eager.autograd_meta import AutogradMeta
from minipaddle.eager.grad_node_info import GradNodeBase, refuse_cleared, zeros_like_output
from minipaddle.eager.tensor import Tensor
from minipaddle.eager.tensor_wrapper import TensorWrapper
from minipaddle.jit.sot.tracker import ConstTracker, Tracker
from minipaddle.new_executor.instruction import Instruction, InstructionList, prune
from minipaddle.new_executor.interpreter import Interpreter
from minipaddle.phi.core.world import tracer, world_guard
from minipaddle.pir.core.block import Program
from minipaddle.pir.core.builder import build, flags, lifting, program_guard
from minipaddle.pir.core.type import DenseTensorType
from minipaddle.pir.core.value import Value
from minipaddle.pir.ir_backward import calc_gradient
from minipaddle.pir.lowering import instruction_of, number_values


class GraphInput(NamedTuple):
    """A Tensor that the graph reads, its value in the program, and where new bytecode finds it."""

    tensor: Tensor
    value: Value
    tracker: Tracker


class FunctionGraph:
    """A program under construction, and the Tensors that are its inputs."""

    def __init__(self) -> None:
        self.program = Program()
        self.inputs: list[GraphInput] = []

    def known_input(self, tensor: Any) -> GraphInput | None:
        """The input that stands for this very Tensor, if there is one."""
        return next((item for item in self.inputs if item.tensor is tensor), None)

    def input_of(self, tensor: Any, tracker: Tracker | None = None) -> Value:
        """The program's input for a Tensor; the same Tensor is one input.

        Without a tracker (a parameter inside one of our Layers) the Tensor itself is kept.

        Raises:
            TypeError: it is no Tensor.
        """
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"sot: expected a Tensor as an op's input, but got {type(tensor).__name__}. "
                "Make one with paddle.to_tensor outside the captured function."
            )
        known = self.known_input(tensor)
        if known is not None:
            return known.value
        attributes = {
            "name": f"input_{len(self.inputs)}",
            "shape": tuple(tensor.shape),
            "dtype": tensor.dtype,
            "place": UNDEFINED,
            "stop_gradient": flags(tensor.stop_gradient),
        }
        with program_guard(self.program):
            value = build(
                "pd_op.data", (), attributes, [DenseTensorType(tensor.dtype, tensor.shape)]
            ).result(0)
        self.inputs.append(GraphInput(tensor, value, tracker or ConstTracker(tensor)))
        return value

    def call(self, function: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a function so that the ops in it land in the program."""
        with world_guard("pir"), program_guard(self.program), lifting(self.input_of):
            return function(*args, **kwargs)

    def compile(self, outputs: Sequence[Value], backend: Callable | None = None) -> CompiledGraph:
        """The program as a function of Tensors."""
        if backend is not None:
            backend(self.program)
        return CompiledGraph(self.program, [item.value for item in self.inputs], outputs)


class CompiledGraph:
    """Forward and backward of a captured program, as two functions.

    The forward also gives the values that the backward needs; between the two, the GradNode keeps
    them.
    """

    def __init__(self, program: Program, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        self.program = program
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.differentiable = [not value.stop_gradient for value in outputs]
        self.forward_text = str(program)
        forward_ops = list(program.global_block().ops)
        gradients: list[Value | None] = [None] * len(self.inputs)
        grad_inputs: list[Value] = []
        if any(self.differentiable):
            gradients, grad_inputs = self._append_backward()
        backward_ops = program.global_block().ops[len(forward_ops) :]
        numbers = number_values(program.global_block().ops)
        self.gradients = gradients

        backward = [instruction_of(op, numbers) for op in backward_ops if op.info.op is not None]
        wanted = [numbers[value] for value in gradients if value is not None]
        backward = prune(backward, set(wanted))
        made = {name for item in backward for name in item.writes()}
        given = {numbers[value] for value in grad_inputs}
        read = dict.fromkeys(name for item in backward for name in item.reads())
        read.update(dict.fromkeys(wanted))
        self.saved = [name for name in read if name not in made and name not in given]
        places = {numbers[value]: i for i, value in enumerate(self.inputs)}
        self.saved_inputs = [places[name] for name in self.saved if name in places]

        forward = [instruction_of(op, numbers) for op in forward_ops if op.info.op is not None]
        results = [numbers[value] for value in self.outputs]
        forward = prune(forward, {*results, *self.saved})
        self.forward = _function(forward, [numbers[v] for v in self.inputs], results + self.saved)
        arguments = self.saved + [numbers[value] for value in grad_inputs]
        self.backward = _function(backward, arguments, wanted) if wanted else None

    def _append_backward(self) -> tuple[list[Value | None], list[Value]]:
        starts = [v for v, wanted in zip(self.outputs, self.differentiable, strict=True) if wanted]
        grad_inputs = []
        with program_guard(self.program):
            for number, value in enumerate(starts):
                attributes = {
                    "name": f"output_grad_{number}",
                    "shape": tuple(value.shape),
                    "dtype": value.dtype,
                    "place": UNDEFINED,
                    "stop_gradient": flags(True),
                }
                made = build("pd_op.data", (), attributes, [value.type()])
                grad_inputs.append(made.result(0))
        found = calc_gradient(starts, grad_inputs, self.program)
        return [found.get(value) for value in self.inputs], grad_inputs

    def __call__(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Runs the graph; if a gradient is wanted, one GradNode stands for all of it."""
        arrays = [tensor._data for tensor in tensors]
        results = self.forward.function(arrays, [])
        count = len(self.outputs)
        outputs = tuple(Tensor(data) for data in results[:count])
        if tracer.has_grad and self.backward is not None:
            edges = [tensor._grad_edge() for tensor in tensors]
            if any(edges):
                metas = [
                    (tensor._data.shape, tensor._data.dtype)
                    for tensor, wanted in zip(outputs, self.differentiable, strict=True)
                    if wanted
                ]
                kept = [TensorWrapper(tensors[place]) for place in self.saved_inputs]
                node = GradNodeRunProgram(edges, metas, self, results[count:], kept)
                slot = 0
                for tensor, wanted in zip(outputs, self.differentiable, strict=True):
                    if wanted:
                        tensor.autograd_meta = AutogradMeta(False, node, slot)
                        slot += 1
        return outputs


class GradNodeRunProgram(GradNodeBase):
    """The backward of a whole captured graph. Paddle:
    paddle/fluid/eager/to_static/run_program_impl.cc.
    """

    __slots__ = ("graph", "inputs", "saved")

    def __init__(
        self, edges: Any, metas: Any, graph: CompiledGraph, saved: Any, inputs: list[TensorWrapper]
    ) -> None:
        super().__init__(edges, metas)
        self.graph = graph
        self.saved: Any = saved
        self.inputs = inputs  # those among `saved` that came in: somebody else may change them

    def __call__(
        self, grads: Sequence[Tensor | None], create_graph: bool = False
    ) -> list[Tensor | None]:
        if self.cleared:
            refuse_cleared(self)
        if create_graph:
            raise NotImplementedError(
                "GradNodeRunProgram: expected create_graph=False, but got True: a captured graph "
                "has no second "
                "gradient here. Call the function without to_static."
            )
        assert self.graph.backward is not None
        for wrapper in self.inputs:
            wrapper.array()  # raises if it was changed in place
        given = [
            zeros_like_output(self, slot, grads) if grad is None else grad
            for slot, grad in enumerate(grads)
        ]
        arrays = [*self.saved, *(grad._data for grad in given)]
        results = iter(self.graph.backward.function(arrays, []))
        return [None if value is None else Tensor(next(results)) for value in self.graph.gradients]

    def clear_tensor_wrappers(self) -> None:
        self.cleared = True
        self.saved, self.inputs = None, []


def _function(
    instructions: list[Instruction], arguments: list[str], results: list[str]
) -> Interpreter:
    feeds = {name: (name, lambda array: array) for name in arguments}
    return Interpreter(InstructionList(instructions, feeds, {}, {}, results), np)
