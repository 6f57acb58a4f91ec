    def agrees(function):
        tensors = [paddle.to_tensor(array, stop_gradient=False) for array in arrays]
        try:
            out = function(*tensors)
            weights = paddle.to_tensor(weights_like(out.numpy()))
            gradients = paddle.grad(out, tensors, weights, allow_unused=True)
        except Exception:
            return False
        for gradient, slope in zip(gradients, measured(function, *arrays)):
            found = np.zeros_like(slope) if gradient is None else gradient.numpy()
            if found.shape != slope.shape or not np.allclose(found, slope, rtol=1e-4, atol=1e-7):
                return False
        return True

    if not agrees(function):
        return "wrong gradient"
    if not all(agrees(gradient_of(function, which)) for which in range(1)):
        return "wrong second gradient"
    return "right"
