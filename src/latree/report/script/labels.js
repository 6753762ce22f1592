// Labels, of which no two overlap, and zooming.

let candidates = []; // all labels there could be, the most important first
const texts = new Map(); // labels that were shown before

function foldedName(id) {
  const number = groups.findIndex((group) => topOf(group) === id);
  const many = place[id].value;
  if (number < 0) return `${elided(names[id], 12)} (${many})`;
  return `${groups[number].named_by
    .slice(0, 2)
    .map((column) => elided(names[column], 14))
    .join(" · ")} (${many})`;
}

function collectLabels() {
  const found = [];
  for (const id of shown) {
    const node = place[id];
    const end = isLeaf(node);
    if (state.folded.has(id))
      found.push({ id, key: `f${id}`, kind: "folded", text: foldedName(id), rank: 1e6 + node.value, end });
    else if (!isHidden(id)) {
      const rank = (named.has(id) ? 1e5 : 1e3) + 100 * (edges.information[id] || 0) + (end ? 0 : 10);
      found.push({ id, key: `c${id}`, kind: "column", text: shortNames[id], rank, end });
    } else found.push({ id, key: `h${id}`, kind: "hidden", text: names[id], rank: node.value / nColumns / 100, end });
    if (edges.support[id] !== null && edges.parent[id] >= 0) {
      found.push({
        id,
        key: `s${id}`,
        kind: "support",
        text: String(Math.round(100 * edges.support[id])),
        rank: node.value / nColumns,
      });
    }
  }
  candidates = found.sort((a, b) => b.rank - a.rank || a.id - b.id);
}

// Where a label stands on the screen: its start, its direction, and where its text is anchored.
function stand(label, { k, x, y }) {
  const { id } = label;
  if (label.kind === "support") {
    const from = at[edges.parent[id]];
    const [x0, y0] = point(at[id].u, from.v);
    const [x1, y1] = point(at[id].u, at[id].v);
    if (k * Math.hypot(x1 - x0, y1 - y0) < label.width + 14) return null;
    const raised = state.layout === "radial" ? 0 : -7;
    return {
      x: (k * (x0 + x1)) / 2 + x - label.width / 2,
      y: (k * (y0 + y1)) / 2 + y + raised,
      turn: 0,
      anchor: "start",
    };
  }
  const [px, py] = point(at[id].u, at[id].v);
  const sx = k * px + x;
  const sy = k * py + y;
  if (!label.end || label.kind === "hidden") return { x: sx - label.width - 6, y: sy - 9, turn: 0, anchor: "start" };
  const away = label.kind === "folded" ? 12 : 8;
  if (state.layout !== "radial") return { x: sx + away, y: sy, turn: 0, anchor: "start" };
  const turn = angle(at[id].u) - Math.PI / 2;
  const flipped = Math.cos(turn) < 0;
  return {
    x: sx + away * Math.cos(turn),
    y: sy + away * Math.sin(turn),
    turn,
    anchor: flipped ? "end" : "start",
    flipped,
  };
}

const CELL = 2; // pixels
let taken = new Uint8Array(0);
function placeLabels() {
  const transform = d3.zoomTransform(svg);
  const wide = Math.ceil(size.width / CELL) + 2;
  const high = Math.ceil(size.height / CELL) + 2;
  if (taken.length !== wide * high) taken = new Uint8Array(wide * high);
  else taken.fill(0);
  // Walks over the cells that a label covers; stops where the visit says so.
  const walk = (spot, label, reach, visit) => {
    const cos = Math.cos(spot.turn);
    const sin = Math.sin(spot.turn);
    for (let along = 0; along <= label.width + 5; along += 5) {
      const cx = Math.floor((spot.x + along * cos) / CELL) + 1;
      const cy = Math.floor((spot.y + along * sin) / CELL) + 1;
      for (let i = -reach; i <= reach; i++) {
        for (let j = -reach; j <= reach; j++) {
          if (cx + i < 0 || cy + j < 0 || cx + i >= wide || cy + j >= high) continue;
          if (visit((cy + j) * wide + cx + i)) return true;
        }
      }
    }
    return false;
  };
  const { k, x, y } = transform;
  let dotted = false;
  const markDots = () => {
    dotted = true;
    for (const id of shown) {
      const [px, py] = point(at[id].u, at[id].v);
      const cell = [Math.floor((k * px + x) / CELL) + 1, Math.floor((k * py + y) / CELL) + 1];
      if (cell[0] >= 0 && cell[1] >= 0 && cell[0] < wide && cell[1] < high) taken[cell[1] * wide + cell[0]] = 1;
    }
  };
  const chosen = new Set();
  const first = candidates.filter((label) => label.id === state.selected && label.kind !== "support");
  for (const label of first.length ? [...first, ...candidates] : candidates) {
    if (chosen.has(label.key)) continue;
    if (crowded === "dense" && label.rank < 100 && label.id !== state.selected) break;
    if (!dotted && label.rank < 100 && label.id !== state.selected) markDots(); // lesser labels cover no dots either
    label.width ??= widthOf(label.text, FONTS[label.kind]);
    const spot = stand(label, transform);
    if (!spot) continue;
    if (spot.x < -label.width || spot.y < -8 || spot.x > size.width + label.width || spot.y > size.height + 8) continue;
    if (walk(spot, label, 3, (cell) => taken[cell])) continue;
    walk(spot, label, 2, (cell) => {
      taken[cell] = 1;
    });
    chosen.add(label.key);
    show(label, spot);
  }
  for (const [key, text] of texts) if (!chosen.has(key)) text.style.display = "none";
  stage.dataset.labels = chosen.size;
}

