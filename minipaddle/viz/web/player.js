// The player. It draws a scene that Python prepared (see scene.py): positions, outlines and coloured lines come ready.
// No dependency, no request, no kernel: the same code serves JupyterLab (through anywidget: `render`) and a page of its own (`mount`).

const SPEEDS = [["slow", 2400], ["normal", 1400], ["fast", 600]];
const ICONS = {
  previous: "M11,3L5,8L11,13Z", next: "M5,3L11,8L5,13Z", play: "M4,2.5L13,8L4,13.5Z", pause: "M4,3H7V13H4ZM9,3H12V13H9Z",
};
const FEW = 8; // a step with fewer things needs no search
const KEYS = [
  ["← →", "previous, next step"], ["Home End", "first, last step"], ["Space", "play, pause"],
  ["Tab", "to the next part"], ["↑ ↓", "to another node or bar"], ["Enter", "its details"], ["Esc", "no details"],
  ["/", "search"], ["+ − 0", "zoom in, zoom out, fit"], ["Shift + arrows", "move the picture"], ["?", "these keys"],
];
const PANES = { graph: GraphPane, text: TextPane, table: TablePane, timeline: TimelinePane };
const PICTURES = new Set(["graph", "timeline"]);

class Player {
  constructor(host, scene, { onStep = () => {}, onSelect = () => {} } = {}) {
    Object.assign(this, { scene, onStep, onSelect, step: 0, selected: "", timer: null, panes: [] });
    this.states = Object.fromEntries(scene.legend.filter((e) => e.is === "state").map((e) => [e.name, e]));
    this.root = html("div", "mp-player", "", host);
    this.root.tabIndex = -1; // a click anywhere inside makes the arrow keys work
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", scene.label);
    this.buildBar();
    this.buildHead();
    this.row = html("div", "mp-panes", "", this.root);
    this.buildLegend();
    this.buildDetails();
    new ResizeObserver(() => this.arrange()).observe(this.row);
    this.root.addEventListener("keydown", (event) => this.onKey(event));
  }

  destroy() {
    this.stop();
    this.root.remove();
  }

  // -- parts

  // The letters that pictures are written with, for measuring.
  font(size) {
    if (!this.family) this.family = getComputedStyle(this.root).getPropertyValue("--mp-mono").trim();
    return `${size}px ${this.family || "monospace"}`;
  }

  buildBar() {
    const { scene } = this;
    const most = Math.max(...scene.steps.map((s) => s.panes.reduce((n, p) => n + (p.nodes ?? p.bars ?? p.rows ?? scene.texts[p.text]).length, 0)));
    const [many, searching] = [scene.steps.length > 1, most >= FEW];
    if (!many && !searching) return;
    const bar = html("div", "mp-bar", "", this.root);
    if (many) this.buildWalk(bar);
    if (searching) this.search = new Search(this, bar);
    this.buildKeys(bar, many);
  }

  buildWalk(bar) {
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

  buildKeys(bar, many) {
    this.keysButton = html("button", "mp-button mp-keys-button", "", bar);
    this.keysButton.type = "button";
    this.keysButton.title = "Keys (? key)";
    this.keysButton.setAttribute("aria-label", "Keys");
    this.keysButton.words = html("span", "", "?", this.keysButton);
    this.keysButton.addEventListener("click", () => this.toggleKeys());
    this.keys = html("dl", "mp-keys", "", this.root);
    for (const [key, words] of many ? KEYS : KEYS.slice(3)) {
      if (key === "/" && !this.search) continue;
      const pair = html("div", "", "", this.keys);
      html("dt", "", key, pair);
      html("dd", "", words, pair);
    }
    this.toggleKeys(false);
  }

  toggleKeys(shown = this.keys.hidden) {
    this.keys.hidden = !shown;
    this.keysButton.setAttribute("aria-expanded", String(shown));
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
      const picture = svgElement("svg", { "aria-hidden": "true", viewBox: entry.is === "state" ? "-9 -9 18 18" : "-15 -9 30 18" }, item);
      picture.style.width = entry.is === "state" ? "18px" : "30px";
      if (entry.is === "kind") {
        const node = svgElement("g", { class: "mp-node" }, picture);
        node.dataset.kind = entry.name;
        svgElement("path", { class: "mp-shape", d: entry.d }, node);
      } else if (entry.is === "bar") {
        const bar = svgElement("g", { class: "mp-span", transform: "translate(-13,-7)" }, picture);
        bar.dataset.bar = entry.name;
        svgElement("path", { class: "mp-shape", d: entry.d }, bar);
      } else this.drawSign(entry, picture);
      html("span", "", entry.word, item);
    }
  }

