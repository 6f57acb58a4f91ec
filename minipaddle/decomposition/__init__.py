"""decomposition: an op in terms of simpler ones, so that a compiler has to know fewer ops.

    decompose(program, [y])      pd_op.softmax becomes exp, sum, divide

An op's rule stands in its declaration (`@softmax.decomp`); a `<op>_grad` needs none: its gradient
rule is one.

Paddle: python/paddle/decomposition/decomp.py.
Left out: white and black lists, decomposition inside control flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.phi.core.op import Op
from minipaddle.phi.core.world import world_guard
from minipaddle.pir.core.block import Program
from minipaddle.pir.core.builder import insertion_point_at, program_guard
from minipaddle.pir.core.constant import attribute_operands, attribute_values
from minipaddle.pir.core.value import Value
from minipaddle.pir.core.vector import combined_values, split_op_of, split_values

__all__ = ["decompose", "has_decomp"]


def has_decomp(op: Op) -> bool:
    """True where the op can be decomposed."""
    return op.decomp_rule is not None or op.forward_op is not None


def decompose(program: Program, values: Sequence[Value]) -> list[Value]:
    """Replaces every op that has a rule by the rule's ops, in place. An op stays where its rule
    needs a size that is known only when the program runs.

    Args:
        values: values that you hold.

    Returns:
        The values that stand for them now.
    """
    block = program.global_block()
    replaced: dict[Value, Value] = {}
    for operation in list(block.ops):
        op = operation.info.op
        if op is None or not has_decomp(op):
            continue
        rule: Any = op.decomp_rule or (op.forward_op and op.forward_op.require_vjp().rule)
        inputs = [
            combined_values(value) if item.is_list else value
            for item, value in zip(op.inputs, operation.operands_source(), strict=False)
        ]
        position, count = block.ops.index(operation), len(block.ops)
        with world_guard("pir"), program_guard(program), insertion_point_at(position):
            attrs = {**attribute_operands(operation), **attribute_values(operation)}
            try:
                results = rule(*inputs, **attrs)
            except ValueError:
                if not _has_unknown_size(inputs):
                    raise
                for made in reversed(block.ops[position : position + len(block.ops) - count]):
                    made.erase()
                continue
        results = results if isinstance(results, tuple) else (results,)
        for result, made in zip(operation.results(), results, strict=True):
            if result.type() is None:
                continue
            olds = split_values(result)
            news = made if isinstance(made, list) else [made]
            for old, new in zip(olds, news, strict=True):
                new.stop_gradient = old.stop_gradient
                old.replace_all_uses_with(new)
                replaced[old] = new
            split = split_op_of(result)
            if split is not None:
                split.erase()
        operation.erase()
    return [replaced.get(value, value) for value in values]


def _has_unknown_size(inputs: Sequence[Any]) -> bool:
    """True where a size of an input, or of an item of a list, is known only at run time."""
    values = [v for value in inputs for v in (value if isinstance(value, list) else [value])]
    return any(value is not None and -1 in value.shape for value in values)
