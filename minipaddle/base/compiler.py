"""CompiledProgram: a program that passes rewrite before it runs, and BuildStrategy, which says
which passes.

The passes work on a copy, when the program runs for the first time with certain fetches: what is
fetched must stay. `optimized_program` shows the copy.

Paddle: python/paddle/base/compiler.py, paddle/fluid/framework/details/build_strategy.h. There, the
result is read as IrGraph(compiled._graph).to_program(), after a run.
Left out: Graph, data parallel training, inference engines; all but three of the settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minipaddle.base.framework import Block, Program, Variable
from minipaddle.base.fuse_elewise_add_act_pass import fuse_elewise_add_act
from minipaddle.base.lowering import fetch_targets, lower_program
from minipaddle.base.transpiler import memory_optimize
from minipaddle.common.enforce import require_type
from minipaddle.new_executor.instruction import InstructionList


class BuildStrategy:
    """What passes do to a program:

    - memory_optimize (True, False or None): variables take over the names of dead ones, see
      transpiler/memory_optimization_transpiler.py.
    - enable_inplace: an op such as relu writes over its input, if nobody reads that later.
    - fuse_elewise_add_act_ops: elementwise_add and relu or tanh become one op.

    Raises:
        AttributeError: another attribute. Real Paddle has thirty more.
        TypeError: the value is of another kind.
    """

    enable_inplace: bool = True
    fuse_elewise_add_act_ops: bool = False
    memory_optimize: bool | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in BuildStrategy.__annotations__:
            raise AttributeError(
                f"BuildStrategy: expected one of {sorted(BuildStrategy.__annotations__)}, but got "
                f"{name!r}. Leave it out: real Paddle's other settings have no passes here."
            )
        if not isinstance(value, bool | None) or (value is None and name != "memory_optimize"):
            wanted = BuildStrategy.__annotations__[name]
            raise TypeError(
                f"BuildStrategy.{name}: expected {wanted}, but got {value!r}. Say True or False."
            )
        object.__setattr__(self, name, value)

    def _settings(self) -> tuple[bool | None, ...]:
        return self.enable_inplace, self.fuse_elewise_add_act_ops, self.memory_optimize


class CompiledProgram:
    """A program together with what passes make of it. An Executor runs it as it runs a Program.

    Args:
        program_or_graph: a Program. It stays as it is, and may still change.
        build_strategy: default: BuildStrategy().

    Raises:
        TypeError: it is no classic Program, or no BuildStrategy.
    """

    def __init__(
        self, program_or_graph: Program, build_strategy: BuildStrategy | None = None
    ) -> None:
        who, advice = "CompiledProgram", "Build it inside paddle.pir_utils.OldIrGuard()."
        require_type(who, "a classic Program", program_or_graph, Program, advice)
        strategy = BuildStrategy() if build_strategy is None else build_strategy
        advice = "Make one with paddle.static.BuildStrategy()."
        require_type(who, "a BuildStrategy", strategy, BuildStrategy, advice)
        self._program = program_or_graph
        self._build_strategy = strategy

    def optimized_program(self, fetch_list: Iterable[Any] = ()) -> Program:
        """What the passes make of the program, for a run that fetches these Variables or names."""
        names = [item.name if isinstance(item, Variable) else item for item in fetch_list]
        names += fetch_targets(self._program.global_block())
        strategy, program = self._build_strategy, self._program.clone()
        if strategy.fuse_elewise_add_act_ops:
            fuse_elewise_add_act(program, names)
        if strategy.memory_optimize or strategy.enable_inplace:
            memory_optimize(
                program,
                names,
                inplace=strategy.enable_inplace,
                reuse=bool(strategy.memory_optimize),
            )
        return program

    # -- what an Executor asks -----------------------------------------------------------------

    def global_block(self) -> Block:
        return self._program.global_block()

    def lower(self, feed_names: Any, fetch: list[Any], scope: Any = None) -> InstructionList:
        """The instructions of the optimized program."""
        return lower_program(self.optimized_program(fetch), feed_names, fetch)

    def _prune_with_input(self, feeded_var_names: Any, targets: Any) -> CompiledProgram:
        pruned = self._program._prune_with_input(feeded_var_names, targets)
        return CompiledProgram(pruned, self._build_strategy)

    @property
    def lr_scheduler(self) -> Any:
        return self._program.lr_scheduler

    @property
    def lr_var(self) -> Any:
        return self._program.lr_var

    @property
    def _version(self) -> Any:
        """Another one if the program or the strategy changed."""
        return self._program._version, self._build_strategy._settings()
