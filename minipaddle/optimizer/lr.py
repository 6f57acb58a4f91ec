"""Learning-rate schedulers: how big the steps are, as a function of how many were made.

    scheduler = paddle.optimizer.lr.StepDecay(0.1, step_size=30)
    sgd = paddle.optimizer.SGD(scheduler, parameters=model.parameters())
    for epoch in range(90):
        ...                      # sgd.step() for each batch
        scheduler.step()         # after an epoch (or a batch): the next rate

`last_epoch` counts the calls of `step`, from 0; `get_lr` computes the rate from it. A static
program gets the rate of the scheduler each time that an Executor runs it.

Paddle: python/paddle/optimizer/lr.py.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]


def _require(
    who: Any, holds: bool, expected: str, got: Any, advice: str, kind: type[Exception] = ValueError
) -> None:
    if not holds:
        raise kind(f"{type(who).__name__}: expected {expected}, but got {got!r}. {advice}")


def _require_positive_int(
    who: Any, name: str, value: Any, kind: type[Exception] = AssertionError
) -> None:
    _require(who, isinstance(value, int), f"{name} to be an int", value, "Pass 10, say.", TypeError)
    _require(who, value > 0, f"{name} above 0", value, "Count at least one step.", kind)


class LRScheduler:
    """Base class. A subclass defines `get_lr`, which reads `base_lr` and `last_epoch`.

    Args:
        learning_rate: the rate to begin with, `base_lr`.
        last_epoch: where the count stands before the first step; -1: at the beginning.
        verbose: print each new rate.

    Raises:
        TypeError: learning_rate is no number.
        ValueError: it is negative.
    """

    def __init__(
        self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        number = isinstance(learning_rate, (int, float))
        _require(self, number, "a number", learning_rate, "Pass a float.", TypeError)
        _require(self, learning_rate >= 0, "a rate of 0 or more", learning_rate, "Pass 0.1, say.")
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self.keys: list[str] = []
        self.step()

    def __call__(self) -> float:
        """The rate of now."""
        return self.last_lr

    def get_lr(self) -> float:
        """The rate at `last_epoch`."""
        raise NotImplementedError(
            f"LRScheduler: expected {type(self).__name__} to define get_lr(), but it does not. "
            "Write it."
        )

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch, or to a given one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = self.get_lr()
        self._tell()

    def _tell(self) -> None:
        if self.verbose:
            name = type(self).__name__
            print(f"Epoch {self.last_epoch}: {name} set learning rate to {self.last_lr}.")

    def state_keys(self) -> None:
        """Sets `keys`: the names of the attributes that are saved."""
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict[str, Any]:
        """What it takes to go on later."""
        self.state_keys()
        return {key: self.__dict__[key] for key in self.keys if key in self.__dict__}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a saved state.

        Raises:
            RuntimeError: a key is missing.
        """
        self.state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise RuntimeError(
                    f"{type(self).__name__}.set_state_dict: expected the keys {self.keys}, but got "
                    f"{sorted(state_dict)}. Pass what state_dict() of such a scheduler returned."
                )
            self.__dict__[key] = state_dict[key]
        if len(state_dict) > len(self.keys):
            warnings.warn(f"{type(self).__name__}: it does not use all of the state.", stacklevel=2)

    set_dict = set_state_dict


class NoamDecay(LRScheduler):
    """base_lr * d_model^-0.5 * min(epoch^-0.5, epoch * warmup_steps^-1.5): it rises for
    warmup_steps, then falls (Vaswani et al. 2017).
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int,
        learning_rate: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _require(self, d_model > 0, "d_model above 0", d_model, "It is the width of the model.")
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch = self.last_epoch
        falling = epoch**-0.5 if epoch else 1.0
        return self.base_lr * self.d_model**-0.5 * min(falling, epoch * self.warmup_steps**-1.5)


class PiecewiseDecay(LRScheduler):
    """values[0] before boundaries[0], values[1] before boundaries[1], ..., then values[-1]."""

    def __init__(
        self,
        boundaries: Sequence[int],
        values: Sequence[float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _require(self, len(boundaries) > 0, "boundaries", boundaries, "Name at least one epoch.")
        enough = len(values) > len(boundaries)
        _require(self, enough, "one value more than boundaries", values, "Add the last value.")
        self.boundaries, self.values = boundaries, values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        for boundary, value in zip(self.boundaries, self.values, strict=False):
            if self.last_epoch < boundary:
                return value
        return self.values[-1]


class NaturalExpDecay(LRScheduler):
    """base_lr * e^(-gamma * epoch)."""

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _require(self, gamma > 0, "gamma above 0", gamma, "The rate would grow.", AssertionError)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """base_lr / (1 + gamma * epoch)."""

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """end_lr + (base_lr - end_lr) * (1 - epoch / decay_steps)^power, and end_lr after that.

    With `cycle`, decay_steps is doubled, tripled, ... when the epochs reach it.
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _require_positive_int(self, "decay_steps", decay_steps)
        _require(self, power > 0, "power above 0", power, "The rate would grow.", AssertionError)
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        steps, epoch = self.decay_steps, self.last_epoch
        if self.cycle:
            steps *= max(1, math.ceil(epoch / steps))
        left = 1 - min(epoch, steps) / steps
        return (self.base_lr - self.end_lr) * left**self.power + self.end_lr


