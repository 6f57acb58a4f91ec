    if x.dtype is not y.dtype:
        raise TypeError("dtypes differ")
    from minipaddle.phi.infermeta.binary import broadcast_shape

    return MetaTensor(broadcast_shape("channel_add", x, y), x.dtype)
