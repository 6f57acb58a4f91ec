"""Descriptions that fit the format, but describe no program: each error says which op or variable.

tests/static/test_io.py damages the bytes; here the messages themselves are damaged.
"""

import random
import re

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base import Program
from minipaddle.base.framework_proto import ATTR_TYPES, VAR_TYPES, ProgramDesc
from minipaddle.common import flags
from minipaddle.common.errors import IRError
from tests.base.classic import X, classic_program, data

static = paddle.static


@pytest.fixture(autouse=True)
def _classic():
    with classic_program():
        yield


@pytest.fixture
def few_turns():
    before = flags.flag("FLAGS_max_while_turns")
    paddle.set_flags({"FLAGS_max_while_turns": 100})
    yield
    paddle.set_flags({"FLAGS_max_while_turns": before})


def a_bit_of_everything():
    """A loop with a condition inside, a view, a list, a random op, and an optimizer."""
    x = data(dtype="float32")
    w = static.create_parameter([3, 3], "float32", name="w")

    def body(i, h):
        small = paddle.mean(h) < 0.05
        return [i + 1, static.nn.cond(small, lambda: paddle.tanh(h @ w), lambda: h * 1.5)]

    start = [paddle.full([1], 0, "int64"), paddle.tanh(x)]
    _, h = static.nn.while_loop(lambda i, h: i < 3, body, start)
    h = paddle.nn.functional.dropout(paddle.reshape(h, [3, 2]), 0.3)
    loss = paddle.mean(paddle.concat([h, h * 2.0]))
    paddle.optimizer.Adam(0.05).minimize(loss)
    return loss.name


def damage(message, draw):
    """Makes one thing wrong."""
    every = [op for block in message.blocks for op in block.ops]
    block = draw.choice([block for block in message.blocks if block.ops and block.vars])
    op = draw.choice(block.ops)
    variable = draw.choice([v for v in block.vars if v.type.type == VAR_TYPES["DENSE_TENSOR"]])
    what = draw.randrange(12)
    if what == 0:
        block.parent_idx = draw.randrange(-3, 14)
    elif what == 1:
        block.forward_block_idx = draw.randrange(-3, 14)
    elif what == 2:
        kinds = ATTR_TYPES["BLOCK"], ATTR_TYPES["BLOCKS"]
        found = [attr for op in every for attr in op.attrs if attr.type in kinds]
        draw.choice(found).block_idx = draw.randrange(-2, 14)
    elif what == 3:
        draw.choice(op.attrs).type = draw.randrange(len(ATTR_TYPES))
    elif what == 4 and op.inputs:
        del op.inputs[draw.randrange(len(op.inputs))]
    elif what == 5 and op.outputs:
        del op.outputs[draw.randrange(len(op.outputs))]
    elif what == 6:
        op.type = draw.choice(every).type
    elif what == 7:
        block.vars.remove(variable)
    elif what == 8:
        variable.type.dense_tensor.tensor.data_type = draw.choice(list(VAR_TYPES.values()))
    elif what == 9:
        slot = draw.choice([*op.inputs, *op.outputs])
        slot.arguments[:] = [draw.choice(block.vars).name for _ in slot.arguments]
    elif what == 10:
        variable.type.dense_tensor.tensor.dims[:] = [draw.randrange(-3, 5) for _ in range(2)]
    else:
        block.ops.remove(op)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_wrong_the_error_says_where(few_turns, seed):
    loss = a_bit_of_everything()
    good = static.default_main_program().proto
    draw, refused = random.Random(seed), 0
    for _ in range(60):
        message = ProgramDesc()
        message.CopyFrom(good)
        damage(message, draw)
        executor, scope = static.Executor(), static.Scope()
        executor.run(static.default_startup_program(), scope=scope)
        try:
            program = Program.parse_from_string(message.SerializeToString())
            str(program)
            program.clone(for_test=True)
            with np.errstate(all="ignore"):
                executor.run(program, {"x": X.astype("float32")}, [loss], scope=scope)
        except Exception as error:
            refused += 1
            said = re.search(r"expected .* but |the program needs feed |\[operator < ", str(error))
            assert said and not isinstance(error, NameError), f"{type(error).__name__}: {error}"
    assert refused > 20


def test_an_op_that_reads_what_nobody_has_written():
    x = data()
    static.nn.cond(paddle.mean(x) > 0.0, lambda: paddle.exp(paddle.tanh(x)), lambda: x)
    message = static.default_main_program().proto
    del message.blocks[1].ops[0]  # tanh
    program = Program.parse_from_string(message.SerializeToString())
    (op,) = [op for op in program.global_block().ops if op.type == "select_input"]
    with pytest.raises(IRError, match="expected 'tanh_0.tmp_0' to be written before"):
        static.Executor().run(program, {"x": abs(X)}, op.output("Out"))


def test_a_dtype_that_numpy_lacks():
    data()
    message = static.default_main_program().proto
    message.blocks[0].vars[0].type.dense_tensor.tensor.data_type = VAR_TYPES["BF16"]
    with pytest.raises(IRError, match="'x' to be of a dtype that numpy has, but got BF16"):
        Program.parse_from_string(message.SerializeToString())
