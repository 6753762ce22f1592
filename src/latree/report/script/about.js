// What is told of a node.

function link(id, longest = 28) {
  return make(
    "button",
    { type: "button", class: "link", onclick: () => select(id, { fly: true }) },
    nameOf(id, longest),
  );
}

function groupLink(group) {
  const shown = group.named_by.flatMap((column, i) => [i ? " · " : "", nameOf(column, 20)]);
  return make("button", { type: "button", class: "link", onclick: () => select(group.hub, { fly: true }) }, ...shown);
}

function bar(share) {
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

// The colour of a category: from light to dark where categories have an order.
function shade(scale, category) {
  const { names: all, ordered } = facts.scales[scale];
  if (!ordered) return `var(--c${category % N_COLOURS})`;
  const part = all.length < 2 ? 100 : Math.round((100 * category) / (all.length - 1));
  return `color-mix(in oklab, var(--ramp-high) ${part}%, var(--ramp-low))`;
}

function stacked(scale, shares) {
  const { names: all } = facts.scales[scale];
  const drawn = make("svg", { class: "stacked", viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img" });
  let x = 0;
  const told = [];
  shares.forEach((share, category) => {
    if (share === 0) return;
    const text = `${elided(all[category], 40)}: ${percent(share / 1000)}`;
    told.push([share, text]);
    const part = make("rect", { x, width: share, height: 10 }, make("title", {}, text));
    part.style.fill = shade(scale, category);
    drawn.append(part);
    x += share;
  });
  told.sort((a, b) => b[0] - a[0]);
  drawn.setAttribute(
    "aria-label",
    told
      .slice(0, 3)
      .map(([, text]) => text)
      .join(", "),
  );
  return drawn;
}

function legendOf(scale) {
  const { names: all, ordered } = facts.scales[scale];
  const mark = (category) => {
    const square = make("span", { class: "mark" });
    square.style.background = shade(scale, category);
    return square;
  };
  if (ordered && all.length > 4) {
    const ramp = make("span", { class: "ramp" });
    return make(
      "div",
      { class: "category-legend" },
      make("bdi", {}, elided(all[0], 18)),
      ramp,
      make("bdi", {}, elided(all[all.length - 1], 18)),
    );
  }
  const few = all
    .slice(0, 6)
    .map((text, category) => make("span", { class: "entry" }, mark(category), make("bdi", {}, elided(text, 20))));
  return make("div", { class: "category-legend" }, ...few, all.length > 6 ? "…" : null);
}

function section(title, hint, ...children) {
  return make("section", {}, make("h4", hint ? { title: hint } : {}, title), ...children);
}

function head(id, kind, ...lines) {
  const colour = colourOf(id);
  const fold = place[id].children
    ? make(
        "button",
        { type: "button", class: "small-button", id: "fold", onclick: () => toggleFold(id) },
        state.folded.has(id) ? "Unfold branch" : "Fold branch",
      )
    : null;
  const go = make("button", { type: "button", class: "small-button", onclick: () => flyTo(id) }, "Go there");
  const close = make(
    "button",
    { type: "button", class: "small-button", "aria-label": "Close", onclick: () => select(null) },
    "Close",
  );
  return make(
    "header",
    {},
    make("p", { class: "kind" }, make("span", { class: `swatch ${colour < 0 ? "trunk" : `c${colour}`}` }), kind),
    make("h3", {}, nameOf(id, 80)),
    ...lines.filter(Boolean).map((line) => make("p", { class: "muted" }, line)),
    make("div", { class: "buttons" }, go, fold, close),
  );
}

function groupLine(id) {
  if (groupOf[id] < 0 || groups.length < 2) return null;
  const group = groups[groupOf[id]];
  return make(
    "span",
    {},
    "In the group of ",
    ...group.named_by.flatMap((column, i) => (i ? [" · ", nameOf(column, 20)] : [nameOf(column, 20)])),
  );
}

function neighbours(id) {
  const near = [
    ...(edges.parent[id] >= 0 ? [[edges.parent[id], id]] : []),
    ...nodes[id].children.map((child) => [child.id, child.id]),
  ];
  near.sort((a, b) => edges.strength[b[1]] - edges.strength[a[1]] || a[0] - b[0]);
  const rows = near.map(([other, edge]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, link(other, 22)),
      make("td", { class: "bar-cell" }, bar(edges.strength[edge])),
      make("td", { class: "figure" }, edges.strength[edge].toFixed(2)),
      make("td", { class: "figure" }, edges.support[edge] === null ? "–" : percent(edges.support[edge])),
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

// Names some values that stand together, from the first to the last.
function spanName({ names: all, bounds }, first, last) {
  if (first === last) return all[first];
  if (!bounds.length) return `${all[first]} to ${all[last]}`;
  if (first === 0) return `≤ ${bounds[last]}`;
  return last === all.length - 1 ? `> ${bounds[first - 1]}` : `${bounds[first - 1]} to ${bounds[last]}`;
}

// What sets a state apart: the values that are much commoner in it than elsewhere.
function meaning(detail, place) {
  const found = [];
  for (const { column, shares } of detail.columns) {
    const scale = facts.scales[facts.columns[column].scale];
    const { model } = facts.columns[column];
    let best = null;
    // Where values have an order, neighbours may stand together: 5 to 6, or all above a bound.
    for (let first = 0; first < model.length; first++) {
      let [share, usual] = [0, 0];
      for (let last = first; last < (scale.ordered ? model.length : first + 1); last++) {
        share += shares[place][last];
        usual += Math.max(model[last], 1);
        const score = share * Math.log(Math.max(share, 1) / usual);
        if (share > 1.2 * usual && (!best || score > best.score))
          best = { score, share, text: spanName(scale, first, last) };
      }
    }
    if (best) found.push({ ...best, column });
  }
  found.sort((a, b) => b.score - a.score || a.column - b.column);
  return found.slice(0, 3);
}

function detailOf(id) {
  const detail = facts.hidden[id - nColumns];
  return { ...detail, columns: detail.columns.map((column) => ({ ...column, shares: column.shares.map(unpacked) })) };
}

function aboutHidden(id) {
  const detail = detailOf(id);
  const nShown = detail.columns.length ? detail.columns[0].shares.length : 0;
  const states = detail.sizes.slice(0, Math.max(nShown, 1)).map((size, i) => {
    const typical = meaning(detail, i);
    const words = typical.flatMap(({ column, text, share }, j) => [
      ...(j ? [", "] : []),
      nameOf(column, 18),
      " ",
      make("b", {}, make("bdi", {}, elided(text, 22))),
      ` (${percent(share / 1000)})`,
    ]);
    return make(
      "li",
      {},
      make(
        "div",
        { class: "line" },
        make("span", { class: "state" }, `state ${detail.states[i]}`),
        bar(size / 1000),
        make("span", { class: "figure" }, percent(size / 1000)),
      ),
      make("div", { class: "meaning" }, ...(words.length ? ["often ", ...words] : ["like all rows"])),
    );
  });
  const rest = detail.sizes.slice(nShown);
  if (nShown && rest.length) {
    const share = rest.reduce((sum, part) => sum + part, 0) / 1000;
    states.push(
      make("li", { class: "muted" }, `${counted(rest.length, "smaller state")}: ${percent(share)} of the rows`),
    );
  }
  const profiles = detail.columns.map(({ column, information, shares }) =>
    make(
      "div",
      { class: "profile" },
      make(
        "div",
        { class: "line" },
        link(column, 30),
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
          stacked(facts.columns[column].scale, part),
        ),
      ),
      legendOf(facts.columns[column].scale),
    ),
  );
  panel.replaceChildren(
    head(id, "Hidden variable", groupLine(id)),
    section(
      "States",
      "How many of the rows are in each state, and which values are commoner there than elsewhere",
      make("ol", { class: "states-list" }, ...states),
    ),
    section(
      "What it separates most",
      "The columns with most mutual information with this variable; one bar a state, one colour a value",
      ...profiles,
    ),
    section("Neighbours", "What it is tied to directly", neighbours(id)),
  );
}

function aboutColumn(id) {
  const detail = facts.columns[id];
  const { names: values } = facts.scales[detail.scale];
  const shares = detail.data || detail.model;
  const most = Math.max(...shares, 1);
  const rows = values.map((text, category) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("bdi", text.length > 24 ? { title: plain(text) } : {}, elided(text, 24))),
      make("td", { class: "bar-cell" }, bar(shares[category] / most)),
      make(
        "td",
        { class: "figure", title: `${percent(detail.model[category] / 1000)} under the model` },
        percent(shares[category] / 1000),
      ),
    ),
  );
  const relatives = detail.relatives.map(([column, information]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, link(column, 24)),
      make("td", { class: "bar-cell" }, bar(information / Math.max(detail.relatives[0][1], 1e-9))),
      make("td", { class: "figure" }, information.toFixed(3)),
    ),
  );
  const above = edges.parent[id];
  const missing = facts.missing && facts.missing[id] ? `${counted(facts.missing[id], "cell")} missing` : null;
  const label =
    labels && labels.of[id] >= 0
      ? make("span", {}, "Label: ", make("bdi", {}, elided(labels.names[labels.of[id]], 60)))
      : null;
  const parent =
    above < 0
      ? null
      : make(
          "p",
          {},
          "With ",
          link(above),
          ` it shares ${edges.information[id].toFixed(3)} of its ${detail.entropy.toFixed(3)} nats.`,
        );
  panel.replaceChildren(
    head(id, detail.binned ? "Column, cut into bins" : "Column", groupLine(id), label, missing),
    section(
      detail.data ? "Distribution" : "Distribution under the model",
      detail.data ? "Shares of the cells that are present" : null,
      make("table", { class: "distribution" }, make("tbody", {}, ...rows)),
    ),
    relatives.length
      ? section(
          "Nearest relatives",
          "The columns with most mutual information with this one under the model, in nats",
          make("table", {}, make("tbody", {}, ...relatives)),
        )
      : section("Nearest relatives", null, make("p", { class: "muted" }, "None: it depends on no other column.")),
    ...(nodes[id].children.length || above >= 0
      ? [section("Neighbours", "What it is tied to directly", parent, neighbours(id))]
      : []),
  );
}

function tell(id) {
  panel.classList.toggle("empty", id === null);
  if (id !== null) {
    (isHidden(id) ? aboutHidden : aboutColumn)(id);
    panel.scrollTop = 0;
    return;
  }
  const tips = [
    "Click a column for its values and nearest relatives.",
    ...(nColumns < names.length
      ? ["Click a dot for what a hidden variable stands for.", "Double-click a dot to fold its branch."]
      : []),
    "Pinch, or hold Ctrl and scroll, to zoom; drag to move.",
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
    make("h3", {}, "Look around"),
    make("ul", { class: "tips" }, ...tips.map((text) => make("li", {}, text))),
    ...(groups.length > 1
      ? [section("Groups", null, make("table", { class: "group-list" }, make("tbody", {}, ...listed)))]
      : []),
  );
}
