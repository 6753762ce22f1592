// Labels, which never overlap, and zooming.

let candidates = []; // all labels that could be shown, the most important first
const texts = new Map(); // the SVG elements of labels, by key

function foldedName(id) {
  const number = groups.findIndex((group) => topOf(group) === id);
  const nColumnsBelow = treeNode[id].value;
  return `${shorten(number < 0 ? names[id] : groups[number].name)} (${nColumnsBelow})`;
}

function collectLabels() {
  const found = [];
  for (const id of shown) {
    const node = treeNode[id];
    const end = isLeaf(node);
    if (state.folded.has(id))
      found.push({ id, key: `f${id}`, kind: "folded", text: foldedName(id), rank: 1e6 + node.value, end });
    else if (!isHidden(id)) {
      const rank = (namingColumns.has(id) ? 1e5 : 1e3) + 100 * (edges.information[id] || 0) + (end ? 0 : 10);
      found.push({ id, key: `c${id}`, kind: "column", text: shortNames[id], rank, end });
    } else {
      const rank = centres.has(id) ? 1e4 : node.value / nColumns / 100;
      found.push({ id, key: `h${id}`, kind: "hidden", text: shortNames[id], rank, end });
    }
    if (edges.support[id] !== null && edges.parent[id] >= 0) {
      found.push({
        id,
        key: `s${id}`,
        kind: "support",
        text: String(edges.support[id]),
        rank: node.value / nColumns,
      });
    }
  }
  candidates = found.sort((a, b) => b.rank - a.rank || a.id - b.id);
}

// The place of a label on the screen: its start, its rotation, and its text anchor. Null if there is no room.
function labelSpot(label, { k, x, y }) {
  const { id } = label;
  if (label.kind === "support") {
    const from = positions[edges.parent[id]];
    const [x0, y0] = point(positions[id].u, from.v);
    const [x1, y1] = point(positions[id].u, positions[id].v);
    if (k * Math.hypot(x1 - x0, y1 - y0) < label.width + 14) return null;
    const raised = state.layout === "radial" ? 0 : -7;
    return {
      x: (k * (x0 + x1)) / 2 + x - label.width / 2,
      y: (k * (y0 + y1)) / 2 + y + raised,
      rotation: 0,
      anchor: "start",
    };
  }
  const [px, py] = point(positions[id].u, positions[id].v);
  const sx = k * px + x;
  const sy = k * py + y;
  if (!label.end || label.kind === "hidden")
    return { x: sx - label.width - 6, y: sy - 9, rotation: 0, anchor: "start" };
  const away = label.kind === "folded" ? 12 : 8;
  if (state.layout !== "radial") return { x: sx + away, y: sy, rotation: 0, anchor: "start" };
  const rotation = angle(positions[id].u) - Math.PI / 2;
  const flipped = Math.cos(rotation) < 0;
  return {
    x: sx + away * Math.cos(rotation),
    y: sy + away * Math.sin(rotation),
    rotation,
    anchor: flipped ? "end" : "start",
    flipped,
  };
}

const CELL_SIZE = 2; // pixels of a cell of the grid that finds overlaps
let occupied = new Uint8Array(0);
function placeLabels() {
  const transform = d3.zoomTransform(svg);
  const gridWidth = Math.ceil(size.width / CELL_SIZE) + 2;
  const gridHeight = Math.ceil(size.height / CELL_SIZE) + 2;
  if (occupied.length !== gridWidth * gridHeight) occupied = new Uint8Array(gridWidth * gridHeight);
  else occupied.fill(0);
  // Visits the cells that a label covers, until a visit returns true.
  const visitCells = (spot, label, reach, visit) => {
    const cos = Math.cos(spot.rotation);
    const sin = Math.sin(spot.rotation);
    for (let along = 0; along <= label.width + 5; along += 5) {
      const cx = Math.floor((spot.x + along * cos) / CELL_SIZE) + 1;
      const cy = Math.floor((spot.y + along * sin) / CELL_SIZE) + 1;
      for (let i = -reach; i <= reach; i++) {
        for (let j = -reach; j <= reach; j++) {
          if (cx + i < 0 || cy + j < 0 || cx + i >= gridWidth || cy + j >= gridHeight) continue;
          if (visit((cy + j) * gridWidth + cx + i)) return true;
        }
      }
    }
    return false;
  };
  const { k, x, y } = transform;
  let dotsMarked = false;
  const markDots = () => {
    dotsMarked = true;
    for (const id of shown) {
      const [px, py] = point(positions[id].u, positions[id].v);
      const cx = Math.floor((k * px + x) / CELL_SIZE) + 1;
      const cy = Math.floor((k * py + y) / CELL_SIZE) + 1;
      if (cx >= 0 && cy >= 0 && cx < gridWidth && cy < gridHeight) occupied[cy * gridWidth + cx] = 1;
    }
  };
  const placed = new Set();
  const first = candidates.filter((label) => label.id === state.selected && label.kind !== "support");
  for (const label of first.length ? [...first, ...candidates] : candidates) {
    if (placed.has(label.key)) continue;
    if (density === "dense" && label.rank < 100 && label.id !== state.selected) break;
    // Less important labels must not cover dots either.
    if (!dotsMarked && label.rank < 100 && label.id !== state.selected) markDots();
    label.width ??= widthOf(label.text, FONTS[label.kind]);
    const spot = labelSpot(label, transform);
    if (!spot) continue;
    if (spot.x < -label.width || spot.y < -8 || spot.x > size.width + label.width || spot.y > size.height + 8) continue;
    // Names of hidden variables stand to the left of their dots: where there is no room, they would be cut off.
    if (label.kind === "hidden" && spot.x < 0) {
      if (label.id !== state.selected) continue;
      spot.x = 4;
    }
    if (visitCells(spot, label, 3, (cell) => occupied[cell])) continue;
    visitCells(spot, label, 2, (cell) => {
      occupied[cell] = 1;
    });
    placed.add(label.key);
    showLabel(label, spot);
  }
  for (const [key, text] of texts) if (!placed.has(key)) text.style.display = "none";
  stage.dataset.labels = placed.size;
}

