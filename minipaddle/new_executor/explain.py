"""When an instruction fails: what was wrong with its inputs, which op it is, who appended it.

A kernel's own error is often numpy's ("shapes not aligned"). InferMeta knows what the op expects,
so it is asked again, now with the shapes that there really were. This costs nothing while nothing
fails.

Paddle: the try around RunInstruction in
paddle/fluid/framework/new_executor/program_interpreter.cc; there InferMeta runs before each kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minipaddle.common.errors import name_op_in_error
from minipaddle.new_executor.instruction import Instruction
from minipaddle.phi.core.meta_tensor import MetaTensor


def explain(error: Exception, filename: str, lines: Mapping[int, Any]) -> None:
    """Names the instruction in the error that a generated function raised.

    Args:
        filename: of the generated function.
        lines: its line -> the instruction.

    Raises:
        ValueError, TypeError, IndexError: InferMeta's error, if it finds the inputs wrong: it says
            more than the kernel's.
    """
    frame, line, traceback = None, 0, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == filename:
            frame, line = traceback.tb_frame, traceback.tb_lineno  # the innermost one counts
        traceback = traceback.tb_next
    if frame is None or line not in lines:
        return
    instruction = lines[line]
    if not isinstance(instruction, Instruction):  # control flow: it has no kernel of its own
        name_op_in_error(error, instruction.op_type, instruction.call_stack)
        return
    better = _wrong_inputs(instruction, frame.f_locals)
    op_type = instruction.op_type or instruction.op.name
    name_op_in_error(better or error, op_type, instruction.call_stack)
    if better is not None:
        raise better from None


def _wrong_inputs(instruction: Instruction, arrays: Mapping[str, Any]) -> Exception | None:
    """What InferMeta says against the arrays that the instruction got; None if nothing."""
    op = instruction.op
    if op.infer_meta_fn is None or instruction.attr_inputs:
        return None

    def meta(item: Any) -> Any:
        if isinstance(item, list):
            return [meta(each) for each in item]
        array = arrays.get(item)
        return None if array is None else MetaTensor(array.shape, array.dtype)

    try:
        op.meta(*map(meta, instruction.inputs), **instruction.attrs)
    except (ValueError, TypeError, IndexError) as found:
        return found
    return None
