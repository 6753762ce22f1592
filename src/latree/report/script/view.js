// What of the tree is drawn: groups and branches may be folded, and edges with little support left out.

const MAX_ROWS = 3000; // more columns are never drawn all at once
const MORE = 50; // so many branches are drawn when the line that stands for the rest is opened

const state = {
  layout: "horizontal",
  lengths: "strength",
  support: 0, // edges with less support, in per cent, are left out
  foldedGroups: new Set(facts.folds.groups),
  foldedBranches: new Set(facts.folds.branches), // the upper nodes of branches
  rest: new Set(facts.folds.rest), // the upper nodes of branches without a line of their own
  node: null, // the selected node
  group: null, // or the selected group
  label: null, // or the selected label
};

const allGroups = () => new Set(groups.keys());
const canFoldGroups = manyGroups && nColumns > groups.length;
const canShowGroups = groups.length <= MAX_ROWS;
const canShowColumns = nColumns <= MAX_ROWS;

// Whether the edge above a node is left out, so that its two ends are drawn as one node.
const isLeftOut = (id) =>
  isHidden(id) && isHidden(edges.parent[id]) && edges.support[id] !== null && edges.support[id] < state.support;

// Returns the nodes to draw, every one after its parent, and for each node of the tree the one that stands for it.
//
// What is drawn stands for one node, a group, a branch, the rest of a node's branches, or several hidden variables
// between which edges are left out. Its id is that of the upper one, whose edge leads to the parent.
function makeView() {
  const drawnFor = new Array(names.length);
  const rests = new Map(); // the line that stands for the rest of what hangs on a node
  const nodes = [];
  for (const id of order) {
    const above = edges.parent[id] < 0 ? null : drawnFor[edges.parent[id]];
    const group = groupOf[id];
    if (above) {
      const sameGroup = above.kind === "group" && above.group === group;
      const merged = above.kind === "hidden" && !isFolded(id) && isLeftOut(id);
      if (above.kind === "branch" || above.kind === "rest" || sameGroup || merged) {
        drawnFor[id] = above;
        above.members.push(id);
        continue;
      }
    }
    const isRest = state.rest.has(id);
    const rest = isRest && rests.get(edges.parent[id]);
    if (rest) {
      drawnFor[id] = rest;
      rest.members.push(id);
      rest.branches.push(id);
      continue;
    }
    const node = { id, kind: isRest ? "rest" : kindOf(id), group, parent: above, children: [], members: [id] };
    if (isRest) {
      node.branches = [id];
      rests.set(edges.parent[id], node);
    }
    if (above) above.children.push(node);
    drawnFor[id] = node;
    nodes.push(node);
  }
  // What stands for the rest comes last.
  for (const rest of rests.values())
    rest.parent?.children.sort((a, b) => (a.kind === "rest") - (b.kind === "rest"));
  for (const node of nodes) {
    node.columns = node.members.filter((id) => !isHidden(id));
    node.isNamed = node.kind !== "hidden";
  }
  return { nodes, drawnFor };
}

const isFolded = (id) =>
  state.foldedBranches.has(id) || state.rest.has(id) || (groupOf[id] >= 0 && state.foldedGroups.has(groupOf[id]));
function kindOf(id) {
  if (state.foldedBranches.has(id)) return "branch";
  if (groupOf[id] >= 0 && state.foldedGroups.has(groupOf[id])) return "group";
  return isHidden(id) ? "hidden" : "column";
}

// The name of what is drawn.
function viewName(node) {
  if (node.kind === "group") return groups[node.group].name;
  if (node.kind === "rest") return `${node.branches.length.toLocaleString("en")} more`;
  return (node.kind === "branch" && facts.branch_names[node.id]) || names[node.id];
}

// ---- folding ----

function toggleGroup(number) {
  if (!state.foldedGroups.delete(number)) state.foldedGroups.add(number);
}
function toggleBranch(id) {
  if (children[id].length && !state.foldedBranches.delete(id)) state.foldedBranches.add(id);
}
// Folds nothing ("none"), all groups and nothing else ("groups"), or what was folded at first ("overview").
function setFolds(kind) {
  const { groups: foldedGroups, branches, rest } = kind === "overview" ? facts.folds : NOTHING_FOLDED;
  state.foldedGroups = kind === "groups" ? allGroups() : new Set(foldedGroups);
  state.foldedBranches = new Set(branches);
  state.rest = new Set(rest);
}
const NOTHING_FOLDED = { groups: [], branches: [], rest: [] };
// Which of the three it is; nothing if some other groups or branches are folded.
function foldsKind() {
  const { foldedGroups, foldedBranches, rest } = state;
  if (!foldedBranches.size && !rest.size && !foldedGroups.size) return "none";
  if (!foldedBranches.size && !rest.size && canFoldGroups && foldedGroups.size === groups.length) return "groups";
  return changedFolds() ? "" : "overview";
}
// What is folded now and was not at first, or the other way round: numbers of groups, and nodes of branches and rests.
function changedFolds() {
  const changed = (now, first, name) =>
    [...new Set([...now, ...first])].filter((id) => now.has(id) !== first.has(id)).map(name);
  return [
    ...changed(state.foldedGroups, new Set(facts.folds.groups), (group) => String(groups[group].number)),
    ...changed(state.foldedBranches, new Set(facts.folds.branches), (id) => `b${id}`),
    ...changed(state.rest, new Set(facts.folds.rest), (id) => `r${id}`),
  ].join(".");
}
// Draws some branches that had no line of their own: the largest.
function openRest({ branches }) {
  const bySize = (a, b) => columnsBelow[b] - columnsBelow[a] || edges.strength[b] - edges.strength[a];
  for (const id of [...branches].sort(bySize).slice(0, MORE)) state.rest.delete(id);
}
// Unfolds what hides a node; returns whether anything changed.
function reveal(id) {
  let changed = groupOf[id] >= 0 && groups[groupOf[id]].centre !== id && state.foldedGroups.delete(groupOf[id]);
  return revealGroup(id) || changed;
}
// Unfolds the branches that hide a node, but not its group.
function revealGroup(id) {
  let changed = state.rest.delete(id);
  // The branch that begins with the node shows it, unless it is more than that node.
  if (groupOf[id] >= 0) changed = state.foldedBranches.delete(id) || changed;
  for (let above = edges.parent[id]; above >= 0; above = edges.parent[above]) {
    changed = state.foldedBranches.delete(above) || changed;
    changed = state.rest.delete(above) || changed;
  }
  return changed;
}
