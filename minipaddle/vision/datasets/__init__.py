"""The data sets that ship with the package. See README.md beside this file for source and
licence.
"""

from minipaddle.vision.datasets.digits import Digits

__all__ = ["Digits"]
