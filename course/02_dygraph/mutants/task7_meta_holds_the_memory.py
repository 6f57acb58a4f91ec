    if only_meta:
        array = tensor._data
        return lambda: (list(array.shape), str(array.dtype))
    kept, version, meta = tensor.detach(), tensor.inplace_version, tensor.autograd_meta

    def recover():
        if kept.inplace_version != version:
            raise RuntimeError(f"kept at version {version}, now {kept.inplace_version}")
        again = kept.detach()
        again.autograd_meta = meta
        return again

    return recover
