// The page without its drawing: the theme, and buttons that copy text.

const root = document.documentElement;
root.classList.add("scripted");

// ---- theme ----

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const remember = (theme) => {
  try {
    window.localStorage.setItem("latree-theme", theme);
  } catch {
    // The browser may not allow a local file to store anything. Then the choice lasts until the page is closed.
  }
};
try {
  const kept = window.localStorage.getItem("latree-theme");
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
} catch {
  // See above.
}
document.getElementById("theme").addEventListener("click", () => {
  const now = root.dataset.theme || (dark.matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  remember(root.dataset.theme);
});

// ---- copying ----

// A button with data-copy copies the text of the element with that id. Local files may not use the clipboard directly
// in every browser; the older way, by a selection, works there.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
for (const button of document.querySelectorAll("button[data-copy]")) {
  const before = button.textContent;
  button.addEventListener("click", async () => {
    const done = await copy(document.getElementById(button.dataset.copy).textContent);
    button.textContent = done ? "Copied" : "Not allowed";
    setTimeout(() => {
      button.textContent = before;
    }, 1500);
  });
}
