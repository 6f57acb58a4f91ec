"""Collective operations and the groups that carry them out.

Paddle: paddle/phi/core/distributed/collective/, python/paddle/distributed/communication/.
"""