function showLabel(label, spot) {
  let text = texts.get(label.key);
  if (!text) {
    text = make("text", { "data-id": label.id, dy: "0.35em" });
    texts.set(label.key, text);
    labelLayer.append(text);
  }
  if (text.textContent !== label.text) text.textContent = label.text;
  const dim = state.highlighted !== null && groupOrLabelOf(label.id) !== state.highlighted;
  const colour = colourOf(label.id);
  text.setAttribute(
    "class",
    `label ${label.kind}${dim ? " dim" : ""}${label.id === state.selected ? " selected" : ""}${colour < 0 ? "" : ` c${colour}`}`,
  );
  text.style.display = "";
  text.setAttribute("text-anchor", spot.anchor);
  const degrees = (spot.rotation * 180) / Math.PI + (spot.flipped ? 180 : 0);
  text.setAttribute(
    "transform",
    `translate(${rounded(spot.x)},${rounded(spot.y)})${spot.rotation ? `rotate(${rounded(degrees)})` : ""}`,
  );
}

// ---- zoom ----

let pending = 0;
function scheduleLabels() {
  if (pending) return;
  pending = requestAnimationFrame(() => {
    pending = 0;
    placeLabels();
  });
}

const zoom = d3
  .zoom()
  .extent(() => [
    [0, 0],
    [size.width, size.height],
  ])
  .clickDistance(5)
  // The wheel scrolls the page until the drawing has the focus. Browsers report a pinch as a wheel event with Ctrl.
  .filter((event) =>
    event.type === "wheel"
      ? event.ctrlKey || event.metaKey || document.activeElement === svg
      : !event.button && !event.ctrlKey,
  )
  .on("zoom", ({ transform }) => {
    view.setAttribute("transform", transform);
    stage.dataset.scale = transform.k.toFixed(4);
    updateDensity(transform.k);
    scheduleLabels();
  });
const zoomTarget = d3.select(svg).call(zoom).on("dblclick.zoom", null);

// If leaves are closer than their labels, lines and dots get thinner, and only columns have labels.
let density = "";
function updateDensity(k) {
  const spacing = k * leafSpacing(0.8);
  const now = spacing < 3 ? "dense" : spacing < 9 ? "close" : "roomy";
  if (now !== density) svg.dataset.density = density = now;
}
function leafSpacing(v) {
  return state.layout === "radial" ? (2 * Math.PI * v * frame.radius) / frame.leaves : frame.height / frame.leaves;
}

function wholeTreeView() {
  if (state.layout === "radial") {
    const side = 2 * frame.radius;
    const k = Math.min(1, (size.width - 2 * frame.margin) / side, (size.height - 2 * frame.margin) / side);
    return d3.zoomIdentity.translate(size.width / 2, size.height / 2).scale(k);
  }
  const k = Math.min(1, (size.width - frame.margin - 46) / frame.width, (size.height - 24) / frame.height);
  return d3.zoomIdentity.translate(38, (size.height - k * frame.height) / 2).scale(k);
}

function zoomTo(transform, animate) {
  if (animate && !reducedMotion.matches) zoomTarget.transition().duration(500).call(zoom.transform, transform);
  else zoomTarget.interrupt().call(zoom.transform, transform);
}
function fitView(animate) {
  const target = wholeTreeView();
  zoom.scaleExtent([0.5 * target.k, Math.max(6, 12 * target.k)]);
  zoomTo(target, animate);
}
function zoomBy(factor) {
  if (reducedMotion.matches) zoomTarget.call(zoom.scaleBy, factor);
  else zoomTarget.transition().duration(180).call(zoom.scaleBy, factor);
}

// Moves to a node, unless it is already visible and readable. Shows as little empty space as possible.
function flyTo(id) {
  const [x, y] = point(positions[id].u, positions[id].v);
  const now = d3.zoomTransform(svg);
  const spacing = leafSpacing(Math.max(positions[id].v, 0.2));
  const [sx, sy] = now.apply([x, y]);
  if (now.k >= Math.min(1, 11 / spacing) && sx > 40 && sy > 30 && sx < size.width - 90 && sy < size.height - 30) return;
  const k = Math.max(now.k, Math.min(1.2, 16 / spacing));
  const radial = state.layout === "radial";
  const [left, right] = radial
    ? [-k * frame.radius - frame.margin, k * frame.radius + frame.margin]
    : [-38, k * frame.width + frame.margin];
  const [top, bottom] = radial ? [left, right] : [-16, k * frame.height + 16];
  const within = (wanted, low, high, room) =>
    high - low <= room ? (room - low - high) / 2 : Math.min(-low, Math.max(room - high, wanted));
  const tx = within(size.width / 2 - k * x, left, right, size.width);
  const ty = within(size.height / 2 - k * y, top, bottom, size.height);
  zoomTo(d3.zoomIdentity.translate(tx, ty).scale(k), true);
}
function keepInView(id) {
  const [sx, sy] = d3.zoomTransform(svg).apply(point(positions[id].u, positions[id].v));
  if (sx < 30 || sy < 30 || sx > size.width - 30 || sy > size.height - 30) flyTo(id);
}
