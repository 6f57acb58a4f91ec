"""The data sets that ship with the package. See README.md beside this file for source and
licence.

    digits   1,797 handwritten digits
"""

from minipaddle.vision.datasets.digits import Digits

__all__ = ["Digits"]
