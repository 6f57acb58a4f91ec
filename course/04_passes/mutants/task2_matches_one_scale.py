    context = paddle.pir.DrrPatternContext()
    pat = context.SourcePattern()
    attributes = {name: pat.Attr(name) for name in ("scale", "bias", "bias_after_scale")}
    pat.Op("pd_op.scale", attributes)([pat.Tensor("x")], [pat.Tensor("out")])
    pat.AddConstraint(lambda match: not match.Attr("bias_after_scale"))
    res = pat.ResultPattern()
    attributes = {
        "scale": lambda match: match.Attr("scale"),
        "bias": lambda match: match.Attr("scale") * match.Attr("bias"),
        "bias_after_scale": True,
    }
    res.Op("pd_op.scale", attributes)([res.Tensor("x")], [res.Tensor("out")])
    return context
