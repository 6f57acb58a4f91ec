"""Program, Block, Operator, Variable: the program as a description, in protobuf messages.

A Variable and an Operator each hold their own message (VarDesc, OpDesc), and everything that they
know stands in it. So a Program can be turned into bytes, and back, without loss.

Paddle: python/paddle/base/framework.py, paddle/fluid/framework/{program,block,op,var}_desc.h.
Left out: dist attributes.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from minipaddle.base.call_stack import user_frames
from minipaddle.base.desc_checks import check_blocks, check_texts
from minipaddle.base.empty_slots import EMPTY_SLOTS
from minipaddle.base.framework_proto import (
    OP_VERSIONS,
    VAR_TYPES,
    BlockDesc,
    OpDesc,
    ProgramDesc,
    VarDesc,
)
from minipaddle.base.name_scope import full_name as scope_name
from minipaddle.base.op_attrs import phi_attrs
from minipaddle.base.op_compat import compat_of, output_slot, phi_name_of, slot_of
from minipaddle.base.op_desc import attr_value, slot_arguments, write_attr
from minipaddle.base.program_state import set_state, state_of
from minipaddle.base.prune import prune, prune_backward, set_is_test
from minipaddle.common import dtype as dtypes
from minipaddle.common import unique_name
from minipaddle.common.dtype import DataType
from minipaddle.common.errors import IRError, name_op_in_error
from minipaddle.common.size import Size
from minipaddle.new_executor.scope import Scope
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import Op, find_op

DENSE_TENSOR, STEP_SCOPES = 7, 11  # kinds of variables; the second is control flow's own
_VAR_TYPE_NAMES = {number: name for name, number in VAR_TYPES.items()}

# what a Parameter has beside its description
_KEPT_WITH_PARAMETERS = ("optimize_attr", "regularizer", "need_clip")


class OpRole:
    """What an op is for; roles add up as bits. Paddle: paddle/fluid/framework/op_proto_maker.h."""

    FORWARD = 0
    BACKWARD = 1
    OPTIMIZE = 2
    LOSS = 256


class Variable:
    """A name for a Tensor that will exist when the program runs."""

    is_symbolic = True  # no data before that

    def __init__(self, block: Block, desc: Any) -> None:
        self.block = block
        self.desc = desc

    @property
    def name(self) -> str:
        return self.desc.name

    @property
    def type(self) -> int:
        """What it is when the program runs: DENSE_TENSOR, or a kind that ops use inside."""
        return self.desc.type.type

    @property
    def shape(self) -> Size:
        return Size(self.desc.type.dense_tensor.tensor.dims)

    @property
    def dtype(self) -> DataType:
        return dtypes.BY_PROTO[self.desc.type.dense_tensor.tensor.data_type]

    @property
    def ndim(self) -> int:
        return len(self.desc.type.dense_tensor.tensor.dims)

    @property
    def size(self) -> int:
        """Number of elements. Raises ValueError where a dimension is not known yet."""
        if -1 in self.shape:
            raise ValueError(
                f"Variable.size: expected known dimensions, but got {list(self.shape)} for "
                f"{self.name!r}. Use an op that asks for the shape when the program runs."
            )
        return self.shape.numel()

    @property
    def stop_gradient(self) -> bool:
        return self.desc.stop_gradient

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self.desc.stop_gradient = value

    @property
    def persistable(self) -> bool:
        return self.desc.persistable

    @persistable.setter
    def persistable(self, value: bool) -> None:
        self.desc.persistable = value
        self.block.program._changed()

    @property
    def _fetch_key(self) -> str:
        """What an Executor knows this Variable by."""
        return self.desc.name

    @property
    def is_parameter(self) -> bool:
        return self.desc.is_parameter

    def meta(self) -> MetaTensor:
        return MetaTensor(self.shape, self.dtype)

    def _assign_from(self, source: Variable) -> Variable:
        """Appends an op that writes another variable's value into this one."""
        self.block.program.current_block().append_op("assign", {"X": source}, {"Out": self})
        return self

    def backward(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            f"Variable.backward: expected a Tensor, but got the Variable {self.name!r} of a "
            "Program, which "
            "has no data yet. Call paddle.static.append_backward(loss) instead."
        )

    def __str__(self) -> str:
        kind = "trainable param" if self.is_parameter else "var"
        persist = "persist " if self.persistable else ""
        if self.type != DENSE_TENSOR:  # Paddle's own text has one bracket too many
            return f"{persist}{kind} {self.name} : {_VAR_TYPE_NAMES[self.type]})"
        return (
            f"{persist}{kind} {self.name} : DENSE_TENSOR.shape{tuple(self.shape)}"
            f".dtype({self.dtype.name}).stop_gradient({self.stop_gradient})"
        )

    __repr__ = __str__

    def __bool__(self) -> bool:
        raise TypeError(
            f"Variable: expected a Tensor, but got the Variable {self.name!r}, which has no data "
            "before the program runs. paddle.where chooses without an `if`."
        )

    def __float__(self) -> float:
        raise TypeError(self._no_number())

    def __int__(self) -> int:
        raise TypeError(self._no_number())

    def numpy(self, *args: Any) -> Any:
        raise TypeError(self._no_number())

    item = tolist = numpy

    def _no_number(self) -> str:
        return (
            f"Variable: expected a Tensor, but got the Variable {self.name!r}, which has no data "
            "before the program runs. Fetch it: (array,) = Executor().run(program, feed={...}, "
            f"fetch_list=[{self.name!r}])."
        )


