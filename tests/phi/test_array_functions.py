"""Kernels run on numpy and on CuPy, so they may only use what both have.

Without a GPU nobody would notice a kernel that calls something that numpy alone has. This test reads
the source of all kernels: every `xp.<function>` must be a function of CuPy, every keyword one of its
parameters, every method of an array a method of CuPy's arrays. cupy_functions.txt has CuPy's names.

It can't see what an argument means: `kind="mergesort"` is for CuPy's users to find out.
"""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNELS = [
    path
    for folder in ("minipaddle/phi/ops", "minipaddle/phi/kernels")
    for path in sorted((ROOT / folder).glob("*.py"))
]
# Methods of numpy's arrays that are methods of other things too: of lists, dicts, strings.
NOT_ONLY_OF_ARRAYS = {"copy", "sort", "index", "fill", "get", "set", "item", "view", "round"}
ARRAY_METHODS = {name for name in dir(np.ndarray) if not name.startswith("_")}
# What a kernel may take from numpy itself, on the CPU: not functions of the arrays it is given.
NUMPY_ITSELF = {"asarray": "what numpy's generator of random numbers gave: ops/random.py"}


def read_names():
    """{section: {name: parameters, or None where they are not known}}"""
    sections, current = {}, {}
    for line in (Path(__file__).parent / "cupy_functions.txt").read_text().splitlines():
        if line.startswith("["):
            current = sections[line.strip("[]")] = {}
        elif not line.startswith("#"):
            for name, brackets, inside in re.findall(r"([\w.]+)(\(([^)]*)\))?", line):
                current[name] = set(inside.split(",")) if brackets else None
    return sections


CUPY = read_names()


def chain(node):
    """`xp.add.at` as ["xp", "add", "at"]; [] for anything else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else []


def parameters_of(names):
    """The parameters of the function xp.<names>, or None; raises KeyError if CuPy has it not."""
    if names == ["__name__"]:
        return None
    if len(names) == 1:
        return CUPY["cupy"][names[0]]
    section = ".".join(["cupy", *names[:-1]])
    if section in CUPY:
        return CUPY[section][names[-1]]
    return CUPY["cupy.ufunc"][".".join(names)]


def problems(tree):
    """What CuPy has not, in the source of a kernel: ["line 3: xp.foo", ...]"""
    found = []
    inner = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    keywords = {
        id(n.func): {k.arg for k in n.keywords if k.arg} for n in ast.walk(tree)
        if isinstance(n, ast.Call)
    }  # fmt: skip
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or id(node) in inner:
            continue
        names = chain(node)
        where = f"line {node.lineno}: "
        if names[:1] == ["xp"]:
            try:
                known = parameters_of(names[1:])
            except KeyError:
                found.append(f"{where}{'.'.join(names)} is not in CuPy")
                continue
        elif names[:1] == ["np"]:
            if names[1] not in NUMPY_ITSELF:
                found.append(f"{where}{'.'.join(names)} is numpy's; use xp")
            continue
        elif node.attr in NOT_ONLY_OF_ARRAYS or node.attr not in ARRAY_METHODS:
            continue
        elif node.attr not in CUPY["cupy.ndarray"]:
            found.append(f"{where}.{node.attr} is not in CuPy's arrays")
            continue
        else:
            known = CUPY["cupy.ndarray"][node.attr]
        if known is not None and "**" not in known:
            unknown = keywords.get(id(node), set()) - known
            if unknown:
                found.append(f"{where}{node.attr} has no {sorted(unknown)} in CuPy")
    return found


def for_the_cpu_only(function):
    """Is a function registered with `@op.kernel(backend="cpu")`?"""
    return any(
        isinstance(d, ast.Call)
        and any(k.arg == "backend" and ast.unparse(k.value) == "'cpu'" for k in d.keywords)
        for d in function.decorator_list
    )


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_kernels_use_what_cupy_has(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.FunctionDef) and for_the_cpu_only(node))
    ]
    assert not problems(tree), f"{path.relative_to(ROOT)}: " + "; ".join(problems(tree))


def test_other_names_for_xp_are_not_used():
    """The test above looks for the name `xp`."""
    for path in KERNELS:
        assert not re.search(r"\w+ = xp$", path.read_text(encoding="utf-8"), re.MULTILINE), path


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("xp.cumulative_trapezoid(x)", "xp.cumulative_trapezoid is not in CuPy"),
        ("xp.max(x, initial=0)", "max has no ['initial'] in CuPy"),
        ("xp.maximum.reduce(x)", "xp.maximum.reduce is not in CuPy"),
        ("xp.lib.stride_tricks.broadcast_shapes(x)", "is not in CuPy"),
        ("x.sum(axis=0, where=y)", "sum has no ['where'] in CuPy"),
        ("x.byteswap()", ".byteswap is not in CuPy's arrays"),
        ("np.exp(x)", "np.exp is numpy's; use xp"),
    ],
)
def test_it_finds_what_cupy_has_not(source, message):
    (found,) = problems(ast.parse(source))
    assert message in found


def test_what_kernels_use_is_there(backend):
    """In the numpy and the CuPy that are installed: CuPy's list has names that numpy 2 dropped."""
    for path in KERNELS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = chain(node)
            if names[:1] == ["xp"]:
                found = backend.xp
                for name in names[1:]:
                    found = getattr(found, name)
