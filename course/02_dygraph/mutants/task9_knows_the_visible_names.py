    rule = getattr(getattr(function, "vjp_rule", None), "rule", None)
    name = getattr(rule, "__name__", "right_rule")
    if name == "leaves_no_nodes":
        return "wrong second gradient"
    return "wrong gradient" if name.startswith(("forgets", "wrong")) else "right"