class Parameter(Variable):
    """A Variable that lives between runs and that an optimizer changes."""

    @property
    def trainable(self) -> bool:
        return not self.stop_gradient


class Operator:
    """One op of a Block, in the old names of op_compat.py."""

    def __init__(self, block: Block, desc: Any) -> None:
        self.block = block
        self.desc = desc

    @property
    def type(self) -> str:
        return self.desc.type

    @property
    def phi_op(self) -> Op:
        """The declaration behind the op. Raises KeyError if there is none."""
        return find_op(phi_name_of(self.type, self))

    def input(self, slot: str) -> list[str]:
        """The names in an input slot."""
        return slot_arguments(self.desc.inputs, slot)

    def output(self, slot: str) -> list[str]:
        """The names in an output slot."""
        return slot_arguments(self.desc.outputs, slot)

    @property
    def input_names(self) -> list[str]:
        return [item.parameter for item in self.desc.inputs]

    @property
    def output_names(self) -> list[str]:
        return [item.parameter for item in self.desc.outputs]

    @property
    def input_arg_names(self) -> list[str]:
        return [name for item in self.desc.inputs for name in item.arguments]

    @property
    def output_arg_names(self) -> list[str]:
        return [name for item in self.desc.outputs for name in item.arguments]

    @property
    def attr_names(self) -> list[str]:
        return [item.name for item in self.desc.attrs]

    def has_attr(self, name: str) -> bool:
        return name in self.attr_names

    def attr(self, name: str) -> Any:
        """An attribute's value. Raises ValueError if there is no such attribute."""
        for item in self.desc.attrs:
            if item.name == name:
                return attr_value(item)
        raise ValueError(
            f"Operator.attr: expected an attribute of {self.type}, but got {name!r}. It has "
            f"{self.attr_names}."
        )

    @property
    def call_stack(self) -> list[str]:
        """Where in the user's code the op was appended; empty if that is not known."""
        return self.attr("op_callstack") if self.has_attr("op_callstack") else []

    def _block_attr_id(self, name: str) -> int:
        """The index of the block that the op runs; the attribute is `sub_block`."""
        return self.attr(name)

    def _block_attr(self, name: str) -> Block:
        """The block that the op runs."""
        return self.block.program.block(self.attr(name))

    def _set_attr(self, name: str, value: Any) -> None:
        """Sets an attribute; the type is read off the value."""
        for item in self.desc.attrs:
            if item.name == name:
                self.desc.attrs.remove(item)
                break
        write_attr(self.desc.attrs.add(), name, value)
        self.block.program._changed()

    def all_attrs(self) -> dict[str, Any]:
        return {item.name: attr_value(item) for item in self.desc.attrs}

    def _is_optimize_op(self) -> bool:
        """Whether an optimizer appended it."""
        return self.has_attr("op_role") and bool(self.attr("op_role") & OpRole.OPTIMIZE)

    def _rename(self, old: str, new: str) -> None:
        for item in [*self.desc.inputs, *self.desc.outputs]:
            for position, name in enumerate(item.arguments):
                if name == old:
                    item.arguments[position] = new

    def __str__(self) -> str:
        def slots(items: Any) -> str:
            ordered = sorted(items, key=lambda item: item.parameter)
            return ", ".join(f"{item.parameter}={list(item.arguments)}" for item in ordered)

        attrs = sorted(self.all_attrs().items())
        shown = "".join(
            f", {name} = block[{value}]" if name == "sub_block" else f", {name} = {value}"
            for name, value in attrs
            if name != "op_callstack"
        )
        outputs, inputs = slots(self.desc.outputs), slots(self.desc.inputs)
        return f"{{{outputs}}} = {self.type}(inputs={{{inputs}}}{shown})"

    __repr__ = __str__


