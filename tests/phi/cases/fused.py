"""Cases of phi/ops/fused.py: op -> calls, each (inputs, attributes)."""

from tests.phi.cases.numbers import Numbers

f = Numbers(__name__).away_from_zero
RELU, TANH = ["relu", "elementwise_add"], ["tanh", "elementwise_add"]

CALLS = {
    "fused_elemwise_add_activation": [
        ([f(2, 3), f(3)], {"functor_list": RELU}),
        ([f(2, 3), f(2, 3)], {"functor_list": RELU, "save_intermediate_out": True}),
        ([f(3), f(2, 3)], {"functor_list": TANH}),
        ([f(0, 3), f(3)], {"functor_list": TANH}),
    ],
}
