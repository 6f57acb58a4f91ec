"""Programs and parameters in files: ours, real Paddle's, and broken ones."""

import errno
import os

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base.save_combine import from_bytes, to_bytes
from minipaddle.common import unique_name
from minipaddle.common.errors import IRError
from minipaddle.compare import real_paddle

static, F = paddle.static, paddle.nn.functional
X = np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard(), static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


@pytest.fixture
def real():
    """Real Paddle, in its old static mode."""
    module = real_paddle()
    assert module is not None, "install the extra `course`"
    module.enable_static()
    with module.pir_utils.OldIrGuard(), module.static.scope_guard(module.static.Scope()):
        yield module
    module.disable_static()


class Net:
    """x -> linear -> relu -> batch_norm -> dropout, trained for one step. `x`, `y`: in and out."""

    def __init__(self, library=paddle):
        static, F = library.static, library.nn.functional
        self.main, self.startup = static.Program(), static.Program()
        with static.program_guard(self.main, self.startup):
            self.x = static.data("x", [None, 4], "float32")
            hidden = F.relu(library.nn.Linear(4, 3)(self.x))
            self.y = F.dropout(library.nn.BatchNorm1D(3)(hidden), 0.5)
            self.loss = library.mean(self.y)
            library.optimizer.Adam(0.1).minimize(self.loss)
        self.executor = static.Executor()
        self.executor.run(self.startup)
        self.executor.run(self.main, feed={"x": X}, fetch_list=[self.loss])

    def answer(self):
        test = self.main.clone(for_test=True)
        return self.executor.run(test, feed={"x": X}, fetch_list=[self.y.name])[0]


def arrays(scope=None):
    scope = scope or static.global_scope()
    return {name: np.array(scope.find_var(name)) for name in scope.local_var_names()}


# -- to and fro --------------------------------------------------------------------------------


def test_a_model_for_inference_goes_to_a_file_and_back(tmp_path):
    net = Net()
    expected = net.answer()
    static.save_inference_model(str(tmp_path / "new" / "m"), [net.x], [net.y], None, net.main)
    assert sorted(os.listdir(tmp_path / "new")) == ["m.pdiparams", "m.pdmodel"]
    with static.scope_guard(static.Scope()):
        program, feeds, fetches = static.load_inference_model(str(tmp_path / "new" / "m"))
        types = [op.type for op in program.global_block().ops]
        assert types[0] == "feed"
        assert types[-1] == "fetch"
        assert not any("grad" in name or name == "adam" for name in types)
        assert feeds == ["x"]
        assert [variable.name for variable in fetches] == [net.y.name]
        run = static.Executor().run
        np.testing.assert_array_equal(run(program, feed={"x": X}, fetch_list=fetches)[0], expected)
        np.testing.assert_array_equal(run(program, feed={"x": X})[0], expected)  # fetch ops say it
        x = program.global_block().var("x")
        again = static.deserialize_program(static.serialize_program(x, fetches, program=program))
        assert [str(op) for op in again.global_block().ops] == [
            str(op) for op in program.global_block().ops
        ]


def test_a_program_that_trains_goes_on_where_it_was(tmp_path):
    net = Net()
    static.save(net.main, str(tmp_path / "m"))
    assert sorted(os.listdir(tmp_path)) == ["m.pdmodel", "m.pdopt", "m.pdparams"]
    saved = net.main.state_dict()
    (ours,) = net.executor.run(net.main.clone(), feed={"x": X}, fetch_list=["linear_0.b_0@GRAD"])
    program = static.Program.parse_from_string((tmp_path / "m.pdmodel").read_bytes())
    with static.scope_guard(static.Scope()):
        static.load(program, str(tmp_path / "m"))
        state = program.state_dict()
        assert state.keys() == saved.keys()
        assert all(np.array_equal(state[name], saved[name]) for name in saved)
    state = static.load_program_state(str(tmp_path / "m"))
    static.set_program_state(net.main, state)
    assert all(np.array_equal(value, saved[name]) for name, value in net.main.state_dict().items())
    only = [net.main.global_block().var("linear_0.w_0")]
    assert list(static.load_program_state(str(tmp_path / "m"), only)) == ["linear_0.w_0"]
    static.load(net.main, str(tmp_path / "m"), net.executor, only)


def test_bytes_without_files():
    net = Net()
    expected = net.answer()
    model = static.serialize_program(net.x, net.y, program=net.main)
    numbers = static.serialize_persistables(net.x, net.y, net.executor, program=net.main)
    with static.scope_guard(static.Scope()):
        program = static.deserialize_program(model)
        static.deserialize_persistables(program, numbers, net.executor)
        (found,) = static.Executor().run(program, feed={"x": X})
    np.testing.assert_array_equal(found, expected)


