"""The same in words: for a terminal, a screen reader, a diff."""

from __future__ import annotations

from collections.abc import Sequence

from .frame import Bar, GraphPane, Pane, Step, TablePane, TextPane, TimelinePane
from .looks import clean, cut
from .scene import Scene

MOST_STEPS, MOST_NAMES, MOST_LINES, WIDTH = 40, 12, 4, 100


def summary(steps: Sequence[Step], scene: Scene) -> str:
    """One paragraph for each step: its title, then what each pane shows or marks."""
    lines = [f"{len(steps)} steps" if len(steps) > 1 else ""]
    for number, one in enumerate(steps[:MOST_STEPS]):
        head = f"{number + 1}. " if len(steps) > 1 else ""
        lines.append(head + one["title"] + (f": {one['note']}" if one["note"] else ""))
        for pane, drawn in zip(one["panes"], scene["steps"][number]["panes"], strict=True):
            lines += ["   " + cut(line, WIDTH) for line in _pane(pane, drawn)]
    if len(steps) > MOST_STEPS:
        lines.append(f"... and {len(steps) - MOST_STEPS} more steps")
    return clean("\n".join(line for line in lines if line))


def _pane(pane: Pane, drawn: dict) -> list[str]:
    if pane["type"] == "graph":
        return _graph(pane)
    if pane["type"] == "text":
        return _text(pane)
    if pane["type"] == "timeline":
        return _timeline(pane)
    return _table(pane, drawn)


def _graph(pane: GraphPane) -> list[str]:
    names = {n["id"]: n["label"].replace("\n", " ") for n in pane["nodes"]}
    lines = [
        f"{pane['name'] or 'graph'}: {_count(len(pane['nodes']), 'node')}, "
        f"{_count(len(pane['edges']), 'edge')}"
    ]
    marked: dict[str, list[str]] = {}
    for n in pane["nodes"]:
        if n["state"]:
            marked.setdefault(n["state"], []).append(names[n["id"]])
    lines += [f"  {state}: {_some(found)}" for state, found in marked.items()]
    if not marked and pane["nodes"]:
        lines.append(
            "  "
            + _some(
                [f"{names[e['src']]} -> {names[e['dst']]}" for e in pane["edges"]]
                or list(names.values())
            )
        )
    return lines


def _text(pane: TextPane) -> list[str]:
    lines = [f"{pane['name'] or pane['language'] or 'text'}: {_count(len(pane['lines']), 'line')}"]
    for sign, numbers in ((">", pane["highlight"]), ("+", pane["added"]), ("-", pane["removed"])):
        found = [f"  {sign} {n}: {pane['lines'][n - pane['first_line']].strip()}" for n in numbers]
        lines += found[:MOST_LINES] + ([f"  {sign} ..."] if len(found) > MOST_LINES else [])
    return lines


def _table(pane: TablePane, drawn: dict) -> list[str]:
    lines = [
        f"{pane['name'] or 'table'} ({', '.join(pane['columns'])}): "
        f"{_count(len(pane['rows']), 'row')}"
    ]
    changed = {r for r, _ in drawn["changed"]} | set(drawn["new"])
    chosen = sorted(changed | set(pane["highlight"])) or list(range(len(pane["rows"])))
    for r in chosen[:MOST_LINES]:
        sign = (
            ">"
            if r in pane["highlight"]
            else "+"
            if r in drawn["new"]
            else "*"
            if r in changed
            else " "
        )
        lines.append(f"  {sign} " + " | ".join(cell.replace("\n", " ") for cell in pane["rows"][r]))
    if len(chosen) > MOST_LINES:
        lines.append(f"    ... {len(chosen) - MOST_LINES} more")
    return lines


def _timeline(pane: TimelinePane) -> list[str]:
    """Marked bars, or all; each with its lane and its time."""
    unit = f" {pane['unit']}" if pane["unit"] else ""
    first, last = pane["span"]
    lines = [
        f"{pane['name'] or 'timeline'} ({first:g} to {last:g}{unit}): "
        f"{_count(len(pane['lanes']), 'lane')}, {_count(len(pane['bars']), 'bar')}"
        + (f", now {pane['cursor']:g}{unit}" if pane["cursor"] is not None else "")
    ]
    marked: dict[str, list[str]] = {}
    for one in pane["bars"]:
        if one["state"]:
            words = f"{one['lane']}: {one['label']}".rstrip(": ") + f" {_time(one)}"
            marked.setdefault(one["state"], []).append(words)
    lines += [f"  {state}: {_some(found)}" for state, found in marked.items()]
    if not marked:
        for lane in pane["lanes"][:MOST_NAMES]:
            bars = sorted((b for b in pane["bars"] if b["lane"] == lane), key=lambda b: b["start"])
            lines.append(f"  {lane}: " + _some([f"{b['label']} {_time(b)}".strip() for b in bars]))
        if len(pane["lanes"]) > MOST_NAMES:
            lines.append(f"    ... {len(pane['lanes']) - MOST_NAMES} more lanes")
    return lines


def _time(one: Bar) -> str:
    return f"{one['start']:g}-{one['end']:g}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _some(names: Sequence[str]) -> str:
    more = f", ... {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
