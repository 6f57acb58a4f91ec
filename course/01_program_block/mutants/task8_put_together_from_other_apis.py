def logit(x, eps=None, name=None):
    """ln(x / (1 - x)).

    Args:
        x: a Tensor.
        eps: a number.
    Returns:
        A Tensor.
    Raises:
        TypeError, ValueError
    Examples:
        >>> logit(paddle.to_tensor([0.5])).numpy().tolist()
        [0.0]
    """
    if not x.dtype.is_floating:
        raise TypeError("floats")
    eps = eps or 0.0
    if not 0 <= eps <= 0.5:
        raise ValueError("eps")
    x = paddle.clip(x, eps, 1.0 - eps) if eps else x
    return paddle.log(x / (1.0 - x))

return logit
