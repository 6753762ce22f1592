// The drawing itself: edges, nodes, names, colours of labels, and brackets of groups.

let view = makeView();
let frame = null;
let layer = {}; // the parts of the drawing, by name
let animation = 0;
const ANIMATION_TIME = 260; // milliseconds
const MAX_ANIMATED = 500; // more nodes than this appear at their new places at once

function updateDrawing({ animate = false } = {}) {
  const before = frame ? new Map(view.nodes.map((node) => [node.id, node])) : null;
  const wasLayout = frame && frame.layout;
  view = makeView();
  const width = Math.max(280, stage.clientWidth);
  frame = (state.layout === "radial" ? radialFrame : horizontalFrame)(view, width);
  svg.setAttribute("viewBox", `0 0 ${frame.width} ${rounded(frame.height)}`);
  svg.setAttribute("width", frame.width);
  svg.setAttribute("height", rounded(frame.height));
  cancelAnimationFrame(animation);
  svg.classList.remove("moving");
  svg.replaceChildren(...drawAll());
  updateSelection();
  Object.assign(stage.dataset, {
    layout: state.layout,
    lengths: state.lengths,
    support: state.support,
    shown: view.nodes.length,
    folded: view.nodes.filter(folded).length,
    rows: frame.rows.length,
  });
  if (animate && before && wasLayout === frame.layout && !reducedMotion.matches && view.nodes.length <= MAX_ANIMATED)
    moveFrom(before);
  updateControls();
}

// Moves nodes and edges from where they were. New nodes come out of the nearest node above that was there.
function moveFrom(before) {
  const start = view.nodes.map((node) => {
    let above = node;
    while (above && !before.has(above.id)) above = above.parent;
    const from = above ? before.get(above.id) : node;
    return { node, from: { u: from.u, v: from.v }, to: { u: node.u, v: node.v } };
  });
  const began = performance.now();
  const step = (now) => {
    const t = Math.min(1, Math.max(0, now - began) / ANIMATION_TIME);
    const eased = t * t * (3 - 2 * t);
    for (const { node, from, to } of start) {
      node.u = from.u + (to.u - from.u) * eased;
      node.v = from.v + (to.v - from.v) * eased;
    }
    svg.classList.toggle("moving", t < 1);
    for (const { node } of start) place(node);
    if (t < 1) animation = requestAnimationFrame(step);
  };
  step(began);
}
// Puts the elements of a node where it is.
function place(node) {
  const [x, y] = point(frame, node.u, node.v);
  node.mark.setAttribute("transform", `translate(${rounded(x)},${rounded(y)})`);
  if (node.link) node.link.setAttribute("d", linkPath(frame, node));
}

function drawAll() {
  const layers = ["bands", "leaders", "links", "marks", "edge-texts", "names", "brackets", "chosen"];
  layer = Object.fromEntries(layers.map((name) => [name, drawn("g", { class: name })]));
  for (const node of view.nodes) {
    if (node.parent) layer.links.append(drawLink(node));
    layer.marks.append(drawMark(node));
    place(node);
  }
  for (const node of frame.rows) {
    layer.leaders.append(drawLeader(node));
    layer.names.append(...drawName(node));
  }
  for (const node of view.nodes) {
    node.texts = [...hiddenName(node), ...supportText(node)];
    layer["edge-texts"].append(...node.texts);
  }
  if (manyGroups) layer.brackets.append(...drawBrackets());
  return layers.map((name) => layer[name]);
}

const classes = (...names) => names.filter(Boolean).join(" ");

function drawLink(node) {
  const isRest = node.kind === "rest"; // of several edges
  node.link = drawn("path", {
    class: classes("link", isRest ? TRUNK : edgeColour(node.id), isRest ? "" : certainty(node.id)),
    "stroke-width": isRest ? 1 : rounded(1 + 3 * edges.strength[node.id]),
    d: linkPath(frame, node),
  });
  return node.link;
}

// A node: a dot, the number of the group whose hidden variable it is, or a circle for what is folded.
function drawMark(node) {
  const hasCentre = manyGroups && !hasSeveralGroups(node);
  const centre = hasCentre ? node.members.find((id) => groupWithCentre.has(id)) : undefined;
  const group = centre === undefined ? null : groups[groupWithCentre.get(centre)];
  const isBadge = group !== null && isHidden(centre) && !folded(node);
  node.radius = folded(node) ? radiusOf(node) : isBadge ? BADGE : isHidden(node.id) ? 4 : 3;
  const kind = folded(node) ? "folded" : isBadge ? "badge-mark" : node.kind;
  const colour = hasSeveralGroups(node) ? TRUNK : group === null ? colourOf(node.id) : `c${group.colour}`;
  node.mark = drawn("g", { class: classes("mark", kind, colour), "data-id": node.id });
  node.mark.append(drawn("circle", { r: rounded(node.radius) }));
  const hasRoom = group !== null && widthOf(String(group.number), "650 11px") <= 2 * node.radius - 2;
  if (hasRoom) node.mark.append(drawn("text", { class: "number", dy: "0.36em" }, String(group.number)));
  return node.mark;
}

