    return reduce_as(out_grad * 0.5, x), reduce_as(out_grad * 0.5, y)
