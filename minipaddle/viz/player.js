// The player in the browser. It draws a scene that Python prepared (see scene.py): positions, outlines and coloured lines come ready.
// No dependency, no request, no kernel: the same file serves JupyterLab (through anywidget: `render`) and a page of its own (`mount`).

const SVG = "http://www.w3.org/2000/svg";
const SPEEDS = [["slow", 2400], ["normal", 1400], ["fast", 600]];
const ICONS = {
  previous: "M11,3L5,8L11,13Z", next: "M5,3L11,8L5,13Z", play: "M4,2.5L13,8L4,13.5Z", pause: "M4,3H7V13H4ZM9,3H12V13H9Z",
};

function svgElement(tag, attributes = {}, parent = null) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (parent) parent.append(element);
  return element;
}

function html(tag, className, text = "", parent = null) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text; // never innerHTML: labels are data
  if (parent) parent.append(element);
  return element;
}

const reducedMotion = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

// Moves what lies inside `box` so that `target` can be seen; never scrolls the page around the player.
function scrollInside(box, target) {
  const outer = box.getBoundingClientRect(), inner = target.getBoundingClientRect();
  const behavior = reducedMotion() ? "auto" : "smooth";
  if (inner.top < outer.top || inner.bottom > outer.bottom)
    box.scrollTo({ top: box.scrollTop + inner.top - outer.top - (outer.height - inner.height) / 2, behavior });
  if (inner.left < outer.left || (inner.right > outer.right && inner.width < outer.width))
    box.scrollTo({ left: box.scrollLeft + inner.left - outer.left - 20, behavior });
}

// ---- panes: each has draw(pane, step), and an element

class GraphPane {
  constructor(player) {
    this.player = player;
    this.element = html("div", "mp-body mp-graph");
    this.svg = svgElement("svg", { role: "group" }, this.element);
    this.frames = svgElement("g", {}, this.svg);
    this.lines = svgElement("g", {}, this.svg);
    this.boxes = svgElement("g", {}, this.svg);
    this.words = svgElement("g", { class: "mp-words", "aria-hidden": "true" }, this.svg);
    this.nodes = new Map();
    this.edges = new Map();
  }

  draw(pane) {
    const place = this.player.scene.places[pane.place];
    this.svg.setAttribute("viewBox", `0 0 ${place.width} ${place.height}`);
    this.svg.style.width = `${place.width}px`;
    this.svg.style.minWidth = `${Math.min(place.width, Math.max(place.width * 0.6, 240))}px`;
    this.svg.setAttribute("aria-label", `${pane.name || "graph"}: ${pane.nodes.length} nodes, ${pane.edges.length} edges`);
    this.basis = place.width + 24;
    this.drawFrames(pane, place);
    this.drawNodes(pane, place);
    this.drawEdges(pane, place);
    const now = pane.nodes.find((n) => n.state === "now");
    if (now) requestAnimationFrame(() => scrollInside(this.element, this.nodes.get(now.id) ?? this.svg));
  }

  drawFrames(pane, place) {
    this.frames.replaceChildren();
    for (const f of place.clusters) {
      if (!pane.clusters.includes(f.id)) continue;
      svgElement("rect", { class: "mp-frame", x: f.x - f.w / 2, y: f.y - f.h / 2, width: f.w, height: f.h, rx: 8 }, this.frames);
      svgElement("text", { class: "mp-frame-label", x: f.x - f.w / 2 + 9, y: f.y - f.h / 2 + 15 }, this.frames).textContent = f.label;
    }
  }