// Whether one circle stands for columns of several groups.
function hasSeveralGroups({ kind, columns }) {
  return (kind === "branch" || kind === "rest") && columns.some((id) => groupOf[id] !== groupOf[columns[0]]);
}

// A thin line from a node to its name, which stands in line with all other names.
function drawLeader(node) {
  const end = frame.layout === "horizontal" ? frame.namesAt - frame.strip - 4 : frame.radius + 6;
  const from = point(frame, node.u, Math.min(end, node.v + node.radius + 3)).map(rounded);
  return drawn("path", { class: "leader", d: `M${from}L${point(frame, node.u, end).map(rounded)}` });
}

// The name of a row and the colour of its label, both at the end of the row.
function drawName(node) {
  const text = rowText(node, frame.namesWidth);
  const element = drawn(
    "text",
    { class: classes("name", folded(node) && "folded"), "data-id": node.id, dy: "0.35em" },
    text,
  );
  const label = labelOfRow(node);
  const strip =
    label === null ? null : drawn("rect", { class: `strip c${labels.colours[label]}`, "data-label": label });
  Object.assign(node, { name: element, strip });
  if (frame.layout === "horizontal") {
    element.setAttribute("x", rounded(frame.namesAt));
    element.setAttribute("y", rounded(node.u));
    if (strip) {
      const height = node.height - (folded(node) ? 4 : 2);
      setAll(strip, {
        x: rounded(frame.namesAt - 14),
        y: rounded(node.u - height / 2),
        width: 8,
        height: rounded(height),
      });
    }
    return strip ? [strip, element] : [element];
  }
  const rotation = node.u - Math.PI / 2;
  const flipped = Math.cos(rotation) < -1e-9;
  const at = frame.radius + 10;
  if (strip) {
    const [x, y] = point(frame, node.u, at);
    setAll(strip, { x: -1, y: -3, width: 8, height: 6, transform: turned(x, y, rotation) });
  }
  const [x, y] = point(frame, node.u, at + frame.strip + 2);
  setAll(element, {
    transform: turned(x, y, flipped ? rotation + Math.PI : rotation),
    "text-anchor": flipped ? "end" : "start",
  });
  if (!frame.showsNames && !folded(node)) element.classList.add("unshown"); // until it is selected
  return strip ? [strip, element] : [element];
}
const turned = (x, y, angle) => `translate(${rounded(x)},${rounded(y)})rotate(${rounded((angle * 180) / Math.PI)})`;
function setAll(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
}
// The number of the label that all columns of a row have, otherwise null.
function labelOfRow(node) {
  if (!labels) return null;
  const found = new Set(node.columns.map((id) => labels.of[id]));
  const [label] = found;
  return found.size === 1 && label >= 0 ? label : null;
}

// The name of a hidden variable above the edge that leads to it, with its number in small print, if there is room. That
// of a group's own hidden variable is beside the bracket of the group.
const isCentre = (node) => manyGroups && node.members.some((id) => groupWithCentre.has(id));
function hiddenName(node) {
  if (frame.layout !== "horizontal" || frame.narrow || node.kind !== "hidden" || isCentre(node)) return [];
  const room = node.parent ? node.v - node.parent.v - node.radius - 10 : 0;
  const { element, width } = hiddenText(node, node.id);
  return width <= room ? [element] : [];
}
function hiddenText(node, id) {
  const number = facts.aliases[id - nColumns];
  const name = names[id] === number ? "" : shorten(names[id], 26);
  const width = widthOf(name, "11px") + widthOf(number, "9px") + 5;
  const [x, y] = point(frame, node.u, node.v);
  const at = {
    class: "hidden-name",
    "data-id": id,
    x: rounded(Math.max(2, x - node.radius - 4 - width)),
    y: rounded(y - 5),
  };
  return { element: drawn("text", at, `${name} `, drawn("tspan", { class: "alias" }, number)), width };
}
// The support of an edge below it, if there is room.
function supportText(node) {
  if (frame.layout !== "horizontal" || !node.parent || edges.support[node.id] === null || node.kind === "column")
    return [];
  if (node.kind === "rest") return [];
  const text = String(edges.support[node.id]);
  const hasRoom = node.v - node.radius - node.parent.v >= widthOf(text, "10px") + 8;
  // What is not sure is always said: a short edge has its number below its lower end.
  if (!hasRoom && edges.support[node.id] >= SURE) return [];
  const x = hasRoom ? (node.parent.v + node.v - node.radius) / 2 : node.v - node.radius - widthOf(text, "10px") / 2;
  return [drawn("text", { class: "support", x: rounded(Math.max(x, 8)), y: rounded(node.u + 11) }, text)];
}

