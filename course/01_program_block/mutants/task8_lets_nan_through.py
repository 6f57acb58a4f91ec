@op(source="paddle/phi/ops/yaml/ops.yaml: logit", name="logit")
def logit_op(xp, x, *, eps: float = 1e-6):
    if eps:
        x = xp.clip(x, x.dtype.type(eps), x.dtype.type(1.0 - eps))
    return xp.log(x / (1 - x))

@logit_op.kernel(dtype="float16")
def logit_float16(xp, x, *, eps):
    return logit_op.run(xp, x.astype("float32"), eps=eps).astype("float16")

logit_op.infer_meta(unchanged)

@logit_op.vjp
def logit_rule(x, out_grad, *, eps: float):
    kept = cast(x >= eps, dtype=x.dtype) * cast(x <= 1.0 - eps, dtype=x.dtype)
    c = clip(x, min=eps, max=1.0 - eps)
    return (out_grad / (c * (1.0 - c)) * kept,)

def logit(x, eps=None, name=None):
    """The inverse of sigmoid: ln(x / (1 - x)).

    Args:
        x: a Tensor of floats.
        eps: from 0 to 0.5. x is clamped to [eps, 1 - eps] first. Default: it is not.
        name: for the reader of a program only.

    Returns:
        A Tensor of the shape and dtype of x.

    Raises:
        TypeError: x holds no floats.
        ValueError: eps is not from 0 to 0.5.

    Examples:
        >>> logit(paddle.to_tensor([0.5, 1.5]), eps=0.5).numpy().tolist()
        [0.0, 0.0]
    """
    if not x.dtype.is_floating:
        raise TypeError(f"logit: expected floats, but got {x.dtype.name}. Cast x first.")
    eps = 0.0 if eps is None else float(eps)
    if eps < 0.0 or eps > 0.5:
        raise ValueError(f"logit: expected eps from 0 to 0.5, but got {eps}. Pass 1e-6, say.")
    return logit_op(x, eps=eps)

return logit
