"""hapi: the high-level API. Paddle: python/paddle/hapi/. Left out: Model (fit, evaluate)."""

from minipaddle.hapi.model_summary import summary

__all__ = ["summary"]
