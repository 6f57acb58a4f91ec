"""utils: names that are unique, and checks of gradients. Paddle: python/paddle/utils/."""

from minipaddle.common import unique_name
from minipaddle.utils import gradcheck

__all__ = ["gradcheck", "unique_name"]
