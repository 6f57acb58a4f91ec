"""Collective operations and the groups that carry them out.

    communication   the collectives that users call
    process_group   ProcessGroup: the ranks that talk to each other
    ring            ring all-reduce: every rank gets the sum of all

Paddle: paddle/phi/core/distributed/collective/, python/paddle/distributed/communication/.
"""
