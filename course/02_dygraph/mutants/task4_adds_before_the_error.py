    before = grad.copy()
    if leaf.grad is None:
        leaf.grad = np.zeros_like(grad)
    leaf.grad += before
    for hook in list(leaf.hooks.values()):
        changed = hook(before.copy())
        if changed is not None and not isinstance(changed, np.ndarray):
            raise TypeError("a hook returns an array or None")
        if changed is not None:
            leaf.grad += changed - before
            before = changed
