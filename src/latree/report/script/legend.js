// What lines, dots and colours mean, in one line above the drawing.

function glyph(width, ...content) {
  return drawn(
    "svg",
    { class: "glyph", viewBox: `0 0 ${width} 14`, width, height: 14, "aria-hidden": "true" },
    ...content,
  );
}
const line = (x0, x1, kind, width) =>
  drawn("path", { class: `link trunk ${kind}`, d: `M${x0},7H${x1}`, "stroke-width": width });

function meanings() {
  const found = [];
  const has = (kind) => edges.support.some((_, id) => certainty(id) === kind);
  const add = (picture, text) => found.push(make("span", { class: "meaning-entry" }, picture, text));
  if (edges.parent.some((above) => above >= 0)) {
    add(glyph(36, line(2, 14, "", 4), line(20, 34, "", 1.2)), "thick: strong dependence");
    if (state.lengths === "strength") add(glyph(36, line(2, 10, "", 2), line(16, 34, "", 2)), "long: weak dependence");
  }
  if (nColumns < names.length) add(glyph(12, drawn("circle", { class: "dot", cx: 6, cy: 7, r: 4 })), "hidden variable");
  if (manyGroups && groups.some((group, number) => isHidden(group.centre) && !state.foldedGroups.has(number)))
    add(
      glyph(
        20,
        drawn("circle", { class: "ring c0", cx: 10, cy: 7, r: 6 }),
        drawn("text", { class: "ring-text", x: 10, y: 10.5 }, "1"),
      ),
      "hidden variable of group 1; colours are groups",
    );
  if (view.nodes.some(folded))
    add(glyph(16, drawn("circle", { class: "blob c0", cx: 8, cy: 7, r: 6 })), "folded: area is its number of columns");
  if (hasSupport) {
    if (has("sure")) add(glyph(26, line(2, 24, "sure", 2)), `sure: support from ${SURE}\u00a0%`);
    if (has("likely")) add(glyph(26, line(2, 24, "likely", 2)), `likely: from ${LIKELY}\u00a0%`);
    if (has("unsure")) add(glyph(26, line(2, 24, "unsure", 2)), `unsure: below ${LIKELY}\u00a0%`);
    if (frame.layout === "horizontal")
      found.push(make("span", { class: "meaning-entry" }, make("small", {}, "97"), "support in per cent"));
  }
  return found;
}

const GREY = 12; // the colour of all groups and labels that have none of their own

// A button that shows a group or a label in the drawing.
function chip(colour, text, target, isPressed, number = null) {
  const onclick = () => select(isPressed ? {} : target);
  const mark =
    number === null
      ? make("span", { class: `square c${colour}` })
      : make("span", { class: `badge c${colour}` }, String(number));
  return make(
    "button",
    { type: "button", class: "chip", "aria-pressed": String(isPressed), onclick },
    mark,
    make("bdi", {}, shorten(text, 34)),
  );
}
function chips() {
  const rows = [];
  // In a wide drawing from left to right, groups have their names beside their brackets.
  // Those of folded groups are beside their circles.
  const unnamed = groups.filter((_, number) => number < GREY && !state.foldedGroups.has(number));
  if (manyGroups && unnamed.length && (frame.layout === "radial" || frame.narrow))
    rows.push([
      "Groups",
      unnamed.map(({ colour, name, number }) =>
        chip(colour, name, { group: number - 1 }, state.group === number - 1, number),
      ),
    ]);
  // Labels that are groups, with the same names, are told once.
  const areGroups = labels && rows.length && labels.names.every((name) => groups.some((group) => group.name === name));
  if (labels && !areGroups) {
    const coloured = labels.names.map((_, i) => i).filter((i) => labels.colours[i] < GREY);
    const others = labels.names.length - coloured.length;
    const shown = coloured.map((i) => chip(labels.colours[i], labels.names[i], { label: i }, state.label === i));
    if (others) shown.push(make("span", { class: "muted" }, `grey: ${count(others, "other label")}`));
    rows.push(["Your labels", shown]);
  }
  return rows.map(([title, content]) =>
    make("div", { class: "chips" }, make("span", { class: "muted" }, title), ...content),
  );
}
function drawLegend() {
  const notes = [];
  const grey = groups.filter((group) => group.colour === GREY);
  if (manyGroups && grey.length)
    notes.push(
      make(
        "span",
        { class: "meaning-entry" },
        make("span", { class: `square c${GREY}` }),
        `groups from ${grey[0].number} on have no colour of their own`,
      ),
    );
  if (frame.layout === "radial" && !frame.showsNames)
    notes.push(
      make(
        "span",
        { class: "meaning-entry" },
        "Too many columns for their names here: the horizontal layout has them all.",
      ),
    );
  $("legend").replaceChildren(make("div", { class: "meanings" }, ...meanings(), ...notes), ...chips());
}
