"""OpcodeExecutor: runs bytecode on variables instead of objects. One method per opcode, named
after it.

What it can't do raises BreakGraphError, with the place in the user's file.

Paddle: python/paddle/jit/sot/opcode_translator/executor/opcode_executor.py.
Left out: loops, exceptions, generators, comprehensions, closures that are made while tracing,
writing to objects.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import operator
import types
from dataclasses import dataclass
from typing import Any, NoReturn

from minipaddle.common.errors import BreakGraphError
from minipaddle.eager.tensor import Tensor
from minipaddle.jit.sot.function_graph import FunctionGraph
from minipaddle.jit.sot.guard import SIMPLE, Guard, is_plain_data
from minipaddle.jit.sot.tracker import (
    ConstTracker,
    GetAttrTracker,
    GetItemTracker,
    GlobalTracker,
    Tracker,
)
from minipaddle.jit.sot.variables import (
    ContainerVariable,
    NullVariable,
    ObjectVariable,
    TensorVariable,
    VariableBase,
    from_python,
    to_python,
)
from minipaddle.nn.layer.container import Sequential
from minipaddle.nn.layer.layers import Layer
from minipaddle.phi.core.op import Op
from minipaddle.tensor import METHODS

BINARY_OPS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
}
COMPARE_OPS = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
MAX_INLINE_DEPTH = 50
# what may be called while tracing: the same arguments always give the same result, and nothing
# else changes
PURE_MODULES = ("math", "operator")
PURE_BUILTINS = (
    *(abs, bool, float, int, isinstance, len, list, max, min, range, round, str, sum, tuple, type),
)
NEEDS_NUMBERS = (bool, float, int, isinstance, len, str, type)  # of a Tensor: not known here
NUMBERS = ("numpy", "item", "tolist", "backward")
OUR_MODULES = (
    "minipaddle.tensor",
    "minipaddle.phi.math_op_patch",
    "minipaddle.nn.functional",
    "minipaddle.common.size",
)


@dataclass(frozen=True)
class Step:
    """One instruction as it was run: what a player shows."""

    function: str
    offset: int
    opname: str
    argument: str
    line: int | None
    stack: tuple[str, ...]  # before the instruction
    locals: tuple[tuple[str, str], ...]
    graph_ops: int  # operations in the graph before the instruction


class _Return(Exception):
    """Ends the run; carries what the function returns."""

    def __init__(self, variable: VariableBase) -> None:
        super().__init__()
        self.variable = variable


class OpcodeExecutor:
    """Runs one function's bytecode symbolically. A function that it calls gets an executor of its
    own (inlining).
    """

    def __init__(
        self,
        function: types.FunctionType,
        arguments: dict[str, VariableBase],
        graph: FunctionGraph,
        guard: Guard,
        steps: list[Step],
        caller: OpcodeExecutor | None = None,
    ) -> None:
        self.function, self.code = function, function.__code__
        self.graph, self.guard, self.steps, self.caller = graph, guard, steps, caller
        self.locals: dict[str, VariableBase] = dict(arguments)
        self.stack: list[VariableBase] = []
        self.instructions = list(dis.get_instructions(self.code))
        self.position_of = {item.offset: i for i, item in enumerate(self.instructions)}
        self.position = 0
        self.line: int | None = self.code.co_firstlineno
        self.keyword_names: tuple[str, ...] = ()
        if caller is not None and self._depth() > MAX_INLINE_DEPTH:
            self.break_graph(f"more than {MAX_INLINE_DEPTH} calls inside each other")

    def _depth(self) -> int:
        return 0 if self.caller is None else self.caller._depth() + 1

    def run(self) -> VariableBase:
        """Runs to the end; returns what the function returns.

        Raises:
            BreakGraphError: an instruction can't be captured.
        """
        while True:
            instruction = self.instructions[self.position]
            self.position += 1
            start = instruction.positions.lineno if instruction.positions else None
            self.line = start or self.line
            if instruction.opname in ("CACHE", "EXTENDED_ARG"):
                continue
            self._record(instruction)
            handler = getattr(self, instruction.opname, None)
            if handler is None:
                self.break_graph(f"the instruction {instruction.opname} is not supported")
            try:
                handler(instruction)
            except _Return as done:
                return done.variable

    def _record(self, instruction: dis.Instruction) -> None:
        self.steps.append(
            Step(
                self.code.co_name,
                instruction.offset,
                instruction.opname,
                instruction.argrepr,
                self.line,
                tuple(map(repr, self.stack)),
                tuple((name, repr(value)) for name, value in self.locals.items()),
                self.graph.program.num_ops(),
            )
        )

    def break_graph(self, reason: str) -> NoReturn:
        """Raises BreakGraphError with the place in the user's code."""
        opname = self.instructions[max(self.position - 1, 0)].opname
        file = self.code.co_filename.replace("\\", "/").rpartition("/")[2]
        raise BreakGraphError(
            f"graph break: {reason} ({file}:{self.line}, {opname}). The function runs as plain "
            "Python instead."
        )

    # -- the stack -----------------------------------------------------------------------------

    def push(self, variable: VariableBase) -> None:
        self.stack.append(variable)

    def pop(self) -> VariableBase:
        return self.stack.pop()

    def pop_n(self, count: int) -> list[VariableBase]:
        if not count:
            return []
        taken = self.stack[-count:]
        del self.stack[-count:]
        return taken

    def wrap(self, value: Any, tracker: Tracker) -> VariableBase:
        """The variable for an object that was found somewhere: guarded, and a Tensor becomes an
        input.
        """
        if isinstance(value, Tensor):
            self.guard.add_tensor(tracker, value)
            known = self.graph.known_input(value)
            if known is not None:
                self.guard.add_alias(tracker, known.tracker)
            return TensorVariable(self.graph.input_of(value, tracker), tracker)
        if type(value) in (tuple, list) and any(isinstance(item, Tensor) for item in value):
            self.guard.add_container(tracker, value)
            items = [self.wrap(item, GetItemTracker(tracker, i)) for i, item in enumerate(value)]
            return ContainerVariable(type(value), items, tracker)
        self.guard.add_object(tracker, value)
        return ObjectVariable(value, tracker)

    # -- names and constants -------------------------------------------------------------------

    def RESUME(self, instruction: dis.Instruction) -> None:
        """Marks the start of a function."""

    NOP = COPY_FREE_VARS = PRECALL = MAKE_CELL = RESUME

    def PUSH_NULL(self, instruction: dis.Instruction) -> None:
        self.push(NullVariable())

    def LOAD_CONST(self, instruction: dis.Instruction) -> None:
        self.push(ObjectVariable(instruction.argval, ConstTracker(instruction.argval)))

    def _load_local(self, name: str) -> None:
        if name not in self.locals:
            self.break_graph(f"the local variable {name!r} has no value here")
        self.push(self.locals[name])

    def LOAD_FAST(self, instruction: dis.Instruction) -> None:
        self._load_local(instruction.argval)

    LOAD_FAST_CHECK = LOAD_FAST

    def LOAD_FAST_LOAD_FAST(self, instruction: dis.Instruction) -> None:
        for name in instruction.argval:
            self._load_local(name)

    def STORE_FAST(self, instruction: dis.Instruction) -> None:
        self.locals[instruction.argval] = self.pop()

    def STORE_FAST_LOAD_FAST(self, instruction: dis.Instruction) -> None:
        stored, loaded = instruction.argval
        self.locals[stored] = self.pop()
        self._load_local(loaded)

    def STORE_FAST_STORE_FAST(self, instruction: dis.Instruction) -> None:
        for name in instruction.argval:
            self.locals[name] = self.pop()

    def DELETE_FAST(self, instruction: dis.Instruction) -> None:
        self.locals.pop(instruction.argval, None)

    def LOAD_GLOBAL(self, instruction: dis.Instruction) -> None:
        name = instruction.argval
        namespace = self.function.__globals__
        if instruction.arg is not None and instruction.arg & 1:
            self.push(NullVariable())
        if name in namespace:
            inlined = self.caller is not None
            tracker = (
                GetItemTracker(ConstTracker(namespace), name) if inlined else GlobalTracker(name)
            )
            self.push(self.wrap(namespace[name], tracker))
        elif hasattr(builtins, name):
            value = getattr(builtins, name)
            self.push(ObjectVariable(value, ConstTracker(value)))
        else:
            self.break_graph(f"the global name {name!r} is not defined")

    def LOAD_DEREF(self, instruction: dis.Instruction) -> None:
        names = self.code.co_freevars
        if instruction.argval not in names or self.function.__closure__ is None:
            self.break_graph(f"{instruction.argval!r} is shared with a function that is made here")
        cell = self.function.__closure__[names.index(instruction.argval)]
        tracker = GetAttrTracker(ConstTracker(cell), "cell_contents")
        self.push(self.wrap(cell.cell_contents, tracker))

    def _get_attr(self, obj: VariableBase, name: str) -> VariableBase:
        if isinstance(obj, TensorVariable):
            if name in ("shape", "ndim", "dtype", "stop_gradient", "size"):
                return ObjectVariable(getattr(obj.value, name))  # the Tensor's own guard covers it
            found = getattr(type(obj.value), name, None)
            if found is None or (name not in METHODS and name != "T"):
                what = "needs the numbers of a Tensor" if name in NUMBERS else "is not captured"
                self.break_graph(f"Tensor.{name} {what}")
            if isinstance(found, property):
                return from_python(self.graph.call(found.fget, [obj.value], {}))  # type: ignore[arg-type]
            return ObjectVariable(types.MethodType(found, obj.value))
        if not isinstance(obj, ObjectVariable):
            self.break_graph(f"the attribute {name!r} of a container that is built here")
        if not hasattr(obj.value, name):
            self.break_graph(f"{obj!r} has no attribute {name!r}")
        return self.wrap(getattr(obj.value, name), GetAttrTracker(obj.tracker, name))

    def LOAD_ATTR(self, instruction: dis.Instruction) -> None:
        obj = self.pop()
        if self._loads_method(instruction):
            self.push(NullVariable())
        self.push(self._get_attr(obj, instruction.argval))

    @staticmethod
    def _loads_method(instruction: dis.Instruction) -> bool:
        """Since 3.12, a flag in LOAD_ATTR's argument says that a call follows; then a NULL
        belongs beside it.
        """
        names_are_doubled = "LOAD_METHOD" not in dis.opmap or dis.opmap["LOAD_METHOD"] > 255
        return names_are_doubled and instruction.arg is not None and bool(instruction.arg & 1)

    def LOAD_METHOD(self, instruction: dis.Instruction) -> None:
        obj = self.pop()
        self.push(NullVariable())
        self.push(self._get_attr(obj, instruction.argval))

    def POP_TOP(self, instruction: dis.Instruction) -> None:
        self.pop()

    def COPY(self, instruction: dis.Instruction) -> None:
        self.push(self.stack[-instruction.argval])

    def SWAP(self, instruction: dis.Instruction) -> None:
        index = -instruction.argval
        self.stack[-1], self.stack[index] = self.stack[index], self.stack[-1]

    # -- computing -----------------------------------------------------------------------------

    def _compute(self, function: Any, *variables: VariableBase, **keywords: VariableBase) -> None:
        """Calls a real function with Values and objects; ops in it land in the graph."""
        args = [to_python(item) for item in variables]
        named = {name: to_python(item) for name, item in keywords.items()}
        ops_before = self.graph.program.num_ops()
        try:
            self.push(from_python(self.graph.call(function, args, named)))
        except BreakGraphError:
            raise
        except Exception as error:  # plain Python will raise it again, with the user's own Tensors
            name = getattr(function, "__name__", function)
            if isinstance(error, TypeError) and "has no data before the program runs" in str(error):
                self.break_graph(f"{name} needs the value of a Tensor")
            self.break_graph(f"{name} raised {type(error).__name__}: {error}")
        for made in self.graph.program.global_block().ops[ops_before:]:
            op = made.info.op  # a Value stays what it was: what is read later would be the old one
            if op is not None and op.inplace and op.outputs[0] in op.inplace:
                self.break_graph(f"{op.name} changes a Tensor in place")

    def BINARY_OP(self, instruction: dis.Instruction) -> None:
        right, left = self.pop(), self.pop()
        symbol = instruction.argrepr.removesuffix("=")
        if symbol not in BINARY_OPS:
            self.break_graph(f"the operator {instruction.argrepr}")
        self._compute(BINARY_OPS[symbol], left, right)

    def COMPARE_OP(self, instruction: dis.Instruction) -> None:
        right, left = self.pop(), self.pop()
        symbol = str(instruction.argval)
        if symbol not in COMPARE_OPS:
            self.break_graph(f"the comparison {symbol}")
        self._compute(COMPARE_OPS[symbol], left, right)

    def IS_OP(self, instruction: dis.Instruction) -> None:
        right, left = self.pop(), self.pop()
        if isinstance(left, TensorVariable) and isinstance(right, TensorVariable):
            self.break_graph("`is` between two Tensors")
        same = left is right or (
            isinstance(left, ObjectVariable)
            and isinstance(right, ObjectVariable)
            and left.value is right.value
        )
        self.push(ObjectVariable(same != bool(instruction.arg)))

    def UNARY_NEGATIVE(self, instruction: dis.Instruction) -> None:
        self._compute(operator.neg, self.pop())

    def BINARY_SUBSCR(self, instruction: dis.Instruction) -> None:
        key, container = self.pop(), self.pop()
        if isinstance(container, TensorVariable):
            self.break_graph("indexing a Tensor")
        if isinstance(container, ContainerVariable) and isinstance(key, ObjectVariable):
            self._compute_item(container.items, key.value, None)
        elif isinstance(container, ObjectVariable) and isinstance(key, ObjectVariable):
            tracker = GetItemTracker(container.tracker, key.value)
            self._compute_item(container.value, key.value, tracker)
        else:
            self.break_graph("this kind of index")

    def _compute_item(self, items: Any, key: Any, tracker: Tracker | None) -> None:
        try:
            found = items[key]
        except Exception as error:  # as in _compute
            self.break_graph(f"the index raised {type(error).__name__}: {error}")
        self.push(found if tracker is None else self.wrap(found, tracker))

    def BUILD_TUPLE(self, instruction: dis.Instruction) -> None:
        self.push(ContainerVariable(tuple, self.pop_n(instruction.arg or 0)))

    def BUILD_LIST(self, instruction: dis.Instruction) -> None:
        self.push(ContainerVariable(list, self.pop_n(instruction.arg or 0)))

    def UNPACK_SEQUENCE(self, instruction: dis.Instruction) -> None:
        sequence = self.pop()
        if isinstance(sequence, ObjectVariable) and isinstance(sequence.value, (tuple, list)):
            items = [
                self.wrap(item, GetItemTracker(sequence.tracker, i))
                for i, item in enumerate(sequence.value)
            ]
        elif isinstance(sequence, ContainerVariable):
            items = sequence.items
        else:
            self.break_graph("unpacking a Tensor")
        if len(items) != instruction.arg:
            self.break_graph(f"unpacking {len(items)} items into {instruction.arg} names")
        self.stack.extend(reversed(items))

    # -- calls ---------------------------------------------------------------------------------

    def KW_NAMES(self, instruction: dis.Instruction) -> None:
        self.keyword_names = self.code.co_consts[instruction.arg or 0]

    def CALL(self, instruction: dis.Instruction) -> None:
        names, self.keyword_names = self.keyword_names, ()
        self._call(instruction.arg or 0, names)

    def CALL_KW(self, instruction: dis.Instruction) -> None:
        names = self.pop()
        assert isinstance(names, ObjectVariable)
        self._call(instruction.arg or 0, names.value)

    def _call(self, count: int, names: tuple[str, ...]) -> None:
        arguments = self.pop_n(count)
        second, first = self.pop(), self.pop()
        # the callable has a NULL beside it: before it up to 3.12, after it since 3.13
        callee = second if isinstance(first, NullVariable) else first
        keywords = dict(zip(names, arguments[len(arguments) - len(names) :], strict=True))
        positional = arguments[: len(arguments) - len(names)]
        if not isinstance(callee, ObjectVariable):
            self.break_graph("calling a Tensor")
        self.call_function(callee, positional, keywords)

    def call_function(
        self, callee: ObjectVariable, args: list[VariableBase], kwargs: dict[str, VariableBase]
    ) -> None:
        """Decides what a call means: inline the user's function, or let it append its ops."""
        function = callee.value
        if isinstance(function, Layer) and _has_hooks(function):
            self.break_graph(f"{callee!r} has hooks")
        if isinstance(function, Sequential) and not _is_all_ours(function):
            self._call_sequential(callee, args)
            return
        if isinstance(function, Layer) and not _is_ours(type(function)):
            self.guard.add_no_hooks(callee.tracker)
            forward = self._get_attr(callee, "forward")
            assert isinstance(forward, ObjectVariable)
            callee, function = forward, forward.value
        if isinstance(function, types.MethodType) and not _is_ours(function.__func__):
            owner = getattr(callee.tracker, "obj", None)
            receiver = ObjectVariable(function.__self__, owner)
            args, function = [receiver, *args], function.__func__
        if isinstance(function, types.FunctionType) and not _is_ours(function):
            self.push(self._inline(function, args, kwargs))
            return
        if isinstance(function, Layer) and _is_all_ours(function):
            self.guard.add_layer(callee.tracker, function)
        elif not self._may_run_now(function, [*args, *kwargs.values()]):
            self.break_graph(f"the call of {callee!r}")
        self._compute(function, *args, **kwargs)

    def _call_sequential(self, callee: ObjectVariable, args: list[VariableBase]) -> None:
        """Calls the Layers of a Sequential one by one: some are the user's, and are inlined."""
        self.guard.add_layer(callee.tracker, callee.value)
        layers = GetAttrTracker(callee.tracker, "_sub_layers")
        for name, layer in callee.value._sub_layers.items():
            found = self.wrap(layer, GetItemTracker(layers, name))
            assert isinstance(found, ObjectVariable)
            self.call_function(found, args, {})
            args = [self.pop()]
        self.push(args[0])

    @staticmethod
    def _may_run_now(function: Any, args: list[VariableBase]) -> bool:
        """True for functions that can be called once, while tracing, instead of at every call."""
        if isinstance(function, Op):
            return True
        plain = getattr(function, "__func__", function)
        if _is_ours(plain):
            return getattr(plain, "__module__", "").startswith(OUR_MODULES)
        if any(isinstance(item, TensorVariable) for item in args) and function in NEEDS_NUMBERS:
            return False
        if function is isinstance:
            return True
        # a mutable object has no guard on what is in it
        known = all(not isinstance(v, ObjectVariable) or is_plain_data(v.value) for v in args)
        is_pure = getattr(function, "__module__", "") in PURE_MODULES or function in PURE_BUILTINS
        owner = getattr(function, "__self__", None)
        is_method = owner is not None and isinstance(owner, (*SIMPLE, tuple))
        return known and (is_pure or is_method)

    def _inline(
        self,
        function: types.FunctionType,
        args: list[VariableBase],
        kwargs: dict[str, VariableBase],
    ) -> VariableBase:
        """Runs a called function's bytecode in an executor of its own, in the same graph."""
        if function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
            self.break_graph(f"the generator {function.__name__}")
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = {}
        for name, value in bound.arguments.items():
            if isinstance(value, (tuple, dict)):
                self.break_graph(f"* or ** in the parameters of {function.__name__}")
            arguments[name] = value if isinstance(value, VariableBase) else ObjectVariable(value)
        executor = type(self)(function, arguments, self.graph, self.guard, self.steps, self)
        return executor.run()

    # -- where to go next ----------------------------------------------------------------------

    def RETURN_VALUE(self, instruction: dis.Instruction) -> None:
        raise _Return(self.pop())

    def RETURN_CONST(self, instruction: dis.Instruction) -> None:
        raise _Return(ObjectVariable(instruction.argval, ConstTracker(instruction.argval)))

    def TO_BOOL(self, instruction: dis.Instruction) -> None:
        """3.13 asks for the truth before it jumps; the jump below asks again, which changes
        nothing.
        """

    def JUMP_FORWARD(self, instruction: dis.Instruction) -> None:
        self.position = self.position_of[instruction.argval]

    def _jump_if(self, instruction: dis.Instruction, wanted: Any) -> None:
        condition = self.pop()
        if isinstance(condition, TensorVariable):
            self.break_graph("`if` needs the value of a Tensor")
        if wanted(to_python(condition)):
            self.position = self.position_of[instruction.argval]

    def POP_JUMP_IF_FALSE(self, instruction: dis.Instruction) -> None:
        self._jump_if(instruction, lambda value: not value)

    def POP_JUMP_IF_TRUE(self, instruction: dis.Instruction) -> None:
        self._jump_if(instruction, bool)

    def POP_JUMP_IF_NONE(self, instruction: dis.Instruction) -> None:
        self._jump_if_none(instruction, True)

    def POP_JUMP_IF_NOT_NONE(self, instruction: dis.Instruction) -> None:
        self._jump_if_none(instruction, False)

    def _jump_if_none(self, instruction: dis.Instruction, jump_if: bool) -> None:
        condition = self.pop()
        is_none = isinstance(condition, ObjectVariable) and condition.value is None
        if is_none == jump_if:
            self.position = self.position_of[instruction.argval]

    POP_JUMP_FORWARD_IF_FALSE = POP_JUMP_IF_FALSE  # 3.11 has the direction in the name
    POP_JUMP_FORWARD_IF_TRUE = POP_JUMP_IF_TRUE
    POP_JUMP_FORWARD_IF_NONE = POP_JUMP_IF_NONE
    POP_JUMP_FORWARD_IF_NOT_NONE = POP_JUMP_IF_NOT_NONE


def _has_hooks(layer: Layer) -> bool:
    return any(
        part._forward_pre_hooks or part._forward_post_hooks for part in (layer, *layer.sublayers())
    )


def _is_all_ours(layer: Layer) -> bool:
    """True where no part of a Layer is the user's own: then it can be called as a whole."""
    return all(_is_ours(type(part)) for part in (layer, *layer.sublayers()))


def _is_ours(thing: Any) -> bool:
    """True for minipaddle's own functions and Layers: they are called, not inlined."""
    return (getattr(thing, "__module__", "") or "").partition(".")[0] == "minipaddle"
