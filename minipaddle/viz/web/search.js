// Search: in labels and details of nodes and bars, in lines of texts, in rows of tables; in this step first, then in the others.

const nodeText = (n) => [n.label, n.word, n.details].join("\n");
const barText = (b) => [b.label, b.word, b.details].join("\n");

// What can be found in a pane of a step, one string each; views find the element with the same number.
function searchable(scene, pane) {
  if (pane.type === "graph") return pane.nodes.map((number) => nodeText(scene.nodes[number]));
  if (pane.type === "timeline") return pane.bars.map(barText);
  if (pane.type === "text") return scene.texts[pane.text].map((runs) => runs.map(([, words]) => words).join(""));
  return pane.rows.map((cells) => cells.join(" "));
}

class Search {
  constructor(player, bar) {
    this.player = player;
    this.words = "";
    this.at = -1;
    this.hits = [];
    const box = html("span", "mp-search", "", bar);
    box.setAttribute("role", "search");
    this.input = html("input", "", "", box);
    Object.assign(this.input, { type: "search", placeholder: "Search", title: "Search (/ key); Enter: next, Shift+Enter: the one before" });
    this.input.setAttribute("aria-label", "Search nodes, lines and rows");
    this.input.addEventListener("input", () => this.look());
    this.says = html("span", "mp-search-says", "", box);
    this.says.setAttribute("aria-live", "polite");
  }

  hitsIn(number) {
    const { scene } = this.player, words = this.words.toLowerCase();
    if (!words) return [];
    return scene.steps[number].panes.flatMap((pane, p) =>
      searchable(scene, pane).flatMap((text, i) => (text.toLowerCase().includes(words) ? [[p, i]] : [])));
  }

  look() {
    this.words = this.input.value.trim();
    this.hits = this.hitsIn(this.player.step);
    this.at = this.hits.length ? 0 : -1;
    this.mark(true);
  }

  // A step was drawn: the same words, other elements.
  redraw() {
    if (!this.words) return;
    this.hits = this.hitsIn(this.player.step);
    this.at = Math.min(Math.max(this.at, 0), this.hits.length - 1);
    this.mark(false);
  }

  next(by) {
    if (!this.words) return;
    const target = this.at + by;
    if (target >= 0 && target < this.hits.length) this.at = target;
    else {
      const other = this.otherStep(by);
      if (other !== null) {
        this.player.stop();
        this.player.show(other);
      }
      this.at = by > 0 ? 0 : this.hits.length - 1;
    }
    this.mark(true);
  }

  // The nearest step in this direction that has a hit, once around.
  otherStep(by) {
    const count = this.player.scene.steps.length;
    for (let i = 1; i < count; i += 1) {
      const number = (this.player.step + by * i + count * i) % count;
      if (this.hitsIn(number).length) return number;
    }
    return null;
  }

  element([pane, i]) { return this.player.panes[pane].found(i); }

  mark(reveal) {
    for (const old of this.player.row.querySelectorAll(".mp-found")) old.classList.remove("mp-found", "mp-found-now");
    this.hits.forEach((hit, number) => {
      const element = this.element(hit);
      element?.classList.add("mp-found");
      if (number !== this.at) return;
      element?.classList.add("mp-found-now");
      if (reveal && element) scrollInside(this.player.panes[hit[0]].element, element);
    });
    this.says.textContent = this.answer();
  }

  answer() {
    if (!this.words) return "";
    if (this.hits.length) return `${this.at + 1} of ${this.hits.length}`;
    const other = this.otherStep(1);
    return other === null ? "not found" : `not here; Enter: step ${other + 1}`;
  }

  onKey(event) {
    event.stopPropagation(); // JupyterLab has meanings for single letters
    if (event.isComposing) return; // the Enter that chooses a Chinese word isn't a search
    if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && !this.input.value) this.player.root.focus({ preventScroll: true });
    else if (event.key === "Escape") { this.input.value = ""; this.look(); }
    else return;
    event.preventDefault();
  }
}
