// Where everything is: one row per name, from left to right or around a circle.

const ROW = 20; // pixels per row
const NARROW = 600; // a drawing that is narrower has no names of groups and hidden variables
const NAME_FONT = "13px";
const BOLD_FONT = "600 13px";
const MIN_ARC = 9; // pixels between two names of the radial layout that can still be read
const MANY_BLOBS = 20; // more folded groups and branches have smaller circles
const BADGE = 9.5; // radius of the circle with the number of a group

const isBlob = (node) => node.kind === "group" || node.kind === "branch";
// The radius of a folded group or branch: its area is proportional to its number of columns.
let areaFactor = 6;
const folded = (node) => node.kind === "group" || node.kind === "branch" || node.kind === "rest";
const radiusOf = (node) => (node.kind === "rest" ? 4 : Math.max(3, areaFactor * Math.sqrt(node.columns.length)));

// The number of branches before the row of a node itself: in their middle, where nothing else is wanted.
function ownPlace({ id, kind, children: below }) {
  if (kind !== "column" || !(id in edges.own)) return Math.floor(below.length / 2);
  const before = new Set(children[id].slice(0, edges.own[id]));
  return below.filter((child) => child.kind !== "rest" && before.has(child.id)).length;
}

// Gives every node its row and its distance from the root, both in units of the layout; returns the rows.
function placeNodes(view, rowHeight) {
  const blobs = view.nodes.filter(isBlob).map((node) => node.columns.length);
  const largest = blobs.length > MANY_BLOBS ? 12 : 22; // radius in pixels
  areaFactor = Math.min(6, largest / Math.sqrt(Math.max(1, ...blobs)));
  const rows = [];
  let across = 0;
  const takeRow = (node) => {
    const height = folded(node) ? Math.max(rowHeight, 2 * radiusOf(node) + 6) : rowHeight;
    node.across = across + height / 2;
    node.height = height;
    across += height;
    rows.push(node);
  };
  // Depth first. A node with a name has its own row among its branches.
  const visit = [];
  for (const node of [...view.nodes].reverse()) if (!node.parent) visit.push([node, false]);
  while (visit.length) {
    const [node, isOwnRow] = visit.pop();
    if (isOwnRow) {
      takeRow(node);
      continue;
    }
    const around = node.children.map((child) => [child, false]);
    if (node.isNamed) around.splice(ownPlace(node), 0, [node, true]);
    visit.push(...around.reverse());
  }
  for (const node of [...view.nodes].reverse()) {
    node.level = Math.max(0, ...node.children.map((child) => child.level + 1));
    if (node.isNamed) continue;
    const around = node.children.map((child) => child.across);
    node.across = (Math.min(...around) + Math.max(...around)) / 2;
  }
  const highest = Math.max(1, ...view.nodes.map((node) => node.level));
  for (const node of view.nodes) {
    if (state.lengths === "equal") node.along = highest - node.level;
    else node.along = node.parent ? node.parent.along + edges.length[node.id] : 0;
  }
  const farthest = Math.max(1e-9, ...view.nodes.map((node) => node.along));
  const nearest = Math.min(...view.nodes.map((node) => node.along));
  for (const node of view.nodes) node.along = (node.along - nearest) / Math.max(1e-9, farthest - nearest);
  return { rows, total: across };
}

// The text of a row; of a folded group, its number, name and number of columns. Only the name is cut to fit a width.
function rowText(node, width = Infinity, font = NAME_FONT) {
  if (!folded(node)) return fitted(viewName(node), font, width);
  const before = node.kind === "group" ? `${groups[node.group].number} ` : "";
  const theirGroups = new Set(node.kind === "group" ? [] : node.columns.map((id) => groupOf[id]));
  const inGroups = theirGroups.has(-1) ? 0 : theirGroups.size;
  const n = node.columns.length.toLocaleString("en");
  const whole = `${viewName(node)} (${n} in ${inGroups.toLocaleString("en")} groups)`;
  if (manyGroups && inGroups > 1 && widthOf(whole, BOLD_FONT) <= width) return whole;
  const after = ` (${n})`;
  return before + fitted(viewName(node), BOLD_FONT, width - widthOf(before + after, BOLD_FONT)) + after;
}

