"""framework: saving and loading.

    io          paddle.save and paddle.load
    unpickler   a reader of pickles that can't be made to run code

Paddle: python/paddle/framework/.
"""

from minipaddle.framework.io import load, save

__all__ = ["load", "save"]
