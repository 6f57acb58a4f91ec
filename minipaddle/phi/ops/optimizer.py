"""Optimizer steps as ops: they write the parameter and their own state in place.

    sgd_       param -= learning_rate * grad
    momentum_  velocity = mu * velocity + grad; param -= learning_rate * velocity
    adam_      the mean of the gradients and of their squares, corrected for having started at 0
    adamw_     adam_, with the decay of the weights apart from the gradient

A parameter of float16 may have a `master_param`: the same numbers in float32, so that small steps
are not rounded away. The step is made there, and copied to the parameter.

Paddle: paddle/phi/kernels/{sgd,momentum,adam,adamw}_kernel.h, funcs/adam_functors.h.
Left out: sparse gradients (`lazy_mode` is for them), merged ops that take all parameters at once.
"""

from __future__ import annotations

from minipaddle.phi.core.attribute import Scalar
from minipaddle.phi.core.op import Optional, op
from minipaddle.phi.infermeta.enforce import require_shape

TRAITS = ("SideEffect", "ForwardOnly")


def computed_in(param, master_param, multi_precision):
    """The array in which the step is made: float16 alone is too coarse, so float32 stands in."""
    if multi_precision:
        return master_param
    return param.astype("float32") if param.dtype == "float16" else param


def store(param, work):
    """Copies the new numbers to the parameter, if they were made elsewhere."""
    if work is not param:
        param[...] = work


def single(who, name, meta):
    """Raises ValueError unless `meta` has one element (or an unknown number of them)."""
    if -1 not in meta.shape and meta.size != 1:
        raise ValueError(
            f"{who}: expected {name} with one element, but got shape {list(meta.shape)}. "
            "Pass one number, as a Tensor."
        )


def like_param(who, param, **others):
    """Raises ValueError unless all others have the parameter's shape."""
    for name, meta in others.items():
        require_shape(who, name, meta, param.shape, f"Pass the {name} of this parameter.")


@op(
    source="paddle/phi/ops/yaml/ops.yaml: sgd_",
    outputs=("param_out", "master_param_out"),
    traits=TRAITS,
    inplace={"param_out": "param", "master_param_out": "master_param"},
)
def sgd_(xp, param, learning_rate, grad, master_param: Optional, *, multi_precision: bool = False):
    """param -= learning_rate * grad, in param's own memory."""
    if param.dtype == learning_rate.dtype:
        param -= learning_rate.reshape(()) * grad
        return param, None
    work = computed_in(param, master_param, multi_precision)
    work -= learning_rate.reshape(()).astype(work.dtype) * grad
    store(param, work)
    return param, master_param if multi_precision else None


@sgd_.infer_meta
def _(param, learning_rate, grad, master_param, *, multi_precision):
    single("sgd_", "learning_rate", learning_rate)
    like_param("sgd_", param, grad=grad, master_param=master_param)
    return param, master_param if multi_precision else None


@op(
    source="paddle/phi/ops/yaml/ops.yaml: momentum_",
    outputs=("param_out", "velocity_out", "master_param_out"),
    traits=TRAITS,
    inplace={
        "param_out": "param",
        "velocity_out": "velocity",
        "master_param_out": "master_param",
    },
)
def momentum_(
    xp,
    param,
    grad,
    velocity,
    learning_rate,
    master_param: Optional,
    *,
    mu: float,
    use_nesterov: bool = False,
    regularization_method: str = "",
    regularization_coeff: float = 0.0,
    multi_precision: bool = False,
    rescale_grad: float = 1.0,
):
    """velocity = mu * velocity + grad; param -= learning_rate * velocity.

    With use_nesterov: param -= learning_rate * (grad + mu * velocity), a look one step ahead.
    With regularization_method "l2_decay", regularization_coeff * param is added to the gradient.
    """
    work = computed_in(param, master_param, multi_precision)
    rate = learning_rate.reshape(()).astype(work.dtype)
    grad = grad.astype(work.dtype) if grad.dtype != work.dtype else grad
    if rescale_grad != 1.0:
        grad = grad * rescale_grad
    if regularization_method == "l2_decay":
        grad = grad + regularization_coeff * work
    velocity *= mu
    velocity += grad
    work -= rate * (grad + mu * velocity if use_nesterov else velocity)
    store(param, work)
    return param, velocity, master_param if multi_precision else None


