@op(source="paddle/phi/ops/yaml/ops.yaml: logit")
def logit(xp, x, *, eps: float = 1e-6):
    """ln(x / (1 - x)).

    Args:
    Returns:
    Raises:
    Examples:
        >>> logit(paddle.to_tensor([0.5])).numpy().tolist()
        [0.0]
    """
    c = xp.clip(x, x.dtype.type(eps), x.dtype.type(1.0 - eps))
    return xp.log(c / (1 - c))

logit.infer_meta(unchanged)

@logit.vjp
def logit_rule(x, out_grad, *, eps: float):
    kept = cast(x >= eps, dtype=x.dtype) * cast(x <= 1.0 - eps, dtype=x.dtype)
    c = clip(x, min=eps, max=1.0 - eps)
    return (out_grad / (c * (1.0 - c)) * kept,)

return logit
