"""GradScaler: multiplies the loss, so that gradients don't vanish in float16, whose smallest number
is 6e-8; and divides the gradients again before the step.

Where a gradient is inf or NaN, the step is left out and the scale gets smaller; after many steps
without, it gets larger.

Paddle: python/paddle/amp/grad_scaler.py; the ops check_finite_and_unscale and update_loss_scaling.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minipaddle.common.place import module_of
from minipaddle.eager.tensor import Tensor


class GradScaler:
    """
        scaler.scale(loss).backward()
        scaler.step(optimizer)          # unscale_, then the step, if all gradients are finite
        scaler.update()

    Args:
        enable: with False, everything is as without a GradScaler.
        init_loss_scaling: the scale at the start.
        incr_ratio: the scale is multiplied by this after `incr_every_n_steps` good steps in a row.
        decr_ratio: and by this after `decr_every_n_nan_or_inf` bad ones.
        use_dynamic_loss_scaling: with False, the scale stays.

    Raises:
        ValueError: a ratio is on the wrong side of 1.
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 65536.0,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        if incr_ratio <= 1.0 or not 0.0 < decr_ratio < 1.0:
            raise ValueError(
                f"GradScaler: expected incr_ratio above 1 and decr_ratio between 0 and 1, but got "
                f"{incr_ratio} and {decr_ratio}. The first makes the scale larger, the second "
                "smaller."
            )
        self._enable = enable
        self._scale = float(init_loss_scaling)
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._use_dynamic_loss_scaling = use_dynamic_loss_scaling
        self._incr_count = self._decr_count = 0
        self._found_inf = False
        self._unscaled: set[int] = set()  # optimizers, by id, since the last update
        self._stepped: set[int] = set()

    def scale(self, var: Tensor) -> Tensor:
        """The loss times the scale."""
        return var * self._scale if self._enable else var  # type: ignore[operator]

    def unscale_(self, optimizer: Any) -> None:
        """Divides the gradients of the optimizer's parameters by the scale, for example before
        they are clipped by hand.

        Raises:
            RuntimeError: that was done already since the last update.
        """
        if not self._enable:
            return
        if id(optimizer) in self._unscaled:
            raise RuntimeError(
                "GradScaler.unscale_: expected one call between two updates, but got a second. "
                "Call update() after step()."
            )
        self._unscaled.add(id(optimizer))
        for parameter in optimizer._parameter_list:
            if parameter.grad is None:
                continue
            data = parameter.grad._writable_data()
            with np.errstate(invalid="ignore"):  # inf * 0 where the scale is tiny
                data *= data.dtype.type(1.0 / self._scale)
            self._found_inf |= not bool(module_of(data).isfinite(data).all())

    def step(self, optimizer: Any) -> None:
        """optimizer.step(), if all gradients are finite.

        Raises:
            RuntimeError: that was done already since the last update.
        """
        if not self._enable:
            optimizer.step()
            return
        if id(optimizer) in self._stepped:
            raise RuntimeError(
                "GradScaler.step: expected one call between two updates, but got a second. Call "
                "update() first."
            )
        if id(optimizer) not in self._unscaled:
            self.unscale_(optimizer)
        self._stepped.add(id(optimizer))
        if not self._found_inf:
            optimizer.step()

    def update(self) -> None:
        """Fits the scale to what the last step found."""
        if not self._enable:
            return
        if self._use_dynamic_loss_scaling:
            self._fit_scale()
        self._found_inf = False
        self._unscaled.clear()
        self._stepped.clear()

    def _fit_scale(self) -> None:
        if self._found_inf:
            self._incr_count, self._decr_count = 0, self._decr_count + 1
            if self._decr_count == self._decr_every_n_nan_or_inf:
                self._scale = max(self._scale * self._decr_ratio, 1.0)
                self._decr_count = 0
        else:
            self._incr_count, self._decr_count = self._incr_count + 1, 0
            if self._incr_count == self._incr_every_n_steps:
                larger = self._scale * self._incr_ratio
                self._scale = larger if math.isfinite(larger) else self._scale
                self._incr_count = 0

    def minimize(self, optimizer: Any, scaled_loss: Tensor) -> None:
        """step and update. `scaled_loss`: what scale() gave, after its backward()."""
        self.step(optimizer)
        self.update()

    def is_enable(self) -> bool:
        return self._enable

    def get_init_loss_scaling(self) -> float:
        """The scale as it is now."""
        return self._scale

    def state_dict(self) -> dict[str, Any]:
        """All that update() looks at and changes; empty where the scaler is not enabled."""
        if not self._enable:
            return {}
        state = {name: getattr(self, f"_{name}") for name in _STATE}
        return {"scale": np.array([self._scale], "float32"), **state}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a saved state.

        Raises:
            RuntimeError: the state is empty, or a name is missing.
        """
        if not self._enable:
            return
        missing = sorted({"scale", *_STATE} - set(state_dict))
        if missing:
            raise RuntimeError(
                f"GradScaler.load_state_dict: expected the state of an enabled GradScaler, but got "
                f"one without {missing}. Save state_dict() of one with enable=True."
            )
        self._scale = float(np.asarray(state_dict["scale"]).item())
        for name in _STATE:
            setattr(self, f"_{name}", state_dict[name])


_STATE = (
    "incr_ratio",
    "decr_ratio",
    "incr_every_n_steps",
    "decr_every_n_nan_or_inf",
    "incr_count",
    "decr_count",
    "use_dynamic_loss_scaling",
)
