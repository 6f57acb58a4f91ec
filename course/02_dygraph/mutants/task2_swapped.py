    return reduce_as(out_grad * exp(y - out), x), reduce_as(out_grad * exp(x - out), y)
