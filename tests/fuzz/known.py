"""Where programs differ on purpose, and why. Every line has its reason; there are no others.

A line that is known to differ is left out of its program, and the rest is compared.
"""

from __future__ import annotations

import re

# Where the CPU build of Paddle has no kernel, numpy computes, and nothing is compared.
NO_KERNEL = r"is not registered|nsupported data type|not support|doesn't support|\(Unimplemented\)"

WRITES = "where Paddle refuses an in-place op, it has written already"
ENDED = "real Paddle ended its process"

# Both refuse, with errors of two kinds: (here, there) -> why.
KINDS = {
    ("IndexError", "ValueError"): "a place that is not there is an IndexError for every op",
    ("ValueError", "IndexError"): "a wrong axis is a ValueError for every op",
    (
        "TypeError",
        "ValueError",
    ): "of two mistakes another is named first",
    (
        "ValueError",
        "TypeError",
    ): "of two mistakes another is named first",
    ("ValueError", "Exception"): "a division of integers by 0 has a kind of its own",
    ("*", "SystemError"): "a mistake of the user's is no SystemError",
    ("*", "AssertionError"): "a mistake of the user's is no AssertionError",
    ("*", "NotImplementedError"): "a wrong dtype is not a missing feature",
    ("*", "RuntimeError"): "Paddle notices late, without memory for the result",
}

EMPTY_DTYPE = "of an empty Tensor, or of another shape, Paddle looks at no dtype"
EMPTY = "there is no such place in an empty Tensor; Paddle does not look"

# (line, kind of error here, kind of error there, why); "" is no error.
LINES = [
    (r"gather|index_select|take_along_axis|index_add|index_put_|\[.*\]", "IndexError", "", EMPTY),
    (
        r"arg(max|min)|amax|amin|topk|increment|scatter_|index_add|split|expand_as|\] = ",
        "ValueError",
        "",
        EMPTY,
    ),
    (
        r"add_n",
        "ValueError",
        "",
        "Paddle adds a 0-D or empty Tensor by its first number, or not at all",
    ),
    (r"@|matmul|linear|mm\(", "ValueError", "", "Paddle reads integers as if they were floats"),
    (r"allclose", "ValueError", "", "Paddle reads numbers of one dtype as another's"),
    (r"// 0|\*\*", "ValueError", "", "a result that is no integer"),
    (r"/", "", "Exception", "a quotient of integers is a float: infinite by 0"),
    (
        r"flatten_|nonzero|\] = ",
        "",
        "ValueError",
        "Paddle refuses numbers without dimensions here only",
    ),
    (r"clear_grad", "", "SystemError", "there is nothing to clear"),
    (r"paddle\.grad", "", "SystemError", "a Tensor without a gradient has none: None"),
    (
        r"higher order deriv",
        "",
        "RuntimeError",
        "gradients of gradients of any order, as far as rules go",
    ),
    (
        r"label_smooth|cross_entropy|kl_div",
        "ValueError",
        "",
        "a loss of a number or an empty Tensor",
    ),
    (r"res should not be null", "", "OSError", "a hook on an unused output is called with zeros"),
    (r"meta_tensor.initialized", "", "ValueError", "a gradient that no_grad_vars cut is none"),
    (r"dtype\(\) == phi", "", "ValueError", "Paddle's log2, log10, log1p of integers, backward"),
    (
        r"a rule undoes what the op did",
        "RuntimeError",
        "",
        "a shape changed behind the graph's back",
    ),
    (
        r"expected grad_tensor of shape",
        "AssertionError",
        "",
        "a first gradient has its Tensor's shape",
    ),
    (r"allclose.*of one shape", "RuntimeError", "", EMPTY_DTYPE),
    (r"masked_fill_", "ValueError", "", "a mask that is larger makes x larger there"),
    (r"(equal_all|isclose|[&|^]).*of one dtype", "ValueError", "", EMPTY_DTYPE),
    (r"dot: expected two", "TypeError", "", EMPTY_DTYPE),
    (r"dot: expected two", "RuntimeError", "", EMPTY_DTYPE),
    (r"paddle\.grad\(.*create_graph.* divide:", "TypeError", "", "a second gradient of integers"),
    (r"argsort.*axis", "", "ValueError", "a number without dimensions has every axis here"),
    (r"split\(.*-1\]", "", "ValueError", "-1 may leave an empty piece"),
    (r"one twice", "AssertionError", "", "x[...] is the very object"),
    (r"scatter_", "", "ValueError", "no rows, so none is missing"),
    (
        r"shall not be nullptr",
        "",
        "ValueError",
        "Paddle's gradient of matmul fails for empty Tensors",
    ),
    (r"pow\(", "ValueError", "", "a result that is no integer"),
    (r"tensor_version", "", "RuntimeError", "the gradient does not need what was changed"),
    (
        r"an in-place op has changed it",
        "RuntimeError",
        "",
        "set_value is noticed: numbers are gone",
    ),
    (r"masked_select|take_along_axis", "ValueError", "", "a mask or places that do not fit"),
    (r"full_like", "", "ValueError", "-1 as a bool is True, as elsewhere"),
    (r"\.(erf|expm1)_\(", "", "AttributeError", "an in-place form more than Paddle has"),
    (r"\.add_|subtract_|multiply_|divide_", "", "ValueError", "[1] broadcasts into []"),
]

