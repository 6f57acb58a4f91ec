    shape, dtype = list(tensor.shape), tensor.dtype.name
    kept, version, meta = tensor.detach(), tensor.inplace_version, tensor.autograd_meta

    def recover():
        if kept.inplace_version != version:
            raise RuntimeError(f"kept at version {version}, now {kept.inplace_version}")
        if only_meta:
            return shape, dtype
        again = kept.detach()
        again.autograd_meta = meta
        return again

    return recover
