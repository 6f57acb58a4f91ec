"""Cases of phi/ops/control_flow.py: op -> calls, each (inputs, attributes)."""

import numpy as np

CALLS = {
    "assert": [([np.array(True), [np.array([1.0, 2.0])]], {}), ([np.array([True]), []], {"summarize": 3})],
    "print": [([np.array([1.0, 2.0])], {}), ([np.array([1.0])], {"message": "m", "summarize": 0})],
    "select_input": [([[np.array([1.0, 2.0]), np.array([3.0, 4.0])], np.array(1, "int32")], {})],
    "select_output": [([np.array([1.0, 2.0]), np.array(0, "int32")], {})],
}  # fmt: skip
