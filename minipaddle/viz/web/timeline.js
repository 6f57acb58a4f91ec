// Bars on a time axis. The time stretches when the reader zooms, the letters don't; lanes stay in view at the left.

const AXIS_HEIGHT = 26;

class TimelinePane extends PictureView {
  constructor(player) {
    super(player, "mp-timeline");
    this.names = svgElement("svg", { class: "mp-lanes", "aria-hidden": "true" }, this.element);
    this.svg = this.picture = svgElement("svg", { class: "mp-time", role: "group" }, this.element);
    this.back = svgElement("g", { "aria-hidden": "true" }, this.svg);
    this.bars = svgElement("g", {}, this.svg);
    this.front = svgElement("g", { "aria-hidden": "true" }, this.svg);
  }

  draw(pane) {
    this.pane = pane;
    this.items = pane.bars;
    this.basis = pane.gutter + pane.width + 40;
    const unit = pane.unit ? ` in ${pane.unit}` : "";
    const cursor = pane.cursor === null ? "" : `, now ${pane.cursor}${pane.unit ? ` ${pane.unit}` : ""}`;
    const reach = `${pane.span[0]} to ${pane.span[1]}${unit}`;
    this.svg.setAttribute("aria-label", `${pane.name || "timeline"}: ${pane.lanes.length} lanes, ${pane.bars.length} bars, ${reach}${cursor}`);
    this.drawNames();
    this.drawBars();
    requestAnimationFrame(() => this.follow());
  }

  // -- size: k stretches the time

  naturalSize() { return [this.pane.gutter + this.pane.width + 24, this.pane.height + AXIS_HEIGHT]; }

  room() { return this.element.clientWidth - this.pane.gutter - 26; }

  factor() {
    if (this.zoom !== null) return this.zoom;
    return Math.max(0.6, Math.min(this.room() / this.pane.width, 1.6));
  }

  fit() {
    const all = Math.max(SMALLEST, this.room() / this.pane.width);
    this.zoom = this.zoom !== null && Math.abs(this.zoom - all) < 0.001 ? null : all;
    this.setZoom();
    this.element.scrollTo(0, 0);
    this.showPannable();
  }

  setZoom() { this.drawBars(false); }

  onResize() {
    if (!this.pane || this.wide === this.element.clientWidth) return;
    this.wide = this.element.clientWidth;
    this.drawBars(false);
    this.follow();
  }

  follow() {
    this.showPannable();
    const now = this.pane.bars.find((b) => b.state === "now");
    const target = (now && this.things.get(now.id)) ?? this.cursor;
    if (target) scrollInside(this.element, target);
  }

  x(time) { return ((time - this.pane.span[0]) / (this.pane.span[1] - this.pane.span[0] || 1)) * this.width + 6; }

  // -- parts

  drawNames() {
    const { lanes, gutter, height, unit } = this.pane;
    const whole = height + AXIS_HEIGHT;
    Object.entries({ width: gutter, height: whole, viewBox: `0 0 ${gutter} ${whole}` }).forEach(([k, v]) => this.names.setAttribute(k, v));
    this.names.replaceChildren();
    svgElement("rect", { class: "mp-lane-paper", width: gutter, height: whole }, this.names);
    lanes.forEach((lane, i) => {
      if (i % 2) svgElement("rect", { class: "mp-lane-odd", y: lane.y, width: gutter, height: lane.h }, this.names);
      const words = svgElement("text", { class: "mp-lane-name", x: 8, y: lane.y + lane.h / 2 + 4 }, this.names);
      words.textContent = lane.label;
      squeeze(words, lane.label, this.player.font(11), gutter - 12);
      svgElement("title", {}, words).textContent = lane.whole;
    });
    if (unit) svgElement("text", { class: "mp-tick", x: 8, y: height + 16 }, this.names).textContent = unit;
  }