function show(label, spot) {
  let text = texts.get(label.key);
  if (!text) {
    text = make("text", { "data-id": label.id, dy: "0.35em" });
    texts.set(label.key, text);
    labelLayer.append(text);
  }
  if (text.textContent !== label.text) text.textContent = label.text;
  const dim = state.lit !== null && kindOf(label.id) !== state.lit;
  const colour = colourOf(label.id);
  text.setAttribute(
    "class",
    `label ${label.kind}${dim ? " dim" : ""}${label.id === state.selected ? " selected" : ""}${colour < 0 ? "" : ` c${colour}`}`,
  );
  text.style.display = "";
  text.setAttribute("text-anchor", spot.anchor);
  const degrees = (spot.turn * 180) / Math.PI + (spot.flipped ? 180 : 0);
  text.setAttribute(
    "transform",
    `translate(${digits(spot.x)},${digits(spot.y)})${spot.turn ? `rotate(${digits(degrees)})` : ""}`,
  );
}

// ---- zoom ----

let pending = 0;
function refresh() {
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
  // The wheel scrolls the page until somebody has touched the drawing; a pinch comes as a wheel with Ctrl.
  .filter((event) =>
    event.type === "wheel"
      ? event.ctrlKey || event.metaKey || document.activeElement === svg
      : !event.button && !event.ctrlKey,
  )
  .on("zoom", ({ transform }) => {
    view.setAttribute("transform", transform);
    stage.dataset.scale = transform.k.toFixed(4);
    crowd(transform.k);
    refresh();
  });
const canvas = d3.select(svg).call(zoom).on("dblclick.zoom", null);

// Where leaves are closer than their labels, lines and dots get thinner, and only columns have labels.
let crowded = "";
function crowd(k) {
  const spacing = k * leafSpacing(0.8);
  const now = spacing < 3 ? "dense" : spacing < 9 ? "close" : "roomy";
  if (now !== crowded) svg.dataset.crowd = crowded = now;
}
function leafSpacing(v) {
  return state.layout === "radial" ? (2 * Math.PI * v * frame.radius) / frame.leaves : frame.height / frame.leaves;
}

function fitted() {
  if (state.layout === "radial") {
    const side = 2 * frame.radius;
    const k = Math.min(1, (size.width - 2 * frame.margin) / side, (size.height - 2 * frame.margin) / side);
    return d3.zoomIdentity.translate(size.width / 2, size.height / 2).scale(k);
  }
  const k = Math.min(1, (size.width - frame.margin - 46) / frame.width, (size.height - 24) / frame.height);
  return d3.zoomIdentity.translate(38, (size.height - k * frame.height) / 2).scale(k);
}

function move(transform, animate) {
  if (animate && !calm.matches) canvas.transition().duration(500).call(zoom.transform, transform);
  else canvas.interrupt().call(zoom.transform, transform);
}
function fitView(animate) {
  const target = fitted();
  zoom.scaleExtent([0.5 * target.k, Math.max(6, 12 * target.k)]);
  move(target, animate);
}
function zoomBy(factor) {
  if (calm.matches) canvas.call(zoom.scaleBy, factor);
  else canvas.transition().duration(180).call(zoom.scaleBy, factor);
}

// Goes to a node, unless it is in view and its surroundings can be read; shows no more empty space than it must.
function flyTo(id) {
  const [x, y] = point(at[id].u, at[id].v);
  const now = d3.zoomTransform(svg);
  const spacing = leafSpacing(Math.max(at[id].v, 0.2));
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
  move(d3.zoomIdentity.translate(tx, ty).scale(k), true);
}
function keepInView(id) {
  const [sx, sy] = d3.zoomTransform(svg).apply(point(at[id].u, at[id].v));
  if (sx < 30 || sy < 30 || sx > size.width - 30 || sy > size.height - 30) flyTo(id);
}
