"""transforms: the passes. Importing this package registers them.

    dead_code_elimination_pass   removes operations whose results nobody reads
    matmul_add_act_fuse_pass     matmul + add (+ relu) becomes one `pd_op.fc`

Paddle: paddle/fluid/pir/transforms/.
"""

from minipaddle.transforms.dead_code_elimination_pass import DeadCodeEliminationPass
from minipaddle.transforms.matmul_add_act_fuse_pass import MatmulAddActFusePass

__all__ = ["DeadCodeEliminationPass", "MatmulAddActFusePass"]