class LinearWarmup(LRScheduler):
    """From start_lr to end_lr in warmup_steps; then `learning_rate`, a number or a scheduler, which
    begins to count there.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        fits = isinstance(learning_rate, (int, float, LRScheduler))
        _require(self, fits, "a number or a scheduler", learning_rate, "Pass one.", TypeError)
        _require_positive_int(self, "warmup_steps", warmup_steps)
        warms = f"end_lr above {start_lr}"
        _require(self, end_lr > start_lr, warms, end_lr, "It warms up.", AssertionError)
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps
        self.start_lr, self.end_lr = start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch < self.warmup_steps:
            part = self.last_epoch / self.warmup_steps
            return (self.end_lr - self.start_lr) * part + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate

    def state_dict(self) -> dict[str, Any]:
        """As always, and the state of the scheduler that follows."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """As always, and the state of the scheduler that follows."""
        own = {key: value for key, value in state_dict.items() if key != "LinearWarmup_LR"}
        super().set_state_dict(own)
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])


class ExponentialDecay(LRScheduler):
    """base_lr * gamma^epoch."""

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        inside = 0 < gamma < 1
        _require(self, inside, "gamma between 0 and 1", gamma, "It must fall.", AssertionError)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.gamma**self.last_epoch


class MultiStepDecay(LRScheduler):
    """base_lr * gamma^(number of milestones that are behind)."""

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        listed = isinstance(milestones, (tuple, list))
        _require(self, listed, "a list of milestones", milestones, "Pass [30, 60].", TypeError)
        rising = list(milestones) == sorted(set(milestones))
        _require(self, rising, "milestones that grow", milestones, "Sort them, each one once.")
        _require(self, gamma < 1, "gamma below 1", gamma, "The rate must fall.")
        self.milestones, self.gamma = milestones, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        behind = sum(self.last_epoch >= milestone for milestone in self.milestones)
        return self.base_lr * self.gamma**behind


class StepDecay(LRScheduler):
    """base_lr * gamma^(epoch // step_size)."""

    def __init__(
        self,
        learning_rate: float,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _require_positive_int(self, "step_size", step_size)
        _require(self, gamma < 1, "gamma below 1", gamma, "The rate must fall.")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.gamma ** (self.last_epoch // self.step_size)


class LambdaDecay(LRScheduler):
    """base_lr * lr_lambda(epoch)."""

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        callable_ = callable(lr_lambda)
        _require(self, callable_, "a function", lr_lambda, "Pass lambda epoch: ...", TypeError)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LambdaDecay):
    """base_lr * lr_lambda(1) * lr_lambda(2) * ... * lr_lambda(epoch)."""

    def get_lr(self) -> float:
        return self.base_lr * math.prod(map(self.lr_lambda, range(1, self.last_epoch + 1)))


class ReduceOnPlateau(LRScheduler):
    """Multiplies the rate by `factor` when a metric has not improved for `patience` steps.

    Args:
        mode: "min": smaller metrics are better; "max": larger ones.
        threshold: an improvement that is smaller does not count.
        threshold_mode: "rel": threshold is a part of the best metric; "abs": it is the difference.
        cooldown: steps to wait after a reduction, before counting again.
        min_lr: the rate never falls below.
        epsilon: a change that is smaller is not made.
    """

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        mode, threshold_mode = mode.lower(), threshold_mode.lower()
        _require(self, mode in ("min", "max"), "mode 'min' or 'max'", mode, "Pass one of them.")
        known = threshold_mode in ("rel", "abs")
        _require(self, known, "threshold_mode 'rel' or 'abs'", threshold_mode, "Pass one of them.")
        _require(self, factor < 1, "factor below 1", factor, "The rate must fall.")
        number = isinstance(learning_rate, (int, float))
        _require(self, number, "a number", learning_rate, "Pass a float.", TypeError)
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.epsilon = cooldown, min_lr, epsilon
        self.cooldown_counter = self.num_bad_epochs = 0
        self.best: float | None = None
        # not super().__init__: there is no metric yet for a first step
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch = 0
        self.verbose = verbose

    def state_keys(self) -> None:
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Tells the metric: a number, or a Tensor or array with one.

        Raises:
            TypeError: it is neither.
            ValueError: there is more than one number.
        """
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        number = isinstance(metrics, (int, float)) or hasattr(metrics, "item")
        _require(self, number, "a number or a Tensor", metrics, "Pass the loss.", TypeError)
        _require(self, getattr(metrics, "size", 1) == 1, "one number", metrics, "Take the mean.")
        metric = float(metrics)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(metric, self.best):
            self.best, self.num_bad_epochs = metric, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            reduced = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - reduced > self.epsilon:
                self.last_lr = reduced
                self._tell()

    def _is_better(self, metric: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return metric < best - margin if self.mode == "min" else metric > best + margin


class CosineAnnealingDecay(LRScheduler):
    """eta_min + (base_lr - eta_min) * (1 + cos(pi * epoch / T_max)) / 2: half a cosine from base_lr
    down to eta_min, and up again (Loshchilov, Hutter 2017).
    """

    def __init__(
        self,
        learning_rate: float,
        T_max: int,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _require_positive_int(self, "T_max", T_max)
        number = isinstance(eta_min, (int, float))
        _require(self, number, "eta_min to be a number", eta_min, "Pass a float.", TypeError)
        self.T_max, self.eta_min = T_max, float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        part = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * part


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the rate down to eta_min, again and again: the first in T_0 epochs, each
    next one in T_mult times as many (Loshchilov, Hutter 2017).
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            whole = value >= 1 and isinstance(value, int)  # a text is a TypeError of >=
            _require(self, whole, f"{name} to be an int of 1 or more", value, "Pass 10, say.")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        self.T_i, self.T_cur = T_0, last_epoch  # how long this cosine is, how far we are in it
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        part = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return self.eta_min + (self.base_lr - self.eta_min) * part / 2

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch, or to a given one, which may be a fraction."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self._go_on(self.T_cur + 1)
        else:
            epoch = epoch or 0
            _require(self, epoch >= 0, "an epoch of 0 or more", epoch, "They count from 0.")
            self.T_i = self.T_0
            self._go_on(epoch)
        super().step(math.floor(epoch))

    def _go_on(self, epochs: float) -> None:
        """To so many epochs behind where this cosine began: perhaps that is in a later one."""
        self.T_cur = epochs
        while self.T_cur >= self.T_i:
            self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """As always, and finds its place in the cosine again, which Paddle's forgets."""
        super().set_state_dict(state_dict)
        self.T_i = self.T_0
        self._go_on(self.last_epoch)


class LinearLR(LRScheduler):
    """base_lr * start_factor at first, base_lr * end_factor after total_steps; a line between."""

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        inside = 0 < start_factor <= 1
        _require(self, inside, "start_factor in (0, 1]", start_factor, "It is a part of the rate.")
        inside = 0 <= end_factor <= 1
        _require(self, inside, "end_factor in [0, 1]", end_factor, "It is a part of the rate.")
        _require(self, total_steps > 0, "total_steps above 0", total_steps, "Count some steps.")
        self.total_steps = total_steps
        self.start_factor, self.end_factor = start_factor, end_factor
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        part = min(self.last_epoch / self.total_steps, 1)
        return self.base_lr * (self.start_factor + (self.end_factor - self.start_factor) * part)


class OneCycleLR(LRScheduler):
    """Up from max_learning_rate / divide_factor to max_learning_rate in the first phase_pct of the
    steps, then down to end_learning_rate (Smith 2018). With three_phase, it comes down to where it
    began as fast as it rose, and falls to end_learning_rate after that.
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        for name, rate in (("max", max_learning_rate), ("end", end_learning_rate)):
            what, number = f"{name}_learning_rate", isinstance(rate, (int, float))
            _require(self, number, f"{what} to be a number", rate, "Pass a float.", TypeError)
            _require(self, rate >= 0, f"{what} of 0 or more", rate, "Pass 0.1, say.")
        _require_positive_int(self, "total_steps", total_steps, ValueError)
        a_float = isinstance(phase_pct, float)
        _require(self, a_float, "phase_pct to be a float", phase_pct, "Pass 0.3.", TypeError)
        highest = 0.5 if three_phase else 1.0
        inside = 0 <= phase_pct < highest or (phase_pct == 1.0 and not three_phase)
        _require(self, inside, f"phase_pct from 0 to {highest}", phase_pct, "It is a part.")
        known = anneal_strategy in ("cos", "linear")
        _require(self, known, "anneal_strategy 'cos' or 'linear'", anneal_strategy, "Pass one.")
        self.total_steps, self.anneal_strategy = total_steps, anneal_strategy
        start, top, end = max_learning_rate / divide_factor, max_learning_rate, end_learning_rate
        risen, last = phase_pct * total_steps - 1, total_steps - 1
        self._ends: list[tuple[float, float]] = [(0, start), (risen, top)]  # (epoch, rate)
        if three_phase:
            self._ends.append((2 * phase_pct * total_steps - 2, start))
        self._ends.append((last, end))
        super().__init__(start, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch = self.last_epoch
        _require(self, epoch <= self.total_steps, f"{self.total_steps} steps", epoch, "Stop there.")
        # the last phase goes on after its end: the step number total_steps belongs to it
        number = next(
            (i for i in range(1, len(self._ends)) if epoch <= self._ends[i][0]),
            len(self._ends) - 1,
        )
        (begin, before), (end, after) = self._ends[number - 1 : number + 1]
        part = (epoch - begin) / (end - begin)
        if self.anneal_strategy == "linear":
            return before + (after - before) * part
        return after + (before - after) / 2 * (math.cos(math.pi * part) + 1)


class CyclicLR(LRScheduler):
    """Up from base_learning_rate to max_learning_rate in step_size_up, down in step_size_down, and
    again (Smith 2017).

    Args:
        mode: "triangular": all peaks are equal; "triangular2": each is half the one before;
            "exp_range": they shrink by exp_gamma with each step.
        scale_fn: the height of the peaks, instead of a mode, as a function of the cycle's number
            (from 1) or of the iteration: scale_mode "cycle" or "iterations".
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        number = isinstance(max_learning_rate, (int, float))
        what = "max_learning_rate to be a number"
        _require(self, number, what, max_learning_rate, "Pass a float.", TypeError)
        what = "max_learning_rate of 0 or more"
        _require(self, max_learning_rate >= 0, what, max_learning_rate, "Pass 0.1, say.")
        a_float = isinstance(exp_gamma, float)
        _require(self, a_float, "exp_gamma to be a float", exp_gamma, "Pass 0.98, say.", TypeError)
        _require_positive_int(self, "step_size_up", step_size_up, ValueError)
        if step_size_down is not None:
            _require_positive_int(self, "step_size_down", step_size_down, ValueError)
        modes: dict[str, tuple[Callable[[float], float], str]] = {
            "triangular": (lambda cycle: 1.0, "cycle"),
            "triangular2": (lambda cycle: 0.5 ** (cycle - 1), "cycle"),
            "exp_range": (lambda iteration: exp_gamma**iteration, "iterations"),
        }
        known = mode in modes or scale_fn is not None
        _require(self, known, f"mode in {sorted(modes)}", mode, "Or pass a scale_fn.")
        known = scale_mode in ("cycle", "iterations")
        _require(self, known, "scale_mode 'cycle' or 'iterations'", scale_mode, "Pass one.")
        self.scale_fn, self.scale_mode = (scale_fn, scale_mode) if scale_fn else modes[mode]
        self.max_lr = float(max_learning_rate)
        self.cycle_size = step_size_up + (step_size_down or step_size_up)
        self.step_up_pct = step_size_up / self.cycle_size
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        cycle = 1 + self.last_epoch // self.cycle_size
        part = 1.0 + self.last_epoch / self.cycle_size - cycle
        rising = part <= self.step_up_pct
        height = part / self.step_up_pct if rising else (1 - part) / (1 - self.step_up_pct)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        return self.base_lr + (self.max_lr - self.base_lr) * height * scale
