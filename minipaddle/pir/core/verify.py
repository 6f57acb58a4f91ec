"""The verifier: is this program well formed? It runs after parsing and after every pass.

It checks that values are made before they are read, that each operation has the operands and
results that its declaration asks for, and that the types are those that InferMeta finds.

Paddle: paddle/pir/src/core/verify.cc and the VerifySig functions that op_gen writes.
"""

from __future__ import annotations

from typing import Any

from minipaddle.common.errors import IRError
from minipaddle.pir.core.block import Program
from minipaddle.pir.core.constant import attribute_values
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.type import DenseTensorType, Type, VectorType
from minipaddle.pir.core.value import Value


def verify_program(program: Program) -> None:
    """Raises IRError if the program is not well formed."""
    made: set[Value] = set()
    for op in program.global_block().ops:
        for index, source in enumerate(op.operands_source()):
            if source is not None and source not in made:
                raise IRError(
                    f"verify: expected operand {index} of {op.name()} to be made before it is "
                    "read, but got a "
                    f"result of {source.get_defining_op().name()} that comes later or was erased. "
                    "Move the operation that makes it to an earlier place."
                )
        verify_operation(op)
        made.update(op.results())


def verify_operation(op: Operation) -> None:
    """Checks one operation against its declaration. Raises IRError if it does not fit."""
    info = op.info
    star = any(name.endswith("*") for name in info.inputs)
    if not star and op.num_operands() != len(info.inputs):
        raise IRError(
            f"verify: expected {info.name} to have the operands {list(info.inputs)}, but got "
            f"{op.num_operands()}. "
            "Give it one value for each."
        )
    star = any(name.endswith("*") for name in info.outputs)
    if not star and op.num_results() != len(info.outputs):
        raise IRError(
            f"verify: expected {info.name} to have the results {list(info.outputs)}, but got "
            f"{op.num_results()}. "
            "Give it one result for each."
        )
    known = {*info.attr_kinds, "stop_gradient", "persistable"}
    unknown = sorted(set(op.attributes) - known)
    missing = sorted(set(info.attr_kinds) - set(op.attributes)) if info.op else []
    if unknown or missing:
        raise IRError(
            f"verify: expected {info.name} to have the attributes {sorted(info.attr_kinds)}, but "
            "got unknown "
            f"{unknown} and missing {missing}. Correct the attributes."
        )
    if info.op is None:
        return
    for item, source in zip(info.op.inputs, op.operands_source(), strict=False):
        if source is None and not item.optional:
            raise IRError(
                f"verify: expected the operand {item.name!r} of {info.name}, but got no value. "
                "Only optional operands may be left out."
            )
    expected = infer_types(op)
    for name, result, wanted in zip(info.outputs, op.results(), expected, strict=True):
        found = result.type()
        if found is not None and wanted is not None and not _agree(found, wanted):
            raise IRError(
                f"verify: expected result {name!r} of {info.name} to be {wanted!r}, but got "
                f"{found!r}. "
                "InferMeta decides the type; write the one that it finds."
            )


def infer_types(op: Operation) -> list[Type | None]:
    """The types that InferMeta finds for the results. Raises ValueError where the operands don't
    fit.
    """
    assert op.info.op is not None
    count = len(op.info.op.inputs)
    metas: list[Any] = [None if v is None else v.meta() for v in op.operands_source()[:count]]
    results = op.info.op.infer_metas(metas, attribute_values(op, for_infer_meta=True))
    return [type_of(meta) for meta in results]


def type_of(meta: Any) -> Type | None:
    """The type of a MetaTensor, or of a list of them; None for a result that is not made."""
    if meta is None:
        return None
    if isinstance(meta, list):
        return VectorType(DenseTensorType(item.dtype, item.shape) for item in meta)
    return DenseTensorType(meta.dtype, meta.shape)


def _agree(found: Type, wanted: Type) -> bool:
    """Equal, or different only where one of them does not know a size yet."""
    if found is wanted:
        return True
    if isinstance(found, VectorType) and isinstance(wanted, VectorType):
        return len(found.items) == len(wanted.items) and all(map(_agree, found.items, wanted.items))
    if not isinstance(found, DenseTensorType) or not isinstance(wanted, DenseTensorType):
        return False
    return (
        found.dtype is wanted.dtype
        and len(found.shape) == len(wanted.shape)
        and all(-1 in (a, b) or a == b for a, b in zip(found.shape, wanted.shape, strict=True))
    )
