"""Which kernel runs: registration, choice and refusal, in all three worlds."""

import contextlib

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.phi.core.kernel import KernelFactory, KernelKey
from minipaddle.phi.core.op import OPS, op
from minipaddle.phi.infermeta.unary import unchanged


@pytest.fixture
def triple():
    """An op of the test's own, gone afterwards."""

    @op(source="", name="test_kernels_triple", traits=("Pure",))
    def triple(xp, x):
        return x * 3

    triple.infer_meta(unchanged)

    @triple.vjp
    def _(out_grad):
        return (OPS["scale"](out_grad, scale=3.0),)

    yield triple
    del OPS["test_kernels_triple"]


@contextlib.contextmanager
def world(name):
    if name == "dygraph":
        yield
        return
    paddle.enable_static()
    guard = paddle.pir_utils.OldIrGuard() if name == "program" else contextlib.nullcontext()
    try:
        with guard:
            yield
    finally:
        paddle.disable_static()


def runner(triple, name):
    """The op as a function of an array: called in dygraph, or in a program that is written once."""
    if name == "dygraph":
        return lambda array: triple(paddle.to_tensor(array)).numpy()
    main, executor = paddle.static.Program(), paddle.static.Executor()
    with paddle.static.program_guard(main, paddle.static.Program()):
        y = triple(paddle.static.data("x", [2], "float32"))
    return lambda array: executor.run(main, feed={"x": array}, fetch_list=[y])[0]


@pytest.mark.parametrize("name", ["dygraph", "program", "pir"])
def test_a_kernel_that_is_registered_later_runs_from_then_on(triple, name):
    """Also in a program that has run already."""
    with world(name):
        run, ones = runner(triple, name), np.ones(2, "float32")
        assert run(ones).tolist() == [3.0, 3.0]
        triple.kernel(backend="cpu", dtype="float32")(lambda xp, x: x * 30)
        assert run(ones).tolist() == [30.0, 30.0]
        triple.kernel(backend="cpu", dtype="float64")(lambda xp, x: x * 300)
        assert run(ones).tolist() == [30.0, 30.0]


def test_the_key_that_says_most_wins_and_the_backend_says_more():
    factory = KernelFactory("some_op")
    names = {
        KernelKey(): "any",
        KernelKey(dtype="float32"): "float32",
        KernelKey("gpu"): "gpu",
        KernelKey("gpu", dtype="float32"): "gpu float32",
    }
    for key, name in names.items():
        factory.register(key, lambda xp, name=name: name)

    def chosen(backend, dtype):
        return factory.select(backend, dtype)(np)

    assert chosen("cpu", paddle.float64) == "any"
    assert chosen("cpu", paddle.float32) == "float32"
    assert chosen("gpu", paddle.float64) == "gpu"
    assert chosen("gpu", paddle.float32) == "gpu float32"
    del factory.kernels[KernelKey("gpu", dtype="float32")]
    assert chosen("gpu", paddle.float32) == "gpu"


def test_nothing_falls_back_in_silence():
    factory = KernelFactory("some_op")
    factory.register(KernelKey("cpu", dtype="float32"), lambda xp, x: x)
    for backend, dtype in (("gpu", paddle.float32), ("cpu", paddle.float64)):
        with pytest.raises(NotImplementedError, match=rf"for {backend} and {dtype.name}.*Register"):
            factory.select(backend, dtype)
    with pytest.raises(ValueError, match=r"expected one kernel for .* a second"):
        factory.register(KernelKey("cpu", dtype="float32"), lambda xp, x: x)


@pytest.mark.parametrize("name", ["program", "pir"])
def test_an_op_without_a_fitting_kernel_is_named_when_the_program_runs(triple, name):
    triple.kernels.kernels.clear()
    triple.kernel(backend="gpu")(lambda xp, x: x * 3)
    with world(name):
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            y = triple(paddle.static.data("x", [2], "float32"))
        with pytest.raises(NotImplementedError, match="expected a kernel for cpu and float32"):
            paddle.static.Executor().run(main, feed={"x": np.ones(2, "float32")}, fetch_list=[y])


def test_an_op_with_one_kernel_for_one_dtype_in_dygraph(triple):
    triple.kernels.kernels.clear()
    triple.kernel(backend="cpu", dtype="float32")(lambda xp, x: x * 3)
    assert triple(paddle.ones([2])).numpy().tolist() == [3.0, 3.0]
    with pytest.raises(NotImplementedError, match="expected a kernel for cpu and float64"):
        triple(paddle.ones([2], "float64"))


def test_an_executor_on_a_gpu_that_is_not_there():
    if paddle.is_compiled_with_cuda():
        pytest.skip("here is a GPU")
    with pytest.raises(RuntimeError, match="expected CuPy and an NVIDIA GPU"):
        paddle.static.Executor(paddle.CUDAPlace(0))


def test_the_list_of_kernels(triple):
    from minipaddle.base import core

    everywhere = "(ALL, Undefined(AnyLayout), ALL)"
    assert core._get_registered_phi_kernels()["relu"] == [everywhere]
    assert core._get_registered_phi_kernels("all")["matmul_grad"] == [everywhere]
    triple.kernel(backend="gpu", dtype="float16")(lambda xp, x: x * 3)
    assert core._get_registered_phi_kernels()[triple.name] == [
        everywhere,
        "(GPU, Undefined(AnyLayout), float16)",
    ]
    assert core._get_registered_phi_kernels("structure") == {}
    by_type = core._get_all_register_op_kernels()
    assert "matmul_v2" in by_type and "matmul" not in by_type
    assert by_type["matmul_v2"] == [
        "{data_type[ALL]; data_layout[Undefined(AnyLayout)]; place[Place(ALL)]}"
    ]
    assert core.get_all_op_names() == list(by_type)
    assert core.op_support_gpu("relu") == paddle.is_compiled_with_cuda()
    for ask in (core._get_registered_phi_kernels, core._get_all_register_op_kernels):
        with pytest.raises(ValueError, match="expected .* but got 'x'"):
            ask("x")


def test_real_paddle_has_the_same_questions():
    from minipaddle.base import core
    from minipaddle.compare import real_paddle

    real = real_paddle()
    if real is None:
        pytest.skip("needs real Paddle: pip install paddlepaddle==3.3.1")
    theirs = real.base.core
    for name in ("_get_registered_phi_kernels", "_get_all_register_op_kernels"):
        assert set(getattr(theirs, name)()) & set(getattr(core, name)())
        assert all(isinstance(v, list) for v in getattr(theirs, name)().values())
    assert "(CPU, Undefined(AnyLayout), float32)" in theirs._get_registered_phi_kernels()["relu"]
    assert "relu" in theirs.get_all_op_names()
