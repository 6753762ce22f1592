// Helpers for names, numbers and HTML elements. Names are data: they become text, never markup.

const startTime = performance.now();
const facts = JSON.parse(document.getElementById("facts").textContent);
// Shares are in thousandths, written in base 32 with two characters each.
const unpack = (text) =>
  Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 32));
const { names, n_columns: nColumns, tree: edges, groups, labels } = facts;
const page = document.documentElement;
const $ = (id) => document.getElementById(id);
const svg = $("drawing");
const stage = $("stage");
const panel = $("panel");
const reducedMotion = window.matchMedia("(prefers-reduced-motion: reduce)");

const N_COLOURS = 12;
const ANIMATION_TIME = 280; // milliseconds
const HIT_DISTANCE = 14; // a click selects a node that is at most this many pixels away
const MIN_LEAF_HEIGHT = 21; // pixels per leaf that keep the labels readable
const MAX_LENGTH = 28; // characters of a name in the drawing

// Names come from Python without line breaks and invisible characters. A long name ends with an ellipsis.
const shorten = (text, maxLength = MAX_LENGTH) => {
  const characters = Array.from(text);
  return characters.length <= maxLength
    ? text
    : characters
        .slice(0, maxLength - 1)
        .join("")
        .trimEnd() + "…";
};
const shortNames = names.map((name) => shorten(name));
const isHidden = (id) => id >= nColumns;
const percent = (share) =>
  share === 0 || share >= 0.0095 ? `${Math.round(100 * share)}\u00a0%` : `${(100 * share).toPrecision(1)}\u00a0%`;
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// Returns a new HTML or SVG element. A child that is a string becomes text, never markup.
function make(tag, attributes = {}, ...children) {
  const isSvg = ["svg", "rect", "path", "text", "g", "line", "title"].includes(tag);
  const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") element.addEventListener("click", value);
    else if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function nameElement(id, maxLength = 40) {
  const shown = shorten(names[id], maxLength);
  return make("bdi", shown === names[id] ? {} : { title: names[id].slice(0, 6000) }, shown);
}
