// The tree as data, its SVG elements, and their positions.

const nodes = names.map((_, id) => ({ id, children: [] }));
edges.parent.forEach((above, id) => above >= 0 && nodes[above].children.push(nodes[id]));
const roots = nodes.filter((node) => edges.parent[node.id] < 0);
// A forest gets an invisible common root (id -1), so that its trees can be laid out together.
const tree = d3
  .hierarchy(roots.length > 1 ? { id: -1, children: roots } : roots[0])
  .sum((node) => (node.id >= 0 && !isHidden(node.id) ? 1 : 0))
  .sort((a, b) => a.value - b.value || a.data.id - b.data.id);
const treeNode = new Array(names.length); // id -> node of the hierarchy
tree.each((node) => {
  if (node.data.id >= 0) treeNode[node.data.id] = node;
});

const groupOf = new Array(names.length).fill(-1);
groups.forEach((group, number) => group.nodes.forEach((id) => (groupOf[id] = number)));
const groupColour = groups.map((group) => group.colour);
const namingColumns = new Set(groups.flatMap((group) => group.named_by));
const centres = new Set(groups.map((group) => group.centre));

// A hidden variable has a label if all columns below it have the same label.
const labelOf = labels ? names.map((_, id) => (isHidden(id) ? -1 : labels.of[id])) : null;
if (labels) {
  tree.eachAfter((node) => {
    if (node.data.id < nColumns) return;
    const below = new Set((node.children || []).map((child) => labelOf[child.data.id]));
    labelOf[node.data.id] = below.size === 1 ? [...below][0] : -1;
  });
}

const state = {
  layout: null,
  lengths: "strength",
  colours: labels ? "labels" : "groups",
  folded: new Set(),
  selected: null,
  highlighted: null, // the number of a group or label
};

const colourOf = (id) => {
  if (state.colours === "labels") return labelOf[id] < 0 ? -1 : labels.colours[labelOf[id]];
  return groupOf[id] < 0 ? -1 : groupColour[groupOf[id]];
};
const groupOrLabelOf = (id) => (state.colours === "labels" ? labelOf[id] : groupOf[id]);

// Reading a size makes the browser lay out the page: read it before the drawing is made, and when it changes.
drawLegend();
const readSize = () => ({ width: svg.clientWidth || 800, height: svg.clientHeight || 600 });
let size = readSize();
const family = getComputedStyle(document.body).fontFamily;

// ---- elements: made once ----

const view = make("g", { class: "view" });
const linkLayer = make("g", { class: "links" });
const dotLayer = make("g", { class: "dots" });
const labelLayer = make("g", { class: "labels" });
view.append(linkLayer, dotLayer);
svg.append(view, labelLayer);

const links = names.map((_, id) => {
  if (edges.parent[id] < 0) return null;
  const link = make("path");
  linkLayer.append(link);
  return link;
});
const dots = names.map(() => {
  const dot = make("path");
  dotLayer.append(dot);
  return dot;
});

function updateClasses() {
  names.forEach((_, id) => {
    const colour = colourOf(id);
    const dim = state.highlighted !== null && groupOrLabelOf(id) !== state.highlighted;
    const folded = state.folded.has(id);
    const kind = folded ? "folded" : isHidden(id) ? "hidden" : "column";
    dots[id].setAttribute(
      "class",
      `dot ${kind} ${colour < 0 ? "trunk" : `c${colour}`}${dim ? " dim" : ""}${id === state.selected ? " selected" : ""}`,
    );
    if (!links[id]) return;
    const above = edges.parent[id];
    const inside = groupOrLabelOf(id) === groupOrLabelOf(above) || (state.colours === "labels" && labelOf[id] >= 0);
    const support = edges.support[id];
    const sure = support === null ? "" : support >= 90 ? " sure" : support >= 50 ? " likely" : " unsure";
    links[id].setAttribute(
      "class",
      `link ${inside && colour >= 0 ? `c${colour}` : "trunk"}${sure}${dim ? " dim" : ""}${onPath.has(id) ? " on-path" : ""}`,
    );
  });
}

// ---- layout ----

let frame = { leaves: 1, radius: 1, width: 1, height: 1 }; // the size of the drawing, before zooming
let shown = []; // visible nodes, every node after its parent
let isShown = new Array(names.length).fill(false);
// u: position across the leaves, v: distance from the root; both from 0 to 1.
const positions = names.map(() => ({ u: 0, v: 0 }));
const onPath = new Set();

const measuring = document.createElement("canvas").getContext("2d");
const textWidths = new Map();
function widthOf(text, font) {
  const key = font + text;
  if (!textWidths.has(key)) {
    measuring.font = font;
    textWidths.set(key, measuring.measureText(text).width);
  }
  return textWidths.get(key);
}
const FONTS = {
  column: `12px ${family}`,
  folded: `600 12px ${family}`,
  hidden: `11px ${family}`,
  support: `10px ${family}`,
};

const isLeaf = (node) => !node.children || state.folded.has(node.data.id);

