// Lines of a program, and tables.

class TextPane {
  constructor(player) {
    this.player = player;
    this.element = html("div", "mp-body mp-text");
    this.element.tabIndex = 0; // it may scroll
    this.element.setAttribute("role", "group");
  }

  draw(pane) {
    this.element.setAttribute("aria-label", pane.name || pane.language || "text");
    this.element.dataset.language = pane.language;
    const lines = this.player.scene.texts[pane.text];
    const shown = JSON.stringify([pane.text, pane.first_line]);
    if (this.shown !== shown) {
      this.shown = shown;
      this.element.replaceChildren();
      this.rows = lines.map((runs, i) => this.newRow(runs, pane.first_line + i));
    }
    const longest = Math.max(0, ...lines.map((runs) => runs.reduce((n, [, words]) => n + words.length, 0)));
    this.basis = this.wide = Math.min(longest * 7.4 + 76, pane.language === "program" ? 400 : 560); // its lines may break
    this.rows.forEach((row, i) => {
      const number = pane.first_line + i;
      const [now, added, removed] = [pane.highlight, pane.added, pane.removed].map((list) => list.includes(number));
      row.classList.toggle("mp-now", now);
      row.classList.toggle("mp-added", added);
      row.classList.toggle("mp-removed", removed);
      row.firstChild.textContent = (now ? "▶" : "") + (added ? "+" : removed ? "−" : "");
      const said = [now && "current line", added && "added", removed && "removed"].filter(Boolean);
      row.lastChild.textContent = said.map((words) => ` (${words})`).join("");
    });
    const first = pane.highlight[0] ?? pane.added[0] ?? pane.removed[0];
    if (first !== undefined) requestAnimationFrame(() => scrollInside(this.element, this.rows[first - pane.first_line]));
  }

  newRow(runs, number) {
    const row = html("div", "mp-line", "", this.element);
    html("span", "mp-mark", "", row).setAttribute("aria-hidden", "true");
    html("span", "mp-number", String(number), row);
    const code = html("code", "", "", row);
    for (const [token, words] of runs) html("span", token && `mp-t-${token}`, words, code);
    html("span", "mp-hidden", "", row);
    return row;
  }

  found(i) { return this.rows[i]; }
}

class TablePane {
  constructor(player) {
    this.player = player;
    this.element = html("div", "mp-body mp-table");
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "group");
  }

  draw(pane) {
    this.element.setAttribute("aria-label", pane.name || "table");
    const top = this.element.scrollTop;
    this.element.replaceChildren();
    const table = html("table", "", "", this.element);
    const head = html("tr", "", "", html("thead", "", "", table));
    this.wide = 2;
    pane.columns.forEach((name, c) => {
      const cell = html("th", pane.numeric[c] ? "mp-numeric" : "", name, head);
      cell.scope = "col";
      const letters = Math.min(pane.widths[c] + (c ? 2 : 0), 36);
      const wide = Math.round(letters * 7.3 + (c ? 18 : 32));
      cell.style.minWidth = `${wide}px`; // the same in every step
      this.wide += wide;
    });
    const body = html("tbody", "", "", table);
    const changed = new Set(pane.changed.map(([r, c]) => `${r},${c}`));
    this.rows = pane.rows.map((cells, r) => {
      const now = pane.highlight.includes(r), isNew = pane.new.includes(r);
      const row = html("tr", [now && "mp-now", isNew && "mp-added"].filter(Boolean).join(" "), "", body);
      cells.forEach((words, c) => {
        const isChanged = changed.has(`${r},${c}`);
        const cell = html("td", [pane.numeric[c] && "mp-numeric", isChanged && "mp-changed"].filter(Boolean).join(" "), "", row);
        if (c === 0 && (now || isNew)) html("span", "mp-mark", now ? "▶" : "+", cell).setAttribute("aria-hidden", "true");
        if (isChanged) html("span", "mp-mark mp-delta", "△ ", cell).setAttribute("aria-hidden", "true");
        html("span", "", words, cell);
        const said = [c === 0 && now && "current", c === 0 && isNew && "new", isChanged && "changed"].filter(Boolean);
        if (said.length) html("span", "mp-hidden", ` (${said.join(", ")})`, cell);
      });
      return row;
    });
    if (!pane.rows.length) {
      const cell = html("td", "mp-empty", "(empty)", html("tr", "", "", body));
      cell.colSpan = Math.max(pane.columns.length, 1);
    }
    this.basis = "auto";
    this.element.scrollTop = top;
    const first = body.querySelector(".mp-now, .mp-added");
    if (first) requestAnimationFrame(() => scrollInside(this.element, first));
  }

  found(i) { return this.rows[i]; }
}
