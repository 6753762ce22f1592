// Values of columns in the panel: their shares as bars, and what is typical of a state.

const signed = (hundredths) => (hundredths / 100).toFixed(2).replace("-", "−");

// The bound of a bin, with three digits.
function boundText(bound) {
  const number = Number(bound);
  return Number.isFinite(number)
    ? number.toLocaleString("en", { maximumSignificantDigits: 3 }).replace("-", "−")
    : bound;
}

// A bar in a track that stands for 100 %.
function shareBar(share, colour = "") {
  return drawn(
    "svg",
    { class: "share", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    drawn("rect", { class: "back", width: 100, height: 10 }),
    drawn("rect", { class: `front ${colour}`, width: Math.max(0, Math.min(100, 100 * share)), height: 10 }),
  );
}

// The shares of a column's values in each state of a hidden variable, in thousandths.
function sharesOf(nStates, packed) {
  const all = unpack(packed);
  const n = all.length / nStates;
  return Array.from({ length: nStates }, (_, i) => all.slice(i * n, (i + 1) * n));
}
// The names of the states of a hidden variable that are shown, and how many states it has.
const statesOf = (id) => facts.states.lists[facts.states.of[id - nColumns]];
const otherStates = (id) => facts.states.others[id - nColumns] || [0, 0];
const nStatesOf = (id) => statesOf(id).length + otherStates(id)[0];

function categoriesOf(column) {
  const list = facts.values.lists[facts.values.of[column]];
  if (!Array.isArray(list)) return list;
  // Bins are named by their bounds.
  const bins = { bounds: list, ordered: true };
  return { ...bins, names: [...list, null].map((_, bin) => rangeName(bins, bin, bin)) };
}
function isBinned(column) {
  const list = facts.values?.lists[facts.values.of[column]];
  return Boolean(list && (Array.isArray(list) || list.bounds.length));
}
// What is shown in place of details that would have made the page too large.
const leftOut = () => make("p", { class: "hint" }, "Left out to keep this page small.");

// The colour of a value. Ordered values go from light to dark.
function categoryColour({ names: values, ordered }, value) {
  if (!ordered) return `var(--c${value % 12})`;
  const part = values.length < 2 ? 100 : Math.round((100 * value) / (values.length - 1));
  return `color-mix(in oklab, var(--ramp-high) ${part}%, var(--ramp-low))`;
}

// One bar that is divided into the shares of the values, in thousandths.
function stackedBar(categories, shares) {
  const bar = drawn("svg", { class: "stacked", viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img" });
  let x = 0;
  const parts = [];
  shares.forEach((share, value) => {
    if (share === 0) return;
    const text = `${shorten(categories.names[value], 40)}: ${percent(Math.round(share / 10))}`;
    parts.push([share, text]);
    const part = drawn("rect", { x, width: share, height: 10 }, drawn("title", {}, text));
    part.style.fill = categoryColour(categories, value);
    bar.append(part);
    x += share;
  });
  parts.sort((a, b) => b[0] - a[0]);
  const spoken = parts.slice(0, 3).map(([, text]) => text);
  bar.setAttribute("aria-label", spoken.join(", "));
  return bar;
}

function categoryLegend(categories) {
  const { names: values, ordered } = categories;
  if (ordered && values.length > 4) {
    const ends = [0, values.length - 1].map((value) =>
      make("bdi", {}, shorten(rangeName(categories, value, value), 18)),
    );
    return make("div", { class: "category-legend" }, ends[0], make("span", { class: "ramp" }), ends[1]);
  }
  const entries = values.slice(0, 6).map((text, value) => {
    const square = make("span", { class: "square" });
    square.style.background = categoryColour(categories, value);
    return make("span", { class: "entry" }, square, make("bdi", {}, shorten(text, 20)));
  });
  return make("div", { class: "category-legend" }, ...entries, values.length > 6 ? "…" : null);
}

// The values of a column: their shares, or for bins, which all have about the same share, the bounds of some of them.
function distribution(id) {
  if (!facts.values) return leftOut();
  const { names: values, bounds: exact } = categoriesOf(id);
  if (exact.length > 2) {
    const bounds = exact.map(boundText);
    const at = (share) => bounds[Math.max(0, Math.round(share * (bounds.length + 1)) - 1)];
    const ends = [
      ["Low", `up to ${bounds[0]}`],
      ["Middle", `about ${at(0.5)}`],
      ["High", `above ${bounds[bounds.length - 1]}`],
    ];
    const rows = ends.map(([name, text]) => row(name, make("td", {}, make("bdi", {}, text))));
    const hint = make("p", { class: "hint" }, `Cut into ${values.length} bins with about as many rows each.`);
    return make("div", {}, make("table", { class: "distribution" }, make("tbody", {}, ...rows)), hint);
  }
  const shares = unpack(facts.values.percent[id]);
  const rows = values.map((text, value) =>
    row(
      make("bdi", text.length > 24 ? { title: text } : {}, shorten(text, 24)),
      barCell(shares[value] / 100),
      figure(percent(shares[value])),
    ),
  );
  return make("table", { class: "distribution" }, make("tbody", {}, ...rows));
}

// The name of neighbouring values, from the first to the last.
function rangeName({ names: values, bounds: exact }, first, last) {
  if (!exact.length) return first === last ? values[first] : `${values[first]} to ${values[last]}`;
  const bounds = exact.map(boundText);
  if (first === 0) return `≤ ${bounds[last]}`;
  return last === bounds.length ? `> ${bounds[first - 1]}` : `${bounds[first - 1]} to ${bounds[last]}`;
}

// The values that are much more common in a state than in all rows, for at most three columns.
function typicalValues(columns, stateNumber) {
  const found = [];
  for (const { column, shares } of columns) {
    const categories = categoriesOf(column);
    const model = unpack(facts.profiles.model[column]);
    let best = null;
    // Ordered values may be joined to a range, such as 5 to 6, or all above a bound.
    for (let first = 0; first < model.length; first++) {
      let [share, usual] = [0, 0];
      for (let last = first; last < (categories.ordered ? model.length : first + 1); last++) {
        share += shares[stateNumber][last];
        usual += Math.max(model[last], 1);
        const score = share * Math.log(Math.max(share, 1) / usual);
        if (share > 1.2 * usual && (!best || score > best.score))
          best = { score, text: rangeName(categories, first, last) };
      }
    }
    if (best) found.push({ ...best, column });
  }
  found.sort((a, b) => b.score - a.score || a.column - b.column);
  return found.slice(0, 3);
}
