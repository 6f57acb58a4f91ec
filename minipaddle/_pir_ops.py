"""_pir_ops: operations that a user adds to a PIR program directly.

Paddle: `paddle._pir_ops`, generated into paddle/fluid/pybind/ops_api.cc.
"""

from minipaddle.pir import fetch

__all__ = ["fetch"]
