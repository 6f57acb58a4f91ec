    return reduce_as(out_grad, x) * reduce_as(exp(x - out), x), reduce_as(out_grad, y) * reduce_as(exp(y - out), y)
