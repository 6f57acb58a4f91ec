    for hook in list(leaf.hooks.values()):
        changed = hook(grad)
        if changed is None:
            continue
        if not isinstance(changed, np.ndarray):
            raise TypeError("a hook returns an array or None")
        grad = changed
    if leaf.grad is None:
        leaf.grad = grad.copy()
    else:
        leaf.grad += grad
