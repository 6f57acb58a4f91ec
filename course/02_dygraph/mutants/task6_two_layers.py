    class OfAngle(PyLayer):
        @staticmethod
        def forward(ctx, radius, angle, unit, function, slope):
            ctx.save_for_backward(radius, angle)
            ctx.rest = unit, function, slope
            return radius * function(angle * unit)

        @staticmethod
        def backward(ctx, grad):
            radius, angle = ctx.saved_tensor()
            unit, function, slope = ctx.rest
            return (
                None if radius.stop_gradient else grad * function(angle * unit),
                None if angle.stop_gradient else grad * radius * slope(angle * unit) * unit,
            )

    x = OfAngle.apply(radius, angle, unit, paddle.cos, lambda a: paddle.sin(a) * -1.0)
    return x, OfAngle.apply(radius, angle, unit, paddle.sin, paddle.cos)
