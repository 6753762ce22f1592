// Search for columns, groups, hidden variables, labels, states and values.

const MAX_HITS = 12;
const input = $("search");
const results = $("results");
let entries = null; // all that can be found; made when someone first searches
let hits = [];
let active = -1;

function allEntries() {
  const found = [];
  const add = (text, detail, target, also = "") =>
    found.push({ text, detail, target, lowered: text.toLowerCase(), also: `${also} ${detail}`.toLowerCase() });
  names.slice(0, nColumns).forEach((name, id) => add(name, "", { node: id }));
  if (manyGroups) groups.forEach((group, number) => add(group.name, `group ${group.number}`, { group: number }));
  facts.aliases.forEach((alias, i) =>
    add(names[nColumns + i], `hidden variable ${alias}`, { node: nColumns + i }, alias),
  );
  if (labels) labels.names.forEach((name, label) => add(name, "your label", { label }));
  for (const { centre, name } of groups) {
    if (!isHidden(centre)) continue;
    for (const stateName of statesOf(centre)) add(stateName, `state of ${shorten(name, 30)}`, { node: centre }, name);
  }
  const seen = new Set();
  names.slice(0, facts.values ? nColumns : 0).forEach((name, id) => {
    if (isBinned(id)) return;
    for (const value of categoriesOf(id).names) {
      // Numbers would find every column.
      if (/^[-\d.]*$/.test(value) || seen.size > 5000) continue;
      seen.add(value);
      add(value, `value of ${shorten(name, 30)}`, { node: id }, name);
    }
  });
  return found;
}

function search() {
  const wanted = input.value.trim().toLowerCase();
  entries ??= allEntries();
  const words = wanted.split(/\s+/);
  // First what is called so, then what begins so, then what contains every word.
  const ranks = [[], [], [], []];
  if (wanted)
    for (const entry of entries) {
      if (entry.lowered === wanted || entry.also.trim().split(" ")[0] === wanted) ranks[0].push(entry);
      else if (entry.lowered.startsWith(wanted)) ranks[1].push(entry);
      else if (entry.lowered.includes(wanted)) ranks[2].push(entry);
      else if (words.every((word) => entry.lowered.includes(word) || entry.also.includes(word))) ranks[3].push(entry);
    }
  hits = ranks.flat().slice(0, MAX_HITS);
  active = hits.length ? 0 : -1;
  showResults(Boolean(wanted));
}
function showResults(open) {
  results.replaceChildren(
    ...hits.map((entry, i) => {
      const option = make(
        "li",
        { role: "option", id: `result-${i}`, "aria-selected": String(i === active) },
        shortName(entry.text, 44),
        make("span", { class: "muted" }, entry.detail),
      );
      option.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        choose(entry);
      });
      return option;
    }),
    ...(open && !hits.length ? [make("li", { class: "muted none" }, "Nothing has this name")] : []),
  );
  results.hidden = !open;
  if (open) fitResults();
  input.setAttribute("aria-expanded", String(open));
  if (active >= 0 && open) input.setAttribute("aria-activedescendant", `result-${active}`);
  else input.removeAttribute("aria-activedescendant");
  const current = results.children[active];
  if (open && current) current.scrollIntoView({ block: "nearest" });
}
// The list opens below the field or, if there is more room, above it, and is never higher than the window.
function fitResults() {
  const box = input.getBoundingClientRect();
  const [above, below] = [box.top - 60, window.innerHeight - box.bottom - 12];
  const isAbove = below < Math.min(results.scrollHeight, 200) && above > below;
  results.classList.toggle("above", isAbove);
  results.style.maxHeight = `${Math.max(80, Math.min(320, isAbove ? above : below))}px`;
}
function closeResults() {
  input.value = "";
  hits = [];
  showResults(false);
}
function choose({ target }) {
  closeResults();
  svg.focus({ preventScroll: true }); // so that F and the arrow keys continue from here
  select(target, { show: true });
}
input.addEventListener("input", search);
input.addEventListener("blur", () => showResults(false));
input.addEventListener("focus", () => input.value.trim() && search());
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (hits.length) active = (active + (event.key === "ArrowDown" ? 1 : -1) + hits.length) % hits.length;
    showResults(hits.length > 0);
  } else if (event.key === "Enter") {
    if (active >= 0) choose(hits[active]);
  } else if (event.key === "Escape" && input.value) closeResults();
  else return;
  event.preventDefault();
});
