"""Pass and PassManager: programs that rewrite programs.

    pm = PassManager()
    pm.add_pass("dead_code_elimination_pass", {})
    pm.run(program)

Before and after each pass the program is well formed: the manager runs the verifier after each.

Paddle: paddle/pir/include/pass/pass.h, pass_manager.h, python/paddle/pir (PassManager).
Left out: analyses, passes on single operations, optimisation levels.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minipaddle.common.errors import IRError
from minipaddle.pir.core.block import Program
from minipaddle.pir.drr import DrrPatternContext, apply_patterns

PASSES: dict[str, Callable[..., Pass]] = {}

# Packages that register passes when they are loaded. They stand a floor above this one, so they
# are named here, not imported: they are loaded when a pass is first asked for.
PACKAGES = ["minipaddle.transforms"]


class Pass:
    """One rewriting. `run` changes the program and returns how many places it changed."""

    name = ""

    def run(self, program: Program) -> int:
        raise NotImplementedError(
            f"Pass.run: expected {type(self).__name__} to define run(program), but it does not. "
            "Write it."
        )


def register_pass(name: str) -> Callable[[type[Pass]], type[Pass]]:
    """Makes a Pass known under a name, for `add_pass`."""

    def register(cls: type[Pass]) -> type[Pass]:
        cls.name = name
        PASSES[name] = cls
        return cls

    return register


class DrrPass(Pass):
    """A pass that is one pattern and its replacement."""

    def __init__(self, name: str, context: DrrPatternContext) -> None:
        self.name = name
        self.contexts = [context]

    def run(self, program: Program) -> int:
        return apply_patterns(program, self.contexts)


@dataclass(frozen=True)
class PassRecord:
    """What one pass did: its name, the places it changed, its time in ms, the program before and
    after.
    """

    name: str
    changed: int
    milliseconds: float
    before: str
    after: str


class PassManager:
    """Runs passes one after the other."""

    def __init__(self, opt_level: int = 2) -> None:
        self.opt_level = opt_level
        self._passes: list[Pass] = []
        self._print_ir = False
        self._print_statistics = False
        self.records: list[PassRecord] = []  # of the last run

    def add_pass(self, name: str, attributes: dict[str, Any] | None = None) -> None:
        """Adds a pass by its name. Raises ValueError if there is no such pass."""
        for package in PACKAGES:
            importlib.import_module(package)
        if name not in PASSES:
            raise ValueError(
                f"PassManager.add_pass: expected one of {sorted(PASSES)}, but got {name!r}. "
                "Register your own with register_pass."
            )
        self._passes.append(PASSES[name](**(attributes or {})))

    def register_pass(self, name: str, context: DrrPatternContext) -> None:
        """Adds a pass that is one DRR pattern."""
        self._passes.append(DrrPass(name, context))

    def passes(self) -> list[str]:
        return [item.name for item in self._passes]

    def empty(self) -> bool:
        return not self._passes

    def clear(self) -> None:
        self._passes = []

    def enable_ir_printing(self) -> None:
        """Prints the program before and after each pass."""
        self._print_ir = True

    def enable_print_statistics(self) -> None:
        """Prints how many places each pass changed."""
        self._print_statistics = True

    def run(self, program: Program) -> None:
        """Runs all passes.

        Raises:
            IRError: a pass left a program that is not well formed (names the pass).
        """
        self.records = []
        for item in self._passes:
            before = str(program)
            start = time.perf_counter()
            changed = item.run(program)
            milliseconds = (time.perf_counter() - start) * 1000
            try:
                program.verify()
            except (IRError, ValueError) as error:
                raise IRError(
                    f"PassManager.run: expected {item.name} to leave a well-formed program, but "
                    "got one that is not: "
                    f"{error} Look at what the pass rewrites."
                ) from error
            self.records.append(PassRecord(item.name, changed, milliseconds, before, str(program)))
            if self._print_ir:
                print(f"// before {item.name}\n{before}\n// after {item.name}\n{program}")
            if self._print_statistics:
                print(f"--- {item.name}: {changed} changed")
