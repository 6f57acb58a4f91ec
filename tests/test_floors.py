"""minipaddle is a house: each floor imports only from floors below it."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "minipaddle"

# from the ground up; packages of one floor don't import each other
FLOORS = [
    {"common"},
    {"phi"},
    {"new_executor"},
    {"eager", "base", "pir"},  # three worlds that don't import each other
    {"tensor", "nn", "io", "metric", "regularizer", "transforms", "decomposition", "utils"},
    {"framework"},  # files
    {"optimizer", "static", "vision", "pir_utils", "_C_ops", "_pir_ops", "autograd", "amp"}
    | {"hapi"},
    {"distributed", "jit", "cinn"},
    {"compare"},
    {"viz"},
]
FLOOR_OF = {name: number for number, floor in enumerate(FLOORS) for name in floor}


def imports_of(path: Path) -> set[str]:
    """The packages of minipaddle that a file imports, also inside functions."""
    package = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
            if node.module == "minipaddle":
                names = [f"minipaddle.{alias.name}" for alias in node.names]
        parts = [name.split(".") for name in names]
        found |= {p[1] for p in parts if p[0] == "minipaddle" and len(p) > 1}
    return found - {package}


def arrows() -> list[tuple[str, str, Path]]:
    """(importing package, imported package, file) for every import in minipaddle."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        package = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if package == "__init__":
            continue  # the roof: it gathers the public names
        found += [(package, imported, path) for imported in sorted(imports_of(path))]
    return found


def test_every_package_has_a_floor():
    packages = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    packages |= {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages == set(FLOOR_OF)


def test_no_arrow_runs_upward():
    wrong = [
        f"{path.relative_to(PACKAGE)}: {package} imports {imported}"
        for package, imported, path in arrows()
        if FLOOR_OF[imported] >= FLOOR_OF[package]
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_imports_viz():
    wrong = [path for _, imported, path in arrows() if imported == "viz"]
    assert not wrong
