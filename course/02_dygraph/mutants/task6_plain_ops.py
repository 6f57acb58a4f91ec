    return radius * paddle.cos(angle * unit), radius * paddle.sin(angle * unit)
