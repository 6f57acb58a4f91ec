"""Writes an InstructionList as one Python function, and compiles it.

Why: a loop over instructions pays for looking up kernel, inputs and outputs in every run. The
text below does that once; a run then costs little more than the same numpy calls written by
hand.

Paddle: paddle/fluid/framework/new_executor/program_interpreter.cc, pir_interpreter.cc. They do
run a loop, in C++.
"""

from __future__ import annotations

import contextlib
import itertools
import keyword
import linecache
import math
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from types import MethodType, ModuleType
from typing import Any

import numpy as np

from minipaddle.common.flags import flag
from minipaddle.new_executor.dependency_builder import shared_memory
from minipaddle.new_executor.explain import explain
from minipaddle.new_executor.instruction import Instruction, InstructionList, last_uses
from minipaddle.phi.core.attribute import IntArray

_numbers = itertools.count()
DEEPEST = 20  # levels of blocks in a function: Python allows 20 loops in one another


class Interpreter:
    """A lowered program, compiled for one place.

    Attributes:
        plan: the instructions.
        text: the generated Python function, to be read.
        lines: line of the text -> the instruction that it carries out.
        around: the other lines of a block -> the instruction of control flow whose block it is.
    """

    def __init__(self, plan: InstructionList, xp: ModuleType = np) -> None:
        self.plan = plan
        self.xp = xp
        # what the program writes must not be the user's own arrays; a GPU wants them over there
        self.copies_feeds = xp is not np or _changes_feeds(plan)
        self.text: str
        self.lines: dict[int, Any]
        self.around: dict[int, Any]
        self.function: Callable[[list[Any], list[Any]], tuple]
        self.filename = filename = f"<minipaddle program {next(_numbers)}>"
        self.compile()
        linecache.cache[filename] = (len(self.text), None, self.text.splitlines(True), filename)
        weakref.finalize(self, linecache.cache.pop, filename, None)

    def compile(self) -> None:
        """Writes the function and compiles it."""
        writer = write_function(self.plan, self.xp)
        self.text, self.lines, self.around = writer.text(), writer.numbers, writer.around
        names: dict[str, Any] = dict(writer.constants)
        exec(compile(self.text, self.filename, "exec"), names)
        self.function = names["run"]

    def run(self, feed: dict[str, Any], scope: Any) -> Sequence[Any]:
        """Runs the program once.

        Args:
            feed: name -> what the user feeds. Names that the plan does not ask for are skipped.
            scope: holds the parameters.

        Returns:
            One array per fetch.

        Raises:
            ValueError, TypeError: an array does not fit (raised by the feed's check).
            RuntimeError: a parameter is not in the scope.
            What a kernel raises, with the op and its place in the user's code.
        """
        plan = self.plan
        fed = []
        for name, (_, check) in plan.feeds.items():
            fed.append(check(feed[name]))  # no comprehension: it would be one call more
        if self.copies_feeds:
            fed = [self.xp.array(array) for array in fed]
        held = scope.read(plan.scope_reads)
        try:
            results = self.function(fed, held)
        except Exception as error:
            explain(error, self.filename, self.around | self.lines, plan.names)
            raise
        count = len(plan.fetches)
        scope.write(plan.scope_writes, results[count:])
        return results[:count]


def _changes_feeds(plan: InstructionList) -> bool:
    """True if a feed's memory is overwritten, or ends up in the scope, where it may be later."""
    memory = shared_memory(plan.instructions)
    taken = [*plan.scope_writes.values()]
    taken += [name for instruction in plan.instructions for name in instruction.overwrites()]
    fed = [variable for variable, _ in plan.feeds.values()]
    return not {memory.get(n, n) for n in taken}.isdisjoint(memory.get(n, n) for n in fed)


def write_function(plan: InstructionList, xp: ModuleType) -> FunctionWriter:
    """The text of `run(feeds, parameters)`, the names it uses, and which line is which
    instruction.

    Raises:
        NotImplementedError: more blocks in blocks than Python compiles.
    """
    writer = FunctionWriter(xp)
    writer.line("def run(feeds, parameters):")
    fed = [variable for variable, _ in plan.feeds.values()]
    with writer.indented():
        for source, names in (("feeds", fed), ("parameters", list(plan.scope_reads.values()))):
            if names:
                writer.line(f"{_targets(names)} = {source}")
        wanted = [*plan.fetches, *plan.scope_writes.values()]
        writer.block(plan.instructions, wanted, free=flag("FLAGS_eager_delete_tensor_gb") >= 0)
        writer.line(f"return {results_of(plan)}")
    return writer


def results_of(plan: InstructionList) -> str:
    """The text of what a run gives: what is fetched, then what goes back to the scope."""
    perhaps = {n for instruction in plan.instructions for n in getattr(instruction, "unset", ())}
    values = [
        f"computed({variable}, {plan.names.get(variable, variable)!r})"
        if variable in perhaps
        else variable
        for variable in [*plan.fetches, *plan.scope_writes.values()]
    ]
    return f"({''.join(value + ', ' for value in values)})"


