// What graphs and timelines have in common: things that can be chosen, in a picture that can be moved and zoomed.

const SMALLEST = 0.05, LARGEST = 4;

class PictureView {
  constructor(player, className) {
    this.player = player;
    this.element = html("div", `mp-body mp-picture ${className}`);
    this.things = new Map(); // id -> element; each has `at`, its place, for the order of reading
    this.inOrder = [];
    this.zoom = null; // a factor, or null: the picture finds its size by itself
    this.element.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.element.addEventListener("pointerdown", (event) => this.onPointerDown(event));
    new ResizeObserver(() => this.onResize()).observe(this.element);
    this.buildTools();
  }

  // Subclasses: draw(pane), setZoom() (shows this.zoom), naturalSize() (at factor 1), factor() (as shown now), onResize().

  buildTools() {
    this.tools = html("span", "mp-tools");
    const tool = (words, label, hint, action) => {
      const button = html("button", "mp-tool", words, this.tools);
      button.type = "button";
      button.title = hint;
      button.setAttribute("aria-label", label);
      button.addEventListener("click", action);
    };
    tool("−", "Zoom out", "Zoom out (minus key)", () => this.zoomBy(1 / 1.25));
    tool("+", "Zoom in", "Zoom in (plus key, or Ctrl and the mouse wheel)", () => this.zoomBy(1.25));
    tool("Fit", "Fit", "Show all of it (0 key); again: as it was at first", () => this.fit());
  }

  // -- things

  addThing(element, id) {
    element.dataset.id = id;
    element.addEventListener("click", () => this.player.select(id));
    element.addEventListener("focus", () => this.makeReachable(element));
    this.things.set(id, element);
    this.fadeIn(element);
  }

  removeThing(id) {
    const element = this.things.get(id);
    this.things.delete(id);
    element.removeAttribute("tabindex");
    this.fadeOut(element);
  }

  // A still picture shows its new state at once: nothing moves, nothing fades.
  setStill(still) {
    this.still = still;
    this.element.classList.toggle("mp-still", still);
  }

  fadeIn(element) {
    if (!this.still && !reducedMotion()) element.animate({ opacity: [0, 1] }, 350);
  }

  fadeOut(element) {
    if (this.still || reducedMotion()) element.remove();
    else {
      element.classList.add("mp-leaving");
      setTimeout(() => element.remove(), 400);
    }
  }

  sortThings() {
    this.inOrder = [...this.things.values()].sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]);
    if (this.inOrder.length && !this.inOrder.some((e) => e.getAttribute("tabindex") === "0"))
      this.inOrder[0].setAttribute("tabindex", "0");
  }

  // One thing can be reached with Tab; up and down move to the others. So a graph of 100 nodes isn't 100 stops on the way.
  makeReachable(element) {
    for (const other of this.things.values())
      if ((other.getAttribute("tabindex") === "0") !== (other === element))
        other.setAttribute("tabindex", other === element ? "0" : "-1");
  }

  moveFocus(element, direction) {
    const target = this.inOrder[this.inOrder.indexOf(element) + direction];
    if (!target) return;
    target.focus({ preventScroll: true });
    scrollInside(this.element, target);
  }

  markSelected(id) {
    for (const [key, element] of this.things) {
      const chosen = String(key === id);
      if (element.getAttribute("aria-pressed") === chosen) continue;
      element.classList.toggle("mp-selected", key === id);
      element.setAttribute("aria-pressed", chosen);
    }
  }

  // -- zoom and pan: the box scrolls, so scroll bars, fingers and the keyboard work as everywhere

  zoomBy(by, x = null, y = null) {
    const outer = this.element.getBoundingClientRect();
    const [px, py] = [x ?? outer.left + outer.width / 2, y ?? outer.top + outer.height / 2];
    const before = this.picture.getBoundingClientRect();
    const [fx, fy] = [(px - before.left) / before.width, (py - before.top) / before.height];
    this.zoom = Math.max(SMALLEST, Math.min(LARGEST, this.factor() * by));
    this.setZoom();
    const after = this.picture.getBoundingClientRect(); // what was under the pointer stays there
    this.element.scrollLeft += after.left + fx * after.width - px;
    this.element.scrollTop += after.top + fy * after.height - py;
    this.showPannable();
  }

  fit() {
    const [width, height] = this.naturalSize();
    const style = getComputedStyle(this.element);
    const tallest = parseFloat(style.maxHeight) || Infinity;
    const all = Math.min((this.element.clientWidth - 2) / width, (tallest - 4) / height, 1);
    const already = this.zoom !== null && Math.abs(this.zoom - all) < 0.001;
    this.zoom = already ? null : Math.max(all, SMALLEST);
    this.setZoom();
    this.element.scrollTo(0, 0);
    this.showPannable();
  }

  pan(dx, dy) {
    this.element.scrollBy({ left: dx, top: dy, behavior: reducedMotion() ? "auto" : "smooth" });
  }

  showPannable() {
    const box = this.element;
    box.classList.toggle("mp-pannable", box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1);
  }

  onWheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoomBy(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 200), event.clientX, event.clientY);
  }

  onPointerDown(event) {
    if (event.button !== 0 || event.pointerType === "touch") return; // fingers scroll by themselves
    const box = this.element;
    const from = [event.clientX, event.clientY, box.scrollLeft, box.scrollTop];
    const outer = box.getBoundingClientRect();
    if (event.clientX > outer.left + box.clientWidth || event.clientY > outer.top + box.clientHeight) return; // a scroll bar
    let dragging = false;
    const move = (moved) => {
      const [dx, dy] = [moved.clientX - from[0], moved.clientY - from[1]];
      if (!dragging && Math.hypot(dx, dy) < 5) return; // a click, by a hand that isn't quite still
      if (!dragging) box.setPointerCapture(event.pointerId); // the click at the end is then no click on a node
      dragging = true;
      box.classList.add("mp-dragging");
      box.scrollTo({ left: from[2] - dx, top: from[3] - dy, behavior: "instant" });
    };
    const end = () => {
      box.classList.remove("mp-dragging");
      for (const [name, handler] of handlers) box.removeEventListener(name, handler);
    };
    const handlers = [["pointermove", move], ["pointerup", end], ["pointercancel", end]];
    for (const [name, handler] of handlers) box.addEventListener(name, handler);
  }
}

function fillSign(player, state, x, y, parent, scale = 1) {
  const sign = player.states[state];
  if (!sign) return null;
  const group = svgElement("g", { transform: `translate(${x},${y}) scale(${scale})` }, parent);
  player.drawSign(sign, group);
  return group;
}
