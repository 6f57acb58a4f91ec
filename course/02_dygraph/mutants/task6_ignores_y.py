    class ToXY(PyLayer):
        @staticmethod
        def forward(ctx, radius, angle, unit):
            ctx.save_for_backward(radius, angle)
            ctx.unit = unit
            return radius * paddle.cos(angle * unit), radius * paddle.sin(angle * unit)

        @staticmethod
        def backward(ctx, x_grad, y_grad):
            radius, angle = ctx.saved_tensor()
            cos, sin = paddle.cos(angle * ctx.unit), paddle.sin(angle * ctx.unit)
            return (
                None if radius.stop_gradient else x_grad * cos,
                None if angle.stop_gradient else (0.0 - x_grad * sin) * radius * ctx.unit,
            )

    return ToXY.apply(radius, angle, unit)