  drawNodes(pane, place) {
    const present = new Set(pane.nodes.map((n) => n.id));
    for (const [id, element] of this.nodes) {
      if (present.has(id)) continue;
      this.nodes.delete(id);
      element.classList.add("mp-leaving");
      element.removeAttribute("tabindex");
      setTimeout(() => element.remove(), reducedMotion() ? 0 : 400);
    }
    for (const n of pane.nodes) {
      const [x, y, w, h] = place.nodes[n.id];
      let element = this.nodes.get(n.id);
      const isNew = !element;
      if (isNew) element = this.newNode(n.id);
      const content = JSON.stringify([n, w, h]);
      if (element.content !== content) this.fillNode(element, n, w, h);
      element.content = content;
      element.at = [y, x];
      element.style.transform = `translate(${x}px, ${y}px)`;
      if (isNew) {
        element.classList.add("mp-leaving"); // starts unseen, where it belongs
        element.getBoundingClientRect();
        element.classList.remove("mp-leaving");
      }
    }
    this.inOrder = [...this.nodes.values()].sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]);
    if (!this.inOrder.some((e) => e.tabIndex === 0) && this.inOrder.length) this.inOrder[0].tabIndex = 0;
  }

  newNode(id) {
    const element = svgElement("g", { class: "mp-node", role: "button", tabindex: "-1" }, this.boxes);
    element.dataset.id = id;
    element.addEventListener("click", () => this.player.select(id));
    element.addEventListener("focus", () => this.makeReachable(element));
    this.nodes.set(id, element);
    return element;
  }

  // One node can be reached with Tab; up and down move to the others. So a graph of 100 nodes isn't 100 stops on the way.
  makeReachable(element) {
    for (const other of this.nodes.values()) other.setAttribute("tabindex", other === element ? "0" : "-1");
  }

  moveFocus(element, direction) {
    const target = this.inOrder[this.inOrder.indexOf(element) + direction];
    if (target) target.focus();
  }

  fillNode(element, n, w, h) {
    const sign = this.player.states[n.state];
    element.dataset.kind = n.kind;
    element.dataset.state = n.state;
    element.setAttribute("aria-label", [n.label.replaceAll("\n", " "), n.word, sign?.word].filter(Boolean).join(", "));
    element.replaceChildren();
    svgElement("title", {}, element).textContent = n.details ? `${n.label}\n${n.details}` : n.label;
    svgElement("rect", { class: "mp-ring", x: -w / 2 - 5, y: -h / 2 - 5, width: w + 10, height: h + 10, rx: 9 }, element);
    const face = svgElement("g", { class: "mp-face" }, element);
    svgElement("path", { class: "mp-shape", d: this.player.scene.shapes[n.shape] }, face);
    const top = -7 * (n.lines.length - 1) + 4.4;
    n.lines.forEach((line, i) => {
      svgElement("text", { class: i ? "mp-small" : "mp-label", y: top + 14 * i }, face).textContent = line;
    });
    if (sign) this.player.drawSign(sign, svgElement("g", { transform: `translate(${w / 2 - 5},${-h / 2})` }, element));
  }

  drawEdges(pane, place) {
    const present = new Set(pane.edges.map((e) => e.key));
    for (const [key, element] of this.edges) {
      if (present.has(key)) continue;
      this.edges.delete(key);
      element.classList.add("mp-leaving");
      setTimeout(() => element.remove(), reducedMotion() ? 0 : 400);
    }
    this.words.replaceChildren();
    for (const e of pane.edges) {
      const drawn = place.edges[e.key];
      let element = this.edges.get(e.key);
      const isNew = !element;
      if (isNew) {
        element = svgElement("path", { class: "mp-edge mp-leaving" }, this.lines);
        this.edges.set(e.key, element);
      }
      element.setAttribute("d", drawn.d);
      element.style.d = `path("${drawn.d}")`; // the attribute alone would jump; a browser that doesn't know this jumps
      element.dataset.state = e.state;
      if (isNew) {
        element.getBoundingClientRect();
        element.classList.remove("mp-leaving");
      }
      const label = e.label && [e.label, ...drawn.label];
      for (const [word, anchor] of [[label, "middle"], [drawn.slot, "start"]])
        if (word) svgElement("text", { x: word[1], y: word[2] + 3, "text-anchor": anchor }, this.words).textContent = word[0];
    }
  }

  markSelected(id) {
    for (const [key, element] of this.nodes) {
      element.classList.toggle("mp-selected", key === id);
      element.setAttribute("aria-pressed", String(key === id));
    }
  }
}

class TextPane {
  constructor(player) {
    this.player = player;
    this.element = html("div", "mp-body mp-text");
    this.element.tabIndex = 0; // it may scroll
    this.element.setAttribute("role", "group");
  }

