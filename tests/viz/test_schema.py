"""The form of the data: every function that makes steps keeps to the schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_type_hints

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.distributed as dist
import minipaddle.nn.functional as F
from minipaddle import viz
from minipaddle.jit.sot import symbolic_translate
from minipaddle.viz import schema

jsonschema = pytest.importorskip(
    "jsonschema", reason="the schema is checked by: pip install .[dev]"
)


def loss() -> paddle.Tensor:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    return (x * x).sum()


def classic() -> tuple:
    with paddle.pir_utils.OldIrGuard():
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            out = F.relu(paddle.static.data("x", [2, 2], "float32") * 2.0)
    return main, out


def pir() -> Any:
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 2], "float32")
        paddle.nn.functional.relu(paddle.nn.Linear(2, 2)(x))
        paddle._pir_ops.fetch(paddle.tanh(x), "out", 0)
    return main


def in_static(make: Callable[[], Any]) -> Callable[[], Any]:
    def made() -> Any:
        paddle.enable_static()
        try:
            return make()
        finally:
            paddle.disable_static()

    return made


def old(make: Callable[..., Any]) -> Callable[[], Any]:
    """`make(program, feed, fetch_list)` on a classic program."""

    def made() -> Any:
        main, out = classic()
        with paddle.pir_utils.OldIrGuard():
            return make(main, {"x": np.ones((2, 2), "float32")}, [out])

    return in_static(made)


def grown(main: Any, *_: Any) -> viz.Player:
    def build() -> None:
        paddle.static.data("more", [2], "float32")

    return viz.growth_steps(build, main, paddle.static.Program())


def with_gradients(main: Any, _: Any, fetch: list[Any]) -> viz.Player:
    x = main.global_block().var("x")
    x.stop_gradient = False
    with paddle.static.program_guard(main):
        paddle.static.gradients(paddle.mean(fetch[0]), [x])
    return viz.append_backward_steps(main)


def film() -> list[viz.Step]:
    made = viz.ProgramFilm(pir(), uses=True)
    made.take("one")
    return made.steps


def symbolic() -> list[viz.Step]:
    translated = symbolic_translate(lambda x: x * 2)
    translated(paddle.to_tensor([1.0]))
    return viz.sot_steps(translated)


def ring() -> list[viz.Step]:
    def talk() -> None:
        dist.all_reduce(paddle.to_tensor([1.0, 2.0]))

    return viz.ring_steps(dist.spawn(talk, nprocs=2))


PASSES = ["dead_code_elimination_pass", "matmul_add_act_fuse_pass"]
MADE = {
    "grad_graph": lambda: viz.grad_graph(loss()),
    "grad_graph_steps": lambda: viz.grad_graph_steps("x = paddle.ones([2])\ny = x * 2"),
    "backward_steps": lambda: viz.backward_steps(loss()),
    "append_backward_steps": old(with_gradients),
    "growth_steps": old(grown),
    "prune_steps": old(lambda main, _, fetch: viz.prune_steps(main, fetch)),
    "rewrite_steps": old(lambda main, *_: viz.rewrite_steps({"main": main, "clone": main.clone()})),
    "dependency_steps": old(viz.dependency_steps),
    "executor_steps": old(viz.executor_steps),
    "memory_steps": old(viz.memory_steps),
    "program_graph, classic": old(lambda main, *_: viz.program_graph(main)),
    "program_graph, PIR": in_static(lambda: viz.program_graph(pir())),
    "ProgramFilm": in_static(film),
    "dce_steps": in_static(lambda: viz.dce_steps(pir())),
    "fusion_steps": in_static(lambda: viz.fusion_steps(pir(), [])),
    "pass_steps": in_static(lambda: viz.pass_steps(pir(), PASSES)),
    "sot_steps": symbolic,
    "ring_steps": ring,
    "schedule_steps": lambda: viz.schedule_steps([(0, "F0", 0, 1), (1, "F0", 1, 2)]),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE.keys())
def test_steps_keep_to_the_schema_and_come_back(make):
    made = make()
    steps = made if isinstance(made, list) else made.steps
    written = viz.dumps(steps)
    jsonschema.validate(json.loads(written), viz.json_schema())
    assert viz.loads(written) == steps
    assert str(viz.Player(steps)) and viz.Player(steps).to_svg().startswith("<svg ")


def test_the_schema_refuses_what_a_reader_could_not_draw():
    good = json.loads(viz.dumps(viz.step("s", viz.graph(["x"]))))
    jsonschema.validate(good, viz.json_schema())
    pane = good["steps"][0]["panes"][0]
    for key, value in {"type": "map", "direction": "up", "nodes": ["x"], "more": 1}.items():
        bad = {**good, "steps": [{**good["steps"][0], "panes": [{**pane, key: value}]}]}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, viz.json_schema())


def test_the_constructors_fill_in_all_fields():
    made = {
        schema.Node: viz.node("x"),
        schema.Edge: viz.edge("x", "y"),
        schema.Cluster: viz.cluster("c", []),
        schema.Bar: viz.bar("a", 0, 1),
        schema.GraphPane: viz.graph(["x"]),
        schema.TextPane: viz.text("a"),
        schema.TablePane: viz.table(["a"]),
        schema.TimelinePane: viz.timeline(["a"]),
        schema.Step: viz.step("s", viz.text("a")),
    }
    for form, value in made.items():
        assert set(value) == set(get_type_hints(form))
