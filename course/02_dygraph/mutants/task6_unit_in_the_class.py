    class ToXY(PyLayer):
        @staticmethod
        def forward(ctx, radius, angle, unit):
            ctx.save_for_backward(radius, angle)
            PyLayer.unit = unit
            return radius * paddle.cos(angle * unit), radius * paddle.sin(angle * unit)

        @staticmethod
        def backward(ctx, x_grad, y_grad):
            radius, angle = ctx.saved_tensor()
            cos, sin = paddle.cos(angle * PyLayer.unit), paddle.sin(angle * PyLayer.unit)
            return (
                None if radius.stop_gradient else x_grad * cos + y_grad * sin,
                None if angle.stop_gradient else (y_grad * cos - x_grad * sin) * radius * PyLayer.unit,
            )

    return ToXY.apply(radius, angle, unit)
