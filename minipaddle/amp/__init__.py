"""amp: computing in half precision where that is safe, and keeping small gradients from vanishing.

On a CPU, real Paddle changes nothing here: its `auto_cast` and `GradScaler` say so in a warning
and step aside. Here both work on the CPU too, so that their effect can be seen.

    amp_lists     which ops compute in half precision (white), and which in float32 (black)
    auto_cast     which dtype an op computes in; models whose parameters are float16
    grad_scaler   multiplies the loss, so that small gradients don't vanish in float16

Paddle: python/paddle/amp/.
Left out: bfloat16 (numpy has none), level OD, debugging.
"""

from minipaddle.amp.amp_lists import black_list, white_list
from minipaddle.amp.auto_cast import auto_cast, decorate
from minipaddle.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "auto_cast", "black_list", "decorate", "white_list"]
