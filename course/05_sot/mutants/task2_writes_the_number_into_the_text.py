    where = tracker.expression(guard.constants)
    if isinstance(value, Tensor):
        guard.require(f"isinstance({where}, Tensor)")
        guard.require(f"{where}.shape == {list(value.shape)}")
        guard.require(f"{where}.dtype is {guard.keep(value.dtype)}")
        guard.require(f"{where}.stop_gradient is {value.stop_gradient}")
    elif isinstance(value, (list, tuple)):
        guard.require(f"type({where}) is {guard.keep(type(value))}")
        guard.require(f"len({where}) == {len(value)}")
        for number, item in enumerate(value):
            add(guard, GetItemTracker(tracker, number), item)
    elif value is None or isinstance(value, (bool, int, float, str)):
        guard.require(f"type({where}) is {guard.keep(type(value))}")
        guard.require(f"{where} == {value!r}")
    else:
        guard.require(f"{where} is {guard.keep(value)}")
