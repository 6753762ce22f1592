// The card of a group, built when it is wanted. What it says is what the cards of a page with few groups say.

const { cards } = facts;
const unpackLoading = (code) => ({ loading: code % 101, mark: Math.floor(code / 101) });
const isUnsure = (mark) => mark >= 3 && mark <= 5;
const SIGNS = ["", "+", "−", "", "+", "−", "+", "−"]; // by the mark of a column
const RISES_IN_WORDS = 6;
const FALLS_IN_WORDS = 7;

// The columns of a group with their loadings in hundredths, and what marks them; the strongest first.
const membersOf = (number) => {
  const codes = unpack(cards.loadings[number]);
  return groups[number].columns.map((id, i) => ({ id, ...unpackLoading(codes[i]) }));
};
const loadingText = ({ loading, mark }) => SIGNS[mark] + (loading / 100).toFixed(2);
const treeLink = (id, maxLength) => make("a", { class: "to-tree", href: `#node=${id}` }, nameElement(id, maxLength));
const linkedNames = (ids, maxLength = 28) => ids.flatMap((id, i) => [i ? ", " : "", treeLink(id, maxLength)]);

function doubt({ id, mark }) {
  if (!isUnsure(mark)) return "";
  const [share, other, otherShare] = cards.unsure[id];
  const elsewhere = other ? `; in ${shorten(groups[other - 1].name, 60)} in ${percent(otherShare)}` : "";
  const title = `In this group in ${percent(share)} of the searches on parts of the rows only${elsewhere}`;
  return make("span", {}, "\u00a0", make("abbr", { title }, "(?)"));
}

function cardMark(name, value, title, small) {
  const details = [make("dd", {}, value), small ? make("dd", {}, small) : null];
  return make("div", { title }, make("dt", {}, name), ...details);
}

// What a card says in words.
function cardSummary(number, members) {
  const group = groups[number];
  const parts = [`${count(members.length, "column")}`];
  if (cards.n_states[number]) {
    const alias = facts.aliases[group.centre - nColumns];
    const link = make("a", { class: "to-tree small-print", href: `#node=${group.centre}` }, alias);
    parts.push(`, ${count(cards.n_states[number], "state")} `, link);
  }
  parts.push(". ", ...labelWords(number));
  if (cards.kinds.includes(group.number))
    parts.push("Its states are kinds of rows, not steps from low to high: read the state, not the score. ");
  const [more, less] = [RISES_IN_WORDS, FALLS_IN_WORDS].map((kind) =>
    members.filter((member) => member.mark === kind).map(({ id }) => id),
  );
  if (more.length || less.length) {
    parts.push("A high score means ");
    if (more.length) parts.push("more ", ...linkedNames(more));
    if (more.length && less.length) parts.push(" and ");
    if (less.length) parts.push("less ", ...linkedNames(less));
    parts.push(". ");
  }
  const inner = cards.parts[group.number];
  if (inner) {
    const first = (ids) => ids.slice(0, 6).map((id) => shorten(names[id], 24));
    const texts = inner.map((ids) => first(ids).join(", ") + (ids.length > 6 ? " …" : ""));
    parts.push(`It falls into parts: ${texts.join("; ")}.`);
  }
  return make("p", { class: "summary" }, ...parts);
}
function labelWords(number) {
  if (!cards.labels || cards.labels[number][0] < 0) return [];
  const [label, n, labelled] = cards.labels[number];
  const words = [];
  if (labels.names[label] !== groups[number].name)
    words.push("Label ", shortName(labels.names[label], 40), `: ${n} of ${labelled}. `);
  const others = groups[number].columns.filter((id) => labels.of[id] >= 0 && labels.of[id] !== label);
  if (others.length) {
    others.slice(0, 4).forEach((id, i) => {
      words.push(i ? ", " : "", treeLink(id, 28), " (", shortName(labels.names[labels.of[id]], 40), ")");
    });
    if (others.length > 4) words.push(` and ${others.length - 4} more`);
    words.push(others.length === 1 ? " has another label. " : " have other labels. ");
  }
  return words;
}

// The strongest columns: their loadings, and what they are in each state.
function cellTable(number, members) {
  const stateNames = cards.state_lists[cards.states[number]];
  const shades = unpack(cards.shades[number], 1);
  const heads = stateNames.map((name, i) => {
    const size = cards.sizes[number][i];
    const text = size ? percent(size) : "<\u00a01\u00a0%";
    return make("th", { scope: "col", class: "state" }, name, make("span", {}, text));
  });
  const lines = cards.cells[number].map((cells, i) => {
    const member = members[i];
    const text = facts.descriptions?.[member.id];
    const bar = drawn(
      "svg",
      { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      drawn("path", { d: `M0 4H${member.loading}` }),
    );
    return row(
      make("span", {}, treeLink(member.id, 44), doubt(member), text ? make("small", {}, shortName(text, 80)) : ""),
      make("td", { class: "loading" }, bar, make("span", {}, loadingText(member))),
      ...cells.map((cell, k) => make("td", { class: `h${shades[i * cells.length + k]}` }, cell)),
    );
  });
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, "Column"),
    make("th", { scope: "col", class: "loading" }, "Loading"),
    ...heads,
  );
  const cellsTable = make("table", { class: classes("heat", stateNames.length > 6 && "many-states") }, make("thead", {}, head), make("tbody", {}, ...lines));
  return make("div", { class: "scroll" }, cellsTable);
}
function otherColumns(members, hasLoadings) {
  const texts = members.map((member) => {
    const loading = hasLoadings ? make("small", {}, ` ${loadingText(member)}`) : "";
    return make("span", {}, treeLink(member.id, 32), doubt(member), loading);
  });
  return make("p", { class: "others" }, ...texts.flatMap((text) => [text, " "]));
}

// Returns the card of a group.
function cardOf(number) {
  const group = groups[number];
  if (!cards) return make("article", { class: `group c${group.colour}` }, columnList(group.columns), leftOut());
  const members = membersOf(number);
  const nShown = cards.cells[number].length;
  const { stability, reliability } = group;
  const stable = "How often its columns are in this group again when the search is repeated on parts of the rows";
  const reliable =
    "The share of the variance of its score that is not uncertainty; usually larger than Cronbach's alpha";
  const marks = make(
    "dl",
    { class: "marks" },
    stability === null ? null : cardMark("stability", percent(stability), stable),
    reliability === null
      ? null
      : cardMark("reliability", (reliability / 100).toFixed(2), reliable, "if the model is right"),
  );
  const [nStates, nLargest] = [cards.n_states[number], cards.sizes[number].length];
  const largest = nStates > nLargest ? ` The ${nLargest} largest of ${nStates} states are shown.` : "";
  const others = members.slice(nShown);
  return make(
    "article",
    { class: `group c${group.colour}`, "aria-label": group.name },
    make("header", {}, cardSummary(number, members), marks),
    nShown ? cellTable(number, members) : null,
    nShown ? make("p", { class: "muted small" }, cards.scales[cards.scale[number]] + largest) : null,
    others.length ? otherColumns(others, nShown > 0) : null,
    make("div", { class: "buttons" }, smallButton("Show in the tree", () => select({ group: number }, { show: true }))),
  );
}
