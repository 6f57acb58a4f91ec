    context = paddle.pir.DrrPatternContext()
    pat = context.SourcePattern()

    def drawn(number):
        attributes = ("scale", "bias", "bias_after_scale")
        return pat.Op("pd_op.scale", {name: pat.Attr(f"{name}{number}") for name in attributes})

    drawn(1)([pat.Tensor("x")], [pat.Tensor("between")])
    drawn(2)([pat.Tensor("between")], [pat.Tensor("out")])
    

    def shift(match, number):
        bias = match.Attr(f"bias{number}")
        return bias if match.Attr(f"bias_after_scale{number}") else match.Attr(f"scale{number}") * bias

    res = pat.ResultPattern()
    attributes = {
        "scale": lambda match: match.Attr("scale1") * match.Attr("scale2"),
        "bias": lambda match: match.Attr("scale2") * shift(match, 1) + shift(match, 2),
        "bias_after_scale": True,
    }
    res.Op("pd_op.scale", attributes)([res.Tensor("x")], [res.Tensor("out")])
    return context
