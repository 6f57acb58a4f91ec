"""CompiledProgram: a program that passes rewrite before it runs, and BuildStrategy, which says
which passes.

The passes work on a copy, when the program runs for the first time with certain fetches: what is
fetched must stay. `optimized_program` shows the copy.

Paddle: python/paddle/base/compiler.py, paddle/fluid/framework/details/build_strategy.h. There, the
result is read as IrGraph(compiled._graph).to_program(), after a run.
Left out: Graph, data parallel training, inference engines; passes but those of EFFECTS.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from minipaddle.base.framework import Block, Program, Variable
from minipaddle.base.fuse_elewise_add_act_pass import fuse_elewise_add_act
from minipaddle.base.lowering import fetch_targets, lower_program
from minipaddle.base.transpiler import memory_optimize
from minipaddle.new_executor.instruction import InstructionList


class ReduceStrategy(Enum):
    """How gradients of several devices come together."""

    AllReduce = 0
    Reduce = 1


# what changes the program here; all other attributes are kept, and have no effect
EFFECTS = ("enable_inplace", "fuse_elewise_add_act_ops", "memory_optimize")

DEFAULTS: dict[str, Any] = {
    "allow_cuda_graph_capture": False,
    "async_mode": False,
    "bkcl_comm_num": 1,
    "build_cinn_pass": False,
    "cache_runtime_context": False,
    "debug_graphviz_path": "",
    "enable_addto": False,
    "enable_auto_fusion": False,
    "enable_backward_optimizer_op_deps": True,
    "enable_inplace": True,
    "fuse_adamw": False,
    "fuse_all_optimizer_ops": False,
    "fuse_all_reduce_ops": True,
    "fuse_bn_act_ops": False,
    "fuse_bn_add_act_ops": True,
    "fuse_broadcast_ops": True,
    "fuse_dot_product_attention": False,
    "fuse_elewise_add_act_ops": False,
    "fuse_gemm_epilogue": False,
    "fuse_relu_depthwise_conv": False,
    "fuse_resunit": False,
    "fused_attention": False,
    "fused_feedforward": False,
    "hierarchical_allreduce_inter_nranks": 0,
    "memory_optimize": None,
    "nccl_comm_num": 1,
    "num_trainers": 1,
    "reduce_strategy": ReduceStrategy.AllReduce,
    "sequential_run": False,
    "sync_batch_norm": False,
    "trainer_id": 0,
    "trainers_endpoints": [],
    "use_hierarchical_allreduce": False,
}


class BuildStrategy:
    """What passes do to a program. All attributes of Paddle's are there, with its defaults; those
    in `EFFECTS` have an effect here:

    - memory_optimize (True, False or None): variables take over the names of dead ones, see
      transpiler/memory_optimization_transpiler.py.
    - enable_inplace: an op such as relu writes over its input, if nobody reads that later.
    - fuse_elewise_add_act_ops: elementwise_add and relu or tanh become one op.

    Raises:
        AttributeError: there is no such attribute.
        TypeError: the value is of another kind.
    """

    ReduceStrategy = ReduceStrategy
    enable_inplace: bool
    fuse_elewise_add_act_ops: bool
    memory_optimize: bool | None

    def __init__(self) -> None:
        vars(self).update(DEFAULTS, trainers_endpoints=[])

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in DEFAULTS:
            raise AttributeError(
                f"BuildStrategy: expected one of its attributes, but got {name!r}. It has "
                f"{sorted(DEFAULTS)}."
            )
        kind = type(DEFAULTS[name])
        allowed = (bool, type(None)) if name == "memory_optimize" else (kind,)
        if type(value) not in allowed:
            wanted = " or ".join(item.__name__ for item in allowed)
            raise TypeError(
                f"BuildStrategy.{name}: expected {wanted}, but got {value!r}. The default is "
                f"{DEFAULTS[name]!r}."
            )
        vars(self)[name] = value

    def __str__(self) -> str:
        def text(value: Any) -> str:
            if isinstance(value, list):
                return ", ".join(map(str, value))
            number = value.value if isinstance(value, ReduceStrategy) else value
            return str(int(number or 0)) if not isinstance(number, str) else number

        lines = [f"{name}_: {text(value)}" for name, value in vars(self).items()]
        return "\n".join(["BuildStrategy:", *lines, ""])

    __repr__ = __str__


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
        if not isinstance(program_or_graph, Program):
            raise TypeError(
                "CompiledProgram: expected a classic Program, but got "
                f"{type(program_or_graph).__name__}. Build it inside "
                "paddle.pir_utils.OldIrGuard()."
            )
        strategy = BuildStrategy() if build_strategy is None else build_strategy
        if not isinstance(strategy, BuildStrategy):
            raise TypeError(
                "CompiledProgram: expected a BuildStrategy, but got "
                f"{type(strategy).__name__}. Make one with paddle.static.BuildStrategy()."
            )
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
        return self._program._version, str(self._build_strategy)
