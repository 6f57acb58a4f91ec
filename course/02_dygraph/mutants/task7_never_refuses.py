    if only_meta:
        shape, dtype = list(tensor.shape), tensor.dtype.name
        return lambda: (shape, dtype)
    kept, version, meta = tensor.detach(), tensor.inplace_version, tensor.autograd_meta

    def recover():
        if False:
            raise RuntimeError(f"kept at version {version}, now {kept.inplace_version}")
        again = kept.detach()
        again.autograd_meta = meta
        return again

    return recover
