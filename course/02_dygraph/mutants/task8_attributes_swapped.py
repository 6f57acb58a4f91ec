    @op(source="paddle/phi/ops/yaml/ops.yaml: stanh")
    def stanh(xp, x, *, scale_b: float = 0.67, scale_a: float = 1.7159):
        a, b = x.dtype.type(scale_a), x.dtype.type(scale_b)
        return b * xp.tanh(a * x)

    stanh.infer_meta(unchanged)

    @stanh.vjp
    def rule(x, out_grad, *, scale_a: float, scale_b: float):
        t = tanh(x * scale_a)
        return (out_grad * (1.0 - t * t) * (scale_a * scale_b),)

    return stanh
