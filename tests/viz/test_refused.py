"""What the functions that draw minipaddle's structures say when they get something else."""

from __future__ import annotations

import pytest

from minipaddle import viz
from minipaddle.base.framework import Program as ClassicProgram
from minipaddle.pir.core.block import Program as PirProgram
from minipaddle.viz import layout

CLASSIC = "expected a classic Program, but got"
PIR = "expected a PIR program, but got"
CASES = [
    (viz.executor_steps, PirProgram(), CLASSIC),
    (viz.memory_steps, PirProgram(), CLASSIC),
    (viz.executor_steps, None, CLASSIC),
    (lambda p: viz.prune_steps(p, []), PirProgram(), CLASSIC),
    (lambda p: viz.rewrite_steps({"a": p, "b": p}), PirProgram(), CLASSIC),
    (viz.append_backward_steps, PirProgram(), CLASSIC),
    (lambda p: viz.growth_steps(lambda: None, p, p), PirProgram(), CLASSIC),
    (viz.program_graph, 3, "expected a Program, but got int"),
    (viz.ProgramFilm, ClassicProgram(), PIR),
    (viz.ProgramFilm, None, PIR),
    (viz.dce_steps, ClassicProgram(), PIR),
    (lambda p: viz.fusion_steps(p, []), ClassicProgram(), PIR),
    (lambda p: viz.pass_steps(p, ["dead_code_elimination_pass"]), ClassicProgram(), PIR),
    (viz.grad_graph, 3.0, "expected tensors to be a list"),
    (viz.grad_graph, [3.0], "expected Tensors, but got float"),
    (viz.backward_steps, 3.0, "expected tensors to be a list"),
    (viz.backward_steps, [3.0], "expected Tensors of minipaddle, but got float"),
    (viz.sot_steps, len, "expected a function made by to_static"),
    (viz.ring_steps, [[1.0], [2.0]], "expected what spawn"),
    (viz.schedule_steps, 3, "expected schedule to be a list"),
    (viz.schedule_timeline, "F0", "expected schedule to be a list"),
]


@pytest.mark.parametrize(("draw", "what", "words"), CASES)
def test_something_else_is_refused_in_words(draw, what, words):
    with pytest.raises(TypeError, match=words):
        draw(what)


def test_edges_that_take_too_long_to_draw_are_refused(monkeypatch):
    monkeypatch.setattr(layout, "MOST_BENDS", 1_000)
    sizes = {str(i): (60.0, 32.0) for i in range(100)}
    edges = [(i, str(i), str(i + 1)) for i in range(99)]
    layout.place(sizes, edges)
    edges += [(100 + i, str(i), "99") for i in range(0, 99, 2)]
    with pytest.raises(ValueError, match=r"Show a part of the graph, or .* .viz.grouped."):
        layout.place(sizes, edges)