  buildDetails() {
    this.details = html("div", "mp-details", "", this.root);
    this.details.setAttribute("aria-live", "polite");
    const types = new Set(this.scene.steps.flatMap((s) => s.panes.map((p) => p.type)));
    this.what = [types.has("graph") && "node", types.has("timeline") && "bar"].filter(Boolean).join(" or a ");
    this.details.hidden = !this.what;
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
    this.search?.redraw();
    if (tell) this.onStep(this.step);
  }

  drawPanes(step) {
    step.panes.forEach((pane, i) => {
      let view = this.panes[i];
      if (!view || view.type !== pane.type) {
        const figure = html("figure", "mp-pane");
        const head = html("figcaption", "", "", figure);
        const caption = html("span", "mp-caption", "", head);
        view = Object.assign(new PANES[pane.type](this), { type: pane.type, figure, head, caption });
        if (view.tools) head.append(view.tools);
        figure.dataset.type = pane.type;
        figure.append(view.element);
        if (this.panes[i]) this.panes[i].figure.replaceWith(figure);
        else this.row.append(figure);
        this.panes[i] = view;
      }
      view.caption.textContent = pane.name || "\u00a0"; // all captions or none: panes side by side start at one height
      view.head.hidden = !step.panes.some((p) => p.name || PICTURES.has(p.type));
      view.tools?.setAttribute("aria-label", pane.name || pane.type);
      view.draw(pane);
      // Panes that would get too narrow to be read go into a row of their own.
      view.figure.style.flexBasis = view.basis === "auto" ? "auto" : `${Math.round(Math.min(view.basis, 1100) * 0.8)}px`;
      if (view.basis !== "auto") view.figure.style.maxWidth = `max(100%, ${view.basis}px)`;
    });
    while (this.panes.length > step.panes.length) this.panes.pop().figure.remove();
    this.arrange();
    const height = this.row.offsetHeight; // never shrinks, so that what stands below doesn't jump
    if (height > (this.height ?? 0) && height < 1200) this.row.style.minHeight = `${(this.height = height)}px`;
  }

  // Panes stand side by side. Where there is no room for that, the small ones stand below each other, beside the graph.
  arrange() {
    const width = this.row.clientWidth;
    const [graph, ...rest] = this.panes;
    const small = rest.filter((view) => !view.tools);
    const widest = Math.max(0, ...small.map((view) => view.wide));
    const inOneRow = graph && graph.wide * 0.8 + small.reduce((sum, view) => sum + view.wide * 0.8 + 10, 0);
    const stack = graph?.type === "graph" && small.length > 1 && inOneRow > width && Math.min(graph.wide, 1100) * 0.75 + Math.min(widest, 220) < width;
    const key = stack && [...this.panes.map((view) => view.type), Math.round(graph.wide), Math.round(widest)].join();
    if (this.arranged === key) return;
    this.arranged = key;
    this.row.classList.toggle("mp-stacked", Boolean(stack));
    this.row.style.gridTemplateColumns = stack ? `minmax(0, ${Math.round(graph.wide)}fr) minmax(min(${Math.round(widest)}px, 38%), ${Math.round(widest)}fr)` : "";
    this.row.style.gridTemplateRows = stack ? `repeat(${small.length - 1}, auto) 1fr` : "";
    this.panes.forEach((view) => {
      const number = small.indexOf(view);
      const area = view === graph ? `1 / 1 / span ${small.length} / 2` : number >= 0 ? `${number + 1} / 2` : "auto / 1 / auto / -1";
      view.figure.style.gridArea = stack ? area : "";
    });
  }