// Returns the new position of every node. Nodes of a folded branch are at the node that was folded.
function newPositions() {
  const target = new Array(names.length);
  const order = [];
  const waiting = [tree];
  let leaves = 0;
  while (waiting.length) {
    const node = waiting.pop();
    order.push(node);
    node.distance = node.parent
      ? node.parent.distance +
        (edges.parent[node.data.id] < 0 ? 0 : state.lengths === "equal" ? 1 : edges.length[node.data.id])
      : 0;
    if (isLeaf(node)) node.across = leaves++;
    else for (let i = node.children.length - 1; i >= 0; i--) waiting.push(node.children[i]);
  }
  const maxDistance = Math.max(1e-9, ...order.map((node) => node.distance));
  // In the radial layout, the trees of a forest keep away from the centre, so that they do not touch.
  const offset = roots.length > 1 && state.layout === "radial" ? 0.12 : 0;
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i];
    if (!isLeaf(node)) node.across = (node.children[0].across + node.children[node.children.length - 1].across) / 2;
    if (node.data.id >= 0)
      target[node.data.id] = {
        u: (node.across + 0.5) / leaves,
        v: offset + ((1 - offset) * node.distance) / maxDistance,
      };
  }
  const visible = order.filter((node) => node.data.id >= 0).map((node) => node.data.id);
  const seen = new Array(names.length).fill(false);
  visible.forEach((id) => (seen[id] = true));
  tree.eachBefore((node) => {
    const id = node.data.id;
    if (id >= 0 && !seen[id]) target[id] = target[node.parent.data.id];
  });
  return { target, visible, seen, leaves };
}

// The width of the widest label. Only the 30 labels with the most characters are measured, to save time.
function maxLabelWidth() {
  const labelTexts = shown
    .filter((id) => state.folded.has(id) || !isHidden(id))
    .map((id) => (state.folded.has(id) ? foldedName(id) : shortNames[id]));
  labelTexts.sort((a, b) => b.length - a.length);
  return Math.max(0, ...labelTexts.slice(0, 30).map((text) => widthOf(text, FONTS.folded)));
}

function updateFrame(leaves) {
  svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`); // a printed drawing has another size
  const side = maxLabelWidth() + 16;
  if (state.layout === "radial") {
    const room = Math.min(size.width, size.height) / 2;
    const need = (leaves * 15) / (2 * Math.PI);
    frame = { leaves, margin: Math.min(side, 0.42 * room), radius: 0 };
    frame.radius = Math.max(room - frame.margin, need);
  } else {
    const height = Math.max(Math.min(size.height - 40, leaves * 40), leaves * MIN_LEAF_HEIGHT);
    frame = { leaves, margin: Math.min(side, 0.5 * size.width), height };
    const room = size.width - frame.margin - 46;
    frame.width = Math.max(room, (0.6 * height * room) / size.height);
  }
}

const angle = (u) => 2 * Math.PI * u;
function point(u, v) {
  return state.layout === "radial" ? d3.pointRadial(angle(u), v * frame.radius) : [v * frame.width, u * frame.height];
}
const rounded = (x) => Math.round(x * 10) / 10;

function linkPath(id) {
  const from = positions[edges.parent[id]];
  const to = positions[id];
  const [x0, y0] = point(from.u, from.v);
  const [x1, y1] = point(to.u, to.v);
  if (state.layout !== "radial") return `M${rounded(x0)},${rounded(y0)}V${rounded(y1)}H${rounded(x1)}`;
  const radius = from.v * frame.radius;
  const [xc, yc] = point(to.u, from.v);
  const turn = to.u - from.u;
  if (radius < 0.5) return `M${rounded(x0)},${rounded(y0)}L${rounded(x1)},${rounded(y1)}`;
  const large = Math.abs(turn) > 0.5 ? 1 : 0;
  return `M${rounded(x0)},${rounded(y0)}A${rounded(radius)},${rounded(radius)} 0 ${large} ${turn > 0 ? 1 : 0} ${rounded(xc)},${rounded(yc)}L${rounded(x1)},${rounded(y1)}`;
}

function drawNodes(ids) {
  for (const id of ids) {
    const [x, y] = point(positions[id].u, positions[id].v);
    dots[id].setAttribute("d", `M${rounded(x)},${rounded(y)}h0.01`);
    if (links[id]) links[id].setAttribute("d", linkPath(id));
  }
}

let animation = 0;
function updateLayout({ animate = false, fit = false } = {}) {
  const { target, visible, seen, leaves } = newPositions();
  const before = isShown;
  shown = visible;
  isShown = seen;
  updateFrame(leaves);
  const moving = names.map((_, id) => id).filter((id) => before[id] || seen[id]);
  const hide = () => {
    names.forEach((_, id) => {
      dots[id].style.display = seen[id] ? "" : "none";
      if (links[id]) links[id].style.display = seen[id] ? "" : "none";
    });
  };
  stage.dataset.layout = state.layout;
  stage.dataset.lengths = state.lengths;
  stage.dataset.folded = state.folded.size;
  stage.dataset.shown = visible.length;
  updateClasses();
  cancelAnimationFrame(animation);
  if (!animate || reducedMotion.matches) {
    moving.forEach((id) => Object.assign(positions[id], target[id]));
    drawNodes(moving);
    hide();
    collectLabels();
    if (fit) fitView(false);
    else scheduleLabels();
    return;
  }
  const start = moving.map((id) => ({ ...positions[id] }));
  moving.forEach((id) => {
    dots[id].style.display = "";
    if (links[id]) links[id].style.display = "";
  });
  const animationStart = performance.now();
  candidates = [];
  scheduleLabels();
  const step = (now) => {
    const t = Math.min(1, Math.max(0, now - animationStart) / ANIMATION_TIME);
    const eased = t * t * (3 - 2 * t);
    moving.forEach((id, i) => {
      positions[id].u = start[i].u + (target[id].u - start[i].u) * eased;
      positions[id].v = start[i].v + (target[id].v - start[i].v) * eased;
    });
    drawNodes(moving);
    if (t < 1) animation = requestAnimationFrame(step);
    else {
      hide();
      collectLabels();
      scheduleLabels();
    }
  };
  animation = requestAnimationFrame(step);
  if (fit) fitView(true);
}
