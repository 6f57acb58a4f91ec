"""paddle.save and paddle.load: to and fro, with real Paddle, and files that are refused."""

import io
import os
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.compare import real_paddle
from minipaddle.framework import unpickler

needs_paddle = pytest.mark.skipif(real_paddle() is None, reason="real Paddle is not installed")


def objects(paddle):
    """One of each kind that can be saved, made with this Paddle."""
    tensor = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    return {
        "state_dict": {"w": tensor, "b": paddle.to_tensor(1.5), "e": paddle.zeros([0, 3])},
        "dtypes": {
            name: paddle.to_tensor(np.array([0, 1, 3]).astype(name))
            for name in ("bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64")
        },
        "optimizer": {"m_0": tensor, "LR_Scheduler": {"last_epoch": 3, "last_lr": 0.1}},
        "Tensor": tensor,
        "nested": {"model": {"w": tensor}, "epoch": 3, "best": [0.5, (tensor, None, "x")]},
        "list": [tensor, 1, tensor],
        "arrays": {"a": np.arange(6).reshape(2, 3).T, "s": np.float32(2.5)},
        "arrays and Tensors": [np.arange(2.0), tensor],
        "plain": {"n": None, "t": (1, 2.5, True, "ä"), "s": {1, 2}, "c": 1j, 5: [[]]},
        "ordered": OrderedDict(w=tensor, n=OrderedDict(k=1)),
        "nothing": {},
    }


def plain(value):
    """Everything about a value, whichever Paddle it comes from."""
    if hasattr(value, "stop_gradient"):
        return ("Tensor", plain(value.numpy()), value.stop_gradient)
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, value.tolist())
    if isinstance(value, dict):
        return (type(value).__name__, [(key, plain(item)) for key, item in value.items()])
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [plain(item) for item in value])
    return (type(value).__name__, value)


@pytest.mark.parametrize("name", objects(paddle))
@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_to_and_fro(name, protocol, tmp_path):
    obj, path = objects(paddle)[name], tmp_path / "deep" / "x.pdparams"
    paddle.save(obj, path, protocol=protocol)
    loaded = paddle.load(path)
    if name == "arrays":  # arrays become Tensors, as in Paddle
        obj = {"a": paddle.to_tensor(obj["a"]), "s": obj["s"]}
    if name == "ordered":  # a state_dict is saved as a plain dict, as in Paddle
        obj = dict(obj)
    assert plain(loaded) == plain(obj)
    assert os.listdir(path.parent) == ["x.pdparams"]
    buffer = io.BytesIO()
    paddle.save(obj, buffer, protocol)
    buffer.seek(0)
    assert plain(paddle.load(buffer)) == plain(loaded)


@needs_paddle
@pytest.mark.parametrize("name", objects(paddle))
@pytest.mark.parametrize("options", [{}, {"return_numpy": True}, {"keep_name_table": True}])
def test_real_paddle_writes_and_reads_the_same(name, options, tmp_path):
    real = real_paddle()
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    paddle.save(objects(paddle)[name], ours)
    real.save(objects(real)[name], theirs)
    wanted = plain(real.load(theirs, **options))
    found = [plain(paddle.load(theirs, **options))]
    found += [plain(p.load(ours, **options)) for p in (paddle, real)]
    if not options.get("keep_name_table"):  # the names differ
        assert found == [wanted] * 3
    else:
        assert found[0] == wanted
        assert [len(str(f)) > 0 and f[0] for f in found] == [wanted[0]] * 3


@needs_paddle
def test_a_model_and_its_optimizer_move_between_the_two(tmp_path):
    real = real_paddle()
    for source, target in ((paddle, real), (real, paddle)):
        nets = [p.nn.Sequential(p.nn.Linear(4, 3), p.nn.Linear(3, 2)) for p in (source, target)]
        path = str(tmp_path / "net.pdparams")
        source.save(nets[0].state_dict(), path)
        state = target.load(path)
        assert state["0.weight"].name == nets[0][0].weight.name
        nets[1].set_state_dict(state)
        x = np.ones((1, 4), "float32")
        outs = [net(p.to_tensor(x)).numpy() for net, p in zip(nets, (source, target))]
        # single precision, and the two add up in another order: a small result has fewer digits
        np.testing.assert_allclose(*outs, rtol=1e-6, atol=1e-6)


@needs_paddle
def test_bfloat16_of_real_paddle_becomes_float32(tmp_path):
    path = str(tmp_path / "x")
    real_paddle().save({"w": real_paddle().to_tensor([1.5, -3.0], dtype="bfloat16")}, path)
    assert paddle.load(path)["w"].dtype == paddle.float32
    assert paddle.load(path)["w"].tolist() == [1.5, -3.0]


def test_names_and_shared_parts():
    x = paddle.ones([2])
    x.name = "my_x"
    buffer = io.BytesIO()
    paddle.save([x, {"again": x}], buffer)
    buffer.seek(0)
    assert paddle.load(buffer)[0].name == "my_x"
    a = np.ones(100_000)
    buffer = io.BytesIO()
    paddle.save([a, a], buffer)
    assert len(buffer.getvalue()) < 1_000_000


