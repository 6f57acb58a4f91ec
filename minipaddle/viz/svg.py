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

from .looks import BARS, FONT, FONT_SIZE, KINDS, columns, cut
from .svg_marks import CARD, FAINT, INK, PAPER, RULE, Piece, at, letters, num, sign_of
from .svg_panes import PANES

MOST_CARDS = 6
STRIP_WIDTH = 960.0


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
        body.append(at(x, y, markup))
        widest, row_height = max(widest, x + width), max(row_height, height)
        x += width + 12
    y += row_height
    footer = []
    if len(chosen) < count:
        words = f"{len(chosen)} of {count} steps: " + ", ".join(str(n + 1) for n in chosen)
        footer.append(letters(words, 2, 13, size=11.5, colour=FAINT))
        y_footer = 22.0
    else:
        y_footer = 0.0
    legend_width, legend_height, legend = _legend(scene["legend"], max(widest, 320.0))
    footer.append(at(0, y_footer, legend))
    total = y_footer + legend_height
    if total:
        body.append(at(0, y + 10, "".join(footer)))
        y += 10 + total
    return _document(max(widest, legend_width), y, "".join(body), scene["label"])


def step_svg(scene: dict[str, Any], number: int) -> str:
    """One step, counted from 0, with its legend."""
    width, height, markup = _card(scene, number)
    legend_width, legend_height, legend = _legend(scene["legend"], max(width, 320.0))
    body = markup + at(0, height + 8, legend)
    return _document(
        max(width, legend_width),
        height + (8 + legend_height if legend else 0),
        body,
        scene["steps"][number]["title"],
    )


def _document(width: float, height: float, body: str, title: str) -> str:
    w, h = num(width + 20), num(height + 20)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        'role="img" '
        f'font-family="{FONT}" font-size="{FONT_SIZE}" fill="{INK}"><title>{escape(title)}</title>'
        f'<rect width="{w}" height="{h}" rx="8" fill="{PAPER}"/>{at(10, 10, body)}</svg>'
    )


# ---- a card


def _card(scene: dict[str, Any], number: int) -> Piece:
    step = scene["steps"][number]
    captions = any(p["name"] for p in step["panes"])
    panes = [PANES[p["type"]](scene, p, captions) for p in step["panes"]]
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
            letters(
                badge, 12 + wide / 2, y, size=11.5, colour="#ffffff", bold=True, anchor="middle"
            )
        )
    for line in title:
        out.append(letters(line, title_x, y, size=13.5, bold=True))
        y += 18
    for line in note:
        out.append(letters(line, 12, y, size=11.5, colour=FAINT))
        y += 15.5
    y -= 6
    x = 0.0
    inside = []
    for width, _, markup in panes:
        inside.append(at(x, 0, markup))
        x += width + 18
    high = max(h for _, h, _ in panes)
    group = (
        f' transform="translate(12,{num(y)})' + (f" scale({scale:.3f})" if scale < 1 else "") + '"'
    )
    out.append(f"<g{group}>{''.join(inside)}</g>")
    width, height = inner + 24, y + high * scale + 12
    frame = (
        f'<rect width="{num(width)}" height="{num(height)}" rx="7" fill="{CARD}" stroke="{RULE}"/>'
    )
    return width, height, frame + "".join(out)


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
        elif entry["is"] == "bar":
            look = BARS[entry["name"]]
            dashes = ' stroke-dasharray="3 2"' if look.shape == "hollow" else ""
            sample = (
                f'<path d="{entry["d"]}" transform="translate(-13,-7)" fill="{look.fill}" '
                f'stroke="{look.line}"{dashes}/>'
            )
        else:
            sample = sign_of(entry["name"])
        out.append(
            at(x + 15, y, sample) + letters(entry["word"], x + 34, y + 4, size=11, colour=FAINT)
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