def test_the_default_program_and_a_model_without_parameters(tmp_path):
    with static.program_guard(static.Program(), static.Program()):
        x = static.data("x", [2], "float32")
        y = paddle.scale(x, 2.0)
        static.save_inference_model(str(tmp_path / "m"), x, [y, x], None)
    assert os.listdir(tmp_path) == ["m.pdmodel"]
    program, feeds, _ = static.load_inference_model(str(tmp_path / "m"))
    doubled, same = static.Executor().run(program, feed={"x": np.ones(2, "float32")})
    assert doubled.tolist() == [2, 2]
    assert same.tolist() == [1, 1]


def test_the_bytes_of_parameters():
    ones = np.ones((2, 1), "float32")
    data = to_bytes([ones, np.array(True)])
    head = "00000000000000000000000000000000"
    assert data.hex() == f"{head}06000000080510021001{'0000803f' * 2}{head}02000000080001"
    found = from_bytes("test", data, ["a", "b"])
    np.testing.assert_array_equal(found["a"], ones)
    assert found["b"].shape == ()
    assert found["a"].flags.writeable
    every = {name: np.zeros((0, 2), name) for name in ("int8", "uint8", "int64", "float16")}
    for name, array in from_bytes("test", to_bytes(every.values()), list(every)).items():
        assert (array.dtype, array.shape) == (name, (0, 2))


# -- real Paddle -------------------------------------------------------------------------------


def test_real_paddle_runs_our_model(tmp_path, real):
    net = Net()
    expected = net.answer()
    static.save_inference_model(str(tmp_path / "m"), [net.x], [net.y], None, net.main)
    static.save(net.main, str(tmp_path / "t"))
    executor = real.static.Executor()
    program, feeds, fetches = real.static.load_inference_model(str(tmp_path / "m"), executor)
    assert feeds == ["x"]
    (found,) = executor.run(program, feed={"x": X}, fetch_list=fetches)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    theirs = real.static.Program.parse_from_string((tmp_path / "t.pdmodel").read_bytes())
    real.static.load(theirs, str(tmp_path / "t"), executor)
    state = {name: np.array(value) for name, value in theirs.state_dict().items()}
    own = net.main.state_dict()
    assert state.keys() == own.keys()
    assert all(np.array_equal(state[name], own[name]) for name in own)
    # the next step of training: dropout draws other numbers there, the gradient of 1 does not
    executor.run(theirs, feed={"x": X}, fetch_list=[net.loss.name])


def test_we_run_a_model_of_real_paddle(tmp_path, real):
    with real.utils.unique_name.guard():
        net = Net(real)
    expected = net.answer()
    path = str(tmp_path / "m")
    real.static.save_inference_model(path, [net.x], [net.y], net.executor, program=net.main)
    real.static.save(net.main, str(tmp_path / "t"))
    program, feeds, fetches = static.load_inference_model(path)
    assert feeds == ["x"]
    (found,) = static.Executor().run(program, feed={"x": X}, fetch_list=fetches)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    names = sorted(arrays())
    assert names == sorted(p.name for p in net.main.all_parameters())
    # the same parameters in both worlds are the same bytes
    numbers = static.serialize_persistables(
        program.global_block().var("x"), fetches, program=program
    )
    assert numbers == (tmp_path / "m.pdiparams").read_bytes()
    with static.scope_guard(static.Scope()):
        trained = static.Program.parse_from_string((tmp_path / "t.pdmodel").read_bytes())
        static.load(trained, str(tmp_path / "t"))
        state = {name: np.array(value) for name, value in net.main.state_dict().items()}
        ours = trained.state_dict()
        assert state.keys() == ours.keys()
        assert all(np.array_equal(state[name], ours[name]) for name in ours)
        static.Executor().run(trained, feed={"x": X}, fetch_list=[net.loss.name])


# -- what is wrong -----------------------------------------------------------------------------


