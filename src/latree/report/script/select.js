// Selecting nodes, groups and labels, with the pointer or the keyboard. The address of the page keeps what is shown.

const HIT_DISTANCE = 14; // a click selects a node that is at most this many pixels away

// Selects a node, a group or a label: {node}, {group} or {label}; {} selects nothing.
function select({ node = null, group = null, label = null }, { show = false, remember = true } = {}) {
  if (node === null && group === null && label === null && nothingSelected()) return;
  Object.assign(state, { node, group, label });
  const revealed = node !== null ? reveal(node) : group !== null && revealGroup(groups[group].centre);
  if (revealed) updateDrawing({ animate: true });
  updateSelection();
  drawLegend();
  showPanel();
  if (show) scrollToSelected();
  if (remember) pushAddress();
}
const nothingSelected = () => state.node === null && state.group === null && state.label === null;

// What is drawn for the selected node or group.
function selectedMark() {
  if (state.node !== null) return view.drawnFor[state.node];
  if (state.group !== null) return view.drawnFor[groups[state.group].centre];
  return null;
}
function scrollToSelected() {
  const target = selectedMark();
  const box = (target ? target.mark : svg).getBoundingClientRect();
  const top = 120; // below the head of the page and the tools
  const bottom = window.innerHeight * (window.innerWidth < 900 && !panel.classList.contains("empty") ? 0.4 : 0.9);
  if (target && box.top >= top && box.bottom <= bottom) return;
  const behavior = reducedMotion.matches ? "auto" : "smooth";
  window.scrollBy({ top: box.top - (target ? (top + bottom) / 2 : top), behavior });
}

// ---- the address ----

const foldsText = () => (changedFolds() ? foldsKind() || changedFolds() : "");
function readFolds(text) {
  if ((text === "groups" && canShowGroups) || (text === "none" && canShowColumns)) return setFolds(text);
  setFolds("overview");
  const toggle = (set, id) => set.delete(id) || set.add(id);
  for (const part of text.split(".")) {
    const id = Number(part.replace(/^[br]/, ""));
    if (part.startsWith("b") && id in names) toggle(state.foldedBranches, id);
    else if (part.startsWith("r") && facts.folds.rest.includes(id)) toggle(state.rest, id);
    else if (id - 1 in groups) toggle(state.foldedGroups, id - 1);
  }
}
function addressText() {
  const parts = [];
  if (state.node !== null) parts.push(`node=${state.node}`);
  if (state.group !== null) parts.push(`group=${groups[state.group].number}`);
  if (state.label !== null) parts.push(`label=${state.label}`);
  if (state.support) parts.push(`support=${state.support}`);
  if (state.layout !== "horizontal") parts.push(`layout=${state.layout}`);
  if (state.lengths !== "strength") parts.push(`lengths=${state.lengths}`);
  if (foldsText()) parts.push(`fold=${foldsText()}`);
  return parts.length ? `#${parts.join("&")}` : "";
}
function writeAddress(how) {
  const wanted = addressText();
  if (wanted !== window.location.hash) window.history[how](null, "", window.location.href.split("#")[0] + wanted);
}
const pushAddress = () => writeAddress("pushState"); // Back returns to what was shown before
const replaceAddress = () => writeAddress("replaceState");

// Shows what the address says. Other addresses, such as #group-3, are places on the page, and change nothing here.
function readAddress({ show = true } = {}) {
  const text = window.location.hash.slice(1);
  if (text && !text.includes("=")) return;
  const wanted = Object.fromEntries(text.split("&").map((part) => part.split("=")));
  const whole = (value, low, high) => (/^\d{1,6}$/.test(value) && value >= low && value <= high ? Number(value) : null);
  state.support = whole(wanted.support, 0, 100) || 0;
  state.layout = wanted.layout === "radial" ? "radial" : "horizontal";
  state.lengths = wanted.lengths === "equal" ? "equal" : "strength";
  readFolds(wanted.fold || "");
  state.node = whole(wanted.node, 0, names.length - 1);
  const group = whole(wanted.group, 1, groups.length);
  state.group = group === null ? null : group - 1;
  state.label = labels ? whole(wanted.label, 0, labels.names.length - 1) : null;
  if (state.node !== null) reveal(state.node);
  else if (state.group !== null) revealGroup(groups[state.group].centre);
  updateDrawing();
  showPanel();
  if (show && !nothingSelected()) scrollToSelected();
}
window.addEventListener("popstate", () => readAddress());

// ---- the pointer ----

// What is at the pointer: {node}, {group} or {rest}, or null.
function targetOf(event) {
  const element = event.target === svg ? null : event.target.closest("[data-id], [data-group], [data-label]");
  if (element && element.dataset.group !== undefined) return { group: Number(element.dataset.group) };
  if (element && element.dataset.label !== undefined) return { label: Number(element.dataset.label) };
  if (element) return targetOfNode(view.drawnFor[Number(element.dataset.id)], Number(element.dataset.id));
  const box = svg.getBoundingClientRect();
  const scale = frame.width / box.width;
  const [mx, my] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  let best = null;
  let smallest = HIT_DISTANCE * HIT_DISTANCE;
  for (const node of view.nodes) {
    const [x, y] = point(frame, node.u, node.v);
    const squared = (x - mx) ** 2 + (y - my) ** 2;
    if (squared < smallest) [best, smallest] = [node, squared];
  }
  return best && targetOfNode(best, best.id);
}
const targetOfNode = (node, id) => {
  if (node.kind === "rest") return { rest: node };
  if (node.kind === "group") return { group: node.group };
  const centre = node.members.find((member) => groupWithCentre.has(member));
  return { node: node.kind === "hidden" && centre !== undefined ? centre : id };
};

