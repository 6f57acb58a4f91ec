"""Program: blocks of ops and variables as a description; the programs that are built now.

Variables and Operators each hold their own message, and everything that they know stands in it. So
a Program can be turned into bytes, and back, without loss.

Paddle: python/paddle/base/framework.py, paddle/fluid/framework/program_desc.h.
Left out: dist attributes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from minipaddle.base import desc_checks
from minipaddle.base.block import Block
from minipaddle.base.call_stack import user_frames
from minipaddle.base.framework_proto import OP_VERSIONS, OpDesc, ProgramDesc, VarDesc
from minipaddle.base.operator import Operator, OpRole
from minipaddle.base.program_state import set_state, state_of
from minipaddle.base.prune import prune, prune_backward, set_is_test
from minipaddle.base.variable import Parameter, Variable
from minipaddle.common.enforce import require_type
from minipaddle.common.errors import IRError
from minipaddle.new_executor.scope import Scope
from minipaddle.phi.core.symbolic import CurrentPrograms

# what a Parameter has beside its description
_KEPT_WITH_PARAMETERS = ("optimize_attr", "regularizer", "need_clip")


class Program:
    """Blocks; block 0 is where it starts."""

    desc: Any  # see desc.py

    def __init__(self) -> None:
        self.blocks = [Block(self, 0)]
        self._seed = 0
        # of an optimizer: what says the learning rate at each run, and the variable that gets it
        self.lr_scheduler: Any = None
        self.lr_var: Any = None
        self._current_block_idx = 0
        self._role = OpRole.FORWARD
        # while a gradient op is appended: the forward op, whose place in the user's code it has
        self._origin: Operator | None = None
        self._appending_grad_times = 0  # how many backwards it has
        self._version = 0  # grows with each change, so that an Executor knows when to compile anew

    def _changed(self) -> None:
        self._version += 1

    @property
    def random_seed(self) -> int:
        """The seed of initializers and dropout, if not 0: the same numbers in each run."""
        return self._seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if not isinstance(seed, int):
            raise ValueError(
                f"Program.random_seed: expected an int, but got {seed!r}. 0 is for other numbers "
                "in each run."
            )
        self._seed = seed

    def global_block(self) -> Block:
        return self.blocks[0]

    def current_block(self) -> Block:
        return self.blocks[self._current_block_idx]

    def block(self, index: int) -> Block:
        """Block number `index`. Raises IndexError if there is none."""
        if index not in range(len(self.blocks)):
            raise IndexError(
                f"Program.block: expected a number below {len(self.blocks)}, but got {index!r}. "
                "Look at num_blocks."
            )
        return self.blocks[index]

    def _create_block(self, parent_idx: int | None = None) -> Block:
        """A new block, which is now the current one. `parent_idx`: default: the current block."""
        parent = self._current_block_idx if parent_idx is None else parent_idx
        block = Block(self, len(self.blocks), parent)
        self.blocks.append(block)
        self._current_block_idx = block.idx
        self._changed()
        return block

    @contextlib.contextmanager
    def _building(self, block: Block) -> Iterator[None]:
        """Inside, ops are appended to one of its blocks."""
        before, self._current_block_idx = self._current_block_idx, block.idx
        try:
            with program_guard(self):
                yield
        finally:
            self._current_block_idx = before

    def _rollback(self) -> None:
        """Leaves the current block: its parent is the current one."""
        self._current_block_idx = self.current_block().parent_idx

    @property
    def num_blocks(self) -> int:
        return len(self.blocks)

    def all_parameters(self) -> list[Parameter]:
        return [parameter for block in self.blocks for parameter in block.all_parameters()]

    def list_vars(self) -> Iterator[Variable]:
        for block in self.blocks:
            yield from block.vars.values()

    def _call_stack(self) -> list[str]:
        """The place in the user's code of an op that is appended now."""
        return self._origin.attr("op_callstack") if self._origin else user_frames()

    @contextlib.contextmanager
    def _role_guard(self, role: int) -> Iterator[None]:
        """Inside, new ops get this role."""
        before = self._role
        self._role = role
        try:
            yield
        finally:
            self._role = before

    @property
    def proto(self) -> Any:
        """The whole program as one ProgramDesc message."""
        program = ProgramDesc()
        program.version.version = 0
        program.blocks.extend(block.proto for block in self.blocks)
        types = {operator.type for block in self.blocks for operator in block.ops}
        for name in sorted(types & OP_VERSIONS.keys()):
            program.op_version_map.pair.add(op_name=name).op_version.version = OP_VERSIONS[name]
        return program

    def _sync_with_cpp(self) -> None:
        """Nothing to do: what is added to `desc` (see desc.py) is in the Program at once."""

    def serialize_to_string(self) -> bytes:
        """The program as bytes, in framework.proto's format."""
        return self.proto.SerializeToString()

    @staticmethod
    def parse_from_string(data: bytes) -> Program:
        """The program that the bytes describe.

        Raises:
            TypeError: they are no bytes.
            IRError: they describe no program.
        """
        who, advice = "Program.parse_from_string", "Pass what serialize_to_string() returned."
        require_type(who, "bytes", data, (bytes, bytearray), advice)
        message = ProgramDesc()
        try:
            message.ParseFromString(bytes(data))
        except Exception as error:  # protobuf's DecodeError; its text alone says nothing to a user
            raise IRError(
                f"{who}: expected the bytes of a ProgramDesc, but got {len(data)} bytes that are "
                f"not ({error}). {advice}"
            ) from error
        desc_checks.check(message)
        return Program._from_desc(message)

    @staticmethod
    def _from_desc(message: Any) -> Program:
        """The program of a ProgramDesc message, of which it takes copies."""
        program = Program()
        program.blocks = []
        for desc in message.blocks:
            block = Block(program, desc.idx, desc.parent_idx)
            block.forward_block_idx = desc.forward_block_idx
            program.blocks.append(block)
            for variable in desc.vars:
                copy = VarDesc()
                copy.CopyFrom(variable)
                block._add_var(copy)
            for operator in desc.ops:
                copy = OpDesc()
                copy.CopyFrom(operator)
                block.ops.append(Operator(block, copy))
        return program

    def state_dict(self, mode: str = "all", scope: Scope | None = None) -> dict[str, Any]:
        """Copies of the numbers in the scope, as numpy arrays by name.

        Args:
            mode: "param": of the parameters; "opt": of the other variables that live between
                runs, such as the state of an optimizer; "all".
            scope: default: the global scope.

        Raises:
            ValueError: mode is something else, or the startup program has not run yet.
        """
        return state_of(self, mode, scope)

    def set_state_dict(self, state_dict: dict[str, Any], scope: Scope | None = None) -> None:
        """Puts such a dict into the scope: all of it, or nothing if one array does not fit.

        Real Paddle warns only where an array has another shape, and goes on.

        Raises:
            TypeError: state_dict is no dict.
            ValueError: an array has another shape or dtype than its variable.
        """
        set_state("Program.set_state_dict", self, state_dict, scope)

    # -- programs made from this one (see prune.py) --------------------------------------------

    def clone(self, for_test: bool = False) -> Program:
        """A program of its own with the same ops, and variables of the same names, sorted by name;
        so it shares the parameters in the Scope.

        Args:
            for_test: leave out the ops of backward and optimizer, and let dropout, batch_norm and
                their like behave as in a test.
        """
        message = prune_backward(self.proto) if for_test else self.proto
        if for_test:
            set_is_test(message)
        else:
            for block in message.blocks:
                block.vars.sort(key=lambda variable: variable.name)
        program = self._derived(message)
        program.random_seed, program._role = self.random_seed, self._role
        if not for_test:
            program._current_block_idx = self._current_block_idx
            program._appending_grad_times = self._appending_grad_times
        return program

    def _prune(self, targets: Any) -> Program:
        """A new program with only the ops that `targets` (Variables, names, Operators) need."""
        return self._prune_with_input([], targets)

    def _prune_with_input(self, feeded_var_names: Any, targets: Any) -> Program:
        """The same; what only computes variables that are fed is left out too.

        Raises:
            ValueError: a name to feed is no str, or a target is not of this program.
        """
        feeds = feeded_var_names if isinstance(feeded_var_names, list) else [feeded_var_names]
        for name in feeds:
            if not isinstance(name, str):
                raise ValueError(
                    "Program._prune_with_input: expected the names of what is fed, but got "
                    f"{type(name).__name__}. Write variable.name."
                )
        block = self.global_block()
        positions, names = set(), set()
        places = {id(operator): position for position, operator in enumerate(block.ops)}
        makers = {  # name -> the last op that computes it; an optimizer only changes it
            name: position
            for position, operator in enumerate(block.ops)
            if not operator._is_optimize_op()
            for name in operator.output_arg_names
        }
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if id(target) in places:
                positions.add(places[id(target)])
                continue
            name = target.name if isinstance(target, Variable) else target
            if not isinstance(name, str) or not block.has_var(name):
                raise ValueError(
                    "Program._prune_with_input: expected Variables or Operators of the program's "
                    f"block 0, or names of its variables, but got {name!r}. Pass what the pruned "
                    "program should still compute."
                )
            names.add(name)
            if name in makers and name not in feeds:
                positions.add(makers[name])
        return self._derived(prune(self.proto, positions, names, set(feeds)))

    def _derived(self, message: Any) -> Program:
        """The program of a message that was made from this one: what Python knows goes along."""
        program = Program._from_desc(message)
        program.lr_scheduler = self.lr_scheduler
        own = {variable.name: variable for variable in self.list_vars()}
        for variable in program.list_vars():
            for name in _KEPT_WITH_PARAMETERS:
                if name in vars(own[variable.name]):
                    setattr(variable, name, getattr(own[variable.name], name))
        if self.lr_var is not None:
            program.lr_var = program.global_block().vars.get(self.lr_var.name)
        if program.lr_var is None:
            program.lr_scheduler = None  # nothing reads the rate any more
        return program

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """The description, field by field."""
        return str(self.proto)

    def __str__(self) -> str:
        return "".join(str(block) for block in self.blocks)

    __repr__ = __str__


# -- the current programs ----------------------------------------------------------------------


_current = CurrentPrograms(Program(), Program())
program_guard = _current.guard


def default_main_program() -> Program:
    """The program to which ops are appended."""
    return _current.main


def default_startup_program() -> Program:
    """The program to which the ops that make the parameters are appended."""
    return _current.startup
