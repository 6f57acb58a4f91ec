"""Learning-rate schedulers give real Paddle's rates, and go on from a saved state."""

import math

import pytest

import minipaddle
from minipaddle.compare import real_paddle

STEPS = 50
# a "loss" that falls, stays, rises and falls again
METRICS = [1.0 + 0.5 * math.cos(i / 6) - (0.01 * i if i < 20 else 0.2) for i in range(STEPS)]

SCHEDULERS = {
    "NoamDecay": lambda lr: lr.NoamDecay(64, warmup_steps=20, learning_rate=0.5),
    "PiecewiseDecay": lambda lr: lr.PiecewiseDecay([5, 9, 30], [0.1, 0.2, 0.05, 0.01]),
    "NaturalExpDecay": lambda lr: lr.NaturalExpDecay(0.5, gamma=0.1),
    "InverseTimeDecay": lambda lr: lr.InverseTimeDecay(0.5, gamma=0.3),
    "PolynomialDecay": lambda lr: lr.PolynomialDecay(0.5, decay_steps=20, end_lr=0.01, power=2.0),
    "PolynomialDecay, cycle": lambda lr: lr.PolynomialDecay(0.5, decay_steps=20, cycle=True),
    "LinearWarmup": lambda lr: lr.LinearWarmup(0.5, 20, start_lr=0.0, end_lr=0.5),
    "LinearWarmup, scheduler": lambda lr: lr.LinearWarmup(
        lr.CosineAnnealingDecay(0.5, 20), 10, start_lr=0.1, end_lr=0.5
    ),
    "ExponentialDecay": lambda lr: lr.ExponentialDecay(0.5, gamma=0.9),
    "MultiStepDecay": lambda lr: lr.MultiStepDecay(0.5, milestones=[2, 7, 30], gamma=0.5),
    "StepDecay": lambda lr: lr.StepDecay(0.5, step_size=7, gamma=0.8),
    "StepDecay, later": lambda lr: lr.StepDecay(0.5, step_size=7, gamma=0.8, last_epoch=12),
    "LambdaDecay": lambda lr: lr.LambdaDecay(0.5, lambda epoch: 1 / (1 + epoch) ** 2),
    "MultiplicativeDecay": lambda lr: lr.MultiplicativeDecay(0.5, lambda e: 0.9 + 0.1 * (e % 2)),
    "CosineAnnealingDecay": lambda lr: lr.CosineAnnealingDecay(0.5, T_max=11, eta_min=0.01),
    "WarmRestarts": lambda lr: lr.CosineAnnealingWarmRestarts(0.5, T_0=7, eta_min=0.01),
    "WarmRestarts, longer": lambda lr: lr.CosineAnnealingWarmRestarts(0.5, T_0=3, T_mult=2),
    "LinearLR": lambda lr: lr.LinearLR(0.5, total_steps=20, start_factor=0.2, end_factor=0.9),
    "OneCycleLR": lambda lr: lr.OneCycleLR(0.5, total_steps=50),
    "OneCycleLR, linear, three": lambda lr: lr.OneCycleLR(
        0.5, total_steps=50, anneal_strategy="linear", three_phase=True, phase_pct=0.4
    ),
    "CyclicLR": lambda lr: lr.CyclicLR(0.1, 0.5, step_size_up=7, step_size_down=4),
    "CyclicLR, triangular2": lambda lr: lr.CyclicLR(0.1, 0.5, 7, mode="triangular2"),
    "CyclicLR, exp_range": lambda lr: lr.CyclicLR(0.1, 0.5, 7, mode="exp_range", exp_gamma=0.98),
    "CyclicLR, scale_fn": lambda lr: lr.CyclicLR(0.1, 0.5, 7, scale_fn=lambda c: 1 / (1 + c)),
    "ReduceOnPlateau": lambda lr: lr.ReduceOnPlateau(0.5, patience=3, cooldown=2),
    "ReduceOnPlateau, max": lambda lr: lr.ReduceOnPlateau(
        0.5, mode="max", factor=0.5, patience=2, threshold=0.02, threshold_mode="abs", min_lr=0.1
    ),
}  # fmt: skip


def rates(scheduler, steps=STEPS, start=0):
    found = [scheduler()]
    for number in range(start, steps):
        if "ReduceOnPlateau" in type(scheduler).__name__:
            scheduler.step(METRICS[number])
        else:
            scheduler.step()
        found.append(scheduler())
    return found


@pytest.mark.parametrize("name", SCHEDULERS)
def test_fifty_rates_are_those_of_real_paddle(name):
    steps = STEPS - 13 if "later" in name else STEPS
    theirs = SCHEDULERS[name](real_paddle().optimizer.lr)
    ours = SCHEDULERS[name](minipaddle.optimizer.lr)
    assert rates(ours, steps) == pytest.approx(rates(theirs, steps), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in SCHEDULERS if name[:6] in ("Cyclic", "WarmRe")])
def test_these_rates_are_equal_to_the_last_bit(name):
    theirs, ours = (SCHEDULERS[name](p.optimizer.lr) for p in (real_paddle(), minipaddle))
    assert rates(ours) == rates(theirs)


