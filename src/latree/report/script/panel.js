// The panel beside the drawing: details of the selected node, group or label.

const MAX_LISTED = 200; // lines of a list in the panel

function nodeLink(id, maxLength = 28) {
  return make("a", { href: `#node=${id}`, class: "link" }, nameElement(id, maxLength));
}
// A link keeps how the tree is drawn: only what is selected changes.
function followLinks(element) {
  element.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#node='], a[href^='#group=']");
    if (!link) return;
    event.preventDefault();
    const [what, number] = link.getAttribute("href").slice(1).split("=");
    select(what === "node" ? { node: Number(number) } : { group: Number(number) - 1 }, { show: true });
  });
}
followLinks(document);

function groupBadge(number) {
  return make("span", { class: `badge c${groups[number].colour}` }, String(groups[number].number));
}
function groupButton(number, maxLength = 40) {
  const onclick = () => select({ group: number }, { show: true });
  return make("button", { type: "button", class: "link", onclick }, shortName(groups[number].name, maxLength));
}
function smallButton(text, onclick, attributes = {}) {
  return make("button", { type: "button", class: "small-button", onclick, ...attributes }, text);
}

function section(title, hint, ...content) {
  return make("section", {}, make("h4", {}, title), hint ? make("p", { class: "hint" }, hint) : null, ...content);
}

// The head of the panel: what is selected, and what can be done with it.
function panelHead(colour, kind, name, lines, target) {
  const canFold = target.group !== undefined ? manyGroups : target.node !== undefined && children[target.node].length;
  const isNowFolded =
    target.group !== undefined ? state.foldedGroups.has(target.group) : state.foldedBranches.has(target.node);
  return make(
    "header",
    {},
    make("p", { class: "kind" }, make("span", { class: `swatch ${colour}` }), kind),
    make("h3", {}, name),
    ...lines.filter(Boolean).map((line) => make("p", { class: "muted" }, line)),
    make(
      "div",
      { class: "buttons" },
      smallButton("Show in tree", scrollToSelected),
      canFold ? smallButton(isNowFolded ? "Unfold" : "Fold", () => toggleFold(target), { id: "fold" }) : null,
      target.card === undefined ? null : make("a", { class: "small-button", href: `#group-${target.card}` }, "Card"),
      smallButton("Close", () => select({}), { id: "close" }),
    ),
  );
}
// The line that names the group of a node.
function groupLine(id) {
  if (groupOf[id] < 0 || !manyGroups) return null;
  return make("span", {}, "Group ", groupBadge(groupOf[id]), " ", groupButton(groupOf[id]));
}

function row(head, ...cells) {
  return make("tr", {}, make("th", { scope: "row" }, head), ...cells);
}
const figure = (text) => make("td", { class: "figure" }, text);
const barCell = (share, colour) => make("td", { class: "bar-cell" }, shareBar(share, colour));

function neighbourTable(id) {
  const near = [
    ...(edges.parent[id] >= 0 ? [[edges.parent[id], id]] : []),
    ...children[id].map((child) => [child, child]),
  ];
  near.sort((a, b) => edges.strength[b[1]] - edges.strength[a[1]] || a[0] - b[0]);
  const rows = near.slice(0, MAX_LISTED).map(([other, edge]) =>
    row(
      nodeLink(other, 22),
      barCell(edges.strength[edge]),
      figure(edges.strength[edge].toFixed(2)),
      ...(hasSupport ? [figure(percent(edges.support[edge]))] : []),
    ),
  );
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, "Name"),
    make("th", { scope: "col", colspan: 2 }, "Strength"),
    ...(hasSupport ? [make("th", { scope: "col", class: "figure" }, "Support")] : []),
  );
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

function showHidden(id) {
  const sizes = facts.states.sizes[id - nColumns];
  const stateNames = statesOf(id);
  const columns = (facts.profiles?.columns[id - nColumns] || []).map(([column, loading, packed]) => ({
    column,
    loading,
    shares: sharesOf(stateNames.length, packed),
  }));
  const states = stateNames.map((name, i) => {
    const words = typicalValues(columns, i).flatMap(({ column, text }, j) => [
      ...(j ? [", "] : []),
      nameElement(column, 18),
      " is ",
      make("b", {}, make("bdi", {}, shorten(text, 22))),
    ]);
    return make(
      "li",
      {},
      make(
        "div",
        { class: "line" },
        make("span", { class: "state" }, name),
        shareBar(sizes[i] / 100),
        make("span", { class: "figure" }, percent(sizes[i])),
      ),
      columns.length
        ? make("div", { class: "meaning" }, ...(words.length ? ["Typical: ", ...words] : ["Like all rows"]))
        : null,
    );
  });
  const [n, share] = otherStates(id);
  if (n) states.push(make("li", { class: "muted" }, `${count(n, "smaller state")}: ${percent(share)}`));
  const profiles = columns.map(({ column, loading, shares }) =>
    make(
      "div",
      { class: "profile" },
      make("div", { class: "line" }, nodeLink(column, 30), make("span", { class: "figure muted" }, signed(loading))),
      ...shares.map((part, i) =>
        make(
          "div",
          { class: "profile-row" },
          make("span", { class: "state" }, shorten(stateNames[i], 12)),
          stackedBar(categoriesOf(column), part),
        ),
      ),
      categoryLegend(categoriesOf(column)),
    ),
  );
  const own = groupWithCentre.get(id);
  const card = own === undefined || !manyGroups ? undefined : groups[own].number;
  const kind = `Hidden variable ${facts.aliases[id - nColumns]}`;
  panel.replaceChildren(
    panelHead(colourOf(id), kind, nameElement(id, 80), [groupLine(id)], { node: id, card }),
    section(
      "States",
      `Share of the rows${columns.length ? ", and the values that are more common there than in all rows" : ""}.`,
      make("ol", { class: "states-list" }, ...states),
    ),
    columns.length
      ? section(
          "Columns",
          "Those that depend on it most, with their loadings. Each bar is a state, each colour a value.",
          ...profiles,
        )
      : section("Columns", null, leftOut()),
    section("Neighbours", "What edges connect it with.", neighbourTable(id)),
  );
}