  draw(pane) {
    this.element.setAttribute("aria-label", pane.name || pane.language || "text");
    const lines = this.player.scene.texts[pane.text];
    const shown = JSON.stringify([pane.text, pane.first_line]);
    if (this.shown !== shown) {
      this.shown = shown;
      this.element.replaceChildren();
      this.rows = lines.map((runs, i) => {
        const row = html("div", "mp-line", "", this.element);
        html("span", "mp-mark", "", row).setAttribute("aria-hidden", "true");
        html("span", "mp-number", String(pane.first_line + i), row);
        const code = html("code", "", "", row);
        for (const [token, words] of runs) html("span", token && `mp-t-${token}`, words, code);
        html("span", "mp-hidden", "", row);
        return row;
      });
    }
    const longest = Math.max(0, ...lines.map((runs) => runs.reduce((n, [, words]) => n + words.length, 0)));
    this.basis = Math.min(longest * 7.4 + 76, 560);
    this.rows.forEach((row, i) => {
      const number = pane.first_line + i;
      const [now, added, removed] = [pane.highlight, pane.added, pane.removed].map((list) => list.includes(number));
      row.classList.toggle("mp-now", now);
      row.classList.toggle("mp-added", added);
      row.classList.toggle("mp-removed", removed);
      row.firstChild.textContent = (now ? "▶" : "") + (added ? "+" : removed ? "−" : "");
      row.lastChild.textContent = [now && "current line", added && "added", removed && "removed"].filter(Boolean).map((w) => ` (${w})`).join("");
    });
    const first = pane.highlight[0] ?? pane.added[0] ?? pane.removed[0];
    if (first !== undefined) requestAnimationFrame(() => scrollInside(this.element, this.rows[first - pane.first_line]));
  }
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
    this.element.replaceChildren();
    const table = html("table", "", "", this.element);
    const head = html("tr", "", "", html("thead", "", "", table));
    pane.columns.forEach((name, c) => {
      const cell = html("th", pane.numeric[c] ? "mp-numeric" : "", name, head);
      cell.scope = "col";
      cell.style.minWidth = `${Math.round(Math.min(pane.widths[c] + (c ? 2 : 0), 36) * 7.3 + (c ? 18 : 32))}px`; // the same in every step
    });
    const body = html("tbody", "", "", table);
    const changed = new Set(pane.changed.map(([r, c]) => `${r},${c}`));
    pane.rows.forEach((cells, r) => {
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
    });
    if (!pane.rows.length) {
      const cell = html("td", "mp-empty", "(empty)", html("tr", "", "", body));
      cell.colSpan = Math.max(pane.columns.length, 1);
    }
    this.basis = "auto";
    const first = body.querySelector(".mp-now, .mp-added");
    if (first) requestAnimationFrame(() => scrollInside(this.element, first));
  }
}

const PANES = { graph: GraphPane, text: TextPane, table: TablePane };

// ---- the player

class Player {
  constructor(host, scene, { onStep = () => {}, onSelect = () => {} } = {}) {
    Object.assign(this, { scene, onStep, onSelect, step: 0, selected: "", timer: null, panes: [] });
    this.states = Object.fromEntries(scene.legend.filter((e) => e.is === "state").map((e) => [e.name, e]));
    this.root = html("div", "mp-player", "", host);
    this.root.tabIndex = -1; // a click anywhere inside makes the arrow keys work
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", scene.label);
    if (scene.steps.length > 1) this.buildBar();
    this.buildHead();
    this.row = html("div", "mp-panes", "", this.root);
    this.buildLegend();
    this.buildDetails();
    this.root.addEventListener("keydown", (event) => this.onKey(event));
  }

  destroy() {
    this.stop();
    this.root.remove();
  }

  // -- parts

