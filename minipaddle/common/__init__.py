"""The ground floor: words that every other floor uses (dtypes, places, shapes, unique names). It
imports nothing of ours.

    dtype         `paddle.float32` and its relatives
    enforce       a check that many functions make of what a user gives
    errors        the errors that have no plain Python name
    flags         settings of the whole process, by name
    place         on which device a Tensor's data lives
    size          the type of `Tensor.shape`
    unique_name   names for variables, parameters and layers
"""