class FunctionWriter:
    """The lines of a generated function.

    Attributes:
        lines: the text so far.
        constants: the names that the text uses: kernels, and attributes that have no literal.
        numbers: line -> the instruction that it carries out.
        around: line of a block -> the instruction of control flow whose block it is.
    """

    def __init__(self, xp: ModuleType) -> None:
        self.xp = xp
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {
            "int_array": int_array,
            "scalar": scalar,
            "computed": computed,
        }
        self.numbers: dict[int, Any] = {}
        self.around: dict[int, Any] = {}
        self._depth = 0
        self._count = itertools.count()

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def line(self, text: str, instruction: Any = None) -> None:
        """Adds a line, which may carry out an instruction."""
        self.lines.append("    " * self._depth + text)
        if instruction is not None:
            self.numbers[len(self.lines)] = instruction

    @contextlib.contextmanager
    def indented(self) -> Iterator[None]:
        """Inside, lines belong to a block of Python."""
        if self._depth == DEEPEST:
            raise NotImplementedError(
                f"Executor.run: expected at most {DEEPEST - 1} blocks in one another, but got "
                "more: Python compiles no function that is deeper. Nest fewer loops and conditions."
            )
        self._depth += 1
        yield
        self._depth -= 1

    def constant(self, name: str, value: Any, once: bool = False) -> str:
        """Gives the function a value; `once`: it has this name wherever it is asked for."""
        name = name if once else f"{name}_{next(self._count)}"
        self.constants.setdefault(name, value)
        return name

    def instruction(self, instruction: Any) -> None:
        """Writes one instruction."""
        if isinstance(instruction, Instruction):
            self.line(_call(instruction, self), instruction)
            return
        first = len(self.lines) + 1
        instruction.write(self)
        for number in range(first, len(self.lines) + 1):
            self.around.setdefault(number, instruction)

    def block(
        self, instructions: Sequence[Any], needed: Collection[str], free: bool = True
    ) -> None:
        """Writes instructions, and drops each variable after its last use.

        Args:
            needed: what must be there after the block.
            free: False: the variables stay until the function ends.
        """
        dead = last_uses(instructions, needed) if free else [[] for _ in instructions]
        for instruction, names in zip(instructions, dead, strict=True):
            self.instruction(instruction)
            if isinstance(instruction, Instruction) and instruction.leaves_rest():
                names = [*names, "_"]
            if names:
                self.line(f"del {', '.join(names)}")


def _targets(names: Sequence[str]) -> str:
    return ", ".join(names) + ("," if len(names) == 1 else "")


def _kernel(instruction: Instruction, writer: FunctionWriter) -> str:
    """The name, in the text, of the kernel that an instruction calls.

    The kernel's first argument, xp, is bound to it as `self` is to a method: Python calls a method
    as quickly as a function, and a functools.partial more slowly.
    """
    op, xp = instruction.op, writer.xp
    name = f"{op.name}_" if keyword.iskeyword(op.name) else op.name
    if op.kernels.only is None:  # a choice, by the dtypes that come at each run
        return writer.constant(name, MethodType(op.run, xp), once=True)
    by_hand = op.forward_op.grad_kernel_fn if op.forward_op is not None else None
    if by_hand is None:
        return writer.constant(name, MethodType(op.kernels.only, xp), once=True)
    wanted = tuple(item is not None for item in instruction.outputs)  # compute no other gradients
    kernel = MethodType(MethodType(by_hand, xp), wanted)
    return writer.constant(name, kernel, once=all(wanted))


def _call(instruction: Instruction, writer: FunctionWriter) -> str:
    """One line: `v3 = relu(v2)`. Attributes that have no literal become named constants."""
    op = instruction.op
    function = _kernel(instruction, writer)
    arguments = []
    for item in instruction.inputs:
        arguments.append(f"[{', '.join(item)}]" if isinstance(item, list) else str(item))
    kinds = {attr.name: attr for attr in op.attrs}
    for name, variable in instruction.attr_inputs.items():
        reader = "int_array" if kinds[name].kind == IntArray else "scalar"
        arguments.append(f"{name}={reader}({variable})")
    for name, value in instruction.attrs.items():
        plain = isinstance(value, (bool, int, str)) or (
            isinstance(value, tuple) and len(value) <= 8
        )
        plain = plain or (isinstance(value, float) and math.isfinite(value))
        if plain:
            arguments.append(f"{name}={value!r}")
        else:
            arguments.append(f"{name}={writer.constant(name, value)}")
    targets: list[str] = [
        f"[{', '.join(item)}]" if isinstance(item, list) and item else str(item or "_")
        for item in instruction.outputs
    ]
    several = len(op.outputs) > 1 or op.forward_op is not None
    if not targets:
        return f"{function}({', '.join(arguments)})"
    target = _targets(targets) if several else targets[0]
    return f"{target} = {function}({', '.join(arguments)})"


def int_array(value: Any) -> tuple[int, ...]:
    """An IntArray attribute's value, out of the array that holds it."""
    return tuple(int(item) for item in value.ravel())


def scalar(value: Any) -> Any:
    """A Scalar attribute's value, out of the array that holds it."""
    return value.item()


def computed(value: Any, name: str) -> Any:
    """A value to be fetched that only one branch computes. Raises RuntimeError if it didn't run."""
    if value is None:
        raise RuntimeError(
            f"Executor.run: expected {name!r} to be computed, but got nothing: the branch that "
            "writes it has not run. Fetch what cond returned."
        )
    return value