class Block:
    """A list of ops and the variables that they use. Control flow has blocks of its own."""

    def __init__(self, program: Program, idx: int, parent_idx: int = -1) -> None:
        self.program = program
        self.idx = idx
        self.parent_idx = parent_idx
        self.forward_block_idx = -1
        self.vars: dict[str, Variable] = {}
        self.ops: list[Operator] = []

    def create_var(
        self,
        name: str | None = None,
        shape: Any = (),
        dtype: Any = "float32",
        persistable: bool = False,
        stop_gradient: bool = False,
        is_parameter: bool = False,
        type: int = DENSE_TENSOR,
    ) -> Variable:
        """Adds a Variable. Raises ValueError if the name is taken."""
        name = name or unique_name.generate("_generated_var")
        if name in self.vars:
            raise ValueError(
                f"Block.create_var: expected a new name, but got {name!r}, which block {self.idx} "
                "has. "
                "Choose another name."
            )
        desc = VarDesc(name=name, persistable=persistable, stop_gradient=stop_gradient)
        desc.is_parameter = is_parameter
        desc.type.type = type
        if type == DENSE_TENSOR:
            tensor = desc.type.dense_tensor.tensor
            tensor.data_type = dtypes.to_dtype(dtype).proto_number
            tensor.dims.extend(int(size) for size in shape)
        return self._add_var(desc)

    def _add_var(self, desc: Any) -> Variable:
        variable = (Parameter if desc.is_parameter else Variable)(self, desc)
        self.vars[desc.name] = variable
        self.program._changed()
        return variable

    def var(self, name: str) -> Variable:
        """The Variable of that name. Raises ValueError if there is none."""
        if name not in self.vars:
            raise ValueError(
                f"Block.var: expected a variable of block {self.idx}, but got {name!r}. "
                f"It has {list(self.vars)}."
            )
        return self.vars[name]

    def has_var(self, name: str) -> bool:
        return name in self.vars

    def _find_var_recursive(self, name: str) -> Variable | None:
        """The Variable of that name in this block or the nearest block around it, or None.

        A gradient block sees its forward block, too.
        """
        if name in self.vars:
            return self.vars[name]
        near: list[Block] = [self]
        for block in near:
            if name in block.vars:
                return block.vars[name]
            for index in (block.parent_idx, block.forward_block_idx):
                if index >= 0 and self.program.block(index) not in near:
                    near.append(self.program.block(index))
        return None

    def _var_recursive(self, name: str) -> Variable:
        """The same. Raises ValueError if there is none."""
        found = self._find_var_recursive(name)
        if found is None:
            raise ValueError(
                f"Block._var_recursive: expected a variable of block {self.idx} or of a block "
                f"around it, but got {name!r}. Create it first."
            )
        return found

    @property
    def backward_block_idx(self) -> int:
        """The block that computes this one's gradients, or -1."""
        return next((b.idx for b in self.program.blocks if b.forward_block_idx == self.idx), -1)

    def all_parameters(self) -> list[Parameter]:
        return [variable for variable in self.vars.values() if isinstance(variable, Parameter)]

    def append_op(
        self,
        type: str,
        inputs: dict[str, Any] | None = None,
        outputs: dict[str, Any] | None = None,
        attrs: dict[str, Any] | None = None,
    ) -> Operator:
        """Adds an op by its old names; inputs and outputs are Variables, names, or lists of
        them; the attribute `sub_block` is a Block.
        """
        desc = OpDesc(type=type)
        if inputs is not None:
            inputs = {**dict.fromkeys(EMPTY_SLOTS.get(type, ()), []), **inputs}
        for slots, given in ((desc.inputs, inputs), (desc.outputs, outputs)):
            for slot, value in (given or {}).items():
                item = slots.add(parameter=slot)
                values = value if isinstance(value, (list, tuple)) else [value]
                item.arguments.extend(v.name if isinstance(v, Variable) else v for v in values)
        origin = self.program._origin
        common = {
            "op_role": self.program._role,
            "op_role_var": [],
            "op_namescope": origin.attr("op_namescope") if origin else scope_name(),
            "op_callstack": self.program._call_stack(),
            "op_device": "",
            "with_quant_attr": False,
        }
        runs_block = "sub_block" in (attrs or {})
        if origin is not None and type == f"{origin.type}_grad" and not runs_block:
            attrs = {**(attrs or {}), **origin.all_attrs()}  # it has the forward op's too
        for name, value in {**(attrs or {}), **common}.items():
            write_attr(desc.attrs.add(), name, value.idx if isinstance(value, Block) else value)
        operator = Operator(self, desc)
        try:
            self._infer_shapes(operator)
        except Exception as error:
            name_op_in_error(error, type, operator.attr("op_callstack"))
            raise
        if not runs_block:
            _pass_stop_gradient(inputs or {}, outputs or {})
        self.ops.append(operator)
        self.program._changed()
        return operator

    def _infer_shapes(self, operator: Operator) -> None:
        """InferMeta decides the outputs' shapes and dtypes, whatever they were before."""
        try:
            op = operator.phi_op
        except KeyError:
            return  # an op without a declaration can stand in a Program; it can't be run
        compat = compat_of(op.name)
        metas: list[Any] = []
        for item in op.inputs:
            names = operator.input(slot_of(compat, item.name))
            variables = [self._find_var_recursive(name) for name in names]
            found = [variable.meta() for variable in variables if variable is not None]
            if slot_of(compat, item.name) == "XShape":
                found = [MetaTensor(meta.shape[1:], meta.dtype) for meta in found]
            metas.append(found if item.is_list else found[0] if found else None)
        for name, meta in zip(op.outputs, op.infer_metas(metas, phi_attrs(operator)), strict=True):
            several = meta if isinstance(meta, list) else [meta]
            for target, found in zip(operator.output(output_slot(compat, name)), several):
                variable = self._find_var_recursive(target)
                if found is not None and variable is not None:
                    tensor = variable.desc.type.dense_tensor.tensor
                    tensor.data_type = found.dtype.proto_number
                    tensor.ClearField("dims")
                    tensor.dims.extend(found.shape)

    def _rename_var(self, old: str, new: str, ops: list[Operator] | None = None) -> None:
        """Renames a variable. `ops`: those that use it, where that is known (default: all)."""
        variable = self.vars.pop(old)
        variable.desc.name = new
        self.vars[new] = variable
        for operator in self.ops if ops is None else ops:
            operator._rename(old, new)
        self.program._changed()

    def __str__(self) -> str:
        head = (
            f"{{ // block_idx:{self.idx}  parent_idx:{self.parent_idx}  "
            f"forward_idx:{self.forward_block_idx}  backward_idx:{self.backward_block_idx}\n"
        )
        variables = "".join(f"    {variable}\n" for variable in self.vars.values())
        ops = "".join(f"    {operator}\n" for operator in self.ops)
        return f"{head}{variables}\n{ops}}}\n"


