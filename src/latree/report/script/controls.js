// Buttons and the slider above the drawing. At the end, the drawing starts.

function press(attribute, value) {
  for (const button of document.querySelectorAll(`button[data-${attribute}]`))
    button.setAttribute("aria-pressed", String(button.dataset[attribute] === value));
}
// Shows the state of the drawing in its controls.
function updateControls() {
  press("layout", state.layout);
  press("lengths", state.lengths);
  press("fold", foldsKind());
  slider.value = state.support;
  const nLeftOut = edges.support.filter((_, id) => edges.parent[id] >= 0 && isLeftOut(id)).length;
  $("support-text").textContent = state.support
    ? `${percent(state.support)}, −${count(nLeftOut, "edge")}`
    : "0\u00a0%, all edges";
  drawLegend();
}

for (const button of document.querySelectorAll("button[data-layout], button[data-lengths]")) {
  button.addEventListener("click", () => {
    const { layout, lengths } = button.dataset;
    if (layout) state.layout = layout;
    else state.lengths = lengths;
    updateDrawing({ animate: true });
    pushAddress();
  });
}
const canFold = { none: canShowColumns, groups: canFoldGroups && canShowGroups, overview: foldsKind() === "overview" };
for (const button of document.querySelectorAll("button[data-fold]")) {
  // A single way to fold needs no button.
  button.hidden = !canFold[button.dataset.fold] || Object.values(canFold).filter(Boolean).length < 2;
  button.addEventListener("click", () => {
    setFolds(button.dataset.fold);
    updateDrawing({ animate: true });
    showPanel();
    pushAddress();
  });
}

// On a phone, all but the search is behind a button.
$("more-tools").addEventListener("click", () => {
  const isOpen = $("app").classList.toggle("all-tools");
  $("more-tools").setAttribute("aria-expanded", String(isOpen));
});

const slider = $("support");
$("support-control").hidden = !edges.support.some((support, id) => support !== null && isHidden(id));
slider.addEventListener("input", () => {
  state.support = Number(slider.value);
  updateDrawing({ animate: true });
  replaceAddress();
});

// ---- start ----

updateDrawing();
showPanel();
if (window.location.hash.includes("=")) readAddress();
else if (table) showCardOfAddress();
stage.dataset.milliseconds = Math.round(performance.now() - startTime);

let later = 0;
let lastWidth = stage.clientWidth;
new ResizeObserver(() => {
  clearTimeout(later);
  later = setTimeout(() => {
    if (stage.clientWidth === lastWidth) return;
    lastWidth = stage.clientWidth;
    updateDrawing();
  }, 120);
}).observe(stage);
