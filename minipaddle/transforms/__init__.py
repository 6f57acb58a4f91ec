"""transforms: the passes. Importing this package registers them.

Paddle: paddle/fluid/pir/transforms/.
"""

from minipaddle.transforms.dead_code_elimination_pass import DeadCodeEliminationPass
from minipaddle.transforms.matmul_add_act_fuse_pass import MatmulAddActFusePass

__all__ = ["DeadCodeEliminationPass", "MatmulAddActFusePass"]
