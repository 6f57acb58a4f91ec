    where = tracker.expression(guard.constants)
    if isinstance(value, Tensor):
        guard.require(f"isinstance({where}, Tensor) and len({where}) == 2")
    elif isinstance(value, list):
        guard.require(f"{where}[0].shape == [2] and {where}[1] == 3")
    else:
        guard.require(f"type({where}) is int and {where} == {guard.keep(value)}")
