"""Cases of phi/ops/control_flow.py: op -> calls, each (inputs, attributes)."""

import numpy as np

CALLS = {
    "assert": [([np.array(True), [np.array([1.0, 2.0])]], {}), ([np.array([True]), []], {"summarize": 3})],
}  # fmt: skip
