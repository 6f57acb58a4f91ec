"""utils: names that are unique, and checks of gradients.

    gradcheck   is the gradient that an op gives the true one? One line tests an op

Paddle: python/paddle/utils/.
"""

from minipaddle.common import unique_name
from minipaddle.utils import gradcheck

__all__ = ["gradcheck", "unique_name"]