// The widths of the drawing's parts, from left to right: tree, colours of labels, names, groups.
function horizontalFrame(view, width) {
  const { rows, total } = placeNodes(view, ROW);
  const narrow = width < NARROW;
  const widest = Math.max(0, ...longest(rows.map((node) => rowText(node))).map((text) => widthOf(text, BOLD_FONT)));
  const unfolded = manyGroups ? groups.filter((_, number) => !state.foldedGroups.has(number)) : [];
  const groupTexts = longest(unfolded.map((group) => `${group.number}${group.name}`));
  const groupsWidth = !unfolded.length
    ? 0
    : narrow
      ? 30
      : Math.min(26 + Math.max(...groupTexts.map((text) => widthOf(text, BOLD_FONT))), 0.26 * width);
  const namesWidth = Math.min(widest + 4, (narrow ? 0.42 : groupsWidth ? 0.38 : 0.5) * width);
  const left = 12;
  const strip = labels ? 14 : 0;
  const namesAt = width - groupsWidth - namesWidth - 4;
  const margin = Math.max(6, ...view.nodes.filter(folded).map(radiusOf));
  const end = namesAt - strip - 10 - margin;
  const frame = {
    layout: "horizontal",
    rows,
    width,
    height: total + 8,
    narrow,
    namesWidth,
    namesAt,
    groupsWidth,
    strip,
  };
  for (const node of view.nodes) {
    node.v = left + (node.parent || node.children.length ? margin / 2 : 0) + node.along * (end - left - margin / 2);
    node.u = node.across + 4;
  }
  return frame;
}
// Measuring text takes time: only the longest texts can be the widest.
const longest = (texts) =>
  [...texts]
    .sort((a, b) => b.length - a.length)
    .slice(0, 30)
    .map((text) => shorten(text, 80));

function radialFrame(view, width) {
  const { rows, total } = placeNodes(view, ROW);
  const widest = Math.max(0, ...longest(rows.map((node) => rowText(node))).map((text) => widthOf(text, BOLD_FONT)));
  const namesWidth = Math.min(widest + 4, 0.22 * width);
  const margin = namesWidth + (manyGroups ? 34 : 12) + (labels ? 12 : 0);
  const room = Math.max(60, width / 2 - margin);
  // As large as the names need, and no larger than the width of the page.
  const radius = Math.min(room, Math.max(110, (rows.length * 15) / (2 * Math.PI), 0.36 * Math.min(width, 760)));
  const showsNames = (2 * Math.PI * radius) / rows.length >= MIN_ARC;
  const side = 2 * (radius + (showsNames ? margin : 34));
  const offset = view.nodes.filter((node) => !node.parent).length > 1 ? 0.12 : 0; // trees of a forest do not touch
  const blob = Math.max(0, ...view.nodes.filter(folded).map(radiusOf));
  for (const node of view.nodes) {
    node.u = (2 * Math.PI * node.across) / total;
    node.v = (offset + (1 - offset) * node.along) * (radius - blob);
  }
  return { layout: "radial", rows, width, height: side, radius, namesWidth, showsNames, total, strip: labels ? 12 : 0 };
}

// ---- from rows and distances to pixels ----

function point(frame, u, v) {
  if (frame.layout === "horizontal") return [v, u];
  return [frame.width / 2 + v * Math.sin(u), frame.height / 2 - v * Math.cos(u)];
}
function linkPath(frame, node) {
  const above = node.parent;
  const [x0, y0] = point(frame, above.u, above.v).map(rounded);
  const [x1, y1] = point(frame, node.u, node.v).map(rounded);
  if (frame.layout === "horizontal") return `M${x0},${y0}V${y1}H${x1}`;
  if (above.v < 0.5) return `M${x0},${y0}L${x1},${y1}`;
  const [xc, yc] = point(frame, node.u, above.v).map(rounded);
  const turn = node.u - above.u;
  const radius = rounded(above.v);
  return `M${x0},${y0}A${radius},${radius} 0 ${Math.abs(turn) > Math.PI ? 1 : 0} ${turn > 0 ? 1 : 0} ${xc},${yc}L${x1},${y1}`;
}