function showColumn(id) {
  const others = facts.related ? unpack(facts.related.columns[id], facts.related.width) : [];
  const values = facts.related ? unpack(facts.related.values[id]).map((value) => value - 100) : [];
  const related = others.map((column, i) => [column, values[i]]);
  const rows = related.map(([column, value]) =>
    row(nodeLink(column, 22), barCell(Math.abs(value) / 100, value < 0 ? "negative" : ""), figure(signed(value))),
  );
  const nMissing = facts.values?.missing[id];
  const missing = nMissing ? `${count(nMissing, "cell")} missing` : null;
  const label =
    labels && labels.of[id] >= 0 ? make("span", {}, "Label: ", shortName(labels.names[labels.of[id]], 60)) : null;
  const text = facts.descriptions?.[id];
  const description = text ? make("bdi", {}, text) : null;
  const kind = isBinned(id) ? "Column of numbers, cut into bins" : "Column";
  panel.replaceChildren(
    panelHead(colourOf(id), kind, nameElement(id, 80), [description, groupLine(id), label, missing], { node: id }),
    section(facts.has_rows ? "Values" : "Values under the model", null, distribution(id)),
    relatedSection(rows),
    ...(children[id].length || edges.parent[id] >= 0
      ? [section("Neighbours", "What edges connect it with.", neighbourTable(id))]
      : []),
  );
}

function relatedSection(rows) {
  const title = "Most related columns";
  if (!facts.related) return section(title, null, leftOut());
  if (!rows.length) return section(title, "None: this column is independent of all others.");
  const where = facts.matrix?.of === "columns" ? "" : " under the model";
  return section(title, `Correlation with this column${where}.`, make("table", {}, make("tbody", {}, ...rows)));
}

function columnList(ids) {
  const more = ids.length - MAX_LISTED;
  return make(
    "ul",
    { class: "column-list" },
    ...ids.slice(0, MAX_LISTED).map((id) => make("li", {}, nodeLink(id, 36))),
    more > 0 ? make("li", { class: "muted" }, `and ${more.toLocaleString("en")} more`) : null,
  );
}
function showGroup(number) {
  const group = groups[number];
  const stability = group.stability === null ? null : `Stability ${percent(group.stability)}`;
  const centre = isHidden(group.centre) ? make("span", {}, "In its middle: ", nodeLink(group.centre)) : null;
  panel.replaceChildren(
    panelHead(`c${group.colour}`, `Group ${group.number}`, shortName(group.name, 80), [stability, centre], {
      group: number,
      card: group.number,
    }),
    section(count(groups[number].columns.length, "column"), null, columnList(groups[number].columns)),
  );
}
function showLabel(number) {
  const ids = names.map((_, id) => id).filter((id) => !isHidden(id) && labels.of[id] === number);
  const found = new Map();
  for (const id of ids) if (groupOf[id] >= 0) found.set(groupOf[id], (found.get(groupOf[id]) || 0) + 1);
  const inGroups = [...found].sort((a, b) => b[1] - a[1]);
  panel.replaceChildren(
    panelHead(`c${labels.colours[number]}`, "Your label", shortName(labels.names[number], 80), [], {}),
    section(count(ids.length, "column"), null, columnList(ids)),
    inGroups.length && manyGroups
      ? section(
          "In the groups",
          null,
          make(
            "table",
            {},
            make(
              "tbody",
              {},
              ...inGroups.map(([group, n]) =>
                row(make("span", {}, groupBadge(group), " ", groupButton(group, 26)), figure(String(n))),
              ),
            ),
          ),
        )
      : "",
  );
}

function showStart() {
  const tips = [
    "Click a name, a dot or a bracket to see what it means.",
    "Double-click, or press F, to fold a group or a branch.",
    "Press / to search, Esc to close.",
  ];
  // Many groups are the lines of a table.
  const listed = (facts.has_table ? [] : groups).map((group, number) =>
    row(
      make("span", { class: "group-entry" }, groupBadge(number), groupButton(number, 44)),
      figure(String(groups[number].columns.length)),
    ),
  );
  panel.replaceChildren(
    make("h3", {}, "Explore the tree"),
    make("ul", { class: "tips" }, ...tips.map((text) => make("li", {}, text))),
    facts.has_table ? make("p", {}, make("a", { href: "#groups" }, `All ${count(groups.length, "group")}`)) : "",
    listed.length > 1
      ? section("Groups", null, make("table", { class: "group-list" }, make("tbody", {}, ...listed)))
      : "",
  );
}

function showPanel() {
  panel.classList.toggle("empty", nothingSelected());
  Object.assign(stage.dataset, {
    selected: state.node ?? "",
    group: state.group === null ? "" : groups[state.group].number,
  });
  if (state.node !== null) (isHidden(state.node) ? showHidden : showColumn)(state.node);
  else if (state.group !== null) showGroup(state.group);
  else if (state.label !== null) showLabel(state.label);
  else showStart();
  if (!nothingSelected()) panel.scrollTop = 0;
}
