"""Values cross between the examiner and the student's process unchanged, and nothing but values."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minipaddle as paddle
from grader import codec
from grader.codec import CodecError, GradNode, Opaque
from minipaddle.phi.core.meta_tensor import MetaTensor


def crossed(value: Any) -> Any:
    return codec.loads(codec.dumps(value))


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(PLAIN)
@settings(max_examples=100, deadline=None)
def test_plain_data_crosses_unchanged(value: Any) -> None:
    back = crossed(value)
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize(
    "value",
    [{1, 2}, frozenset({"a"}), slice(1, None, -1), 1 + 2j, 2**200, -0.0, ValueError, int]
    + [np.dtype("float32"), paddle.float32, paddle.Size([2, -1])],
)
def test_other_plain_values_cross(value: Any) -> None:
    back = crossed(value)
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int64", "float16", "float64", "complex64"]
)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (3, 0, 2)])
def test_arrays_keep_dtype_and_shape(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    back = crossed([array, array.T, array[()] if shape == () else array])
    np.testing.assert_array_equal(back[0], array)
    np.testing.assert_array_equal(back[1], array.T)
    assert back[0].dtype == array.dtype and type(back[0]) is np.ndarray
    assert type(back[2]) is type(array[()] if shape == () else array)


def test_a_tensor_crosses_as_its_array() -> None:
    tensor = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    back = crossed(tensor * 2)
    assert type(back) is paddle.Tensor and back.is_leaf
    assert back.numpy().tolist() == [[2.0, 4.0]] and back.stop_gradient is False


def test_a_meta_tensor_crosses() -> None:
    assert crossed(MetaTensor([2, -1], "int64")) == MetaTensor([2, -1], "int64")


def test_a_classic_program_crosses_as_its_bytes() -> None:
    program = paddle.base.Program()
    block = program.global_block()
    for name in ("x", "y"):
        block.create_var(name, [2], "float32")
    block.append_op("relu", {"X": ["x"]}, {"Out": ["y"]})
    assert str(crossed(program)) == str(program)


def test_a_pir_program_crosses_as_its_text() -> None:
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            paddle.exp(paddle.static.data("x", [2], "float32"))
    finally:
        paddle.disable_static()
    back = crossed([program])[0]
    assert type(back) is type(program) and str(back) == str(program)


def test_a_graph_of_grad_nodes_keeps_its_shape_however_deep() -> None:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    y = x
    for _ in range(3000):
        y = y * 1.0
    top = crossed({"top": (y + y).grad_fn})["top"]
    assert isinstance(top, GradNode) and top.name() == "AddGradNode"
    assert top.next_functions[0] is top.next_functions[1]  # one node, two edges
    length, node = 0, top.next_functions[0]
    while node is not None:
        length, node = length + 1, next(iter(node.next_functions), None)
    assert length == 3001


class Sly:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # pyright: ignore

    def __repr__(self) -> str:
        return "exactly what you expected"


@pytest.mark.parametrize("value", [Sly(), OrderedDict(a=1), (i for i in ()), len, json])
def test_any_other_object_is_shown_and_equal_to_nothing(value: Any) -> None:
    back = crossed([value])[0]
    assert isinstance(back, Opaque)
    assert back != "exactly what you expected" and repr(back) == repr(value)[:300]


def test_an_object_whose_repr_fails_is_named() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise ValueError

    assert "its repr raised ValueError" in crossed(Broken()).text


def test_towards_the_answers_only_data_goes() -> None:
    with pytest.raises(CodecError, match="Make it inside an @experiment"):
        codec.dumps([Sly()], strict=True)


def test_a_value_inside_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(CodecError, match="inside itself"):
        codec.dumps(value)


def message(value: Any, nodes: Any = ()) -> str:
    return json.dumps({"value": value, "nodes": list(nodes)})


BAD = {
    "no JSON": "{",
    "no message": "[]",
    "unknown kind": message({"t": "code", "v": "1"}),
    "no kind": message({"v": 1}),
    "objects in an array": message({"t": "array", "dtype": "O", "shape": [1], "v": "AAAAAAAAAAA="}),
    "records in an array": message({"t": "array", "dtype": "i4,O", "shape": [0], "v": ""}),
    "too little data": message({"t": "array", "dtype": "<f4", "shape": [2], "v": "AAAAAA=="}),
    "a list as a key": message({"t": "dict", "v": [[{"t": "list", "v": []}, 1]]}),
    "a function": message({"t": "function", "v": "eval"}),
    "a built-in that is no class": message({"t": "builtin", "v": "eval"}),
    "an edge to nowhere": message(1, [{"name": "a", "next": [7]}]),
    "a node that is not there": message({"t": "node", "v": 3}),
    "bytes that are no Program": message({"t": "program", "v": "AAAA"}),
    "text that is no program": message({"t": "pir", "v": "import os"}),
    "a number too long": message({"t": "int", "v": "z"}),
    "too deep": '{"nodes": [], "value": ' + '{"t": "list", "v": [' * 50_000 + "]}" * 50_000 + "}",
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_one_kind_of_error(name: str) -> None:
    with pytest.raises(CodecError):
        codec.loads(BAD[name])
