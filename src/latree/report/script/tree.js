// The tree as data: nodes in their order, their groups, labels and colours.

const children = names.map(() => []);
edges.parent.forEach((above, id) => above >= 0 && children[above].push(id));
const { roots } = edges;

// Every node after its parent, whatever the numbers of the nodes are.
function fromRoots() {
  const order = [];
  const waiting = [...roots].reverse();
  while (waiting.length) {
    const id = waiting.pop();
    order.push(id);
    for (let i = children[id].length - 1; i >= 0; i--) waiting.push(children[id][i]);
  }
  return order;
}

// Small branches come first, as in every other drawing of latree.
const columnsBelow = names.map((_, id) => (isHidden(id) ? 0 : 1));
for (const id of fromRoots().reverse()) if (edges.parent[id] >= 0) columnsBelow[edges.parent[id]] += columnsBelow[id];
for (const below of children) below.sort((a, b) => columnsBelow[a] - columnsBelow[b] || a - b);
const order = fromRoots();

const groupOf = new Array(names.length).fill(-1);
groups.forEach((group, number) => [...group.columns, ...group.hidden].forEach((id) => (groupOf[id] = number)));
const groupWithCentre = new Map(groups.map((group, number) => [group.centre, number]));
const manyGroups = groups.length > 1;

// The class that gives a node or an edge its colour.
const TRUNK = "trunk";
const colourOf = (id) => (groupOf[id] < 0 || !manyGroups ? TRUNK : `c${groups[groupOf[id]].colour}`);
const edgeColour = (id) => (groupOf[id] === groupOf[edges.parent[id]] ? colourOf(id) : TRUNK);

// How sure an edge is, from its support in per cent.
const [SURE, LIKELY] = facts.limits;
function certainty(id) {
  const support = edges.support[id];
  if (support === null) return "";
  return support >= SURE ? "sure" : support >= LIKELY ? "likely" : "unsure";
}
const hasSupport = edges.support.some((support) => support !== null);
