    return out_grad * exp(x - out), out_grad * exp(y - out)