// Brackets around the names of each group, with its number and name. Other groups may lie between parts of a group: then
// each part has a bracket, and the largest part has the name.
function drawBrackets() {
  const runs = [];
  frame.rows.forEach((node) => {
    const last = runs[runs.length - 1];
    if (node.kind !== "column" || node.group < 0) runs.push(null);
    else if (last && last.group === node.group) last.rows.push(node);
    else runs.push({ group: node.group, rows: [node] });
  });
  const found = runs.filter(Boolean);
  const largest = new Map();
  for (const run of found)
    if (!largest.has(run.group) || largest.get(run.group).rows.length < run.rows.length) largest.set(run.group, run);
  return found.flatMap((run) => (frame.layout === "horizontal" ? bracket : arc)(run, largest.get(run.group) === run));
}
function bracket({ group, rows }, hasName) {
  const { number, colour, name } = groups[group];
  const x = frame.width - frame.groupsWidth + 2;
  const [top, bottom] = [rows[0].u - ROW / 2 + 3, rows[rows.length - 1].u + ROW / 2 - 3];
  const middle = rounded((top + bottom) / 2);
  const parts = [
    drawn("path", { class: `bracket c${colour}`, d: `M${rounded(x)},${rounded(top)}V${rounded(bottom)}` }),
    drawn("text", { class: "group-number", x: rounded(x + 8), y: middle, dy: "0.35em" }, String(number)),
  ];
  if (hasName && !frame.narrow) {
    const start = 14 + widthOf(String(number), BOLD_FONT);
    const lines = wrapped(name, BOLD_FONT, frame.groupsWidth - start - 8, Math.min(3, rows.length));
    lines.forEach((text, i) => {
      const y = rounded(middle + (i - (lines.length - 1) / 2) * 16);
      parts.push(drawn("text", { class: "group-name", x: rounded(x + start), y, dy: "0.35em" }, text));
    });
  }
  return [drawn("g", { class: "group", "data-group": group }, ...parts)];
}
function arc({ group, rows }, hasName) {
  const { number, colour } = groups[group];
  const half = (Math.PI * ROW) / frame.total;
  const radius = frame.showsNames ? frame.height / 2 - 24 : frame.radius + 14;
  const [from, to] = [rows[0].u - half * 0.7, rows[rows.length - 1].u + half * 0.7];
  const [x0, y0] = point(frame, from, radius).map(rounded);
  const [x1, y1] = point(frame, to, radius).map(rounded);
  const large = to - from > Math.PI ? 1 : 0;
  const path = drawn("path", {
    class: `bracket c${colour}`,
    d: `M${x0},${y0}A${rounded(radius)},${rounded(radius)} 0 ${large} 1 ${x1},${y1}`,
  });
  const [x, y] = point(frame, (from + to) / 2, radius + 12).map(rounded);
  const text = drawn("text", { class: "group-number", x, y, dy: "0.35em", "text-anchor": "middle" }, String(number));
  return [drawn("g", { class: "group", "data-group": group }, path, ...(hasName ? [text] : []))];
}

// ---- what is selected ----

const isDim = (node) =>
  (state.group !== null && !node.members.some((id) => groupOf[id] === state.group)) ||
  (state.label !== null && !node.columns.some((id) => labels.of[id] === state.label));
const isSelected = (node) =>
  state.node !== null ? view.drawnFor[state.node] === node : folded(node) && node.group === state.group;

// Shows what is selected: all else is pale, a band is behind its row, and a hidden variable has its name.
function updateSelection() {
  for (const node of view.nodes) {
    const [dim, selected] = [isDim(node), isSelected(node)];
    for (const element of [node.mark, node.name, node.strip, ...node.texts]) element?.classList.toggle("dim", dim);
    node.link?.classList.toggle("dim", dim || (state.group !== null && isDim(node.parent)));
    node.mark.classList.toggle("selected", selected);
    if (!node.name || node.name.classList.contains("selected") === selected) continue;
    node.name.classList.toggle("selected", selected);
    // Bold letters need more room.
    node.name.textContent = rowText(node, frame.namesWidth, selected ? BOLD_FONT : NAME_FONT);
  }
  for (const element of layer.brackets.children)
    element.classList.toggle(
      "dim",
      state.label !== null || (state.group !== null && Number(element.dataset.group) !== state.group),
    );
  const node = view.nodes.find(isSelected);
  const isRow = node && node.isNamed && frame.layout === "horizontal";
  layer.bands.replaceChildren(...(isRow ? [drawBand(node)] : []));
  const needsName =
    node &&
    node.kind === "hidden" &&
    !isCentre(node) &&
    !node.texts.some((text) => Number(text.dataset.id) === state.node);
  layer.chosen.replaceChildren(...(needsName ? [hiddenText(node, state.node).element] : []));
  uncover();
}
// Hides texts at edges that the name of what is selected would cover.
function uncover() {
  const [chosen] = layer.chosen.children;
  const box = chosen?.getBBox();
  const meets = (other) =>
    box.x < other.x + other.width &&
    other.x < box.x + box.width &&
    box.y < other.y + other.height &&
    other.y < box.y + box.height;
  for (const text of layer["edge-texts"].children)
    text.classList.toggle("covered", Boolean(box) && meets(text.getBBox()));
}
function drawBand(node) {
  const y = rounded(node.u - node.height / 2);
  return drawn("rect", {
    class: "band",
    x: 0,
    y,
    width: frame.width - frame.groupsWidth,
    height: rounded(node.height),
    rx: 4,
  });
}
