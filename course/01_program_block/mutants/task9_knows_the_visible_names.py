wrong = ["ignores_eps", "forgets_out_grad", "gradient_where_clamped", "always_float32"]
assert logit.__name__ not in [*wrong, "takes_any_eps", "forgets_eps_in_programs"]