@momentum_.infer_meta
def _(param, grad, velocity, learning_rate, master_param, *, multi_precision, **attrs):
    single("momentum_", "learning_rate", learning_rate)
    like_param("momentum_", param, grad=grad, velocity=velocity, master_param=master_param)
    return param, velocity, master_param if multi_precision else None


def adam_step(xp, work, grad, rate, moment1, moment2, moment2_max, beta1_pow, beta2_pow, *options):
    """One step of Adam (Kingma, Ba 2015), written into work and the moments.

        moment1 = beta1 * moment1 + (1 - beta1) * grad
        moment2 = beta2 * moment2 + (1 - beta2) * grad^2
        work -= rate * (moment1 / (1 - beta1^t)) / (sqrt(moment2 / (1 - beta2^t)) + epsilon)

    beta1_pow and beta2_pow hold beta1^t and beta2^t. With moment2_max (AMSGrad), the largest
    moment2 so far stands in for moment2.
    """
    beta1, beta2, epsilon = (work.dtype.type(option) for option in options)
    one = work.dtype.type(1)
    grad = grad.astype(work.dtype) if grad.dtype != work.dtype else grad
    correction = xp.sqrt(one - beta2_pow.reshape(()))
    term = xp.empty_like(grad)  # one array for all that comes between: it stays in the cache
    moment1 *= beta1
    moment1 += xp.multiply(grad, one - beta1, out=term)
    moment2 *= beta2
    xp.multiply(grad, grad, out=term)
    term *= one - beta2
    moment2 += term
    if moment2_max is not None:
        moment2 = xp.maximum(moment2, moment2_max, out=moment2_max)
    xp.sqrt(moment2, out=term)
    term += epsilon * correction
    xp.divide(moment1, term, out=term)
    term *= rate * correction / (one - beta1_pow.reshape(()))
    work -= term


def advance(beta_pow, beta, use_global_beta_pow):
    """beta^t becomes beta^(t+1), unless somebody else counts for all parameters."""
    if not use_global_beta_pow:
        beta_pow *= beta_pow.dtype.type(beta)


def adam_metas(who, param, grad, learning_rate, moment1, moment2, moment2_max, *others):
    """The checks and the outputs of both adam_ and adamw_."""
    beta1_pow, beta2_pow, master_param, multi_precision, amsgrad = others
    single(who, "learning_rate", learning_rate)
    single(who, "beta1_pow", beta1_pow)
    single(who, "beta2_pow", beta2_pow)
    like_param(who, param, grad=grad, moment1=moment1, moment2=moment2, moment2_max=moment2_max)
    largest = moment2_max if amsgrad else None
    master = master_param if multi_precision else None
    return param, moment1, moment2, largest, beta1_pow, beta2_pow, master


ADAM_OUTPUTS = {
    "param_out": "param",
    "moment1_out": "moment1",
    "moment2_out": "moment2",
    "moment2_max_out": "moment2_max",
    "beta1_pow_out": "beta1_pow",
    "beta2_pow_out": "beta2_pow",
    "master_param_out": "master_param",
}


