"""For all tests: real Paddle, here and in every kernel and process that a test starts, is quiet."""

import os

os.environ.setdefault("GLOG_minloglevel", "2")
os.environ.setdefault("PYTHONWARNINGS", "ignore")
