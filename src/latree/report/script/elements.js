// Helpers for names, numbers and HTML elements. Names are data: they become text, never markup.

const startTime = performance.now();
const facts = JSON.parse(document.getElementById("facts").textContent);
const { names, n_columns: nColumns, tree: edges, labels } = facts;
// One object per group, from one list per property.
const groups = facts.groups.name.map((_, i) => ({
  number: i + 1,
  ...Object.fromEntries(Object.entries(facts.groups).map(([key, values]) => [key, values[i]])),
  name: facts.groups.name[i] ?? names[facts.groups.centre[i]],
}));
// Strengths and lengths come in thousandths, and -1 stands for no support.
edges.strength = edges.strength.map((value) => value && value / 1000);
edges.length = edges.length.map((value) => value && value / 1000);
edges.support = edges.support.map((share) => (share < 0 ? null : share));
const $ = (id) => document.getElementById(id);
const svg = $("drawing");
const stage = $("stage");
const panel = $("panel");
const reducedMotion = window.matchMedia("(prefers-reduced-motion: reduce)");
const SVG = "http://www.w3.org/2000/svg";

// Whole numbers are written in base 32, most of them with two characters each.
const unpack = (text, width = 2) =>
  Array.from({ length: text.length / width }, (_, i) => parseInt(text.slice(width * i, width * (i + 1)), 32));

// Names come from Python without line breaks and invisible characters. The middle of a long name becomes an ellipsis.
function shorten(text, maxLength = 28) {
  const characters = Array.from(text);
  return characters.length <= maxLength ? text : withoutMiddle(characters, maxLength);
}
function withoutMiddle(characters, length) {
  const end = Math.floor(length / 3);
  const [first, last] = [characters.slice(0, length - end - 1), characters.slice(characters.length - end)];
  return `${first.join("").trimEnd()}…${last.join("").trimStart()}`;
}
const isHidden = (id) => id >= nColumns;
const percent = (whole) => (whole === null ? "–" : `${whole}\u00a0%`);
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const rounded = (x) => Math.round(x * 10) / 10;

// Returns a new HTML element, or a new SVG element with `drawn`. A child that is a string becomes text, never markup.
function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}
function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}
function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") element.addEventListener("click", value);
    else if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A name that may be shortened; its tooltip is the whole name.
function shortName(name, maxLength = 40) {
  const text = shorten(name, maxLength);
  return make("bdi", text === name ? {} : { title: name.slice(0, 6000) }, text);
}
const nameElement = (id, maxLength) => shortName(names[id], maxLength);

const measuring = document.createElement("canvas").getContext("2d");
const family = getComputedStyle(document.body).fontFamily;
const textWidths = new Map();
// The width of a text in pixels, in a font such as "600 13px".
function widthOf(text, font) {
  const key = font + text;
  if (!textWidths.has(key)) {
    measuring.font = `${font} ${family}`;
    textWidths.set(key, measuring.measureText(text).width);
  }
  return textWidths.get(key);
}
// A text that is cut to fit a width.
function fitted(text, font, width) {
  text = shorten(text, 80);
  if (width === Infinity || widthOf(text, font) <= width) return text;
  const characters = Array.from(text);
  let [low, high] = [2, characters.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(withoutMiddle(characters, middle), font) <= width) low = middle;
    else high = middle - 1;
  }
  return withoutMiddle(characters, low);
}
// A text on at most so many lines, which are broken between words; the last one is cut to fit.
function wrapped(text, font, width, maxLines) {
  const lines = [];
  let rest = shorten(text, 160).split(" ");
  while (rest.length && lines.length < maxLines - 1) {
    let n = rest.length;
    while (n > 1 && widthOf(rest.slice(0, n).join(" "), font) > width) n--;
    lines.push(fitted(rest.slice(0, n).join(" "), font, width));
    rest = rest.slice(n);
  }
  if (rest.length) lines.push(fitted(rest.join(" "), font, width));
  return lines;
}