  buildBar() {
    const bar = html("div", "mp-bar", "", this.root);
    const button = (name, label, hint, action) => {
      const element = html("button", `mp-button mp-${name}`, "", bar);
      element.type = "button";
      element.title = hint;
      svgElement("path", { d: ICONS[name] }, svgElement("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, element));
      element.words = html("span", "", label, element);
      element.addEventListener("click", action);
      return element;
    };
    this.previousButton = button("previous", "Previous", "Previous step (left arrow)", () => this.move(-1));
    this.playButton = button("play", "Play", "Play (space)", () => this.toggle());
    this.nextButton = button("next", "Next", "Next step (right arrow)", () => this.move(1));
    this.slider = html("input", "mp-slider", "", bar);
    Object.assign(this.slider, { type: "range", min: 1, max: this.scene.steps.length, step: 1 });
    this.slider.setAttribute("aria-label", "Jump to step");
    this.slider.addEventListener("input", () => { this.stop(); this.show(Number(this.slider.value) - 1); });
    this.count = html("span", "mp-count", "", bar);
    const label = html("label", "mp-speed", "Speed ", bar);
    this.speed = html("select", "", "", label);
    for (const [name, wait] of SPEEDS) Object.assign(html("option", "", name, this.speed), { value: wait, selected: name === "normal" });
    this.speed.addEventListener("change", () => { if (this.timer) { this.stop(); this.play(); } });
  }

  buildHead() {
    const head = html("div", "mp-head", "", this.root);
    this.title = html("div", "mp-title", "", head);
    const notes = html("div", "mp-notes", "", head);
    const longest = this.scene.steps.reduce((a, s) => (s.note.length > a.length ? s.note : a), "");
    html("div", "mp-note mp-ghost", longest, notes).setAttribute("aria-hidden", "true"); // keeps the room, so that nothing jumps
    this.note = html("div", "mp-note", "", notes);
    this.live = html("div", "mp-hidden mp-live", "", head);
    this.live.setAttribute("aria-live", "polite");
  }

  buildLegend() {
    if (!this.scene.legend.length) return;
    const legend = html("div", "mp-legend", "", this.root);
    for (const entry of this.scene.legend) {
      const item = html("span", "mp-legend-item", "", legend);
      const picture = svgElement("svg", { "aria-hidden": "true", viewBox: entry.is === "kind" ? "-15 -9 30 18" : "-9 -9 18 18" }, item);
      picture.style.width = entry.is === "kind" ? "30px" : "18px";
      if (entry.is === "kind") {
        const node = svgElement("g", { class: "mp-node" }, picture);
        node.dataset.kind = entry.name;
        svgElement("path", { class: "mp-shape", d: entry.d }, node);
      } else this.drawSign(entry, picture);
      html("span", "", entry.word, item);
    }
  }

  buildDetails() {
    this.details = html("div", "mp-details", "", this.root);
    this.details.setAttribute("aria-live", "polite");
    this.details.hidden = !this.scene.steps.some((s) => s.panes.some((p) => p.type === "graph"));
  }

  drawSign(sign, parent) {
    const group = svgElement("g", { class: "mp-sign" }, parent);
    group.dataset.state = sign.name;
    svgElement("circle", { r: 7.5 }, group);
    svgElement("path", { d: sign.d, transform: "scale(0.9)" }, group);
  }

  // -- what happens

  show(number, tell = true) {
    const count = this.scene.steps.length;
    this.step = Math.max(0, Math.min(number, count - 1));
    const step = this.scene.steps[this.step];
    this.title.textContent = step.title;
    this.note.textContent = step.note;
    const where = `Step ${this.step + 1} of ${count}`;
    if (this.slider) {
      this.slider.value = this.step + 1;
      this.slider.setAttribute("aria-valuetext", `${where}: ${step.title}`);
      this.slider.style.setProperty("--mp-done", `${(100 * this.step) / (count - 1)}%`);
      this.count.textContent = where;
      this.live.textContent = `${where}: ${step.title}. ${step.note}`;
      this.previousButton.setAttribute("aria-disabled", String(this.step === 0));
      this.nextButton.setAttribute("aria-disabled", String(this.step === count - 1));
    }
    this.drawPanes(step);
    this.showDetails();
    if (tell) this.onStep(this.step);
  }

  drawPanes(step) {
    step.panes.forEach((pane, i) => {
      let view = this.panes[i];
      if (!view || view.type !== pane.type) {
        const figure = html("figure", "mp-pane");
        const caption = html("figcaption", "", "", figure);
        view = Object.assign(new PANES[pane.type](this), { type: pane.type, figure, caption });
        figure.dataset.type = pane.type;
        figure.append(view.element);
        if (this.panes[i]) this.panes[i].figure.replaceWith(figure);
        else this.row.append(figure);
        this.panes[i] = view;
      }
      view.caption.textContent = pane.name || "\u00a0"; // all captions or none: panes side by side start at one height
      view.caption.hidden = !step.panes.some((p) => p.name);
      view.draw(pane);
      view.figure.style.flexBasis = view.basis === "auto" ? "auto" : `${Math.round(view.basis * (pane.type === "graph" ? 0.65 : 0.8))}px`;
      if (view.basis !== "auto") view.figure.style.maxWidth = `max(100%, ${view.basis}px)`;
    });
    while (this.panes.length > step.panes.length) this.panes.pop().figure.remove();
    const height = this.row.offsetHeight; // never shrinks, so that what stands below doesn't jump
    if (height > (this.height ?? 0) && height < 1200) this.row.style.minHeight = `${(this.height = height)}px`;
  }

  select(id, tell = true) {
    this.selected = id;
    this.showDetails();
    if (tell) this.onSelect(id);
  }

  showDetails() {
    let chosen = null;
    for (const pane of this.scene.steps[this.step].panes)
      if (pane.type === "graph") chosen ??= pane.nodes.find((n) => n.id === this.selected) ?? null;
    for (const view of this.panes) if (view.markSelected) view.markSelected(this.selected);
    this.details.replaceChildren();
    this.details.classList.toggle("mp-chosen", Boolean(chosen));
    if (chosen) {
      const head = html("div", "mp-details-head", chosen.label.split("\n")[0], this.details);
      const words = [chosen.word, this.states[chosen.state]?.word].filter(Boolean).join(", ");
      if (words) html("span", "mp-details-kind", ` ${words}`, head);
      const rest = [...chosen.label.split("\n").slice(1), chosen.details].filter(Boolean).join("\n");
      html("pre", "", rest || "No details.", this.details);
    } else {
      html("span", "", this.selected ? `${this.selected} isn't in this step.` : "Click a node for its details.", this.details);
    }
  }

  move(by) {
    this.stop();
    const target = this.step + by;
    if (target >= 0 && target < this.scene.steps.length) this.show(target);
  }

  toggle() {
    if (this.timer) this.stop();
    else this.play();
  }

  play() {
    if (this.step === this.scene.steps.length - 1) this.show(0);
    this.timer = setInterval(() => {
      this.show(this.step + 1);
      if (this.step === this.scene.steps.length - 1) this.stop();
    }, Number(this.speed.value));
    this.setPlayButton("pause", "Pause");
  }

  stop() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
    this.setPlayButton("play", "Play");
  }

  setPlayButton(icon, label) {
    this.playButton.words.textContent = label;
    this.playButton.title = `${label} (space)`;
    this.playButton.querySelector("path").setAttribute("d", ICONS[icon]);
  }

  // Keeps the keys that mean something here from JupyterLab, which has meanings of its own for them (left arrow folds a heading, Enter edits the cell).
  // All others go on: after a click in the picture, Shift+Enter still runs the cell.
  onKey(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const node = target.closest(".mp-node");
    const pressable = target.closest("button");
    const key = event.key;
    const many = this.scene.steps.length > 1;
    let action = null;
    if (target === this.speed) {
      if (key.startsWith("Arrow") || key === " " || key === "Enter") event.stopPropagation(); // the list's own keys
      return;
    }
    if (many && key === "ArrowRight") action = () => this.move(1);
    else if (many && key === "ArrowLeft") action = () => this.move(-1);
    else if (many && key === "Home") action = () => { this.stop(); this.show(0); };
    else if (many && key === "End") action = () => { this.stop(); this.show(this.scene.steps.length - 1); };
    else if (node && (key === "Enter" || key === " ")) action = () => this.select(node.dataset.id);
    else if (pressable && (key === "Enter" || key === " ")) action = () => pressable.click();
    else if (target === this.slider && (key === "ArrowUp" || key === "ArrowDown")) action = () => this.move(key === "ArrowUp" ? 1 : -1);
    else if (node && (key === "ArrowUp" || key === "ArrowDown")) {
      const view = this.panes.find((p) => p.element.contains(node));
      action = () => view.moveFocus(node, key === "ArrowDown" ? 1 : -1);
    } else if (key === "Escape" && this.selected) action = () => this.select("");
    else if (many && key === " ") action = () => this.toggle();
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }
}

export function mount(host, scene, options = {}) {
  const player = new Player(host, scene, options);
  player.show(options.step ?? 0, false);
  if (options.selected) player.select(options.selected, false);
  return player;
}

function render({ model, el }) {
  const tell = (name) => (value) => { model.set(name, value); model.save_changes(); };
  const player = mount(el, model.get("_scene"), {
    step: model.get("step"), selected: model.get("selected"), onStep: tell("step"), onSelect: tell("selected"),
  });
  const follow = () => { if (model.get("step") !== player.step) player.show(model.get("step"), false); };
  const choose = () => { if (model.get("selected") !== player.selected) player.select(model.get("selected"), false); };
  model.on("change:step", follow);
  model.on("change:selected", choose);
  return () => {
    model.off("change:step", follow);
    model.off("change:selected", choose);
    player.destroy();
  };
}

export default { render };
