"""From a Program to instructions: find the kernels, number the variables, see what comes from
where.

Paddle: paddle/fluid/framework/new_executor/interpreter/interpreter_util.cc (BuildOpFuncList).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minipaddle.base.framework import Program, Variable, phi_attrs
from minipaddle.base.op_compat import compat_of, slot_of
from minipaddle.common.dtype import DataType, to_dtype
from minipaddle.new_executor.instruction import Instruction, InstructionList, prune


def lower_program(
    program: Program, feed_names: Sequence[str], fetch_list: Sequence[Any]
) -> InstructionList:
    """Lowers block 0 of a Program.

    Raises:
        KeyError: the program needs a feed that is missing, or has an op that is not declared.
        ValueError: a fetch is not in the program.
    """
    block = program.global_block()
    numbers: dict[str, str] = {}

    def number(name: str) -> str:
        return numbers.setdefault(name, f"v{len(numbers)}")

    instructions, written = [], set()
    for operator in block.ops:
        op = operator.phi_op
        compat = compat_of(op.name)
        inputs: list[Any] = []
        for item in op.inputs:
            names = [number(name) for name in operator.input(slot_of(compat, item.name))]
            inputs.append(names if item.is_list else names[0] if names else None)
        outputs: list[str | None] = []
        for name in op.outputs:
            slot = slot_of(compat, name.removesuffix("_out")) + "Out" * name.endswith("_out")
            found = operator.output(slot)
            outputs.append(number(found[0]) if found else None)
        instructions.append(Instruction(op, inputs, outputs, phi_attrs(operator)))
        written.update(operator.output_arg_names)

    fetched = [_fetch_name(item, block) for item in fetch_list]
    persistent = {name for name in written if block.has_var(name) and block.var(name).persistable}
    wanted = {number(name) for name in {*fetched, *persistent}}
    instructions = prune(instructions, wanted)
    names = {variable: name for name, variable in numbers.items()}
    made: set[str] = set()
    from_outside: dict[str, None] = {}
    for instruction in instructions:
        for variable in instruction.reads():
            if variable not in made:
                from_outside[names[variable]] = None
        made.update(instruction.writes())
    for name in fetched:
        if numbers[name] not in made:
            from_outside[name] = None

    feeds, reads = {}, {}
    for name in from_outside:
        variable = block.var(name)
        if name in feed_names:
            feeds[name] = (numbers[name], check_feed(name, variable.shape, variable.dtype))
        elif variable.persistable:
            reads[name] = numbers[name]
        else:
            raise missing_feed(name, variable.shape, variable.dtype, feed_names)
    writes = {
        name: numbers[name]
        for name in sorted(persistent)
        if any(numbers[name] in item.writes() for item in instructions)
    }
    return InstructionList(instructions, feeds, reads, writes, [numbers[name] for name in fetched])


def _fetch_name(item: Any, block: Any) -> str:
    name = item.name if isinstance(item, Variable) else item
    if not isinstance(name, str) or not block.has_var(name):
        raise ValueError(
            f"Executor.run: expected a variable of the program in fetch_list, but got {item!r}. "
            "Fetch a Variable, or the name of one."
        )
    return name


class MissingFeedError(KeyError):
    """A KeyError, as in Paddle, that reads like a sentence."""

    def __str__(self) -> str:
        return str(self.args[0])


def missing_feed(
    name: str, shape: Sequence[int], dtype: DataType, feed_names: Sequence[str]
) -> MissingFeedError:
    """The error for a feed that is not there."""
    return MissingFeedError(
        f"Executor.run: the program needs feed {name!r} ({dtype.name}, {list(shape)}), "
        f"but feed has {sorted(feed_names)}. Add {name!r} to feed."
    )


def check_feed(name: str, shape: Sequence[int], dtype: DataType) -> Callable[[Any], Any]:
    """Makes the check of one feed: shape (-1 fits everything) and dtype."""
    wanted_shape, wanted = tuple(shape), dtype.numpy_dtype

    def check(array: Any) -> Any:
        if array.dtype != wanted:
            got = to_dtype(array.dtype).name if array.dtype.kind in "biuf" else str(array.dtype)
            raise ValueError(
                f"Executor.run: expected feed {name!r} of dtype {dtype.name}, but got {got}. "
                f"Cast it first: {name}.astype('{dtype.name}')."
            )
        fits = len(array.shape) == len(wanted_shape) and all(
            want in (-1, got) for want, got in zip(wanted_shape, array.shape, strict=False)
        )
        if not fits:
            raise ValueError(
                f"Executor.run: expected feed {name!r} of shape {list(wanted_shape)}, but got "
                f"{list(array.shape)}. -1 stands for any size; the others must agree."
            )
        return array

    return check
