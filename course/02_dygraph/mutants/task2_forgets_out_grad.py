    return reduce_as(exp(x - out), x), reduce_as(exp(y - out), y)