def test_what_can_not_be_saved(tmp_path):
    net = Net()
    path = str(tmp_path / "m")

    def save(path=path, feeds=net.x, fetches=net.y, program=net.main):
        static.save_inference_model(path, feeds, fetches, None, program)

    with pytest.raises(ValueError, match="a path that ends with a name, but got '.*/'"):
        save(f"{tmp_path}/")
    with pytest.raises(ValueError, match="a path without ending, but got int"):
        save(3)
    with pytest.raises(ValueError, match=r"feed_vars to be a Variable .* but got \['str'\]"):
        save(feeds="x")
    with pytest.raises(ValueError, match="fetch_vars to be a Variable .* but got \\[\\]"):
        save(fetches=[])
    with pytest.raises(ValueError, match=r"matmul_v2 needs \['x'\] too\. Add them to feed_vars"):
        save(feeds=net.loss)
    with pytest.raises(TypeError, match="expected a Program, but got int"):
        save(program=3)
    with pytest.raises(NotImplementedError, match="but got a PIR program"):
        save(program=paddle.pir.Program())
    with paddle.pir_utils.IrGuard(), pytest.raises(NotImplementedError, match="a PIR program"):
        save(program=None)
    with pytest.raises(ValueError, match="expected each variable once in feed_vars"):
        save(feeds=[net.x, net.x])
    other = static.Program()
    with pytest.raises(ValueError, match=r"block 0, or names of its variables, but got 'drop"):
        save(program=other)
    with static.scope_guard(static.Scope()):
        with pytest.raises(ValueError, match=r"Run the startup program first"):
            save()
        with pytest.raises(ValueError, match=r"Run the startup program first"):
            static.save(net.main, path)
    with pytest.raises(ValueError, match="save_to_file: expected bytes, but got str"):
        static.save_to_file(path, "text")
    assert os.listdir(tmp_path) == []


