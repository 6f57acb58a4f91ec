// What all parts of the player use: making elements, measuring letters, scrolling inside a box.
// The files of this folder are put together by player.py into one module, in the order named there.

const SVG = "http://www.w3.org/2000/svg";

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
  const move = {};
  if (inner.top < outer.top || inner.bottom > outer.bottom)
    move.top = box.scrollTop + inner.top - outer.top - (outer.height - inner.height) / 2;
  if (inner.left < outer.left || (inner.right > outer.right && inner.width < outer.width))
    move.left = box.scrollLeft + inner.left - outer.left - Math.max(20, (outer.width - inner.width) / 2);
  if ("top" in move || "left" in move) box.scrollTo({ ...move, behavior: reducedMotion() ? "auto" : "smooth" });
}

// ---- letters. Python made room by a table of widths; which font the reader really has, only the browser knows.

let canvas = null;
const widths = new Map();

function measure(words, font) {
  const key = `${font}\n${words}`;
  let width = widths.get(key);
  if (width === undefined) {
    canvas ??= document.createElement("canvas").getContext("2d");
    canvas.font = font;
    widths.set(key, (width = canvas.measureText(words).width));
  }
  return width;
}

// `words`, as much of them as `room` pixels hold. A Chinese character is one piece, an emoji too.
function fitWords(words, font, room) {
  if (measure(words, font) <= room) return words;
  const letters = [...words];
  while (letters.length > 1 && measure(`${letters.join("")}…`, font) > room) letters.pop();
  return letters.length > 1 || measure(`${letters[0]}…`, font) <= room ? `${letters.join("")}…` : "";
}

// Squeezes the letters of an SVG text into `room` if this reader's font is wider than expected.
function squeeze(element, words, font, room) {
  if (measure(words, font) > room) {
    element.setAttribute("textLength", room);
    element.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
}
