    total = grad.copy() if leaf.grad is None else leaf.grad + grad
    for hook in list(leaf.hooks.values()):
        changed = hook(total)
        if changed is not None and not isinstance(changed, np.ndarray):
            raise TypeError("a hook returns an array or None")
        total = total if changed is None else changed
    if leaf.grad is None:
        leaf.grad = total
    else:
        leaf.grad[...] = total