  drawBars(animate = true) {
    const { lanes, height, bars, cursor } = this.pane;
    this.width = this.pane.width * this.factor();
    const [whole, total] = [this.width + 24, height + AXIS_HEIGHT];
    Object.entries({ width: whole, height: total, viewBox: `0 0 ${whole} ${total}` }).forEach(([k, v]) => this.svg.setAttribute(k, v));
    this.back.replaceChildren();
    lanes.forEach((lane, i) => {
      if (i % 2) svgElement("rect", { class: "mp-lane-odd", y: lane.y, width: whole, height: lane.h }, this.back);
    });
    for (const [time, words] of ticks(...this.pane.span, this.width)) {
      svgElement("path", { class: "mp-grid", d: `M${this.x(time)},0V${height}` }, this.back);
      svgElement("text", { class: "mp-tick", x: this.x(time), y: height + 16, "text-anchor": "middle" }, this.back).textContent = words;
    }
    this.front.replaceChildren();
    this.placeBars(bars, animate);
    this.cursor = null;
    if (cursor !== null) {
      const x = this.x(cursor);
      this.cursor = svgElement("path", { class: "mp-cursor", d: `M${x},0V${height}M${x - 5},${height + 6}L${x},${height}L${x + 5},${height + 6}Z` }, this.front);
    }
  }

  placeBars(bars, animate) {
    const present = new Set(bars.map((b) => b.id));
    for (const id of [...this.things.keys()]) if (!present.has(id)) this.removeThing(id);
    this.setStill(!animate);
    for (const b of bars) {
      let element = this.things.get(b.id);
      if (!element) {
        element = svgElement("g", { class: "mp-span", role: "button", tabindex: "-1" }, this.bars);
        this.addThing(element, b.id);
      }
      const x = this.x(b.start), wide = Math.max(this.x(b.end) - x, 1);
      const content = JSON.stringify([b, wide]);
      if (element.content !== content) this.fillBar(element, b, wide);
      element.content = content;
      element.at = [b.start, b.y];
      element.style.transform = `translate(${x}px, ${b.y}px)`;
      fillSign(this.player, b.state, x + Math.max(wide - 5, 3), b.y, this.front, 0.7); // on top of neighbours
    }
    this.sortThings();
  }

  fillBar(element, b, wide) {
    const state = this.player.states[b.state];
    const unit = this.pane.unit ? ` ${this.pane.unit}` : "";
    element.dataset.bar = b.kind;
    element.dataset.state = b.state;
    const when = `${round(b.start)} to ${round(b.end)}${unit}`;
    element.setAttribute("aria-label", [b.label || b.id, b.word, b.lane, when, state?.word].filter(Boolean).join(", "));
    element.replaceChildren();
    svgElement("title", {}, element).textContent = [b.label, b.word, when, b.details].filter(Boolean).join("\n");
    svgElement("rect", { class: "mp-ring", x: -3, y: -3, width: wide + 6, height: b.h + 6, rx: 4 }, element);
    svgElement("path", { class: "mp-shape", d: barOutline(b.shape, wide, b.h) }, element);
    const font = this.player.font(11);
    const words = b.h >= 12 ? fitWords(b.label, font, wide - 8) : "";
    if (words) svgElement("text", { x: wide / 2, y: b.h / 2 + 3.8 }, element).textContent = words;
  }

  // -- search

  texts() { return this.items.map(barText); }

  found(i) { return this.things.get(this.items[i].id); }
}

const round = (time) => String(Number(time.toPrecision(6)));

// The same as in looks.py; here, because the width depends on the zoom.
function barOutline(shape, w, h) {
  const tip = ["right", "left", "both", "slanted"].includes(shape) ? Math.min(6, w / 3) : 0;
  const points = {
    right: [[0, 0], [w - tip, 0], [w, h / 2], [w - tip, h], [0, h]],
    left: [[tip, 0], [w, 0], [w, h], [tip, h], [0, h / 2]],
    both: [[tip, 0], [w - tip, 0], [w, h / 2], [w - tip, h], [tip, h], [0, h / 2]],
    slanted: [[tip, 0], [w, 0], [w - tip, h], [0, h]],
  }[shape] ?? [[0, 0], [w, 0], [w, h], [0, h]];
  return `M${points.map((p) => p.join(",")).join("L")}Z`;
}

// Round times, at least 64 pixels apart: as in bars.py.
function ticks(first, last, width) {
  const reach = last - first || 1;
  const rough = reach / Math.max(width / 64, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-9));
  const made = [];
  for (let n = Math.ceil(first / step - 1e-9); n * step <= last + 1e-9 * reach; n += 1) made.push([n * step, round(n * step)]);
  return made;
}