def test_pieces_of_a_big_array():
    """What Paddle writes with protocol 2 for arrays of 1 GiB and more, in small."""
    saved = {
        "w@@.0": np.arange(4.0),
        "w@@.1": np.arange(4.0, 6.0),
        "StructuredToParameterName@@": {"w": "linear_0.w_0"},
        "UnpackBigParamInfor@@": {"w": {"OriginShape": (2, 3), "slices": ["w@@.0", "w@@.1"]}},
    }
    loaded = paddle.load(io.BytesIO(pickle.dumps(saved, 2)))
    assert list(loaded) == ["w"] and loaded["w"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_byte_order_and_column_major():
    arrays = [np.array([1, 256], ">i4"), np.asfortranarray(np.arange(6.0).reshape(2, 3))]
    loaded = paddle.load(io.BytesIO(pickle.dumps(arrays, 4)), return_numpy=True)
    assert [a.tolist() for a in loaded] == [a.tolist() for a in arrays]
    assert loaded[0].dtype == np.int32 and all(a.flags.writeable for a in loaded)


def test_a_save_that_fails_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "x.pdparams"
    paddle.save({"w": paddle.ones([2])}, path)
    before = path.read_bytes()

    def fails(file_number):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="disk full"):
        paddle.save({"w": paddle.zeros([2])}, path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["x.pdparams"]


class Evil:
    def __init__(self, *reduced):
        self.reduced = reduced

    def __reduce__(self):
        return self.reduced


def dangerous():
    ok = np._core.multiarray._reconstruct
    yield "posix.system|nt.system", Evil(os.system, ("echo hacked",))
    yield "builtins.eval", Evil(eval, ("1 + 1",))
    yield "builtins.getattr", {"w": [Evil(getattr, (ok, "__globals__"))]}
    yield "test_io", Evil  # a class of one's own
    yield "arrays of 'O8'|unknown form|array of Python", np.array([Evil(eval, ("1",))], object)
    yield "records|V", np.zeros(2, [("a", "f4")])
    yield "number of an unknown|datetime|M8|arrays of", np.datetime64("2024-01-01")
    yield "change of a function", Evil(ok, (np.ndarray, (0,), b"b"), (1, 2))
    yield "_io.open|io.open", Evil(open, ("/nonexistent",))


@pytest.mark.parametrize("number", range(len(list(dangerous()))))
def test_dangerous_files_are_refused(number):
    wanted, obj = list(dangerous())[number]
    if "change of a function" in wanted:
        data = b"\x80\x02cnumpy\nndarray\n}X\x01\x00\x00\x00aK\x01sb."
    else:
        data = pickle.dumps(obj, 4)
    with pytest.raises(ValueError, match="paddle.load: expected arrays") as caught:
        paddle.load(io.BytesIO(data))
    assert any(part in str(caught.value) for part in wanted.split("|")), caught.value


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02ccollections\nOrderedDict\n}X\x01\x00\x00\x00aK\x01sb.",  # changes a class
        b"\x80\x02cbuiltins\ntuple\n}X\x01\x00\x00\x00aK\x01sb.",
        b"\x80\x02Pid\n.",  # an object outside the file
        b"\x80\x02cnumpy\ndtype\n.",  # a bare function
        b"\x80\x02cnumpy\ndtype\nX\x01\x00\x00\x00O\x85R.",
    ],
)
def test_hand_made_pickles_change_nothing(data):
    with pytest.raises(ValueError, match="paddle.load: expected"):
        paddle.load(io.BytesIO(data))
    assert not hasattr(OrderedDict, "a")
    admitted = unpickler._ADMITTED["numpy", "dtype"]
    assert type(admitted("f4")).__name__ == "_Dtype"


def test_every_cut_off_file_is_an_error():
    buffer = io.BytesIO()
    paddle.save({"w": paddle.ones([3]), "n": {"k": [1, 2.5]}}, buffer)
    data = buffer.getvalue()
    for length in range(len(data)):
        with pytest.raises(ValueError, match="ends too early|is something else"):
            paddle.load(io.BytesIO(data[:length]))


def test_wrong_files_and_arguments(tmp_path):
    paddle.save({"w": paddle.ones([1])}, tmp_path / "net.pdparams")
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"hello world")
    for call, kind, message in (
        (lambda: paddle.load(tmp_path / "none"), ValueError, "but got nothing. Check the path"),
        (lambda: paddle.load(tmp_path / "net"), ValueError, "Did you mean .*net.pdparams'?"),
        (lambda: paddle.load(tmp_path), ValueError, "but got a folder"),
        (lambda: paddle.load(foreign), ValueError, "foreign' is something else"),
        (lambda: paddle.load(io.BytesIO(b"")), ValueError, "the BytesIO ends too early"),
        (lambda: paddle.load(3), ValueError, "expected a path or a BytesIO, but got int"),
        (lambda: paddle.load(foreign, mmap=1), ValueError, "but got \\['mmap'\\]"),
        (lambda: paddle.save({}, 3), ValueError, "expected a path or a BytesIO"),
        (lambda: paddle.save({}, ""), ValueError, "ends with a file's name"),
        (lambda: paddle.save({}, f"{tmp_path}/"), ValueError, "ends with a file's name"),
        (lambda: paddle.save({}, foreign, 5), ValueError, "protocol 2, 3 or 4, but got 5"),
        (lambda: paddle.save({}, foreign, fast=1), ValueError, "no options"),
        (lambda: paddle.save([paddle.nn.Linear(1, 1)], foreign), ValueError, "Layer Linear at obj"),
        (lambda: paddle.save({"a": [object()]}, foreign), TypeError, r"object at obj\['a'\]\[0\]"),
        (lambda: paddle.save([b"x"], foreign), TypeError, r"bytes at obj\[0\]"),
        (lambda: paddle.save({Evil(): 1}, foreign), TypeError, "Evil at a key of obj"),
        (lambda: paddle.save(np.array([{}]), foreign), TypeError, "ndarray at obj"),
    ):
        with pytest.raises(kind, match=message):
            call()
    assert foreign.read_bytes() == b"hello world"
    buffer = io.BytesIO(b"..not a pickle")
    buffer.seek(2)
    with pytest.raises(ValueError, match="is something else"):
        paddle.load(buffer)
    assert buffer.tell() == 2
