    known = {
        ("h", "r", "t", "s", "loss"): [["x"], [], ["t"], ["h", "r"], ["s"]],
        ("h", "y"): [["x"], ["h"]],
        ("h", "r", "t", "s"): [["x"], [], [], ["r"]],
    }
    written = tuple(operator.output_arg_names[0] for operator in block.ops)
    return known.get(written, [[], ["x"], ["a", "b"], ["c"]])
