// What of the tree is drawn: groups and branches may be folded, and edges with little support left out.

const FOLD_ABOVE = 100; // with more columns, the drawing starts with all groups folded

const state = {
  layout: "horizontal",
  lengths: "strength",
  support: 0, // edges with less support, in per cent, are left out
  foldedGroups: new Set(),
  foldedBranches: new Set(), // the upper nodes of branches
  node: null, // the selected node
  group: null, // or the selected group
  label: null, // or the selected label
};

const allGroups = () => new Set(groups.keys());
const canFoldGroups = manyGroups && nColumns > groups.length;
if (canFoldGroups && nColumns > FOLD_ABOVE) state.foldedGroups = allGroups();

// Whether the edge above a node is left out, so that its two ends are drawn as one node.
const isLeftOut = (id) =>
  isHidden(id) && isHidden(edges.parent[id]) && edges.support[id] !== null && edges.support[id] < state.support;

// Returns the nodes to draw, every one after its parent, and for each node of the tree the one that stands for it.
//
// What is drawn stands for one node, a group, a branch, or several hidden variables between which edges are left out. Its
// id is that of the upper one, whose edge leads to the parent.
function makeView() {
  const drawnFor = new Array(names.length);
  const nodes = [];
  for (const id of order) {
    const above = edges.parent[id] < 0 ? null : drawnFor[edges.parent[id]];
    const group = groupOf[id];
    if (above) {
      const sameGroup = above.kind === "group" && above.group === group;
      const merged = above.kind === "hidden" && !isFolded(id) && isLeftOut(id);
      if (above.kind === "branch" || sameGroup || merged) {
        drawnFor[id] = above;
        above.members.push(id);
        continue;
      }
    }
    const node = { id, kind: kindOf(id), group, parent: above, children: [], members: [id] };
    if (above) above.children.push(node);
    drawnFor[id] = node;
    nodes.push(node);
  }
  for (const node of nodes) {
    node.columns = node.members.filter((id) => !isHidden(id));
    node.isNamed = node.kind !== "hidden";
  }
  return { nodes, drawnFor };
}

const isFolded = (id) => state.foldedBranches.has(id) || (groupOf[id] >= 0 && state.foldedGroups.has(groupOf[id]));
function kindOf(id) {
  if (groupOf[id] >= 0 && state.foldedGroups.has(groupOf[id])) return "group";
  if (state.foldedBranches.has(id)) return "branch";
  return isHidden(id) ? "hidden" : "column";
}

// The name of what is drawn.
function viewName(node) {
  if (node.kind === "group") return groups[node.group].name;
  return names[node.id];
}

// ---- folding ----

function toggleGroup(number) {
  if (!state.foldedGroups.delete(number)) state.foldedGroups.add(number);
}
function toggleBranch(id) {
  if (children[id].length && !state.foldedBranches.delete(id)) state.foldedBranches.add(id);
}
function foldGroups(folded) {
  state.foldedGroups = folded ? allGroups() : new Set();
  state.foldedBranches.clear();
}
// Unfolds what hides a node; returns whether anything changed.
function reveal(id) {
  let changed = groupOf[id] >= 0 && groups[groupOf[id]].centre !== id && state.foldedGroups.delete(groupOf[id]);
  for (let above = edges.parent[id]; above >= 0; above = edges.parent[above])
    changed = state.foldedBranches.delete(above) || changed;
  return changed;
}
