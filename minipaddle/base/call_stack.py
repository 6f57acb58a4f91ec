"""Where in the user's code an op was appended: an Operator's attribute `op_callstack`.

An op fails when the program runs, long after the line that appended it. So each Operator keeps that
line and its callers, as texts that an error can show:

    ['  File "train.py", line 12, in net', '    return x @ w']

Paddle: Operator.__init__ in python/paddle/base/framework.py.
Left out: frames that are not the user's; Paddle keeps those of its own functions, and of Jupyter.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
import sysconfig

# what is not a user's: this package, the standard library, what is installed
_OTHERS = tuple(
    f"{os.path.abspath(path)}{os.sep}"
    for path in {
        os.path.dirname(os.path.dirname(__file__)),
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    }
)


@functools.lru_cache(maxsize=4096)
def _is_users(filename: str) -> bool:
    """Was the code in this file written by the user?"""
    return not filename.startswith((*_OTHERS, "<frozen ", "<minipaddle ", "<__array_function__"))


def _shown_name(filename: str) -> str:
    """A file's name as an error shows it; of a notebook's cell "Cell In[3]"."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    named = shell.compile.format_code_name(filename) if shell is not None else None
    return " ".join(named) if named else filename


def user_frames() -> list[str]:
    """The user's functions that are running now, outermost first: two texts each, the place and
    the line's own text.
    """
    found: list[str] = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if _is_users(code.co_filename):
            line = linecache.getline(code.co_filename, frame.f_lineno, frame.f_globals).strip()
            name = _shown_name(code.co_filename)
            found.append(f"    {line}")
            found.append(f'  File "{name}", line {frame.f_lineno}, in {code.co_name}')
        frame = frame.f_back
    return found[::-1]