@pytest.mark.parametrize("mult", [1, 2, 3])
def test_warm_restarts_go_to_an_epoch(mult):
    """Also to a fraction of one, and on from there."""
    found = []
    for lr in (minipaddle.optimizer.lr, real_paddle().optimizer.lr):
        scheduler = lr.CosineAnnealingWarmRestarts(0.5, T_0=4, T_mult=mult, eta_min=0.1)
        found.append([])
        for epoch in (0, 3.5, 4, 11.25, None, 30, 2, None, None):
            scheduler.step(epoch)
            found[-1] += [scheduler(), scheduler.last_epoch, scheduler.T_cur]
    # Paddle finds the cosine by a logarithm, we count: the last bits differ
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_saved_state_goes_on(name):
    """Also one that real Paddle saved."""
    for lr in (minipaddle.optimizer.lr, real_paddle().optimizer.lr):
        first, second = SCHEDULERS[name](lr), SCHEDULERS[name](minipaddle.optimizer.lr)
        rates(first, 20)
        second.set_state_dict(first.state_dict())
        assert second() == first()
        assert rates(second, 30, 20) == pytest.approx(rates(first, 30, 20), rel=1e-9)


def test_states_have_paddles_keys():
    for make in SCHEDULERS.values():
        theirs = make(real_paddle().optimizer.lr).state_dict()
        assert list(make(minipaddle.optimizer.lr).state_dict()) == list(theirs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda lr: lr.StepDecay(0.1, step_size=2.5), "StepDecay: expected step_size to be an int"),
        (lambda lr: lr.StepDecay(0.1, 2, gamma=1.5), "expected gamma below 1, but got 1.5"),
        (lambda lr: lr.StepDecay("x", 2), "StepDecay: expected a number, but got 'x'"),
        (lambda lr: lr.StepDecay(-0.1, 2), "expected a rate of 0 or more, but got -0.1"),
        (lambda lr: lr.MultiStepDecay(0.1, [5, 3]), "expected milestones that grow"),
        (lambda lr: lr.PiecewiseDecay([], [1.0]), "expected boundaries"),
        (lambda lr: lr.PiecewiseDecay([1], [1.0]), "expected one value more than boundaries"),
        (lambda lr: lr.NoamDecay(0, 10), "expected d_model above 0"),
        (lambda lr: lr.LinearWarmup("x", 2, 0.0, 1.0), "expected a number or a scheduler"),
        (lambda lr: lr.LambdaDecay(0.1, 3), "LambdaDecay: expected a function"),
        (lambda lr: lr.ReduceOnPlateau(0.1, mode="up"), "expected mode 'min' or 'max'"),
        (lambda lr: lr.ReduceOnPlateau(0.1).step("x"), "expected a number or a Tensor"),
        (lambda lr: lr.OneCycleLR(0.1, total_steps=0), "expected total_steps above 0"),
        (
            lambda lr: lr.CyclicLR(0.5, -1, 10),
            "expected max_learning_rate of 0 or more, but got -1",
        ),
        (lambda lr: lr.CyclicLR(0.5, "1", 10), "expected max_learning_rate to be a number"),
        (
            lambda lr: lr.CyclicLR(0.5, 1.0, "10"),
            "expected step_size_up to be an int, but got '10'",
        ),
        (lambda lr: lr.CyclicLR(0.5, 1.0, 10, exp_gamma=1), "expected exp_gamma to be a float"),
        (lambda lr: lr.StepDecay(0.1, 0), "expected step_size above 0, but got 0"),
        (lambda lr: lr.NaturalExpDecay(0.1, 0), "expected gamma above 0, but got 0"),
        (lambda lr: lr.ExponentialDecay(0.1, 1.0), "expected gamma between 0 and 1, but got 1.0"),
        (lambda lr: lr.PolynomialDecay(0.1, 3, power=0), "expected power above 0, but got 0"),
        (lambda lr: lr.CosineAnnealingDecay(0.5, -1), "expected T_max above 0, but got -1"),
        (lambda lr: lr.LinearWarmup(0.5, 3, 1, 0), "expected end_lr above 1, but got 0"),
        (lambda lr: lr.CosineAnnealingWarmRestarts(0.5, 0), "expected T_0 to be an int of 1"),
        (lambda lr: lr.CosineAnnealingWarmRestarts(0.5, 3, 1.5), "expected T_mult to be an int"),
        (lambda lr: lr.CosineAnnealingWarmRestarts(0.5, "3"), "'>=' not supported"),
        (lambda lr: lr.CosineAnnealingWarmRestarts(0.5, 3).step(-1), "expected an epoch of 0"),
        (lambda lr: lr.LinearLR(0.1, 3, start_factor=2.0), "expected start_factor in"),
        (lambda lr: lr.StepDecay(0.1, 2).set_state_dict({}), "expected the keys"),
    ],
)
def test_mistakes_are_explained_and_have_paddles_kind(make, message):
    with pytest.raises(Exception, match=message) as ours:
        make(minipaddle.optimizer.lr)
    with pytest.raises(Exception) as theirs:
        make(real_paddle().optimizer.lr)
    assert type(ours.value) is type(theirs.value)