svg.addEventListener("click", (event) => choosePart(targetOf(event) || {}));
// Selects what is drawn; the line that stands for the rest is opened.
function choosePart(target, options) {
  if (!target.rest) return select(target, options);
  openRest(target.rest);
  updateDrawing({ animate: true });
  pushAddress();
}
svg.addEventListener("dblclick", (event) => {
  const target = targetOf(event);
  if (target && !target.rest) toggleFold(target);
});

const tooltip = $("tip");
svg.addEventListener("pointermove", (event) => {
  const target = event.pointerType === "touch" ? null : targetOf(event);
  svg.classList.toggle("pointing", target !== null);
  tooltip.hidden = target === null;
  if (target === null) return;
  tooltip.replaceChildren(...tooltipLines(target));
  const box = stage.getBoundingClientRect();
  const [mx, my] = [event.clientX - box.left, event.clientY - box.top];
  tooltip.style.left = `${Math.max(4, Math.min(mx + 14, box.width - tooltip.offsetWidth - 8))}px`;
  const below = event.clientY + tooltip.offsetHeight + 24 < window.innerHeight;
  tooltip.style.top = `${below ? my + 16 : my - tooltip.offsetHeight - 10}px`;
});
svg.addEventListener("pointerleave", () => {
  tooltip.hidden = true;
});

// What an edge leads to. A hidden variable without a name of its own has its number.
function edgeEnd(id) {
  const name = shorten(names[id], 24);
  if (!isHidden(id) || groupWithCentre.has(id)) return name;
  const alias = facts.aliases[id - nColumns];
  return name === alias ? alias : `${alias} (${name})`;
}
function tooltipLines({ node = null, group = null, label = null, rest = null }) {
  const lines = [];
  if (rest)
    lines.push(make("strong", {}, `${viewName(rest)}, ${count(rest.columns.length, "column")}`), "click to show some");
  else if (label !== null) lines.push(make("strong", {}, shortName(labels.names[label], 60)), "your label");
  else if (group !== null) {
    lines.push(make("strong", {}, `${groups[group].number} `, shortName(groups[group].name, 60)));
    lines.push(count(groups[group].columns.length, "column"));
  } else {
    lines.push(make("strong", {}, nameElement(node, 60)));
    if (isHidden(node))
      lines.push(`Hidden variable ${facts.aliases[node - nColumns]}, ${count(nStatesOf(node), "state")}`);
    else if (labels && labels.of[node] >= 0) lines.push(shortName(labels.names[labels.of[node]], 60));
    const edge = view.drawnFor[node].id;
    if (edges.parent[edge] >= 0) {
      const support = edges.support[edge] === null ? "" : `, support ${percent(edges.support[edge])}`;
      lines.push(`Edge to ${edgeEnd(edges.parent[edge])}: strength ${edges.strength[edge].toFixed(2)}${support}`);
    }
  }
  return lines.map((line) => make("div", {}, line));
}

// ---- folding what is selected ----

function toggleFold({ node = null, group = null }) {
  if (node !== null && !children[node].length && manyGroups && groupOf[node] >= 0) group = groupOf[node];
  if (group !== null) {
    toggleGroup(group);
    if (state.foldedGroups.has(group)) Object.assign(state, { node: null, group, label: null });
  } else if (node !== null) toggleBranch(node);
  else if (canFoldGroups) {
    const wanted = foldsKind() === "groups" ? "none" : "groups";
    setFolds((wanted === "groups" ? canShowGroups : canShowColumns) ? wanted : "overview");
  }
  updateDrawing({ animate: true });
  showPanel();
  pushAddress();
}

// ---- the keyboard ----

const isTyping = () => document.activeElement.matches("input:not([type=range]), textarea, select");
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.key === "Escape") {
    if (panel.contains(document.activeElement)) svg.focus({ preventScroll: true });
    select({});
  } else if (isTyping()) return;
  else if (event.key === "f" || event.key === "F") toggleFold({ node: state.node, group: state.group });
  else if (event.key === "/") input.focus();
  else return;
  event.preventDefault();
});
svg.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" && !nothingSelected()) panel.focus();
  else if (event.key.startsWith("Arrow")) moveSelection(event.key);
  else return;
  event.preventDefault();
});

// Moves the selection: right to a branch, left to where the branch comes from, up and down to the next node.
function moveSelection(key) {
  const now = selectedMark();
  const inColumn = [...view.nodes].sort((a, b) => a.u - b.u);
  let next = null;
  if (!now) next = view.nodes[0];
  else if (key === "ArrowRight") next = now.children[0];
  else if (key === "ArrowLeft") next = now.parent;
  else next = inColumn[inColumn.indexOf(now) + (key === "ArrowDown" ? 1 : -1)];
  if (next) choosePart(targetOfNode(next, next.id), { show: true });
}
