"""What the variables of a block are called in the generated function.

A sub-block sees the variables of the blocks around it. A gradient block sees, besides, those of its
forward block, as they were when that ran: they are saved.

Paddle: Scope::FindVar, paddle/fluid/framework/scope.cc; in Paddle all names are looked up when the
program runs.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from minipaddle.base.framework import Block


@dataclass
class Forward:
    """A forward block that is lowered already, for its gradient block.

    Attributes:
        names: its variables.
        carried: variables around it whose value at the beginning of a turn counts.
        kept: of both, those that a gradient reads: names in the generated function.
    """

    names: BlockNames
    carried: Container[str]
    kept: dict[str, None]


@dataclass
class Lowering:
    """What all blocks of one program share.

    Attributes:
        feed_names: what the user feeds.
        names: name in the generated function -> name in the Program.
        bound: names in the generated function that an instruction has written so far.
        forwards: index of a block -> what its gradient needs of it.
    """

    feed_names: Container[str]
    names: dict[str, str] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    forwards: dict[int, Forward] = field(default_factory=dict)

    def new(self, name: str) -> str:
        variable = f"v{len(self.names)}"
        self.names[variable] = name
        return variable


class BlockNames:
    """Called with a variable's name, it gives the name in the generated function.

    Attributes:
        own: the variables of this block.
        saved: of a gradient block: variable of the forward block -> what it is called here.
    """

    def __init__(
        self,
        block: Block,
        lowering: Lowering,
        outer: BlockNames | None = None,
        forward: Forward | None = None,
    ) -> None:
        self.block = block
        self.lowering = lowering
        self.outer = outer
        self.forward = forward
        self.own: dict[str, str] = {}
        self.saved: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        if name in self.own:
            return self.own[name]
        if self.outer is not None and name not in self.block.vars:
            forward = self.forward
            if forward is None or not (name in forward.names.block.vars or name in forward.carried):
                return self.outer(name)
            self.own[name] = self.saved[forward.names(name)] = self.lowering.new(name)
        else:
            self.own[name] = self.lowering.new(name)
        return self.own[name]

    def has_value(self, name: str) -> bool:
        """True if the variable has a value before the next instruction."""
        variable = self.block._find_var_recursive(name)
        return (
            self(name) in self.lowering.bound
            or name in self.lowering.feed_names
            or (variable is not None and variable.persistable)
        )