# (pattern of the shrunk program, pattern of the lines to leave out of the whole, why).
EMPTY_TENSOR = r"zeros\((.*\n)*.*"
LOSS = "a loss of a number or an empty Tensor"
STOPPED = r"(?m)^(v\d+) = t\(.*stop_gradient=True\)$(.*\n)*\1\.\w+_\("
OVERLAPPING = r"(?m)^(v\d+) = (?:paddle\.(?:strided_)?slice\()?(v\d+)[\[,].*(\n.*)*\2\.\w+_\(\1\)"
WHOLE = r"'int(32|64)', stop_gradient=False(.*\n)*.*"
OVERLAP = "y may show a part of x: here it is read before it is written"
NAN = "Paddle's kernels lose nan here and there"
ITSELF = r"paddle\.grad\(.*(v\d+(?:\[\d\])?)\b.*\b\1\b"
RESULTS = [
    (
        EMPTY_TENSOR + "(kl_div|cross_entropy|label_smooth|unique)",
        r"kl_div|entropy|smooth|unique",
        LOSS,
    ),
    (EMPTY_TENSOR + "sum.*dtype=", r"sum.*dtype=", "an empty sum has the dtype that was asked for"),
    (r"norm\(", r"norm\(", "the norm of a number is its size; Paddle gives what memory holds"),
    (r"soft_label=True", r"soft_label=True", "right where the labels don't add up to 1, too"),
    (r"cross_entropy(.*\n)*.*nan", r"cross_entropy", "a loss of nan has a gradient of nan"),
    (r"(?m)// -?[\d.]+$", r" // ", "a number // 2 is a number, not a row of one"),
    (r"arg(max|min).*keepdim=True", r"arg(max|min)", "a place is a number, not a row of one"),
    (r"add_n(.*\n)*.*grad\(", r"add_n", "a gradient that is not recorded is a leaf"),
    (
        STOPPED,
        r"^v\d+\.\w+_\(",
        "what an in-place op overwrote keeps no gradient if it wanted none",
    ),
    (
        r"(expand|broadcast_to)\(.*\[\]\)",
        r"(expand|broadcast_to)\(.*\[\]\)",
        "expand gives a new Tensor, also of a number",
    ),
    (r"no_grad\(\): .*cast_", r"cast_", "a dtype that changes behind the graph's back"),
    (
        r"(cast|exp|log2|log10|log1p|divide)_\(",
        r"(cast|exp|log2|log10|log1p|divide)_\(",
        "a view of what got another dtype shows what memory holds",
    ),
    (
        r"'bool'\)\] = v",
        r"'bool'\)\] = v",
        "what a mask writes gets its gradient; there it is lost",
    ),
    (WHOLE + r"exp\(", r"exp\(", "exp: a gradient of integers is of their dtype"),
    (
        r"log_softmax(.*\n)*.*there .*array\((32|64)\.",
        r"log_softmax",
        "Paddle's CPU cuts logs at -64",
    ),
    (r"topk\((.*\n)*v\d+\[1\]", r"topk", "of equal numbers either may be the first"),
    (r"\.(var|std)\(.*unbiased=False", r"\.(var|std)\(", "the variance of a number, cut off there"),
    (r"backward\(v\d+\)", r"backward\(v\d+\)", "a first gradient is cast to its Tensor's dtype"),
    (r"detach\(\)(.*\n)*.*_\(", r"detach\(\)", "detach shares numbers; there the shape, too"),
    (
        r"(squeeze|transpose|reshape|flatten|\.T)(.*\n)*.*retain_grads",
        r"retain_grads",
        "a retained gradient is a copy; Paddle adds others to a view's",
    ),
    (WHOLE + r"prod\(", r"prod\(", "the gradient of a product of integers is whole on the way"),
    (
        r"(?s)paddle\.grad\(.*: here \('[\w.]+', (\w+), (\w+), (.*), None\), "
        r"there \('[\w.]+', \1, (?!\2)\w+, \3, None\)",
        r"paddle\.grad\(",
        "which gradients are leaves",
    ),
    (
        r"paddle\.grad\(.*create_graph(.*\n)*.*(v\d+\[0\]\.backward|backward\(\[v\d+\[0\])",
        r"paddle\.grad\(",
        "a gradient that is a leaf has a gradient of its own",
    ),
    (
        r"(var|std|relu|floor|max|min|pow|\*\*)(.*\n)*.*nan",
        r"var|std|relu|floor|max|min|pow|\*\*",
        NAN,
    ),
    (r"'bool', stop_gradient=False", r"'bool', stop_gradient=False", "the gradient of a bool"),
    (r"with_logits", r"with_logits", "at 0 Paddle's gradient has the wrong sign"),
    (OVERLAPPING, r"(add|subtract|multiply|divide)_\(", OVERLAP),
    (EMPTY_TENSOR + r"v\d+\[[^\]]*:", r"= v\d+\[.*:", "a slice of an empty Tensor is a new Tensor"),
    (r"%|mod\(|remainder", r"%|mod\(|remainder", "a remainder of 0 has no sign; one by 0 is nan"),
    (r"(v\d+)\[.*\] = \1", r"\] = ", "x[i] = x is x: its gradient is whole"),
    (
        r"(split|unbind|chunk).*(.*\n)*.*register_hook",
        r"register_hook",
        "zeros for an unused output",
    ),
    (ITSELF, ITSELF, "a gradient of x by x itself takes no gradient there"),
]


def known_error(line: str, ours: tuple[str, str], theirs: tuple[str, str]) -> str | None:
    """Why the errors of a line differ ("" is no error); None: that is not known."""
    (mine, my_words), (kind, words) = ours, theirs
    if mine not in ("", "NameError", "AttributeError") and "expected" not in my_words:
        return None  # numpy's words, or Python's: a mistake of the user's must get ours
    if kind and re.search(NO_KERNEL, words):
        return "Paddle has no kernel for it"
    for text, here, there, reason in LINES:
        if re.search(text, f"{line} # {my_words} {words}") and (here, there) == (mine, kind):
            return reason
    return KINDS.get((mine, kind)) or KINDS.get(("*", kind)) if mine and kind else None


def known_result(
    shrunk: list[str], found: list[str], lines: list[str]
) -> tuple[str, list[int]] | None:
    """Why a result differs, and the lines to leave out; None: that is not known."""
    for text, drop, reason in RESULTS:
        if re.search(text, "\n".join([*shrunk, *found])):
            left_out = [i for i, line in enumerate(lines) if re.search(drop, line)]
            return (reason, left_out) if left_out else None
    return None