@op(
    source="paddle/phi/ops/yaml/ops.yaml: adam_",
    outputs=tuple(ADAM_OUTPUTS),
    traits=TRAITS,
    inplace=ADAM_OUTPUTS,
)
def adam_(
    xp,
    param,
    grad,
    learning_rate,
    moment1,
    moment2,
    moment2_max: Optional,
    beta1_pow,
    beta2_pow,
    master_param: Optional,
    skip_update: Optional,
    *,
    beta1: Scalar = 0.9,
    beta2: Scalar = 0.999,
    epsilon: Scalar = 1e-8,
    lazy_mode: bool = False,
    min_row_size_to_use_multithread: int = 1000,
    multi_precision: bool = False,
    use_global_beta_pow: bool = False,
    amsgrad: bool = False,
):
    """One step of Adam, in the memory of param and of its state. See adam_step for the formula.

    Nothing happens if skip_update holds True.
    """
    largest, master = moment2_max if amsgrad else None, master_param if multi_precision else None
    if skip_update is None or not skip_update.any():
        work = computed_in(param, master_param, multi_precision)
        rate = learning_rate.reshape(()).astype(work.dtype)
        adam_step(
            xp, work, grad, rate, moment1, moment2, largest, beta1_pow, beta2_pow,
            beta1, beta2, epsilon,
        )  # fmt: skip
        advance(beta1_pow, beta1, use_global_beta_pow)
        advance(beta2_pow, beta2, use_global_beta_pow)
        store(param, work)
    return param, moment1, moment2, largest, beta1_pow, beta2_pow, master


@adam_.infer_meta
def _(
    param, grad, learning_rate, moment1, moment2, moment2_max, beta1_pow, beta2_pow,
    master_param, skip_update, *, multi_precision, amsgrad, **attrs,
):  # fmt: skip
    return adam_metas(
        "adam_", param, grad, learning_rate, moment1, moment2, moment2_max, beta1_pow, beta2_pow,
        master_param, multi_precision, amsgrad,
    )  # fmt: skip


@op(
    source="paddle/phi/ops/yaml/ops.yaml: adamw_",
    outputs=tuple(ADAM_OUTPUTS),
    traits=TRAITS,
    inplace=ADAM_OUTPUTS,
)
def adamw_(
    xp,
    param,
    grad,
    learning_rate,
    moment1,
    moment2,
    moment2_max: Optional,
    beta1_pow,
    beta2_pow,
    master_param: Optional,
    skip_update: Optional,
    *,
    beta1: Scalar = 0.9,
    beta2: Scalar = 0.999,
    epsilon: Scalar = 1e-8,
    lr_ratio: float = 1.0,
    coeff: float = 0.01,
    with_decay: bool = False,
    lazy_mode: bool = False,
    min_row_size_to_use_multithread: int = 1000,
    multi_precision: bool = False,
    use_global_beta_pow: bool = False,
    amsgrad: bool = False,
):
    """One step of AdamW (Loshchilov, Hutter 2019): the weights shrink by
    learning_rate * lr_ratio * coeff first, then comes a step of Adam with learning_rate * lr_ratio.
    """
    largest, master = moment2_max if amsgrad else None, master_param if multi_precision else None
    if skip_update is None or not skip_update.any():
        work = computed_in(param, master_param, multi_precision)
        rate = learning_rate.reshape(()).astype(work.dtype) * work.dtype.type(lr_ratio)
        if with_decay:
            work *= work.dtype.type(1) - rate * work.dtype.type(coeff)
        adam_step(
            xp, work, grad, rate, moment1, moment2, largest, beta1_pow, beta2_pow,
            beta1, beta2, epsilon,
        )  # fmt: skip
        advance(beta1_pow, beta1, use_global_beta_pow)
        advance(beta2_pow, beta2, use_global_beta_pow)
        store(param, work)
    return param, moment1, moment2, largest, beta1_pow, beta2_pow, master


@adamw_.infer_meta
def _(
    param, grad, learning_rate, moment1, moment2, moment2_max, beta1_pow, beta2_pow,
    master_param, skip_update, *, multi_precision, amsgrad, **attrs,
):  # fmt: skip
    return adam_metas(
        "adamw_", param, grad, learning_rate, moment1, moment2, moment2_max, beta1_pow, beta2_pow,
        master_param, multi_precision, amsgrad,
    )  # fmt: skip
