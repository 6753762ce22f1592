// The heat map of the dependence between columns or, if there are many, between groups, in the order of the tree.

const { values: packedRows, order: shownItems, signed: isSigned } = facts.matrix || { values: [], order: [] };
const isOfGroups = facts.matrix?.of === "groups";
const MAX_PAIRS = 5;
const MAX_SIDE = 700; // pixels
const [CELL, SMALL_CELL] = [30, 14]; // pixels of a cell where there is room, and where names need some
const canvas = $("heatmap-canvas");
const readout = $("heatmap-readout");
const nCells = packedRows.length;
// Row i has the values of the cells i, i + 1, ...: the other half is the same.
const upper = packedRows.map((row) => unpack(row).map((value) => value - 100));
const cellValue = (i, j) => (i <= j ? upper[i][j - i] : upper[j][i - j]);
// What the rows and columns of the map are: columns, or groups by their places in the list of groups.
const itemName = (i) => (isOfGroups ? groupText(shownItems[i]) : names[shownItems[i]]);
const groupText = (number) => `${groups[number].number} ${groups[number].name}`;
const groupOfItem = (i) => (isOfGroups ? shownItems[i] : groupOf[shownItems[i]]);
const itemLink = (i, maxLength) =>
  isOfGroups
    ? make("a", { href: `#group=${shownItems[i] + 1}`, class: "link" }, shortName(itemName(i), maxLength))
    : nodeLink(shownItems[i], maxLength);
// Colours go from the lowest to the highest correlation of two different ones: with 1 as their end, all would be pale.
const strongest = upper.reduce((most, row) => Math.max(most, ...row.slice(1).map(Math.abs)), 30);
const LIMIT = Math.min(100, 10 * Math.ceil(strongest / 10));
let map = null; // sizes in pixels, and the picture without a cursor
let cursor = null; // the cell that is pointed at

// Neighbouring cells whose columns are in the same group.
function groupRuns() {
  const runs = [];
  for (let i = 0; i < nCells; i++) {
    const group = groupOfItem(i);
    const last = runs[runs.length - 1];
    if (last && last.group === group) last.end = i + 1;
    else runs.push({ group, start: i, end: i + 1 });
  }
  return manyGroups ? runs.filter(({ group }) => group >= 0) : [];
}
const runs = groupRuns();

// A colour of the style sheet as red, green and blue.
const rgb = (colour) =>
  resolved(colour)
    .match(/[\d.]+/g)
    .slice(0, 3)
    .map(Number);

function drawMap() {
  const box = $("heatmap-stage");
  const width = box.clientWidth;
  if (!width) return;
  const scale = window.devicePixelRatio || 1;
  const widest = Math.max(...longest(shownItems.map((_, i) => itemName(i))).map((name) => widthOf(name, "12px")));
  // Names have the room that the cells leave, but at least a part, and a larger one if the cells remain large enough.
  const part = Math.max(Math.min(160, 0.3 * width), Math.min(0.35 * width, MAX_SIDE - nCells * SMALL_CELL));
  const namesWidth = Math.min(widest + 22, Math.max(part, width - nCells * CELL));
  const side = Math.min(width, Math.max(240, Math.min(MAX_SIDE, nCells * CELL + namesWidth)));
  const showsNames = (side - namesWidth) / nCells >= 9;
  const left = showsNames ? namesWidth : 12;
  const top = runs.length ? 22 : 4;
  const body = side - left - 2;
  const cell = body / nCells;
  canvas.width = Math.round(side * scale);
  canvas.height = Math.round((top + body + 4) * scale);
  canvas.style.width = `${side}px`;
  canvas.style.height = `${top + body + 4}px`;
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(cellPicture(), left, top, body, body);
  const ink = resolved("var(--ink)");
  context.fillStyle = ink;
  context.textBaseline = "middle";
  if (showsNames) {
    const font = `${Math.min(12, Math.max(9, cell - 1))}px`;
    context.font = `${font} ${family}`;
    context.textAlign = "right";
    for (let i = 0; i < nCells; i++)
      context.fillText(fitted(itemName(i), font, left - 22), left - 14, top + (i + 0.5) * cell);
  }
  context.textAlign = "center";
  context.font = `600 11px ${family}`;
  const colours = Array.from({ length: GREY + 1 }, (_, i) => resolved(`var(--c${i})`));
  for (const { group, start, end } of runs) {
    const [from, size] = [start * cell, (end - start) * cell];
    context.fillStyle = context.strokeStyle = colours[groups[group].colour];
    context.fillRect(left - 8, top + from + 0.5, 4, Math.max(1, size - 1));
    context.fillRect(left + from + 0.5, top - 8, Math.max(1, size - 1), 4);
    context.lineWidth = 1.5;
    if (end - start > 1) context.strokeRect(left + from, top + from, size, size);
    context.fillStyle = ink;
    const number = String(groups[group].number);
    if (size >= widthOf(number, "600 11px") + 3) context.fillText(number, left + from + size / 2, top - 15);
  }
  const picture = make("canvas", { width: canvas.width, height: canvas.height });
  picture.getContext("2d").drawImage(canvas, 0, 0);
  map = { left, top, cell, body, ink, scale, picture };
  drawCursor();
}
// Outlines the row and the column of the cell that is pointed at.
function drawCursor() {
  const { left, top, cell, body, ink, scale, picture } = map;
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(picture, 0, 0);
  if (!cursor) return;
  const [i, j] = cursor;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.strokeStyle = ink;
  context.lineWidth = 1;
  context.strokeRect(left, top + i * cell, body, cell);
  context.strokeRect(left + j * cell, top, cell, body);
}
// One pixel per cell; the browser enlarges it without blur.
function cellPicture() {
  const [low, zero, high] = ["--heat-low", "--heat-zero", "--heat-high"].map((name) => rgb(`var(${name})`));
  const picture = make("canvas", { width: nCells, height: nCells });
  const context = picture.getContext("2d");
  const pixels = context.createImageData(nCells, nCells);
  const colours = Array.from({ length: 201 }, (_, i) => {
    const value = i - 100;
    const [end, part] = [value < 0 ? low : high, Math.min(1, Math.abs(value) / LIMIT)];
    return zero.map((channel, k) => Math.round(channel + (end[k] - channel) * part));
  });
  const itself = rgb("var(--line)");
  for (let i = 0; i < nCells; i++)
    for (let j = 0; j < nCells; j++) {
      const colour = i === j ? itself : colours[cellValue(i, j) + 100];
      const at = 4 * (i * nCells + j);
      for (let k = 0; k < 3; k++) pixels.data[at + k] = colour[k];
      pixels.data[at + 3] = 255;
    }
  context.putImageData(pixels, 0, 0);
  return picture;
}

