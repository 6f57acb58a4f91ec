"""The panes of the static picture: a graph, a text, a table, a timeline, each as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from .bars import AXIS, Axis
from .looks import (
    BARS,
    COLUMN,
    KINDS,
    OTHER,
    OTHER_BAR,
    SMALL_SIZE,
    STATES,
    bar_outline,
    baselines,
    columns,
    cut,
)
from .svg_marks import CARD, FAINT, INK, PAPER, RULE, Piece, at, letters, num, sign_of

MOST_LINES, MOST_COLUMNS, MOST_ROWS, MOST_CELL = 22, 76, 14, 30
TOKENS = {"c": "#64748b", "s": "#15803d", "v": "#7c3aed", "n": "#b45309", "k": "#1d4ed8"}
WIDEST_AXIS = 760.0
BORDERS = {  # state -> stroke width, dashes, opacity
    "now": (2.6, "", 1),
    "ready": (2.2, "", 1),
    "waiting": (1.3, "4 3", 0.85),
    "done": (1.2, "", 0.75),
    "new": (2.2, "", 1),
    "changed": (2.2, "", 1),
    "removed": (1.4, "3 3", 0.6),
    "matched": (2.4, "6 3", 1),
}


def _caption(words: str, room: bool) -> tuple[float, str]:
    """`room`: a pane beside this one has a caption, so that this one leaves the same room."""
    text = letters(words, 0, 12, size=11, colour=FAINT, bold=True) if words else ""
    return (20.0 if room else 0.0), text


def _graph(scene: dict[str, Any], pane: dict[str, Any], captions: bool) -> Piece:
    place = scene["places"][pane["place"]]
    top, out = _caption(pane["name"], captions)
    tallest = 640 if len(scene["steps"]) > 1 else 1400
    scale = min(1.0, 900 / max(place["width"], 1), tallest / max(place["height"], 1))
    body = []
    for frame in place["clusters"]:
        if frame["id"] in pane["clusters"]:
            x, y = frame["x"] - frame["w"] / 2, frame["y"] - frame["h"] / 2
            body.append(
                f'<rect x="{num(x)}" y="{num(y)}" width="{num(frame["w"])}" '
                f'height="{num(frame["h"])}" rx="8" '
                f'fill="#64748b" fill-opacity="0.07" stroke="#94a3b8" stroke-dasharray="5 3"/>'
                + letters(
                    pane["clusters"][frame["id"]], x + 9, y + 15, size=11, colour=FAINT, bold=True
                )
            )
    edges = [scene["edges"][number] for number in pane["edges"]]
    for e in edges:
        body.append(_edge(place["edges"][e["key"]], e["state"]))
    nodes = []
    for n in (scene["nodes"][number] for number in pane["nodes"]):
        nodes.append(_node(n, place["nodes"][n["id"]], scene["shapes"][n["shape"]]))
    body.append(f'<g text-anchor="middle">{"".join(nodes)}</g>')
    for e in edges:  # words last: on top of the lines
        drawn = place["edges"][e["key"]]
        said = [e["label"], *drawn["label"]] if e["label"] else None
        for label, anchor in ((said, "middle"), (drawn["slot"], "start")):
            if label:
                words, x, y = label
                body.append(
                    f'<text x="{num(x)}" y="{num(y + 3)}" font-size="10.5" text-anchor="{anchor}" '
                    f'fill="{FAINT}" stroke="{CARD}" stroke-width="3" '
                    f'paint-order="stroke">{escape(words)}</text>'
                )
    transform = f"translate(0,{num(top)})" + (f" scale({scale:.3f})" if scale < 1 else "")
    out += f'<g transform="{transform}">{"".join(body)}</g>'
    return place["width"] * scale, place["height"] * scale + top, out


def _edge(drawn: dict[str, Any], state: str) -> str:
    width, dashes, opacity = BORDERS.get(state, (1.3, "", 1))
    colour = STATES[state].colour if state else "#64748b"
    return (
        f'<path d="{drawn["d"]}" fill="none" stroke="{colour}" stroke-width="{width}"'
        + _dashes(dashes, opacity)
        + "/>"
    )


def _dashes(dashes: str, opacity: float) -> str:
    return (f' stroke-dasharray="{dashes}"' if dashes else "") + (
        f' opacity="{opacity}"' if opacity != 1 else ""
    )


def _node(n: dict[str, Any], box: Sequence[float], shape: str) -> str:
    x, y, w, h = box
    look = KINDS.get(n["kind"], OTHER)
    state = STATES.get(n["state"])
    width, dashes, opacity = BORDERS.get(n["state"], (1.3, "", 1))
    line = state.colour if state and n["state"] != "done" else look.line
    fancy = ' text-decoration="line-through"' if n["state"] == "removed" else ""
    out = [
        f'<path d="{shape}" fill="{look.fill}" stroke="{line}" '
        f'stroke-width="{width}"{_dashes(dashes, 1)}/>'
    ]
    for i, (words, dy) in enumerate(zip(n["lines"], baselines(len(n["lines"])), strict=True)):
        small = f' font-size="{SMALL_SIZE}" fill="{FAINT}"' if i else ""
        out.append(f'<text y="{num(dy)}"{small}{fancy}>{escape(words)}</text>')
    faded = f' opacity="{opacity}"' if opacity != 1 else ""
    sign = at(w / 2 - 5, -h / 2, sign_of(n["state"])) if state else ""
    whole = f"<title>{escape(n['label'])}</title>" if n["lines"] != n["label"].split("\n") else ""
    face = "".join(out)
    return at(x, y, whole + (f"<g{faded}>{face}</g>" if faded else face) + sign)


def _text_pane(scene: dict[str, Any], pane: dict[str, Any], captions: bool) -> Piece:
    lines = scene["texts"][pane["text"]]
    top, out = _caption(pane["name"], captions)
    first, last = _window(
        len(lines), MOST_LINES, [n - pane["first_line"] for n in pane["highlight"]]
    )
    step, size = 16.0, 11.5
    letter = size * COLUMN
    digits = len(str(pane["first_line"] + len(lines)))
    gutter = (digits + 3) * letter
    shown = lines[first:last]
    wide = max([columns("".join(t for _, t in line)) for line in shown] or [0])
    width = gutter + (min(wide, MOST_COLUMNS) + 2) * letter
    body = []
    y = top + step
    for hidden, where in ((first, "above"), (len(lines) - last, "below")):
        if where == "above" and hidden:
            body.append(letters(f"… {hidden} more lines", gutter, y, size=10.5, colour=FAINT))
            y += step
        if where == "above":
            for number, line in enumerate(shown, start=pane["first_line"] + first):
                body.append(_code_line(pane, number, line, y, width, gutter, letter, size))
                y += step
        elif hidden:
            body.append(letters(f"… {hidden} more lines", gutter, y, size=10.5, colour=FAINT))
            y += step
    height = y - step + 8
    return width, height, out + _sheet(top, width, height - top) + "".join(body)


def _code_line(pane, number, line, y, width, gutter, letter, size) -> str:
    out = []
    mark, wash = "", ""
    if number in pane["removed"]:
        mark, wash = "−", "#fee2e2"
    elif number in pane["added"]:
        mark, wash = "+", "#dcfce7"
    if number in pane["highlight"]:
        mark, wash = "▶" + mark, "#fae8ff"
    if wash:
        out.append(
            f'<rect x="1" y="{num(y - 12)}" width="{num(width - 2)}" height="16" fill="{wash}"/>'
        )
    if mark:
        out.append(
            letters(
                mark,
                3,
                y,
                size=size,
                colour="#a21caf" if "▶" in mark else INK,
                bold=True,
                mono=True,
            )
        )
    out.append(
        letters(str(number), gutter - letter, y, size=10, colour="#64748b", mono=True, anchor="end")
    )
    whole = "".join(words for _, words in line)
    left = len(
        cut(whole, MOST_COLUMNS).removesuffix("…") if columns(whole) > MOST_COLUMNS else whole
    )
    kept = []
    for token, words in line:
        if words[:left]:
            shown = escape(words[:left])
            kept.append(f'<tspan fill="{TOKENS[token]}">{shown}</tspan>' if token else shown)
        left = max(left - len(words), 0)
    if columns(whole) > MOST_COLUMNS:
        kept.append(f'<tspan fill="{FAINT}">…</tspan>')
    fancy = ' text-decoration="line-through"' if number in pane["removed"] else ""
    out.append(
        f'<text x="{num(gutter)}" y="{num(y)}" font-size="{size}" '
        f'xml:space="preserve"{fancy}>{"".join(kept)}</text>'
    )
    return "".join(out)


def _table(scene: dict[str, Any], pane: dict[str, Any], captions: bool) -> Piece:
    top, out = _caption(pane["name"], captions)
    first, last = _window(len(pane["rows"]), MOST_ROWS, pane["highlight"])
    size, step, sign_room = 11.5, 21.0, 14.0
    letter = size * COLUMN
    widths = [min(w + 2, MOST_CELL) * letter + 16 for w in pane["widths"]]
    widths[0] += sign_room
    lefts = [sum(widths[:c]) for c in range(len(widths))]
    total = max(sum(widths), 70.0)
    changed = {(r, c) for r, c in pane["changed"]}

    def cell(words: str, c: int, y: float, **look: Any) -> str:
        words = cut(words.replace("\n", " "), MOST_CELL)
        if pane["numeric"][c]:
            return letters(words, lefts[c] + widths[c] - 8, y, anchor="end", **look)
        return letters(words, lefts[c] + 8 + (0 if c else sign_room), y, **look)

    body = [f'<rect y="{num(top)}" width="{num(total)}" height="{step + 1}" fill="#e2e8f0"/>']
    body += [cell(h, c, top + 15, size=11, bold=True) for c, h in enumerate(pane["columns"])]
    y = top + step + 1
    for number in range(first, last):
        now, fresh = number in pane["highlight"], number in pane["new"]
        if now or fresh:
            wash = "#fae8ff" if now else "#dcfce7"
            body.append(f'<rect y="{num(y)}" width="{num(total)}" height="{step}" fill="{wash}"/>')
            colour = "#a21caf" if now else "#15803d"
            body.append(
                letters("▶" if now else "+", 6, y + 15, size=size, bold=True, colour=colour)
            )
        for c, words in enumerate(pane["rows"][number]):
            marked = (number, c) in changed
            if marked:
                body.append(
                    f'<rect x="{num(lefts[c] + 1)}" y="{num(y + 1)}" width="{num(widths[c] - 2)}" '
                    f'height="{step - 2}" fill="#fef3c7" stroke="#b45309" stroke-width="0.8"/>'
                )
            sign = "△ " if marked else ""
            body.append(cell(sign + words, c, y + 15, size=size, mono=True, bold=marked))
        y += step
        body.append(f'<path d="M0,{num(y)}H{num(total)}" stroke="{RULE}" stroke-width="0.7"/>')
    hidden = len(pane["rows"]) - (last - first)
    if not pane["rows"] or hidden:
        words = f"… {hidden} more rows" if hidden else "(empty)"
        body.append(letters(words, 8, y + 15, size=10.5, colour=FAINT))
        y += step
    return total, y + 2, out + _sheet(top, total, y - top) + "".join(body)


def _timeline(scene: dict[str, Any], pane: dict[str, Any], captions: bool) -> Piece:
    top, out = _caption(pane["name"], captions)
    axis = Axis(pane["span"][0], pane["span"][1], min(pane["width"], WIDEST_AXIS))
    left, width, height = pane["gutter"], axis.width, pane["height"]
    total = left + width + 22
    body = []
    for number, lane in enumerate(pane["lanes"]):
        if number % 2:
            body.append(_box(0.5, lane["y"], total - 1, lane["h"], CARD))
        middle = lane["y"] + lane["h"] / 2
        body.append(letters(lane["label"], 8, middle + 4, size=SMALL_SIZE, mono=True))
    for x, when in axis.ticks():
        body.append(f'<path d="M{num(left + x)},0V{num(height)}" stroke="{RULE}" opacity="0.6"/>')
        body.append(
            letters(when, left + x, height + 15, size=10, colour=FAINT, mono=True, anchor="middle")
        )
    if pane["unit"]:
        body.append(letters(pane["unit"], 8, height + 15, size=10, colour=FAINT, mono=True))
    bars = [_bar(b, left + axis.x(b["start"]), axis) for b in pane["bars"]]
    body += [drawn for drawn, _ in bars] + [sign for _, sign in bars]  # signs on top of neighbours
    if pane["cursor"] is not None:
        x = num(left + axis.x(pane["cursor"]))
        body.append(f'<path d="M{x},0V{num(height)}" stroke="#a21caf" stroke-width="1.6"/>')
        body.append(at(left + axis.x(pane["cursor"]), height, _CURSOR))
    high = top + height + AXIS
    return total, high, out + _sheet(top, total, high - top) + at(0, top, "".join(body))


_CURSOR = '<path d="M-5,6L0,0L5,6Z" fill="#a21caf"/>'


def _bar(b: dict[str, Any], x: float, axis: Axis) -> tuple[str, str]:
    """The bar, and the sign of its state."""
    look = BARS.get(b["kind"], OTHER_BAR)
    state = STATES.get(b["state"])
    width, dashes, opacity = BORDERS.get(b["state"], (1.0, "", 1))
    if look.shape == "hollow":
        dashes = dashes or "3 2"
    line = state.colour if state and b["state"] != "done" else look.line
    wide = max(axis.x(b["end"]) - axis.x(b["start"]), 1.0)
    body = (
        f'<path d="{bar_outline(look.shape, wide, b["h"])}" fill="{look.fill}" stroke="{line}" '
        f'stroke-width="{width}"{_dashes(dashes, opacity)}/>'
    )
    room = int((wide - 8) / (SMALL_SIZE * COLUMN))
    if b["label"] and b["h"] >= 12 and room >= min(columns(b["label"]), 2):
        fancy = ' text-decoration="line-through"' if b["state"] == "removed" else ""
        body += (
            f'<text x="{num(wide / 2)}" y="{num(b["h"] / 2 + 3.6)}" font-size="{SMALL_SIZE}" '
            f'text-anchor="middle"{fancy}>{escape(cut(b["label"], room))}</text>'
        )
    sign = ""
    if state:
        sign = f'<g transform="scale(0.7)">{sign_of(b["state"])}</g>'
    title = ", ".join(word for word in (b["label"], b["word"]) if word)
    corner = x + max(wide - 5, 3)
    return at(x, b["y"], f"<title>{escape(title)}</title>{body}"), at(corner, b["y"], sign)


PANES = {"graph": _graph, "text": _text_pane, "table": _table, "timeline": _timeline}


def _box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return (
        f'<rect x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}" '
        f'fill="{fill}"/>'
    )


def _sheet(top: float, width: float, height: float) -> str:
    place = f'y="{num(top)}" width="{num(width)}" height="{num(height)}"'
    return f'<rect {place} rx="4" fill="{PAPER}" stroke="{RULE}"/>'


def _window(count: int, most: int, around: Sequence[int]) -> tuple[int, int]:
    """Which of `count` lines to show: `most` at most, with the first marked one among them."""
    if count <= most:
        return 0, count
    first = max(0, min((around[0] if around else 0) - most // 2, count - most))
    return first, first + most
