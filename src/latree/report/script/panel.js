// The panel beside the drawing: details of the selected node.

function nodeLink(id, maxLength = 28) {
  return make(
    "button",
    { type: "button", class: "link", onclick: () => select(id, { fly: true }) },
    nameElement(id, maxLength),
  );
}

function groupName(group) {
  const shown = shorten(group.name, 44);
  return make("bdi", shown === group.name ? {} : { title: group.name.slice(0, 6000) }, shown);
}

function groupLink(group) {
  const onclick = () => select(group.centre, { fly: true });
  return make("button", { type: "button", class: "link", onclick }, groupName(group));
}

function shareBar(share) {
  const drawn = make("svg", {
    class: "share",
    viewBox: "0 0 100 10",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  drawn.append(
    make("rect", { class: "back", width: 100, height: 10 }),
    make("rect", { class: "front", width: Math.max(0, Math.min(100, 100 * share)), height: 10 }),
  );
  return drawn;
}

const categoriesOf = (column) => facts.category_lists[facts.columns[column].category_list];

// The colour of a category. Ordered categories go from light to dark.
function categoryColour({ names: categories, ordered }, category) {
  if (!ordered) return `var(--c${category % N_COLOURS})`;
  const part = categories.length < 2 ? 100 : Math.round((100 * category) / (categories.length - 1));
  return `color-mix(in oklab, var(--ramp-high) ${part}%, var(--ramp-low))`;
}

// One bar that is divided into the shares of the categories.
function stackedBar(categoryList, shares) {
  const drawn = make("svg", { class: "stacked", viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img" });
  let x = 0;
  const parts = [];
  shares.forEach((share, category) => {
    if (share === 0) return;
    const text = `${shorten(categoryList.names[category], 40)}: ${percent(share / 1000)}`;
    parts.push([share, text]);
    const part = make("rect", { x, width: share, height: 10 }, make("title", {}, text));
    part.style.fill = categoryColour(categoryList, category);
    drawn.append(part);
    x += share;
  });
  parts.sort((a, b) => b[0] - a[0]);
  drawn.setAttribute(
    "aria-label",
    parts
      .slice(0, 3)
      .map(([, text]) => text)
      .join(", "),
  );
  return drawn;
}

function categoryLegend(categoryList) {
  const { names: categories, ordered } = categoryList;
  const mark = (category) => {
    const square = make("span", { class: "mark" });
    square.style.background = categoryColour(categoryList, category);
    return square;
  };
  if (ordered && categories.length > 4) {
    const ramp = make("span", { class: "ramp" });
    return make(
      "div",
      { class: "category-legend" },
      make("bdi", {}, shorten(categories[0], 18)),
      ramp,
      make("bdi", {}, shorten(categories[categories.length - 1], 18)),
    );
  }
  const entries = categories
    .slice(0, 6)
    .map((text, category) => make("span", { class: "entry" }, mark(category), make("bdi", {}, shorten(text, 20))));
  return make("div", { class: "category-legend" }, ...entries, categories.length > 6 ? "…" : null);
}

function section(title, hint, ...children) {
  return make("section", {}, make("h4", hint ? { title: hint } : {}, title), ...children);
}

function panelHead(id, kind, ...lines) {
  const colour = colourOf(id);
  const fold = treeNode[id].children
    ? make(
        "button",
        { type: "button", class: "small-button", id: "fold", onclick: () => toggleFold(id) },
        state.folded.has(id) ? "Unfold branch" : "Fold branch",
      )
    : null;
  const go = make("button", { type: "button", class: "small-button", onclick: () => flyTo(id) }, "Show in tree");
  const close = make(
    "button",
    { type: "button", class: "small-button", "aria-label": "Close", onclick: () => select(null) },
    "Close",
  );
  return make(
    "header",
    {},
    make("p", { class: "kind" }, make("span", { class: `swatch ${colour < 0 ? "trunk" : `c${colour}`}` }), kind),
    make("h3", {}, nameElement(id, 80)),
    ...lines.filter(Boolean).map((line) => make("p", { class: "muted" }, line)),
    make("div", { class: "buttons" }, go, fold, close),
  );
}

// The line that names the group of a node.
function groupLine(id) {
  if (groupOf[id] < 0 || groups.length < 2) return null;
  const group = groups[groupOf[id]];
  return make("span", {}, "Group: ", groupName(group));
}

function neighbourTable(id) {
  const near = [
    ...(edges.parent[id] >= 0 ? [[edges.parent[id], id]] : []),
    ...nodes[id].children.map((child) => [child.id, child.id]),
  ];
  near.sort((a, b) => edges.strength[b[1]] - edges.strength[a[1]] || a[0] - b[0]);
  const rows = near.map(([other, edge]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, nodeLink(other, 22)),
      make("td", { class: "bar-cell" }, shareBar(edges.strength[edge])),
      make("td", { class: "figure" }, edges.strength[edge].toFixed(2)),
      make("td", { class: "figure" }, edges.support[edge] === null ? "–" : `${edges.support[edge]}\u00a0%`),
    ),
  );
  const top = make(
    "tr",
    {},
    make("th", { scope: "col" }, "Name"),
    make("th", { scope: "col", colspan: 2 }, "Strength"),
    make("th", { scope: "col", class: "figure" }, "Support"),
  );
  return make("table", {}, make("thead", {}, top), make("tbody", {}, ...rows));
}

// The name of neighbouring categories, from the first to the last.
function rangeName({ names: categories, bounds }, first, last) {
  if (first === last) return categories[first];
  if (!bounds.length) return `${categories[first]} to ${categories[last]}`;
  if (first === 0) return `≤ ${bounds[last]}`;
  return last === categories.length - 1 ? `> ${bounds[first - 1]}` : `${bounds[first - 1]} to ${bounds[last]}`;
}

// The values that are much more common in a state than in all rows, for at most three columns.
function typicalValues(detail, stateNumber) {
  const found = [];
  for (const { column, shares } of detail.columns) {
    const categoryList = categoriesOf(column);
    const { model } = facts.columns[column];
    let best = null;
    // Ordered values may be joined to a range, such as 5 to 6, or all above a bound.
    for (let first = 0; first < model.length; first++) {
      let [share, usual] = [0, 0];
      for (let last = first; last < (categoryList.ordered ? model.length : first + 1); last++) {
        share += shares[stateNumber][last];
        usual += Math.max(model[last], 1);
        const score = share * Math.log(Math.max(share, 1) / usual);
        if (share > 1.2 * usual && (!best || score > best.score))
          best = { score, share, text: rangeName(categoryList, first, last) };
      }
    }
    if (best) found.push({ ...best, column });
  }
  found.sort((a, b) => b.score - a.score || a.column - b.column);
  return found.slice(0, 3);
}

function hiddenDetails(id) {
  const detail = facts.hidden[id - nColumns];
  return { ...detail, columns: detail.columns.map((column) => ({ ...column, shares: column.shares.map(unpack) })) };
}

function showHidden(id) {
  const detail = hiddenDetails(id);
  const nShown = detail.columns.length ? detail.columns[0].shares.length : 0;
  const states = detail.sizes.slice(0, Math.max(nShown, 1)).map((size, i) => {
    const typical = typicalValues(detail, i);
    const words = typical.flatMap(({ column, text, share }, j) => [
      ...(j ? [", "] : []),
      nameElement(column, 18),
      " is ",
      make("b", {}, make("bdi", {}, shorten(text, 22))),
      ` (${percent(share / 1000)})`,
    ]);
    return make(
      "li",
      {},
      make(
        "div",
        { class: "line" },
        make("span", { class: "state" }, `state ${detail.states[i]}`),
        shareBar(size / 1000),
        make("span", { class: "figure" }, percent(size / 1000)),
      ),
      make("div", { class: "meaning" }, ...(words.length ? ["Typical: ", ...words] : ["Similar to all rows"])),
    );
  });
  const rest = detail.sizes.slice(nShown);
  if (nShown && rest.length) {
    const share = rest.reduce((sum, part) => sum + part, 0) / 1000;
    states.push(
      make("li", { class: "muted" }, `${count(rest.length, "smaller state")}: ${percent(share)} of the rows`),
    );
  }
  const profiles = detail.columns.map(({ column, information, shares }) =>
    make(
      "div",
      { class: "profile" },
      make(
        "div",
        { class: "line" },
        nodeLink(column, 30),
        make(
          "span",
          { class: "figure muted", title: "Mutual information with the hidden variable, in nats" },
          information.toFixed(3),
        ),
      ),
      ...shares.map((part, i) =>
        make(
          "div",
          { class: "profile-row" },
          make("span", { class: "state" }, String(detail.states[i])),
          stackedBar(categoriesOf(column), part),
        ),
      ),
      categoryLegend(categoriesOf(column)),
    ),
  );
  panel.replaceChildren(
    panelHead(id, `Hidden variable ${facts.aliases[id - nColumns]}`, groupLine(id)),
    section(
      "States",
      "The share of rows in each state, and the values that are more common in this state than in all rows",
      make("ol", { class: "states-list" }, ...states),
    ),
    section(
      "Most related columns",
      "The columns with the most mutual information with this variable. Each bar is a state, each colour a value.",
      ...profiles,
    ),
    section("Neighbours", "Nodes that are connected to this one by an edge", neighbourTable(id)),
  );
}

function showColumn(id) {
  const detail = facts.columns[id];
  const { names: values } = categoriesOf(id);
  const shares = detail.data || detail.model;
  const most = Math.max(...shares, 1);
  const rows = values.map((text, category) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("bdi", text.length > 24 ? { title: text } : {}, shorten(text, 24))),
      make("td", { class: "bar-cell" }, shareBar(shares[category] / most)),
      make(
        "td",
        { class: "figure", title: `${percent(detail.model[category] / 1000)} under the model` },
        percent(shares[category] / 1000),
      ),
    ),
  );
  const related = detail.related.map(([column, information]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, nodeLink(column, 24)),
      make("td", { class: "bar-cell" }, shareBar(information / Math.max(detail.related[0][1], 1e-9))),
      make("td", { class: "figure" }, information.toFixed(3)),
    ),
  );
  const above = edges.parent[id];
  const missing = facts.missing && facts.missing[id] ? `${count(facts.missing[id], "cell")} missing` : null;
  const label =
    labels && labels.of[id] >= 0
      ? make("span", {}, "Label: ", make("bdi", {}, shorten(labels.names[labels.of[id]], 60)))
      : null;
  const parent =
    above < 0
      ? null
      : make(
          "p",
          {},
          `Its entropy is ${detail.entropy.toFixed(3)} nats. Its mutual information with `,
          nodeLink(above),
          ` is ${edges.information[id].toFixed(3)} nats.`,
        );
  panel.replaceChildren(
    panelHead(id, detail.binned ? "Column, cut into bins" : "Column", groupLine(id), label, missing),
    section(
      detail.data ? "Distribution" : "Distribution under the model",
      detail.data ? "Share of each value among the cells that are not missing" : null,
      make("table", { class: "distribution" }, make("tbody", {}, ...rows)),
    ),
    related.length
      ? section(
          "Most related columns",
          "The columns with the most mutual information with this column under the model, in nats",
          make("table", {}, make("tbody", {}, ...related)),
        )
      : section(
          "Most related columns",
          null,
          make("p", { class: "muted" }, "None: this column is independent of all others."),
        ),
    ...(nodes[id].children.length || above >= 0
      ? [section("Neighbours", "Nodes that are connected to this one by an edge", parent, neighbourTable(id))]
      : []),
  );
}

function showPanel(id) {
  panel.classList.toggle("empty", id === null);
  if (id !== null) {
    (isHidden(id) ? showHidden : showColumn)(id);
    panel.scrollTop = 0;
    return;
  }
  const tips = [
    "Click a column to see its values and related columns.",
    ...(nColumns < names.length
      ? ["Click a dot to see what a hidden variable means.", "Double-click a dot to fold its branch."]
      : []),
    "To zoom, pinch, or hold Ctrl and scroll. Drag to move.",
  ];
  const listed = groups.map((group, number) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("span", { class: `swatch c${groupColour[number]}` }), groupLink(group)),
      make("td", { class: "figure" }, String(group.nodes.filter((node) => !isHidden(node)).length)),
    ),
  );
  panel.replaceChildren(
    make("h3", {}, "Explore the tree"),
    make("ul", { class: "tips" }, ...tips.map((text) => make("li", {}, text))),
    ...(groups.length > 1
      ? [section("Groups", null, make("table", { class: "group-list" }, make("tbody", {}, ...listed)))]
      : []),
  );
}
