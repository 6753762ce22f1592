// Legend, search and buttons. At the end, the drawing starts.

function drawLegend() {
  const byLabel = state.colours === "labels";
  const order = byLabel ? labels.names.map((_, i) => i) : groups.map((_, i) => i);
  if (order.length < 2 && !byLabel) {
    $("legend").replaceChildren();
    return;
  }
  const chips = order.slice(0, 40).map((number) => {
    const text = shorten(byLabel ? labels.names[number] : groups[number].name, 34);
    const colour = byLabel ? labels.colours[number] : groupColour[number];
    const chip = make(
      "button",
      { type: "button", class: "chip", "aria-pressed": String(state.highlighted === number) },
      make("span", { class: `swatch c${colour}` }),
      make("bdi", {}, text),
    );
    chip.addEventListener("click", () => {
      state.highlighted = state.highlighted === number ? null : number;
      updateClasses();
      scheduleLabels();
      drawLegend();
    });
    return chip;
  });
  if (order.length > 40) chips.push(make("span", { class: "muted" }, `and ${order.length - 40} more`));
  $("legend").replaceChildren(...chips);
}

// ---- search ----

const input = $("search");
const results = $("results");
let hits = [];
let active = -1;
const lowered = names.map((name) => name.toLowerCase());
const technical = facts.aliases.map((name) => name.toLowerCase()); // other names of hidden variables

function search() {
  const wanted = input.value.trim().toLowerCase();
  hits = [];
  if (input.value.trim()) {
    const starts = [];
    const others = [];
    lowered.forEach((name, id) => {
      if (name.startsWith(wanted) || technical[id - nColumns] === wanted) starts.push(id);
      else if (name.includes(wanted)) others.push(id);
    });
    hits = [...starts, ...others].slice(0, 12);
  }
  active = hits.length ? 0 : -1;
  showResults(Boolean(input.value.trim()));
}
function showResults(open) {
  results.replaceChildren(
    ...hits.map((id, i) => {
      const entry = make(
        "li",
        { role: "option", id: `result-${i}`, "aria-selected": String(i === active) },
        nameElement(id, 44),
        make("span", { class: "muted" }, isHidden(id) ? `hidden variable ${facts.aliases[id - nColumns]}` : ""),
      );
      entry.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        choose(id);
      });
      return entry;
    }),
    ...(open && !hits.length ? [make("li", { class: "muted none" }, "No column or hidden variable has this name")] : []),
  );
  results.hidden = !open;
  input.setAttribute("aria-expanded", String(open));
  if (active >= 0 && open) input.setAttribute("aria-activedescendant", `result-${active}`);
  else input.removeAttribute("aria-activedescendant");
  const current = results.children[active];
  if (open && current) current.scrollIntoView({ block: "nearest" });
}
function choose(id) {
  showResults(false);
  input.value = "";
  select(id, { fly: true });
}
input.addEventListener("input", search);
input.addEventListener("blur", () => showResults(false));
input.addEventListener("focus", () => input.value.trim() && search());
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (hits.length) active = (active + (event.key === "ArrowDown" ? 1 : -1) + hits.length) % hits.length;
    showResults(hits.length > 0);
  } else if (event.key === "Enter") {
    if (active >= 0) choose(hits[active]);
  } else if (event.key === "Escape") {
    input.value = "";
    hits = [];
    showResults(false);
  } else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    input.focus();
  }
});

// ---- buttons ----

function press(attribute, value) {
  for (const button of document.querySelectorAll(`[data-${attribute}]`)) {
    if (button.tagName === "BUTTON") button.setAttribute("aria-pressed", String(button.dataset[attribute] === value));
  }
}
for (const button of document.querySelectorAll("button[data-layout]")) {
  button.addEventListener("click", () => {
    state.layout = button.dataset.layout;
    press("layout", state.layout);
    updateLayout({ fit: true });
  });
}
for (const button of document.querySelectorAll("button[data-lengths]")) {
  button.addEventListener("click", () => {
    state.lengths = button.dataset.lengths;
    press("lengths", state.lengths);
    updateLayout({ animate: true });
  });
}
for (const button of document.querySelectorAll("button[data-colours]")) {
  button.addEventListener("click", () => {
    state.colours = button.dataset.colours;
    state.highlighted = null;
    press("colours", state.colours);
    updateClasses();
    scheduleLabels();
    drawLegend();
    showPanel(state.selected);
  });
}
$("zoom-in").addEventListener("click", () => zoomBy(1.5));
$("zoom-out").addEventListener("click", () => zoomBy(1 / 1.5));
$("zoom-fit").addEventListener("click", () => fitView(true));

for (const button of document.querySelectorAll("button[data-node]")) {
  button.addEventListener("click", () => {
    select(Number(button.dataset.node), { fly: true });
    $("tree").scrollIntoView({ behavior: reducedMotion.matches ? "auto" : "smooth" });
  });
}

// ---- start ----

const narrow = size.width < 600;
state.layout = nColumns <= (narrow ? 80 : 40) ? "horizontal" : "radial";
press("layout", state.layout);
showPanel(null);
updateLayout({ fit: true });
placeLabels();
stage.dataset.milliseconds = Math.round(performance.now() - startTime);

let later = 0;
new ResizeObserver(() => {
  clearTimeout(later);
  later = setTimeout(() => {
    const before = size;
    size = readSize();
    if (size.width !== before.width || size.height !== before.height) updateLayout({ fit: true });
  }, 120);
}).observe(svg);