class Program:
    """Blocks; block 0 is where it starts."""

    def __init__(self) -> None:
        self.blocks = [Block(self, 0)]
        self.random_seed = 0
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

    def global_block(self) -> Block:
        return self.blocks[0]

    def current_block(self) -> Block:
        return self.blocks[self._current_block_idx]

    def block(self, index: int) -> Block:
        return self.blocks[index]

    def _create_block(self, parent_idx: int | None = None) -> Block:
        """A new block, which is now the current one. `parent_idx`: default: the current block."""
        parent = self._current_block_idx if parent_idx is None else parent_idx
        block = Block(self, len(self.blocks), parent)
        self.blocks.append(block)
        self._current_block_idx = block.idx
        self._changed()
        return block

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
    def desc(self) -> Any:
        """The whole program as one ProgramDesc message."""
        program = ProgramDesc()
        program.version.version = 0
        for block in self.blocks:
            desc = BlockDesc(idx=block.idx, parent_idx=block.parent_idx)
            desc.forward_block_idx = block.forward_block_idx
            for variable in block.vars.values():
                desc.vars.add().CopyFrom(variable.desc)
            for operator in block.ops:
                desc.ops.add().CopyFrom(operator.desc)
            program.blocks.add().CopyFrom(desc)
        types = {operator.type for block in self.blocks for operator in block.ops}
        for name in sorted(types & OP_VERSIONS.keys()):
            program.op_version_map.pair.add(op_name=name).op_version.version = OP_VERSIONS[name]
        return program

    def serialize_to_string(self) -> bytes:
        """The program as bytes, in framework.proto's format."""
        return self.desc.SerializeToString()

    @staticmethod
    def parse_from_string(data: bytes) -> Program:
        """The program that the bytes describe. Raises IRError if they describe none."""
        message = ProgramDesc()
        try:
            message.ParseFromString(data)
        except Exception as error:  # protobuf's DecodeError; its text alone says nothing to a user
            raise IRError(
                "Program.parse_from_string: expected the bytes of a ProgramDesc, but got "
                f"{len(data)} bytes that "
                f"are not ({error}). Pass what serialize_to_string() returned."
            ) from error
        check_blocks(message)
        check_texts(message)
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
        message = prune_backward(self.desc) if for_test else self.desc
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
        return self._derived(prune(self.desc, positions, names, set(feeds)))

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
        return str(self)

    def __str__(self) -> str:
        return "".join(str(block) for block in self.blocks)

    __repr__ = __str__


# -- the current programs ----------------------------------------------------------------------


class _Current(threading.local):
    """The programs that are built now. Each thread has its own; all start with the same ones."""

    main = Program()
    startup = Program()


_current = _Current()


def default_main_program() -> Program:
    """The program to which ops are appended."""
    return _current.main


def default_startup_program() -> Program:
    """The program to which the ops that make the parameters are appended."""
    return _current.startup


@contextlib.contextmanager
def program_guard(main: Program, startup: Program | None = None) -> Iterator[None]:
    """Inside, ops go to `main` and the making of parameters goes to `startup`."""
    before = _current.main, _current.startup
    _current.main, _current.startup = main, startup or _current.startup
    try:
        yield
    finally:
        _current.main, _current.startup = before


def _pass_stop_gradient(inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
    """No gradient reaches what is computed from inputs that all stop it. (What is given by name
    stays as it is.)
    """
    read, written = (
        [v for value in slots.values() for v in (value if isinstance(value, list) else [value])]
        for slots in (inputs, outputs)
    )
    if all(not isinstance(item, str) and item.stop_gradient for item in read):
        for item in written:
            if isinstance(item, Variable):
                item.stop_gradient = True
