"""Fixtures of the op table: the backend it runs on, and real Paddle in a process of its own."""

import functools
import importlib
import importlib.util

import numpy as np
import pytest

import minipaddle as paddle
from tests.phi.paddle_process import PaddleProcess
from tests.phi.table import Backend


@functools.cache
def why_no_gpu():
    """What is missing for a run on the GPU; "" if nothing is."""
    try:
        paddle.set_device("gpu")
    except RuntimeError as error:
        return f"the op table on the GPU: {error}"
    paddle.set_device("cpu")
    return ""


@pytest.fixture(params=["numpy", "cupy"])
def backend(request):
    """numpy on the CPU, CuPy on the GPU. Without a GPU the CuPy half is skipped."""
    if request.param == "numpy":
        yield Backend(np, "cpu")
        return
    missing = why_no_gpu()
    if missing:
        pytest.skip(missing)
    paddle.set_device("gpu")
    try:
        yield Backend(importlib.import_module("cupy"), "gpu")
    finally:
        paddle.set_device("cpu")


@pytest.fixture(scope="session")
def real_paddle():
    """Real Paddle, which answers `call(...)`; see paddle_process.py."""
    if importlib.util.find_spec("paddle") is None:
        pytest.skip("needs real Paddle: pip install paddlepaddle==3.3.1")
    process = PaddleProcess()
    yield process
    process.close()
