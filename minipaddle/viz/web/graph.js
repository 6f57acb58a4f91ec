// A graph: boxes and arrows. A node that is in two steps is one element: it moves.

// Moving takes the browser long in a large graph. There, a step that changes more than a few nodes shows all of them at once.
const [LARGE, FEW_CHANGES] = [150, 20];

class GraphPane extends PictureView {
  constructor(player) {
    super(player, "mp-graph");
    this.svg = this.picture = svgElement("svg", { role: "group" }, this.element);
    this.frames = svgElement("g", {}, this.svg);
    this.lines = svgElement("g", {}, this.svg);
    this.boxes = svgElement("g", {}, this.svg);
    this.words = svgElement("g", { class: "mp-words", "aria-hidden": "true" }, this.svg);
    this.edges = new Map();
  }

  draw(pane) {
    const scene = this.player.scene;
    const place = scene.places[pane.place];
    this.samePlace = this.place === place;
    this.place = place;
    this.items = pane.nodes.map((number) => scene.nodes[number]);
    this.basis = this.wide = place.width + 24;
    if (!this.samePlace) this.svg.setAttribute("viewBox", `0 0 ${place.width} ${place.height}`);
    this.setZoom();
    this.svg.setAttribute("aria-label", `${pane.name || "graph"}: ${pane.nodes.length} nodes, ${pane.edges.length} edges`);
    this.drawFrames(pane);
    this.setStill(Math.max(pane.nodes.length, this.things.size) > LARGE && this.countChanges(pane) > FEW_CHANGES);
    this.drawNodes(pane);
    this.drawEdges(pane.edges.map((number) => scene.edges[number]));
    const now = this.items.find((n) => n.state === "now");
    requestAnimationFrame(() => {
      this.showPannable();
      if (now && this.things.has(now.id)) scrollInside(this.element, this.things.get(now.id));
    });
  }

  // -- size

  setZoom() {
    const { width } = this.place, style = this.svg.style;
    style.width = `${width * (this.zoom ?? 1)}px`;
    style.maxWidth = this.zoom === null ? "" : "none";
    // By itself it shrinks to its pane, but not below the size where it can be read.
    style.minWidth = this.zoom === null ? `${Math.min(width, Math.max(width * 0.75, 240))}px` : "0";
  }

  naturalSize() { return [this.place.width, this.place.height]; }

  factor() { return this.svg.getBoundingClientRect().width / this.place.width || 1; }

  onResize() { if (this.place) this.showPannable(); }

  // -- parts

  drawFrames(pane) {
    const key = JSON.stringify([pane.place, pane.clusters]);
    if (this.framesShown === key) return;
    this.framesShown = key;
    this.frames.replaceChildren();
    for (const f of this.place.clusters) {
      const label = pane.clusters[f.id];
      if (label === undefined) continue;
      const [left, top] = [f.x - f.w / 2, f.y - f.h / 2];
      svgElement("rect", { class: "mp-frame", x: left, y: top, width: f.w, height: f.h, rx: 8 }, this.frames);
      svgElement("text", { class: "mp-frame-label", x: left + 9, y: top + 15 }, this.frames).textContent = label;
    }
  }

  // Nodes that come, go, move or look otherwise.
  countChanges(pane) {
    let [changed, stay] = [0, 0];
    this.items.forEach((n, i) => {
      const element = this.things.get(n.id), [x, y] = this.place.nodes[n.id];
      if (element) stay += 1;
      if (element?.content !== pane.nodes[i] || element.at[0] !== y || element.at[1] !== x) changed += 1;
    });
    return changed + this.things.size - stay;
  }

  drawNodes(pane) {
    const present = new Set(this.items.map((n) => n.id));
    for (const id of [...this.things.keys()]) if (!present.has(id)) this.removeThing(id);
    let changed = false;
    this.items.forEach((n, i) => {
      let element = this.things.get(n.id);
      if (!element) {
        element = svgElement("g", { class: "mp-node", role: "button", tabindex: "-1" }, this.boxes);
        this.addThing(element, n.id);
      }
      const content = pane.nodes[i];
      if (element.content === content && this.samePlace) return;
      const [x, y, w, h] = this.place.nodes[n.id];
      if (element.content !== content || element.size !== `${w},${h}`) this.fillNode(element, n, w, h);
      [element.content, element.size, element.at] = [content, `${w},${h}`, [y, x]];
      element.style.transform = `translate(${x}px, ${y}px)`;
      changed = true;
    });
    if (changed || this.inOrder.length !== this.things.size) this.sortThings();
  }

  // A new state is the most frequent change, so it touches little: the rest is drawn anew only if it looks otherwise.
  fillNode(element, n, w, h) {
    const state = this.player.states[n.state];
    element.dataset.kind = n.kind;
    element.dataset.state = n.state;
    element.setAttribute("aria-label", [n.label.replaceAll("\n", " "), n.word, state?.word].filter(Boolean).join(", "));
    const look = JSON.stringify([n.label, n.details, n.shape, n.lines, w, h]);
    if (element.look === look) element.sign?.remove();
    else {
      element.look = look;
      element.replaceChildren();
      svgElement("title", {}, element).textContent = n.details ? `${n.label}\n${n.details}` : n.label;
      svgElement("rect", { class: "mp-ring", x: -w / 2 - 5, y: -h / 2 - 5, width: w + 10, height: h + 10, rx: 9 }, element);
      this.fillFace(svgElement("g", { class: "mp-face" }, element), n, w);
    }
    element.sign = fillSign(this.player, n.state, w / 2 - 5, -h / 2, element);
  }

  fillFace(face, n, w) {
    svgElement("path", { class: "mp-shape", d: this.player.scene.shapes[n.shape] }, face);
    const top = -7 * (n.lines.length - 1) + 4.4;
    n.lines.forEach((line, i) => {
      const words = svgElement("text", { class: i ? "mp-small" : "mp-label", y: top + 14 * i }, face);
      words.textContent = line;
      squeeze(words, line, this.player.font(i ? 10.5 : 12.5), w - 16);
    });
  }

  drawEdges(edges) {
    const present = new Set(edges.map((e) => e.key));
    for (const [key, element] of this.edges) {
      if (present.has(key)) continue;
      this.edges.delete(key);
      this.fadeOut(element);
    }
    for (const e of edges) {
      const { d } = this.place.edges[e.key];
      let element = this.edges.get(e.key);
      if (!element) {
        element = svgElement("path", { class: "mp-edge" }, this.lines);
        this.edges.set(e.key, element);
        this.fadeIn(element);
      }
      if (element.d !== d) {
        element.setAttribute("d", (element.d = d));
        element.style.d = this.still ? "" : `path("${d}")`; // the attribute alone would jump; a browser that doesn't know this jumps
      }
      if (element.dataset.state !== e.state) element.dataset.state = e.state;
    }
    this.drawWords(edges);
  }

  drawWords(edges) {
    const words = [];
    for (const e of edges) {
      const drawn = this.place.edges[e.key];
      if (e.label) words.push([e.label, ...drawn.label, "middle"]);
      if (drawn.slot) words.push([...drawn.slot, "start"]);
    }
    const key = JSON.stringify(words);
    if (this.wordsShown === key) return;
    this.wordsShown = key;
    this.words.replaceChildren(...words.map(([said, x, y, anchor]) => {
      const element = svgElement("text", { x, y: y + 3, "text-anchor": anchor });
      element.textContent = said;
      return element;
    }));
  }

  // -- search

  texts() { return this.items.map(nodeText); }

  found(i) { return this.things.get(this.items[i].id); }
}
