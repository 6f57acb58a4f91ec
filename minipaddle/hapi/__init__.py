"""hapi: the high-level API.

    model_summary   paddle.summary: what each layer of a model takes, gives and holds

Paddle: python/paddle/hapi/. Left out: Model (fit, evaluate).
"""

from minipaddle.hapi.model_summary import summary

__all__ = ["summary"]
