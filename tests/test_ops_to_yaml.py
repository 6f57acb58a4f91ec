"""tools/ops_to_yaml.py prints what stands in Paddle's ops.yaml and backward.yaml."""

import re

import pytest

from minipaddle.phi.core.op import OPS
from tools.ops_to_yaml import backward_yaml, main, ops_yaml

# Lines of Paddle's own entries.
OPS_YAML = {
    "abs": {
        "args": "(Tensor x)",
        "output": "Tensor(out)",
        "inplace": "(x -> out)",
        "backward": "abs_grad",
    },
    "addmm": {
        "args": "(Tensor input, Tensor x, Tensor y, float beta=1.0, float alpha=1.0)",
        "inplace": "(input -> out)",
        "backward": "addmm_grad",
    },
    "all": {
        "args": "(Tensor x, int64_t[] axis={}, bool keepdim=false)",
        "traits": "paddle::dialect::ForwardOnlyTrait",
    },
    "argmax": {
        "args": "(Tensor x, Scalar(int64_t) axis, bool keepdims = false, bool flatten = false, "
        "DataType dtype = DataType::INT64)",
        "output": "Tensor(out)",
    },
    "argsort": {
        "args": "(Tensor x, int axis=-1, bool descending=false, bool stable=false)",
        "output": "Tensor(out), Tensor(indices)",
        "backward": "argsort_grad",
    },
    "assign_value_": {
        "args": "(Tensor output, int[] shape, DataType dtype, Scalar[] values, Place place = {})",
        "inplace": "(output -> out)",
        "traits": "paddle::dialect::ForwardOnlyTrait",
    },
    "matmul": {
        "args": "(Tensor x, Tensor y, bool transpose_x = false, bool transpose_y = false)",
        "func": "MatmulInferMeta",
        "backward": "matmul_grad",
    },
    "meshgrid": {"args": "(Tensor[] inputs)", "output": "Tensor[](out)"},
    "sgd_": {"optional": "master_param"},
}
BACKWARD_YAML = {
    "mean": {
        "forward": "mean (Tensor x,  IntArray axis={},  bool keepdim=false) -> Tensor(out)",
        "args": "(Tensor x, Tensor out_grad, IntArray axis, bool keepdim, bool reduce_all=false)",
        "output": "Tensor(x_grad)",
        "func": "UnchangedInferMeta",
        "param": "[x]",
        "no_need_buffer": "x",
    },
    "nll_loss": {
        "args": "(Tensor input, Tensor label, Tensor weight, Tensor total_weight, Tensor out_grad, "
        "int64_t ignore_index, str reduction)",
        "output": "Tensor(input_grad)",
        "optional": "weight",
    },
    "p_norm": {
        "args": "(Tensor x, Tensor out, Tensor out_grad,  float porder,  int axis,  "
        "float epsilon,  bool keepdim,  bool asvector)",
    },
    "meshgrid": {
        "args": "(Tensor[] inputs, Tensor[] out_grad)",
        "output": "Tensor[](inputs_grad)",
    },
    "flip": {"args": "(Tensor out_grad, int[] axis)", "invoke": "flip(out_grad, axis)"},
}  # fmt: skip


def fields(entry):
    """{"args": text, ...} of an entry; `func` is the first one, InferMeta's."""
    found = {}
    for key, value in re.findall(r"^\s*(?:- )?(\w+) : ?(.*)$", entry, re.MULTILINE):
        found.setdefault(key, same_words(value))
    return found


def same_words(text):
    """Without blanks around marks; int64_t is int (ours is one kind)."""
    text = re.sub(r"\s+", " ", re.sub(r"int64_t(?=\[\]| )", "int", text))
    return re.sub(r" ?([=,(){}>-]) ?", r"\1", text).strip()


@pytest.mark.parametrize("name", list(OPS_YAML))
def test_an_entry_of_ops_yaml(name):
    found = fields(ops_yaml(OPS[name]))
    assert found["op"] == name
    for key, value in OPS_YAML[name].items():
        assert found[key] == same_words(value)


@pytest.mark.parametrize("name", list(BACKWARD_YAML))
def test_an_entry_of_backward_yaml(name):
    found = fields(backward_yaml(OPS[name]))
    assert found["backward_op"] == f"{name}_grad"
    for key, value in BACKWARD_YAML[name].items():
        assert found[key] == same_words(value)


def test_every_op_can_be_printed(capsys):
    main([])
    text = capsys.readouterr().out
    entries = dict.fromkeys(re.findall(r"^- op : (\S+)$", text, re.MULTILINE))
    assert list(entries) == sorted(OPS)
    assert len(re.findall(r"^- backward_op : ", text, re.MULTILINE)) == sum(
        op.vjp_rule is not None for op in OPS.values()
    )


def test_an_unknown_name_is_an_error(capsys):
    with pytest.raises(SystemExit):
        main(["matmull"])
    assert "expected names of ops, but got ['matmull']" in capsys.readouterr().err
