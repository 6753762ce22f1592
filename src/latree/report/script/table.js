// The table of many groups: sorted by a click on a head, searched by names, with the card of a group below its line.

const MAX_MEMBERS = 12; // columns that are listed in a line
const MAX_FOUND = 4; // columns that are listed because they were searched for
const table = $("group-table");
const ROWS_AT_ONCE = table ? table.tBodies[0].rows.length : 0; // as many lines as without a script
const sorting = { by: "number", descending: false };
let nShown = ROWS_AT_ONCE;
let shownGroups = groups.map((_, number) => number);
let found = new Map(); // for each group, the columns that were searched for
const openCards = new Set();
let searched = null; // for each group, its names in small letters; made when someone first searches

// What a line is sorted by. Groups without a number come last.
const SORT_KEYS = {
  number: (group) => group.number,
  name: (group) => group.name,
  size: (group) => group.columns.length,
  loading: (group) => group.mean_loading,
  stability: (group) => group.stability,
  reliability: (group) => group.reliability,
};
function compare(a, b) {
  const key = SORT_KEYS[sorting.by];
  const [x, y] = [key(groups[a]), key(groups[b])];
  if (x === null || y === null) return (x === null) - (y === null) || a - b;
  const order = typeof x === "string" ? collator.compare(x, y) : x - y;
  return (sorting.descending ? -order : order) || a - b;
}
const collator = new Intl.Collator("en", { numeric: true });

const twoDigits = (hundredths) => (hundredths === null ? "–" : (hundredths / 100).toFixed(2));

const FIGURE_TEXTS = {
  size: (group) => group.columns.length.toLocaleString("en"),
  loading: (group) => twoDigits(group.mean_loading),
  stability: (group) => percent(group.stability),
  reliability: (group) => twoDigits(group.reliability),
};
// What the table has of them: some may be unknown for all groups.
const FIGURES = Object.keys(FIGURE_TEXTS).filter((key) => table?.tHead.querySelector(`[data-sort=${key}]`));

// Returns the line of a group, the same as on a page without a script.
function tableLine(number) {
  const group = groups[number];
  const isOpen = openCards.has(number);
  const button = make(
    "button",
    { type: "button", class: "link", "aria-expanded": String(isOpen) },
    shortName(group.name, 60),
  );
  const hits = found.get(number) || [];
  const more = hits.length > MAX_FOUND ? ` and ${hits.length - MAX_FOUND} more` : "";
  const hit = make("small", { class: "found" }, ...linkedNames(hits.slice(0, MAX_FOUND), 32), more);
  const members = group.columns.slice(0, MAX_MEMBERS).map((id) => shorten(names[id], 32)).join(", ");
  return make(
    "tr",
    { id: `group-${group.number}`, class: `group-row c${group.colour}` },
    make("td", { class: "figure" }, make("span", { class: `badge c${group.colour}` }, String(group.number))),
    make("th", { scope: "row" }, button, hits.length ? hit : null),
    make("td", { class: "members" }, make("bdi", {}, members)),
    ...FIGURES.map((key) => make("td", { class: `figure ${key}` }, FIGURE_TEXTS[key](group))),
  );
}
// The card is as wide as the table, which has fewer columns on a phone.
function cardLine(number) {
  const shown = [...table.tHead.rows[0].cells].filter((head) => getComputedStyle(head).display !== "none");
  return make("tr", { class: "opened" }, make("td", { colspan: shown.length }, cardOf(number)));
}

function drawTable() {
  const lines = shownGroups
    .slice(0, nShown)
    .flatMap((number) => (openCards.has(number) ? [tableLine(number), cardLine(number)] : [tableLine(number)]));
  table.tBodies[0].replaceChildren(...lines);
  for (const head of table.tHead.rows[0].cells) {
    const isSorted = head.dataset.sort === sorting.by;
    if (isSorted) head.setAttribute("aria-sort", sorting.descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  updateCount();
}
function updateCount() {
  const all = count(groups.length, "group");
  const n = shownGroups.length;
  const some = n ? `${n.toLocaleString("en")} of ${all}` : "No group or column has this name";
  $("group-count").textContent = n === groups.length ? all : some;
  const left = n - nShown;
  $("more-groups").hidden = left <= 0;
  $("more-groups").textContent = `Show ${Math.min(left, 2 * ROWS_AT_ONCE)} more`;
}

// Finds the groups whose name has every word, or that have a column, a label or a description with every word.
function searchTable() {
  const wanted = $("group-search").value.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const has = (text) => words.every((word) => text.includes(word));
  searched ??= groups.map((group) => ({
    name: `${group.number} ${group.name}`.toLowerCase(),
    columns: group.columns.map((id) => columnWords(id).toLowerCase()),
  }));
  found = new Map();
  shownGroups = [];
  searched.forEach(({ name, columns }, number) => {
    const hits = wanted ? groups[number].columns.filter((_, i) => has(columns[i])) : [];
    if (hits.length) found.set(number, hits);
    if (!wanted || has(name) || hits.length) shownGroups.push(number);
  });
  shownGroups.sort(compare);
  nShown = ROWS_AT_ONCE;
  drawTable();
}
function columnWords(id) {
  const label = labels && labels.of[id] >= 0 ? labels.names[labels.of[id]] : "";
  return [names[id], label, facts.descriptions?.[id] || ""].join(" ");
}

// Opens or closes the card below the line of a group.
function toggleCard(number, isOpen) {
  const line = $(`group-${number + 1}`);
  if (isOpen) openCards.add(number);
  else openCards.delete(number);
  line.querySelector("button").setAttribute("aria-expanded", String(isOpen));
  const next = line.nextElementSibling;
  if (next?.classList.contains("opened")) next.remove();
  if (isOpen) line.after(cardLine(number));
}
// Shows the card of a group wherever it is in the table.
function showCard(number) {
  if (!shownGroups.includes(number)) {
    $("group-search").value = "";
    searchTable();
  }
  nShown = Math.max(nShown, shownGroups.indexOf(number) + 1);
  openCards.add(number);
  drawTable();
  $(`group-${number + 1}`).scrollIntoView({ block: "start" });
}
// An address such as #group-3 is the place of a group on the page.
function showCardOfAddress() {
  const number = Number(/^#group-(\d{1,6})$/.exec(window.location.hash)?.[1]) - 1;
  if (number in groups) showCard(number);
}

if (table) {
  $("other-groups")?.remove(); // which a page without a script has
  table.tHead.addEventListener("click", (event) => {
    const head = event.target.closest("th[data-sort]");
    if (!head) return;
    const by = head.dataset.sort;
    // Numbers and names begin with the first; figures with the largest.
    const first = by !== "number" && by !== "name";
    Object.assign(sorting, { by, descending: sorting.by === by ? !sorting.descending : first });
    shownGroups.sort(compare);
    drawTable();
  });
  table.tBodies[0].addEventListener("click", (event) => {
    const line = event.target.closest("tr.group-row");
    if (!line || event.target.closest("a")) return;
    const number = Number(line.id.slice("group-".length)) - 1;
    toggleCard(number, !openCards.has(number));
  });
  $("group-search").addEventListener("input", searchTable);
  $("more-groups").addEventListener("click", () => {
    nShown += 2 * ROWS_AT_ONCE;
    drawTable();
  });
  window.addEventListener("hashchange", showCardOfAddress);
  window.matchMedia("(max-width: 620px)").addEventListener("change", drawTable);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#group-']");
    if (link && link.getAttribute("href") === window.location.hash) showCardOfAddress();
  });
  updateCount();
}
