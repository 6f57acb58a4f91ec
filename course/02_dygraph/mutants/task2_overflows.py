    total = exp(x) + exp(y)
    return reduce_as(out_grad * exp(x) / total, x), reduce_as(out_grad * exp(y) / total, y)