def test_what_can_not_be_loaded_changes_nothing(tmp_path):
    net = Net()
    path = str(tmp_path / "m")
    static.save_inference_model(path, net.x, net.y, None, net.main)
    static.save(net.main, str(tmp_path / "t"))
    model, numbers = (tmp_path / "m.pdmodel"), (tmp_path / "m.pdiparams")
    good_model, good = model.read_bytes(), numbers.read_bytes()
    before = arrays()
    load = static.load_inference_model
    with pytest.raises(FileNotFoundError, match=r"expected a file at '.*none\.pdmodel', but got n"):
        load(str(tmp_path / "none"))
    os.mkdir(tmp_path / "f.pdmodel")
    with pytest.raises(FileNotFoundError, match="but got a folder"):
        load(str(tmp_path / "f"))
    with pytest.raises(ValueError, match=r"a program with fetch ops.* Then read it with static\.l"):
        load(str(tmp_path / "t"))
    for size in (1, 100, len(good_model) - 1):
        model.write_bytes(good_model[:size])
        with pytest.raises(IRError, match="parse_from_string"):
            load(path)
    model.write_bytes(good_model)
    # a file that is cut anywhere is refused: real Paddle takes what lies in its memory
    for size in [*range(60), len(good) // 2, len(good) - 1]:
        numbers.write_bytes(good[:size])
        with pytest.raises(ValueError, match="The parameters are cut off, or not of this model"):
            load(path)
    numbers.write_bytes(good + b"123")
    with pytest.raises(ValueError, match="but got 3 bytes more"):
        load(path)
    for position in (0, 4, 12, 16, 20, 22):
        broken = bytearray(good)
        broken[position] ^= 0xFF
        numbers.write_bytes(broken)
        with pytest.raises(ValueError, match="load_inference_model: expected"):
            load(path)
    names = from_bytes("test", good, [str(number) for number in range(6)])
    numbers.write_bytes(to_bytes(reversed(names.values())))  # another order: other shapes
    with pytest.raises(ValueError, match=r"'linear_0\.w_0' of shape \[4, 3\]|'batch_norm1d_0"):
        load(path)
    numbers.unlink()
    with pytest.raises(FileNotFoundError, match=r"m\.pdiparams"):
        load(path)
    program = static.deserialize_program(good_model)
    for wrong in (None, "text"):
        with pytest.raises(ValueError, match="expected the parameters as bytes, but got"):
            static.deserialize_persistables(program, wrong)
    after = arrays()
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_states_that_do_not_fit(tmp_path):
    net = Net()
    path = str(tmp_path / "t")
    static.save(net.main, path)
    before = arrays()
    other, startup = static.Program(), static.Program()
    with static.program_guard(other, startup):
        static.create_parameter([5], "float32", name="linear_0.b_0")
    with pytest.raises(ValueError, match=r"static\.load: expected 'linear_0\.b_0' of shape \[5\]"):
        static.load(other, path)
    with static.program_guard(other, startup):
        static.create_parameter([5], "float32", name="more")
    with pytest.raises(ValueError, match=r"expected numbers for \['more'\], but got none"):
        static.load(other, path)
    with pytest.raises(FileNotFoundError, match=r"none\.pdparams', but got nothing"):
        static.load_program_state(str(tmp_path / "none"))
    paddle.framework.save([1, 2], f"{path}.pdparams")
    with pytest.raises(ValueError, match="expected a dict of arrays"):
        static.load(net.main, path)
    (tmp_path / "t.pdparams").write_bytes(b"no pickle")
    with pytest.raises(ValueError, match="expected what paddle.save writes"):
        static.load(net.main, path)
    assert all(np.array_equal(before[name], array) for name, array in arrays().items())


def test_a_damaged_length_is_not_taken_for_a_lack_of_memory(tmp_path):
    path = tmp_path / "t.pdparams"
    path.write_bytes(b"\x80\x04\x95" + b"\xff" * 7 + b"\x7f")  # a pickle of 2**63 bytes
    with pytest.raises((MemoryError, ValueError), match="paddle.load: expected"):
        static.load_program_state(str(tmp_path / "t"))


@pytest.mark.parametrize("wrong", [3, "linear_0.w_0", [None], np.ones(2)])
def test_what_is_no_list_of_variables_and_no_executor(tmp_path, wrong):
    net = Net()
    path = str(tmp_path / "t")
    static.save(net.main, path)
    before = arrays()
    with pytest.raises(TypeError, match="expected var_list to hold Variables"):
        static.load(net.main, path, var_list=wrong)
    with pytest.raises(TypeError, match="expected var_list to hold Variables"):
        static.load_program_state(path, wrong)
    with pytest.raises(TypeError, match="expected an Executor"):
        static.load(net.main, path, executor=wrong)
    with pytest.raises(TypeError, match="scope: expected a Scope"):
        net.main.state_dict(scope=wrong)
    assert all(np.array_equal(before[name], array) for name, array in arrays().items())


def test_a_full_disk_leaves_the_old_files(tmp_path, monkeypatch):
    net = Net()
    path = str(tmp_path / "m")
    static.save_inference_model(path, net.x, net.y, None, net.main)
    old = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    net.executor.run(net.main, feed={"x": X}, fetch_list=[net.loss])

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        static.save_inference_model(path, net.x, net.y, None, net.main)
    monkeypatch.undo()
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == old
    static.save_inference_model(path, net.x, net.y, None, net.main)
    assert (tmp_path / "m.pdiparams").read_bytes() != old["m.pdiparams"]


def test_a_folder_in_the_place_of_the_file(tmp_path):
    net = Net()
    os.mkdir(tmp_path / "m.pdmodel")
    with pytest.raises(IsADirectoryError, match=r"m\.pdmodel.*Choose another name"):
        static.save_inference_model(str(tmp_path / "m"), net.x, net.y, None, net.main)
    assert sorted(os.listdir(tmp_path)) == ["m.pdmodel"]
    with pytest.raises(FileNotFoundError, match="load_from_file: expected a file"):
        static.load_from_file(str(tmp_path / "nothing"))


def test_real_paddle_runs_our_branches_and_loops(tmp_path, real):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2], "float32")
        chosen = static.nn.cond(paddle.mean(x) > 0, lambda: x * 2, lambda: x - 1)
        start, end = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
        _, looped = static.nn.while_loop(
            lambda i, value: i < end, lambda i, value: [i + 1, value + value], [start, chosen]
        )
    path = str(tmp_path / "m")
    static.save_inference_model(path, [x], [looped], None, program=main)
    executor = real.static.Executor()
    theirs, _, targets = real.static.load_inference_model(path, executor)
    ours, _, _ = static.load_inference_model(path)
    for values, expected in (([1, 2], [16, 32]), ([-1, -2], [-16, -24])):
        feed = {"x": np.array(values, "float32")}
        assert executor.run(theirs, feed=feed, fetch_list=targets)[0].tolist() == expected
        assert static.Executor().run(ours, feed=feed)[0].tolist() == expected


def test_a_damaged_model_is_refused_or_read(tmp_path):
    """One byte is changed, at random but the same in each run: never another kind of error."""
    net = Net()
    path, draw = str(tmp_path / "m"), np.random.default_rng(0)
    static.save_inference_model(path, net.x, net.y, None, net.main)
    good = (tmp_path / "m.pdmodel").read_bytes()
    refused = 0
    for position, value in zip(draw.integers(len(good), size=300), draw.integers(256, size=300)):
        broken = bytearray(good)
        broken[position] = value
        (tmp_path / "m.pdmodel").write_bytes(broken)
        try:
            program, _, _ = static.load_inference_model(path)
            str(program)
        except ValueError:  # IRError is one
            refused += 1
    assert 100 < refused < 300
