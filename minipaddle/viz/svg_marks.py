"""What the static picture writes everywhere: letters, numbers, signs, colours."""

from __future__ import annotations

from html import escape

from .looks import STATES, UI_FONT

INK, FAINT, RULE, PAPER, CARD = "#0f172a", "#475569", "#cbd5e1", "#ffffff", "#f8fafc"
Piece = tuple[float, float, str]  # width, height, markup at (0, 0)


def sign_of(name: str) -> str:
    state = STATES[name]
    fill = state.colour if state.filled else "none"
    return (
        f'<circle r="7.5" fill="{PAPER}" stroke="{state.colour}" stroke-width="1.4"/>'
        f'<path d="{state.sign}" transform="scale(0.9)" fill="{fill}" stroke="{state.colour}" '
        'stroke-width="1.7" stroke-linecap="round"/>'
    )


def letters(words, x, y, *, size, colour=INK, bold=False, mono=False, anchor="start") -> str:
    return (
        f'<text x="{num(x)}" y="{num(y)}" font-size="{size:g}"'
        + (f' fill="{colour}"' if colour != INK else "")
        + ("" if mono else f' font-family="{UI_FONT}"')
        + (' font-weight="600"' if bold else "")
        + (f' text-anchor="{anchor}"' if anchor != "start" else "")
        + f">{escape(words)}</text>"
    )


def at(x: float, y: float, markup: str) -> str:
    return f'<g transform="translate({num(x)},{num(y)})">{markup}</g>' if markup else ""


def num(value: float) -> str:
    return f"{round(value, 1) + 0.0:g}"
