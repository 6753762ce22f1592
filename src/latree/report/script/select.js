// Folding branches and selecting nodes, with the pointer or the keyboard.

// The node of a group that is closest to the root.
function topOf(group) {
  return group.nodes.reduce((top, id) => (treeNode[id].depth < treeNode[top].depth ? id : top), group.nodes[0]);
}
// The group of a branch if all its nodes are in the same group, otherwise -1.
const branchGroup = new Map();
tree.eachAfter((node) => {
  const own = node.data.id >= 0 ? groupOf[node.data.id] : -1;
  branchGroup.set(node, (node.children || []).every((child) => branchGroup.get(child) === own) ? own : -1);
});
function toggleFold(id) {
  if (!treeNode[id].children) return;
  if (state.folded.has(id)) state.folded.delete(id);
  else state.folded.add(id);
  updateLayout({ animate: true });
  if (state.selected === id) showPanel(id);
}
function unfoldAbove(id) {
  let changed = false;
  for (let node = treeNode[id].parent; node; node = node.parent) changed = state.folded.delete(node.data.id) || changed;
  if (changed) updateLayout();
}
$("fold-all").addEventListener("click", () => {
  for (const node of tree.descendants()) {
    const above = node.parent;
    if (above && node.children && branchGroup.get(node) >= 0 && !(branchGroup.get(above) >= 0 && above.parent))
      state.folded.add(node.data.id);
  }
  updateLayout({ animate: true, fit: true });
});
$("unfold-all").addEventListener("click", () => {
  state.folded.clear();
  updateLayout({ animate: true, fit: true });
});

// ---- selecting ----

function select(id, { fly = false } = {}) {
  if (id !== null) unfoldAbove(id);
  state.selected = id;
  onPath.clear();
  for (let node = id === null ? null : treeNode[id]; node && node.data.id >= 0; node = node.parent)
    onPath.add(node.data.id);
  stage.dataset.selected = id === null ? "" : id;
  updateClasses();
  scheduleLabels();
  if (id !== null && fly) flyTo(id);
  showPanel(id);
}

function nodeNear(event) {
  const label = event.target.closest ? event.target.closest("text[data-id]") : null;
  if (label) return Number(label.dataset.id);
  const [mx, my] = d3.pointer(event, svg);
  const { k, x, y } = d3.zoomTransform(svg);
  let best = null;
  let smallest = HIT_DISTANCE * HIT_DISTANCE;
  for (const id of shown) {
    const [px, py] = point(positions[id].u, positions[id].v);
    const squaredDistance = (k * px + x - mx) ** 2 + (k * py + y - my) ** 2;
    if (squaredDistance < smallest) [best, smallest] = [id, squaredDistance];
  }
  return best;
}

svg.addEventListener("click", (event) => {
  const id = nodeNear(event);
  if (id !== null || state.selected !== null) select(id);
});
svg.addEventListener("dblclick", (event) => {
  const id = nodeNear(event);
  if (id !== null) toggleFold(id);
  else zoomBy(2);
});

const tooltip = $("tip");
let hovered = null;
svg.addEventListener("pointermove", (event) => {
  const id = event.buttons ? null : nodeNear(event);
  svg.classList.toggle("pointing", id !== null);
  if (id !== hovered) {
    hovered = id;
    tooltip.hidden = id === null;
    if (id !== null) tooltip.replaceChildren(...tooltipLines(id));
  }
  if (id !== null) {
    const [mx, my] = d3.pointer(event, stage);
    tooltip.style.left = `${Math.min(mx + 14, size.width - tooltip.offsetWidth - 8)}px`;
    tooltip.style.top = `${my + tooltip.offsetHeight + 24 > size.height ? my - tooltip.offsetHeight - 10 : my + 16}px`;
  }
});
svg.addEventListener("pointerleave", () => {
  tooltip.hidden = true;
  hovered = null;
});

function tooltipLines(id) {
  const lines = [make("strong", {}, nameElement(id, 60))];
  if (isHidden(id)) lines.push(count(facts.hidden[id - nColumns].sizes.length, "state"));
  if (treeNode[id].children)
    lines.push(`${count(treeNode[id].value, "column")} in this branch${state.folded.has(id) ? " (folded)" : ""}`);
  if (labels && !isHidden(id) && labels.of[id] >= 0)
    lines.push(make("bdi", {}, shorten(labels.names[labels.of[id]], 60)));
  if (edges.parent[id] >= 0) {
    const support = edges.support[id] === null ? "" : `, support ${edges.support[id]}\u00a0%`;
    lines.push(`Edge to ${shorten(names[edges.parent[id]], 24)}: strength ${edges.strength[id].toFixed(2)}${support}`);
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
  else if (key.startsWith("Arrow")) moveSelection(key);
  else return;
  event.preventDefault();
});

// Moves the selection: right to a child, left to the parent, up and down to nodes at the same depth.
function moveSelection(key) {
  const start = state.selected === null ? null : treeNode[state.selected];
  let next = null;
  if (!start) next = tree.data.id >= 0 ? tree : tree.children[0];
  else if (key === "ArrowRight") next = isLeaf(start) ? null : start.children[0];
  else if (key === "ArrowLeft") next = start.parent;
  else {
    const direction = key === "ArrowDown" ? 1 : -1;
    const sameDepth = shown.filter((id) => treeNode[id].depth === start.depth);
    const found = sameDepth[sameDepth.indexOf(start.data.id) + direction];
    next = found === undefined ? null : treeNode[found];
  }
  if (next && next.data.id >= 0) {
    select(next.data.id);
    keepInView(next.data.id);
  }
}
