// The tree as data: nodes in their order, their groups, labels and colours.

// Every node after its parent, in the one order of all drawings, which keeps groups together.
const order = unpack(edges.order.nodes, edges.order.width);
const children = names.map(() => []);
for (const id of order) if (edges.parent[id] >= 0) children[edges.parent[id]].push(id);

const columnsBelow = names.map((_, id) => (isHidden(id) ? 0 : 1));
for (const id of [...order].reverse()) if (edges.parent[id] >= 0) columnsBelow[edges.parent[id]] += columnsBelow[id];

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
