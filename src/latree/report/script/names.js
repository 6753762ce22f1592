// Names, numbers, and elements. Names are data: they only ever become text, never markup.

const began = performance.now();
const facts = JSON.parse(document.getElementById("facts").textContent);
// Shares are written with two letters each, in thousandths, base 32.
const unpacked = (text) =>
  Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 32));
const { names, n_columns: nColumns, tree: edges, groups, labels } = facts;
const page = document.documentElement;
const $ = (id) => document.getElementById(id);
const svg = $("drawing");
const stage = $("stage");
const panel = $("panel");
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
page.classList.add("scripted");

const N_COLOURS = 12;
const ANIMATION = 280; // milliseconds
const NEAR = 14; // pixels within which a node is hit
const ROW = 21; // pixels a leaf needs when labels are to be read
const LONGEST = 28; // letters of a name in the drawing

// One line, without letters that show nothing; joiners stay, which emoji and some scripts are made with.
const plain = (text) =>
  text
    .replace(/(?![\u200c\u200d\u{e0020}-\u{e007f}])[\p{Cc}\p{Cf}\p{Cs}\p{Z}]/gu, " ")
    .replace(/ +/g, " ")
    .trim() || "(blank)";
const elided = (text, longest = LONGEST) => {
  const letters = Array.from(plain(text));
  return letters.length <= longest
    ? letters.join("")
    : letters
        .slice(0, longest - 1)
        .join("")
        .trimEnd() + "…";
};
const shortNames = names.map((name) => elided(name));
const isHidden = (id) => id >= nColumns;
const percent = (share) =>
  share === 0 || share >= 0.0095 ? `${Math.round(100 * share)}\u00a0%` : `${(100 * share).toPrecision(1)}\u00a0%`;
const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

// Makes an element: attributes, then children; text is only ever text.
function make(tag, attributes = {}, ...children) {
  const vector = ["svg", "rect", "path", "text", "g", "line", "title"].includes(tag);
  const element = vector ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") element.addEventListener("click", value);
    else if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function nameOf(id, longest = 40) {
  const shown = elided(names[id], longest);
  return make("bdi", shown === names[id] ? {} : { title: plain(names[id]).slice(0, 6000) }, shown);
}
