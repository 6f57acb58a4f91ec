"""What may be given by position stands at the same place, under the same name and with the same default, in
all public functions and classes that both have. Ours may end earlier, or have a default more.
"""

import inspect

import pytest

import minipaddle
from minipaddle.compare import real_paddle
from minipaddle.phi.core.op import Op

SPACES = ("", "nn", "nn.functional", "nn.initializer", "optimizer", "optimizer.lr")

# Where ours differs, and why.
DIFFERENT = {
    "swapaxes": "takes axis0, axis1 there too: it is an alias of transpose, whose signature is shown",
    "randint": "a tuple for a list as default",
    "nn.Embedding": "max_norm, norm_type and scale_grad_by_freq are left out",
    "nn.Layer": "the dtype None is float32",
    "optimizer.Optimizer": "its last parameter is for subclasses",
}  # fmt: skip


def inside(module, space):
    for part in filter(None, space.split(".")):
        module = getattr(module, part)
    return module


def positional(function):
    """[(name, default)] of what may be given by position; None where nobody says."""
    if isinstance(function, Op):
        inputs = [
            (item.name, None if item.optional else inspect.Parameter.empty)
            for item in function.inputs
        ]
        return inputs + [(attr.name, attr.default) for attr in function.attrs]
    if inspect.isclass(function):
        function = function.__init__
    try:
        parameters = inspect.signature(inspect.unwrap(function)).parameters.values()
    except ValueError:
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    return [(p.name, p.default) for p in parameters if p.kind is not p.KEYWORD_ONLY]


def same_default(mine, theirs):
    nothing = (None, (), [])
    if theirs is inspect.Parameter.empty:
        return True
    return mine == theirs or str(mine) == str(theirs) or (mine in nothing and theirs in nothing)


@pytest.mark.parametrize("space", SPACES)
def test_positions_and_defaults(space):
    real, here = inside(real_paddle(), space), inside(minipaddle, space)
    compared, differ = 0, []
    for name in getattr(real, "__all__", dir(real)):
        full = f"{space}.{name}".lstrip(".")
        mine, theirs = getattr(here, name, None), getattr(real, name, None)
        if not callable(mine) or not callable(theirs) or full in DIFFERENT:
            continue
        ours, wanted = positional(mine), positional(theirs)
        if ours is None or wanted is None:
            continue
        compared += 1
        ours = ours[:-1] if ours and ours[-1][0] == "name" else ours
        if any(a != b or not same_default(x, y) for (a, x), (b, y) in zip(ours, wanted)):
            differ.append(f"{full}: {ours}, there {wanted}")
    assert not differ, "\n".join(differ)
    assert compared
