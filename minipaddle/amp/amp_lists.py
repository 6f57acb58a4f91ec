"""Which ops auto_cast runs in half precision (white), and which in float32 (black).

White ops are fast in half precision and lose little: products, which add up in float32 inside.
Black ops lose too much: sums of many numbers, and functions that grow fast or end at infinity.
All other ops take what comes; where dtypes mix, they compute in float32.

An op's class stands in its declaration: `amp="white"`, "black", or "black_o1" for ops that level O2
does not keep in float32.

Paddle: python/paddle/amp/amp_lists.py and, for dygraph, paddle/fluid/imperative/amp_auto_cast.cc.
The names here are those of this package's ops.
Left out: bfloat16, which numpy does not have; level OD.
"""

from __future__ import annotations

from minipaddle.phi.core.op import OPS

BLACK = {"O1": ("black", "black_o1"), "O2": ("black",)}


def ops_of(*classes: str) -> set[str]:
    """The names of the ops of these AMP classes."""
    return {op.name for op in OPS.values() if op.amp in classes}


def white_list() -> dict[str, dict[str, set[str]]]:
    """dtype -> level -> names of ops, as Paddle gives it."""
    return {"float16": {level: ops_of("white") for level in BLACK}}


def black_list() -> dict[str, dict[str, set[str]]]:
    """dtype -> level -> names of ops, as Paddle gives it."""
    return {"float16": {level: ops_of(*classes) for level, classes in BLACK.items()}}
