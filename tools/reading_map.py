"""Writes docs/reading.md: in which order to read each subsystem.

    python -m tools.reading_map             what the map would say
    python -m tools.reading_map --write     write it

What a file is about is the first sentence of its docstring; how long it is, count_code.py counts.
A test holds each core path under LIMIT lines, and says when the map no longer fits the code.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.count_code import PACKAGE, ROOT, count

MAP = ROOT / "docs" / "reading.md"
LIMIT = 1500


@dataclass(frozen=True)
class Subsystem:
    """What to read of one subsystem: its core path in order, and what can wait."""

    title: str
    lesson: str
    core: tuple[str, ...]
    later: tuple[str, ...] = ()


def _in(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}.py" for name in names.split())


SUBSYSTEMS = [
    Subsystem(
        "What an op is",
        "lesson 1.3",
        (
            *_in("phi/core", "op signature attribute meta_tensor kernel vjp derived world"),
            *_in("phi/ops", "elementary"),
        ),
        (
            *_in("phi/core", "type_promotion generator"),
            "phi/math_op_patch.py",
            "phi/ops",
            "phi/infermeta",
            "phi/kernels",
        ),
    ),
    Subsystem(
        "Dygraph",
        "module 02",
        _in(
            "eager",
            "autograd_meta tensor grad_node_info tensor_wrapper eager_gen dygraph_function "
            "accumulation_node backward",
        ),
        ("eager/zero_grads.py", *_in("autograd", "py_layer saved_tensors_hooks"), "amp", "tensor"),
    ),
    Subsystem(
        "Program and Block",
        "lessons 1.1, 1.2",
        (
            *_in("base", "variable operator block framework op_attrs"),
            *_in("phi/core", "symbolic append"),
            "base/layer_helper.py",
        ),
        _in("base", "framework_proto op_compat control_flow prune compiler"),
    ),
    Subsystem(
        "append_backward",
        "lesson 1.5",
        (*_in("base", "backward backward_plan backward_walk"), "phi/core/backward.py"),
        _in("base", "backward_control_flow backward_recompute"),
    ),
    Subsystem(
        "The Executor",
        "lesson 1.4",
        (
            *_in("base", "executor lowering block_lowering"),
            *_in("new_executor", "instruction interpreter scope feed explain"),
        ),
        (
            "base/control_flow_lowering.py",
            *_in("new_executor", "control_flow dependency_builder parallel"),
        ),
    ),
    Subsystem(
        "PIR",
        "module 03",
        (
            *_in("pir/core", "type attribute value operation block dialect builder"),
            *_in("pir/core", "ir_printer ir_parser verify"),
            *_in("pir", "ir_backward lowering"),
        ),
        _in("pir/core", "constant vector"),
    ),
    Subsystem(
        "Passes",
        "module 04",
        (
            *_in("pir", "pass_manager drr"),
            *_in("transforms", "dead_code_elimination_pass matmul_add_act_fuse_pass"),
            "decomposition/__init__.py",
            "cinn/fusion.py",
        ),
    ),
    Subsystem(
        "SOT",
        "module 05",
        _in(
            "jit/sot",
            "translate variables tracker opcode_executor function_graph guard pycode_generator",
        ),
    ),
    Subsystem(
        "Distributed",
        "module 06",
        (
            *_in("distributed", "spawn collective/process_group collective/communication"),
            *_in("distributed", "collective/ring parallel fleet/utils"),
        ),
    ),
]

HEAD = """# In which order to read minipaddle

For each subsystem: the files of its core path, in the order in which to read them, with their lines
of code (without comments and docstrings), and what can wait. A core path has under {limit:,} lines,
an evening or two. Read the lesson first: it asks the questions, and the files answer them. Beside
the core paths lies breadth, which needs no reading at all: layers, optimizers, about {ops} ops.

`python -m tools.reading_map --write` writes this page.
"""


def first_sentence(path: Path) -> str:
    """Of a file's docstring, or of the `__init__` of a folder."""
    file = path / "__init__.py" if path.is_dir() else path
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=\.) |:$", paragraph)[0].replace("|", r"\|")


def core_lines(subsystem: Subsystem) -> int:
    return sum(count(PACKAGE / name) for name in subsystem.core)


def page() -> str:
    """The map as text."""
    from minipaddle.phi.core.op import OPS

    parts = [HEAD.format(limit=LIMIT, ops=len(OPS) // 10 * 10)]
    for subsystem in SUBSYSTEMS:
        lines = core_lines(subsystem)
        parts.append(f"\n## {subsystem.title} ({subsystem.lesson}): {lines:,} lines\n")
        parts.append("| file | lines | what |\n|---|---|---|")
        for name in subsystem.core:
            path = PACKAGE / name
            parts.append(f"| `{name}` | {count(path)} | {first_sentence(path)} |")
        later = ", ".join(f"`{name}` ({count(PACKAGE / name):,})" for name in subsystem.later)
        if later:
            parts.append(f"\nLater: {later}.")
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--write"]):
        print(f"reading_map: expected --write or nothing, but got {arguments}.", file=sys.stderr)
        return 2
    if arguments:
        MAP.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