  select(id, tell = true) {
    this.selected = id;
    this.showDetails();
    if (tell) this.onSelect(id);
  }

  showDetails() {
    let chosen = null;
    for (const view of this.panes) chosen ??= view.items?.find((item) => item.id === this.selected) ?? null;
    for (const view of this.panes) if (view.markSelected) view.markSelected(this.selected);
    this.details.replaceChildren();
    this.details.classList.toggle("mp-chosen", Boolean(chosen));
    if (chosen) {
      const head = html("div", "mp-details-head", chosen.label.split("\n")[0] || chosen.id, this.details);
      const words = [chosen.word, this.states[chosen.state]?.word].filter(Boolean).join(", ");
      if (words) html("span", "mp-details-kind", ` ${words}`, head);
      const when = "start" in chosen ? `${chosen.lane}, ${round(chosen.start)} to ${round(chosen.end)}` : "";
      const rest = [...chosen.label.split("\n").slice(1), when, chosen.details].filter(Boolean).join("\n");
      html("pre", "", rest || "No details.", this.details);
    } else {
      html("span", "", this.selected ? `${this.selected} isn't in this step.` : `Click a ${this.what} for its details.`, this.details);
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
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target === this.search?.input) {
      if (key !== "Tab" && !(event.shiftKey && key === "Enter" && !this.search.words)) this.search.onKey(event);
      return;
    }
    if (target === this.speed) {
      if (key.startsWith("Arrow") || key === " " || key === "Enter") event.stopPropagation(); // the list's own keys
      return;
    }
    const action = event.shiftKey ? this.shiftedAction(key, target) : this.action(key, target);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  shiftedAction(key, target) {
    const view = this.pictureOf(target);
    const [dx, dy] = { ArrowLeft: [-80, 0], ArrowRight: [80, 0], ArrowUp: [0, -80], ArrowDown: [0, 80] }[key] ?? [0, 0];
    if (view && (dx || dy)) return () => view.pan(dx, dy);
    return "+?_/".includes(key) ? this.action(key.replace("_", "-"), target) : null; // which of them need Shift depends on the keyboard
  }

  action(key, target) {
    const thing = target.closest(".mp-node, .mp-span");
    const pressable = target.closest("button");
    const pressed = key === "Enter" || key === " ";
    const view = this.pictureOf(target);
    if (this.slider) {
      const last = this.scene.steps.length - 1;
      if (key === "ArrowRight") return () => this.move(1);
      if (key === "ArrowLeft") return () => this.move(-1);
      if (key === "Home") return () => { this.stop(); this.show(0); };
      if (key === "End") return () => { this.stop(); this.show(last); };
      if (target === this.slider && (key === "ArrowUp" || key === "ArrowDown")) return () => this.move(key === "ArrowUp" ? 1 : -1);
    }
    if (thing && pressed) return () => this.select(thing.dataset.id);
    if (pressable && pressed) return () => pressable.click();
    if (thing && (key === "ArrowUp" || key === "ArrowDown")) return () => view.moveFocus(thing, key === "ArrowDown" ? 1 : -1);
    if (key === "Escape" && this.selected) return () => this.select("");
    if (this.slider && key === " ") return () => this.toggle();
    if (this.keys && key === "?") return () => this.toggleKeys();
    if (this.search && key === "/") return () => { this.search.input.focus(); this.search.input.select(); };
    if (view && (key === "+" || key === "=")) return () => view.zoomBy(1.25);
    if (view && key === "-") return () => view.zoomBy(1 / 1.25);
    if (view && key === "0") return () => view.fit();
    return null;
  }

  // The picture that a key means: the one that it was pressed in, else the first.
  pictureOf(target) {
    const pictures = this.panes.filter((p) => p.tools);
    return pictures.find((p) => p.figure.contains(target)) ?? pictures[0];
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
