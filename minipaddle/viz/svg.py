"""The static picture: the steps, or a selection that it names, as cards of a film strip.

It is what a reader sees where no player runs: on a code host, in an export, in a notebook that
isn't trusted yet. So it stands alone: its own background, no script, no reference to anything
outside, and no random ids. The same steps give the same bytes, which lets tests compare the outputs
of notebooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from .looks import (
    COLUMN,
    FONT,
    FONT_SIZE,
    KINDS,
    OTHER,
    SMALL_SIZE,
    STATES,
    UI_FONT,
    baselines,
    columns,
    cut,
)

MOST_CARDS = 6
STRIP_WIDTH = 960.0
MOST_LINES, MOST_COLUMNS, MOST_ROWS, MOST_CELL = 22, 76, 14, 30
INK, FAINT, RULE, PAPER, CARD = "#0f172a", "#475569", "#cbd5e1", "#ffffff", "#f8fafc"
TOKENS = {"c": "#64748b", "s": "#15803d", "v": "#7c3aed", "n": "#b45309", "k": "#1d4ed8"}
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

Piece = tuple[float, float, str]  # width, height, markup at (0, 0)


def strip_svg(scene: dict[str, Any], *, most: int = MOST_CARDS) -> str:
    """All steps, or `most` of them at even distances; then the picture says which."""
    count = len(scene["steps"])
    chosen = list(range(count))
    if count > most:
        chosen = sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
    cards = [_card(scene, number) for number in chosen]
    body, x, y, row_height, widest = [], 0.0, 0.0, 0.0, 0.0
    for width, height, markup in cards:
        if x and x + width > STRIP_WIDTH:
            x, y, row_height = 0.0, y + row_height + 12, 0.0
        body.append(_at(x, y, markup))
        widest, row_height = max(widest, x + width), max(row_height, height)
        x += width + 12
    y += row_height
    footer = []
    if len(chosen) < count:
        words = f"{len(chosen)} of {count} steps: " + ", ".join(str(n + 1) for n in chosen)
        footer.append(_text(words, 2, 13, size=11.5, colour=FAINT))
        y_footer = 22.0
    else:
        y_footer = 0.0
    legend_width, legend_height, legend = _legend(scene["legend"], max(widest, 320.0))
    footer.append(_at(0, y_footer, legend))
    total = y_footer + legend_height
    if total:
        body.append(_at(0, y + 10, "".join(footer)))
        y += 10 + total
    return _document(max(widest, legend_width), y, "".join(body), scene["label"])


def step_svg(scene: dict[str, Any], number: int) -> str:
    """One step, counted from 0, with its legend."""
    width, height, markup = _card(scene, number)
    legend_width, legend_height, legend = _legend(scene["legend"], max(width, 320.0))
    body = markup + _at(0, height + 8, legend)
    return _document(
        max(width, legend_width),
        height + (8 + legend_height if legend else 0),
        body,
        scene["steps"][number]["title"],
    )


def _document(width: float, height: float, body: str, title: str) -> str:
    w, h = _n(width + 20), _n(height + 20)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        'role="img" '
        f'font-family="{FONT}" font-size="{FONT_SIZE}" fill="{INK}"><title>{escape(title)}</title>'
        f'<rect width="{w}" height="{h}" rx="8" fill="{PAPER}"/>{_at(10, 10, body)}</svg>'
    )


# ---- a card


def _card(scene: dict[str, Any], number: int) -> Piece:
    step = scene["steps"][number]
    captions = any(p["name"] for p in step["panes"])
    panes = [_PANES[p["type"]](scene, p, captions) for p in step["panes"]]
    across = sum(w for w, _, _ in panes) + 18 * (len(panes) - 1)
    scale = min(1.0, (STRIP_WIDTH - 24) / across)
    count = len(scene["steps"])
    badge = f"{number + 1}" if count > 1 else ""
    inner = max(across * scale, 240.0)
    title_x = 12.0 + (12 + 7 * len(badge) if badge else 0)
    title = _wrap(step["title"], inner - title_x + 12, 13.5, bold=True)
    note = _wrap(step["note"], inner, 11.5)
    y = 24.0
    out = []
    if badge:
        wide = 9 + 7 * len(badge)
        out.append(
            f'<rect x="12" y="{y - 13:g}" width="{wide}" height="17" rx="8.5" fill="#1d4ed8"/>'
        )
        out.append(
            _text(badge, 12 + wide / 2, y, size=11.5, colour="#ffffff", bold=True, anchor="middle")
        )
    for line in title:
        out.append(_text(line, title_x, y, size=13.5, bold=True))
        y += 18
    for line in note:
        out.append(_text(line, 12, y, size=11.5, colour=FAINT))
        y += 15.5
    y -= 6
    x = 0.0
    inside = []
    for width, _, markup in panes:
        inside.append(_at(x, 0, markup))
        x += width + 18
    high = max(h for _, h, _ in panes)
    group = (
        f' transform="translate(12,{_n(y)})' + (f" scale({scale:.3f})" if scale < 1 else "") + '"'
    )
    out.append(f"<g{group}>{''.join(inside)}</g>")
    width, height = inner + 24, y + high * scale + 12
    frame = (
        f'<rect width="{_n(width)}" height="{_n(height)}" rx="7" fill="{CARD}" stroke="{RULE}"/>'
    )
    return width, height, frame + "".join(out)


def _caption(words: str, room: bool) -> tuple[float, str]:
    """`room`: a pane beside this one has a caption, so that this one leaves the same room."""
    text = _text(words, 0, 12, size=11, colour=FAINT, bold=True) if words else ""
    return (20.0 if room else 0.0), text


# ---- panes


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
                f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(frame["w"])}" '
                f'height="{_n(frame["h"])}" rx="8" '
                f'fill="#64748b" fill-opacity="0.07" stroke="#94a3b8" stroke-dasharray="5 3"/>'
                + _text(frame["label"], x + 9, y + 15, size=11, colour=FAINT, bold=True)
            )
    for e in pane["edges"]:
        body.append(_edge(place["edges"][e["key"]], e["state"]))
    nodes = []
    for n in pane["nodes"]:
        nodes.append(_node(n, place["nodes"][n["id"]], scene["shapes"][n["shape"]]))
    body.append(f'<g text-anchor="middle">{"".join(nodes)}</g>')
    for e in pane["edges"]:  # words last: on top of the lines
        drawn = place["edges"][e["key"]]
        said = [e["label"], *drawn["label"]] if e["label"] else None
        for label, anchor in ((said, "middle"), (drawn["slot"], "start")):
            if label:
                words, x, y = label
                body.append(
                    f'<text x="{_n(x)}" y="{_n(y + 3)}" font-size="10.5" text-anchor="{anchor}" '
                    f'fill="{FAINT}" stroke="{CARD}" stroke-width="3" '
                    f'paint-order="stroke">{escape(words)}</text>'
                )
    transform = f"translate(0,{_n(top)})" + (f" scale({scale:.3f})" if scale < 1 else "")
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
        out.append(f'<text y="{_n(dy)}"{small}{fancy}>{escape(words)}</text>')
    faded = f' opacity="{opacity}"' if opacity != 1 else ""
    sign = _at(w / 2 - 5, -h / 2, _sign(n["state"])) if state else ""
    whole = f"<title>{escape(n['label'])}</title>" if n["lines"] != n["label"].split("\n") else ""
    face = "".join(out)
    return _at(x, y, whole + (f"<g{faded}>{face}</g>" if faded else face) + sign)


def _sign(name: str) -> str:
    state = STATES[name]
    fill = state.colour if state.filled else "none"
    return (
        f'<circle r="7.5" fill="{PAPER}" stroke="{state.colour}" stroke-width="1.4"/>'
        f'<path d="{state.sign}" transform="scale(0.9)" fill="{fill}" stroke="{state.colour}" '
        'stroke-width="1.7" stroke-linecap="round"/>'
    )


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
            body.append(_text(f"… {hidden} more lines", gutter, y, size=10.5, colour=FAINT))
            y += step
        if where == "above":
            for number, line in enumerate(shown, start=pane["first_line"] + first):
                body.append(_code_line(pane, number, line, y, width, gutter, letter, size))
                y += step
        elif hidden:
            body.append(_text(f"… {hidden} more lines", gutter, y, size=10.5, colour=FAINT))
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
            f'<rect x="1" y="{_n(y - 12)}" width="{_n(width - 2)}" height="16" fill="{wash}"/>'
        )
    if mark:
        out.append(
            _text(
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
        _text(str(number), gutter - letter, y, size=10, colour="#64748b", mono=True, anchor="end")
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
        f'<text x="{_n(gutter)}" y="{_n(y)}" font-size="{size}" '
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
            return _text(words, lefts[c] + widths[c] - 8, y, anchor="end", **look)
        return _text(words, lefts[c] + 8 + (0 if c else sign_room), y, **look)

    body = [f'<rect y="{_n(top)}" width="{_n(total)}" height="{step + 1}" fill="#e2e8f0"/>']
    body += [cell(h, c, top + 15, size=11, bold=True) for c, h in enumerate(pane["columns"])]
    y = top + step + 1
    for number in range(first, last):
        now, fresh = number in pane["highlight"], number in pane["new"]
        if now or fresh:
            wash = "#fae8ff" if now else "#dcfce7"
            body.append(f'<rect y="{_n(y)}" width="{_n(total)}" height="{step}" fill="{wash}"/>')
            colour = "#a21caf" if now else "#15803d"
            body.append(_text("▶" if now else "+", 6, y + 15, size=size, bold=True, colour=colour))
        for c, words in enumerate(pane["rows"][number]):
            marked = (number, c) in changed
            if marked:
                body.append(
                    f'<rect x="{_n(lefts[c] + 1)}" y="{_n(y + 1)}" width="{_n(widths[c] - 2)}" '
                    f'height="{step - 2}" fill="#fef3c7" stroke="#b45309" stroke-width="0.8"/>'
                )
            sign = "△ " if marked else ""
            body.append(cell(sign + words, c, y + 15, size=size, mono=True, bold=marked))
        y += step
        body.append(f'<path d="M0,{_n(y)}H{_n(total)}" stroke="{RULE}" stroke-width="0.7"/>')
    hidden = len(pane["rows"]) - (last - first)
    if not pane["rows"] or hidden:
        words = f"… {hidden} more rows" if hidden else "(empty)"
        body.append(_text(words, 8, y + 15, size=10.5, colour=FAINT))
        y += step
    return total, y + 2, out + _sheet(top, total, y - top) + "".join(body)


_PANES = {"graph": _graph, "text": _text_pane, "table": _table}


def _sheet(top: float, width: float, height: float) -> str:
    place = f'y="{_n(top)}" width="{_n(width)}" height="{_n(height)}"'
    return f'<rect {place} rx="4" fill="{PAPER}" stroke="{RULE}"/>'


def _window(count: int, most: int, around: Sequence[int]) -> tuple[int, int]:
    """Which of `count` lines to show: `most` at most, with the first marked one among them."""
    if count <= most:
        return 0, count
    first = max(0, min((around[0] if around else 0) - most // 2, count - most))
    return first, first + most


# ---- legend and letters


def _legend(entries: Sequence[dict[str, str]], limit: float) -> Piece:
    if not entries:
        return 0.0, 0.0, ""
    x, y, widest, out = 4.0, 12.0, 0.0, []
    for entry in entries:
        wide = 40 + columns(entry["word"]) * 6.4 + 12
        if x > 4 and x + wide > limit:
            x, y = 4.0, y + 20
        if entry["is"] == "kind":
            look = KINDS[entry["name"]]
            sample = f'<path d="{entry["d"]}" fill="{look.fill}" stroke="{look.line}"/>'
        else:
            sample = _sign(entry["name"])
        out.append(
            _at(x + 15, y, sample) + _text(entry["word"], x + 34, y + 4, size=11, colour=FAINT)
        )
        x += wide
        widest = max(widest, x)
    return widest, y + 12, "".join(out)


def _wrap(words: str, width: float, size: float, bold: bool = False) -> list[str]:
    """Lines of at most `width` pixels, by an estimate on the safe side.

    Chinese may break between any two characters.
    """
    limit = max(int(width / (size * (0.6 if bold else 0.55))), 8)
    lines: list[str] = []
    for paragraph in words.split("\n") if words else []:
        line = ""
        for piece in _pieces(paragraph):
            if line and columns((line + piece).rstrip()) > limit:
                lines.append(line.rstrip())
                line = ""
            while columns(piece) > limit:
                head = cut(piece, limit)[:-1]
                lines.append(head)
                piece = piece[len(head) :]
            line += piece
        lines.append(line.rstrip())
    return lines


def _may_break(before: str, after: str) -> bool:
    return before == " " or columns(before) == 2 or columns(after) == 2


def _pieces(paragraph: str) -> list[str]:
    pieces: list[str] = []
    for letter in paragraph:
        if pieces and (letter == " " or not _may_break(pieces[-1][-1], letter)):
            pieces[-1] += letter
        else:
            pieces.append(letter)
    return pieces


def _text(words, x, y, *, size, colour=INK, bold=False, mono=False, anchor="start") -> str:
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{size:g}"'
        + (f' fill="{colour}"' if colour != INK else "")
        + ("" if mono else f' font-family="{UI_FONT}"')
        + (' font-weight="600"' if bold else "")
        + (f' text-anchor="{anchor}"' if anchor != "start" else "")
        + f">{escape(words)}</text>"
    )


def _at(x: float, y: float, markup: str) -> str:
    return f'<g transform="translate({_n(x)},{_n(y)})">{markup}</g>' if markup else ""


def _n(value: float) -> str:
    return f"{round(value, 1) + 0.0:g}"
