"""When an instruction fails: what was wrong with its inputs, which op it is, who appended it.

A kernel's own error is often numpy's ("shapes not aligned"). InferMeta knows what the op expects,
so it is asked again, now with the shapes that there really were. This costs nothing while nothing
fails.

Paddle: the try around RunInstruction in
paddle/fluid/framework/new_executor/program_interpreter.cc; there InferMeta runs before each kernel.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from minipaddle.common.errors import IRError, name_op_in_error
from minipaddle.new_executor.instruction import Instruction
from minipaddle.phi.core.meta_tensor import MetaTensor

_VARIABLE = re.compile("'(.*?)'")  # in the text of a NameError


def explain(
    error: Exception, filename: str, lines: Mapping[int, Any], names: Mapping[str, str]
) -> None:
    """Names the instruction in the error that a generated function raised.

    Args:
        filename: of the generated function.
        lines: its line -> the instruction.
        names: its variables -> what the Program calls them.

    Raises:
        IRError: an op reads what no op before it has written.
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
    if isinstance(error, NameError):
        found = _VARIABLE.search(str(error))
        name = names.get(found[1], found[1]) if found else "a variable"
        better = IRError(
            f"{instruction.op_type}: expected {name!r} to have a value, but got none: no op before "
            "it has written it. Put the ops into another order."
        )
        name_op_in_error(better, instruction.op_type, instruction.call_stack)
        raise better from None
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
    except AttributeError:  # an input is missing: the kernel's own error stays
        return None
    return None
