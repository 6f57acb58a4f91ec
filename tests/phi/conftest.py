"""Fixtures of the op table: the backend it runs on, and real Paddle in a process of its own."""

import contextlib
import functools
import importlib
import importlib.util

import numpy as np
import pytest

import minipaddle as paddle
from tests.phi.device_double import in_place_of_cupy
from tests.phi.paddle_process import PaddleProcess
from tests.phi.table import Backend


@functools.cache
def why_no_gpu():
    """What is missing for a run on the GPU; "" if nothing is."""
    try:
        paddle.set_device("gpu")
    except RuntimeError as error:
        return f"the op table is not run on a GPU: {error}"
    paddle.set_device("cpu")
    return ""


# CuPy's stand-in, see device_double.py; where there is a GPU, CuPy on it.
DEVICES = ["double"] if why_no_gpu() else ["double", "cupy"]


@contextlib.contextmanager
def running_on(name):
    if name == "numpy":
        yield Backend(np, "cpu")
        return
    with contextlib.ExitStack() as stack:
        if name == "double":
            stack.enter_context(in_place_of_cupy())
        paddle.set_device("gpu")
        stack.callback(paddle.set_device, "cpu")
        yield Backend(importlib.import_module("cupy"), "gpu")


@pytest.fixture(params=["numpy", *DEVICES])
def backend(request):
    """numpy on the CPU, and each device."""
    with running_on(request.param) as found:
        yield found


@pytest.fixture(params=DEVICES)
def device(request):
    """Each device."""
    with running_on(request.param) as found:
        yield found


@pytest.fixture(scope="session")
def real_paddle():
    """Real Paddle, which answers `call(...)`; see paddle_process.py."""
    if importlib.util.find_spec("paddle") is None:
        pytest.skip("needs real Paddle: pip install paddlepaddle==3.3.1")
    process = PaddleProcess()
    yield process
    process.close()
