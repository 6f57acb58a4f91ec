wrong = ["ignores_eps", "forgets_out_grad", "lets_gradients_through", "gives_float32"]
assert logit.__name__ not in [*wrong, "takes_any_eps", "forgets_eps_in_programs"]
