// Files that the page makes itself: the tree as a picture, and texts that came with the page.

// Properties that give the drawing its looks. A picture outside the page has no style sheet.
const LOOKS = (
  "fill fill-opacity stroke stroke-width stroke-opacity stroke-dasharray stroke-linecap stroke-linejoin " +
  "font-size font-weight text-anchor paint-order opacity display"
).split(" ");

// The tree as it is shown, as the text of an SVG file with a legend of groups and labels below it.
function pictureText() {
  const copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const looks = getComputedStyle(originals[i]);
    for (const property of LOOKS) {
      const value = looks.getPropertyValue(property);
      const isDefault = value === "normal" || (value === "none" && property !== "fill" && property !== "display");
      if (value && !isDefault && value !== "inline") element.setAttribute(property, value);
    }
    for (const name of ["class", "data-id", "data-group", "data-label"]) element.removeAttribute(name);
  });
  const background = getComputedStyle($("app")).backgroundColor;
  const key = pictureKey();
  const height = frame.height + key.height;
  for (const name of ["id", "tabindex", "role", "aria-label", "class"]) copy.removeAttribute(name);
  setAll(copy, {
    xmlns: SVG,
    width: frame.width,
    height: rounded(height),
    viewBox: `0 0 ${frame.width} ${rounded(height)}`,
    "font-family": family,
  });
  copy.prepend(drawn("rect", { width: frame.width, height: rounded(height), fill: background }));
  copy.append(...key.elements);
  return new XMLSerializer().serializeToString(copy);
}
// The colours of labels, and of groups if the drawing does not name them, as rows below the drawing.
function pictureKey() {
  const ink = getComputedStyle(stage).color;
  const named = frame.layout === "horizontal" && !frame.narrow;
  const entries = [
    ...(manyGroups && !named ? groups : [])
      .slice(0, MAX_LISTED)
      .map(({ colour, number, name }) => [colour, `${number} ${name}`]),
    ...(labels ? labels.names.map((name, i) => [labels.colours[i], name]) : []),
  ];
  const elements = [];
  let [x, y] = [12, frame.height + 14];
  for (const [colour, name] of entries) {
    const text = shorten(name, 34);
    const width = widthOf(text, "12px") + 34;
    if (x + width > frame.width && x > 12) [x, y] = [12, y + 18];
    const square = drawn("rect", { x, y: y - 5, width: 10, height: 10, fill: resolved(`var(--c${colour})`) });
    elements.push(square, drawn("text", { x: x + 15, y: y + 4, "font-size": 12, fill: ink }, text));
    x += width;
  }
  return { elements, height: entries.length ? y + 14 - frame.height : 0 };
}
// A colour of the style sheet as it is shown now, in the light or the dark theme.
function resolved(colour) {
  const probe = make("span");
  probe.style.color = colour;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function save(name, content, type) {
  const link = make("a", { download: name });
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const MAX_PIXELS = 12000; // browsers draw no larger picture
function savePicture() {
  const image = new Image();
  image.addEventListener("load", () => {
    const scale = Math.min(2, MAX_PIXELS / image.width, MAX_PIXELS / image.height);
    const canvas = make("canvas", { width: Math.round(image.width * scale), height: Math.round(image.height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save("tree.png", blob, "image/png"));
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(pictureText())}`;
}

for (const button of document.querySelectorAll("button[data-download]")) {
  const name = button.dataset.download;
  button.addEventListener("click", () => {
    if (name === "tree.svg") save(name, pictureText(), "image/svg+xml");
    else if (name === "tree.png") savePicture();
    else save(name, facts.files[name], "text/plain");
  });
}
// The text of the button that copies the tree.
if ($("newick")) $("newick").textContent = facts.files["tree.nwk"];
