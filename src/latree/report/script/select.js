// Folding branches and selecting nodes, by pointer and by keys.

function topOf(group) {
  return group.nodes.reduce((top, id) => (place[id].depth < place[top].depth ? id : top), group.nodes[0]);
}
// The group that all nodes of a branch are in, or -1.
const pure = new Map();
tree.eachAfter((node) => {
  const own = node.data.id >= 0 ? groupOf[node.data.id] : -1;
  pure.set(node, (node.children || []).every((child) => pure.get(child) === own) ? own : -1);
});
function toggleFold(id) {
  if (!place[id].children) return;
  if (state.folded.has(id)) state.folded.delete(id);
  else state.folded.add(id);
  arrange({ animate: true });
  if (state.selected === id) tell(id);
}
function unfoldAbove(id) {
  let changed = false;
  for (let node = place[id].parent; node; node = node.parent) changed = state.folded.delete(node.data.id) || changed;
  if (changed) arrange();
}
$("fold-all").addEventListener("click", () => {
  for (const node of tree.descendants()) {
    const above = node.parent;
    if (above && node.children && pure.get(node) >= 0 && !(pure.get(above) >= 0 && above.parent))
      state.folded.add(node.data.id);
  }
  arrange({ animate: true, fit: true });
});
$("unfold-all").addEventListener("click", () => {
  state.folded.clear();
  arrange({ animate: true, fit: true });
});

// ---- selecting ----

function select(id, { fly = false } = {}) {
  if (id !== null) unfoldAbove(id);
  state.selected = id;
  onPath.clear();
  if (id !== null) for (let node = place[id]; node && node.data.id >= 0; node = node.parent) onPath.add(node.data.id);
  stage.dataset.selected = id === null ? "" : id;
  dress();
  refresh();
  if (id !== null && fly) flyTo(id);
  tell(id);
}

function nearest(event) {
  const label = event.target.closest ? event.target.closest("text[data-id]") : null;
  if (label) return Number(label.dataset.id);
  const [mx, my] = d3.pointer(event, svg);
  const { k, x, y } = d3.zoomTransform(svg);
  let best = null;
  let least = NEAR * NEAR;
  for (const id of shown) {
    const [px, py] = point(at[id].u, at[id].v);
    const away = (k * px + x - mx) ** 2 + (k * py + y - my) ** 2;
    if (away < least) [best, least] = [id, away];
  }
  return best;
}

svg.addEventListener("click", (event) => {
  const id = nearest(event);
  if (id !== null || state.selected !== null) select(id);
});
svg.addEventListener("dblclick", (event) => {
  const id = nearest(event);
  if (id !== null) toggleFold(id);
  else zoomBy(2);
});

const tip = $("tip");
let hovered = null;
svg.addEventListener("pointermove", (event) => {
  const id = event.buttons ? null : nearest(event);
  svg.classList.toggle("pointing", id !== null);
  if (id !== hovered) {
    hovered = id;
    tip.hidden = id === null;
    if (id !== null) tip.replaceChildren(...tipText(id));
  }
  if (id !== null) {
    const [mx, my] = d3.pointer(event, stage);
    tip.style.left = `${Math.min(mx + 14, size.width - tip.offsetWidth - 8)}px`;
    tip.style.top = `${my + tip.offsetHeight + 24 > size.height ? my - tip.offsetHeight - 10 : my + 16}px`;
  }
});
svg.addEventListener("pointerleave", () => {
  tip.hidden = true;
  hovered = null;
});

function tipText(id) {
  const lines = [make("strong", {}, nameOf(id, 60))];
  if (isHidden(id)) lines.push(counted(facts.hidden[id - nColumns].sizes.length, "state"));
  if (place[id].children)
    lines.push(`${counted(place[id].value, "column")} in this branch${state.folded.has(id) ? ", folded" : ""}`);
  if (labels && !isHidden(id) && labels.of[id] >= 0)
    lines.push(make("bdi", {}, elided(labels.names[labels.of[id]], 60)));
  if (edges.parent[id] >= 0) {
    const support = edges.support[id] === null ? "" : `, support ${percent(edges.support[id])}`;
    lines.push(`edge to ${elided(names[edges.parent[id]], 24)}: strength ${edges.strength[id].toFixed(2)}${support}`);
  }
  return lines.map((line) => make("div", {}, line));
}

svg.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { key } = event;
  const actions = {
    "+": () => zoomBy(1.4),
    "=": () => zoomBy(1.4),
    "-": () => zoomBy(1 / 1.4),
    0: () => fitView(true),
  };
  if (actions[key]) actions[key]();
  else if ((key === "f" || key === "F" || key === " ") && state.selected !== null) toggleFold(state.selected);
  else if (key === "Enter" && state.selected !== null) panel.focus();
  else if (key === "Escape") select(null);
  else if (key.startsWith("Arrow")) step(key);
  else return;
  event.preventDefault();
});

// Moves the selection: right to the branches, left to the middle, up and down to what is beside.
function step(key) {
  const start = state.selected === null ? null : place[state.selected];
  let next = null;
  if (!start) next = tree.data.id >= 0 ? tree : tree.children[0];
  else if (key === "ArrowRight") next = isLeaf(start) ? null : start.children[0];
  else if (key === "ArrowLeft") next = start.parent;
  else {
    const direction = key === "ArrowDown" ? 1 : -1;
    const beside = shown.filter((id) => place[id].depth === start.depth);
    const found = beside[beside.indexOf(start.data.id) + direction];
    next = found === undefined ? null : place[found];
  }
  if (next && next.data.id >= 0) {
    select(next.data.id);
    keepInView(next.data.id);
  }
}