// ---- pointing at cells ----

function cellAt(event) {
  const box = canvas.getBoundingClientRect();
  const [j, i] = [event.clientX - box.left - map.left, event.clientY - box.top - map.top].map((at) =>
    Math.floor(at / map.cell),
  );
  return i >= 0 && j >= 0 && i < nCells && j < nCells ? [i, j] : null;
}
const cellName = (i) => shortName(itemName(i), 30);
function pointAt(cell) {
  if (String(cell) === String(cursor)) return;
  cursor = cell;
  requestAnimationFrame(drawCursor);
  if (!cell) {
    readout.replaceChildren(readout.dataset.hint);
    return;
  }
  const [i, j] = cell;
  if (i === j) readout.replaceChildren(cellName(i));
  else readout.replaceChildren(cellName(i), " and ", cellName(j), ": ", make("strong", {}, signed(cellValue(i, j))));
}
function chooseCell([i]) {
  select(isOfGroups ? { group: shownItems[i] } : { node: shownItems[i] }, { show: true });
}

// ---- the strongest pairs, beside the map ----

function pairTable(title, pairs) {
  if (!pairs.length) return "";
  const rows = pairs.map(([i, j, value]) => {
    const names = [itemLink(i, 32), " and ", itemLink(j, 32)];
    const line = row(make("span", {}, ...names), figure(signed(value)));
    line.addEventListener("pointerenter", () => pointAt([i, j]));
    line.addEventListener("pointerleave", () => pointAt(null));
    return line;
  });
  return make("div", {}, make("h3", {}, title), make("table", {}, make("tbody", {}, ...rows)));
}
function drawPairs() {
  const all = upper
    .flatMap((row, i) => row.slice(1).map((value, k) => [i, i + 1 + k, value]))
    .filter(([, , value]) => value);
  all.sort((a, b) => Math.abs(b[2]) - Math.abs(a[2]));
  const between = all.filter(([i, j]) => groupOfItem(i) !== groupOfItem(j) || groupOfItem(i) < 0);
  $("heatmap-pairs").replaceChildren(
    pairTable("Strongest pairs", all.slice(0, MAX_PAIRS)),
    manyGroups && !isOfGroups ? pairTable("Strongest pairs between groups", between.slice(0, MAX_PAIRS)) : "",
  );
}

if (canvas && nCells > 1) {
  $("heatmap-limits").replaceChildren(
    ...[isSigned ? -LIMIT : 0, LIMIT].map((value) => make("span", {}, signed(value))),
  );
  drawPairs();
  canvas.addEventListener("pointermove", (event) => pointAt(cellAt(event)));
  canvas.addEventListener("pointerleave", () => pointAt(null));
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    // A finger points first; a second tap on the same cell selects.
    if (String(cell) === String(cursor)) chooseCell(cell);
    else pointAt(cell);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (step) pointAt((cursor || [0, 0]).map((at, k) => Math.max(0, Math.min(nCells - 1, at + step[k]))));
    else if (event.key === "Enter" && cursor) chooseCell(cursor);
    else return;
    event.preventDefault();
  });
  // Colours follow the theme; paper is always light.
  const darkTheme = window.matchMedia("(prefers-color-scheme: dark)");
  darkTheme.addEventListener("change", drawMap);
  new MutationObserver(drawMap).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  window.addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    drawMap();
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    drawMap();
  });
  new ResizeObserver(drawMap).observe($("heatmap-stage"));
  drawMap();
}
