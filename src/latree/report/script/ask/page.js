// The page that asks. Names, questions and answers are data: they become text, never markup. Answers stay in memory.

const $ = (id) => document.getElementById(id);
// From columns to what was answered, in the order of the questions; null for a question that was skipped.
const answers = new Map();
const state = { editing: null, finished: false, unlimited: false, shown: undefined };

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") element.addEventListener("click", value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
const textOf = (column) => columns[column].text || columns[column].shown;
const two = (x) => (Number.isNaN(x) ? "–" : x.toFixed(2));

// ---- where we are ----

const known = () => new Map([...answers].filter(([, given]) => given).map(([column, { code }]) => [column, code]));
const skipped = () => new Set([...answers].filter(([, given]) => !given).map(([column]) => column));

function now() {
  const codes = known();
  const scores = groups.map((group) => scoreOf(group, codes));
  const asked = (reliability) => nextColumn(codes, skipped(), scores, reliability);
  const atLimit = page.items !== null && codes.size >= page.items;
  const more = asked(null);
  let column = state.unlimited ? more : atLimit ? null : asked(page.reliability);
  if (state.finished) column = null;
  return { scores, column: state.editing ?? column, more, atLimit, number: codes.size };
}

// ---- answering ----

function answer(given) {
  answers.set(state.shown, given);
  state.editing = null;
  show(true);
}
function change(column) {
  state.editing = column;
  show(true);
}
// The question before the one that is shown.
function before() {
  const order = [...answers.keys()];
  return state.editing === null ? order.at(-1) : order[order.indexOf(state.editing) - 1];
}
// A number that is typed belongs to the first bin whose cut is not below it.
function binOf(column, number) {
  const bin = columns[column].cuts.findIndex((cut) => number <= cut);
  return bin < 0 ? columns[column].cuts.length : bin;
}
$("number").addEventListener("submit", (event) => {
  event.preventDefault();
  const typed = $("typed").value.trim();
  const number = Number(typed.replace(",", "."));
  const isNumber = typed !== "" && Number.isFinite(number);
  $("typed").setAttribute("aria-invalid", String(!isNumber));
  $("wrong").hidden = isNumber;
  if (isNumber) answer({ code: binOf(state.shown, number), cell: String(number) });
});
$("back").addEventListener("click", () => change(before()));
$("skip").addEventListener("click", () => answer(null));
$("finish").addEventListener("click", () => {
  state.finished = true;
  state.editing = null;
  show(true);
});
$("more").addEventListener("click", () => {
  state.unlimited = !state.finished || state.unlimited;
  state.finished = false;
  show(true);
});
$("again").addEventListener("click", () => {
  answers.clear();
  Object.assign(state, { editing: null, finished: false, unlimited: false });
  show(true);
});
// The keys 1 to 9 choose an answer while the question has the focus.
$("question").addEventListener("keydown", (event) => {
  if (event.target === $("typed") || event.ctrlKey || event.altKey || event.metaKey) return;
  const chosen = $("answers").children[Number(event.key) - 1];
  if (/^[1-9]$/.test(event.key) && chosen) chosen.click();
});

// ---- what is shown ----

function show(moved) {
  const here = now();
  state.shown = here.column;
  const isDone = here.column === null;
  $("asking").hidden = isDone;
  $("done").hidden = !isDone;
  $("back").disabled = before() === undefined;
  if (isDone) showEnd(here);
  else showQuestion(here);
  showScores(here.scores);
  showAnswers();
  if (moved) $(isDone ? "end" : "text").focus();
}
function showQuestion({ column, number }) {
  const { text, shown, labels, cells, cuts } = columns[column];
  const given = answers.get(column);
  const most = page.items !== null && !state.unlimited ? ` of at most ${page.items}` : "";
  $("progress").textContent = state.editing === null ? `Question ${number + 1}${most}` : "Change your answer";
  $("text").replaceChildren(make("bdi", {}, textOf(column)));
  $("name").replaceChildren(...(text ? [make("bdi", {}, shown)] : []));
  $("number").hidden = cuts === null;
  $("wrong").hidden = true;
  $("typed").removeAttribute("aria-invalid");
  $("typed").value = cuts !== null && given ? given.cell : "";
  $("answers").replaceChildren(
    ...labels.map((label, code) =>
      make(
        "button",
        {
          type: "button",
          class: "answer",
          "aria-pressed": String(given?.code === code),
          onclick: () => answer({ code, cell: cells[code] }),
        },
        make("bdi", {}, label),
      ),
    ),
  );
}
function showEnd({ atLimit, more, number }) {
  const answered = `${number} question${number === 1 ? "" : "s"}`;
  let why = "No other question would say more.";
  if (state.finished) why = "You may go on at any time.";
  else if (more !== null && atLimit) why = "That is as many as were planned.";
  else if (more !== null) why = "The scores are as reliable as was asked for.";
  $("why").textContent = `You have answered ${answered}. ${why}`;
  $("more").hidden = more === null;
}
function showScores(scores) {
  const told = [];
  scores.forEach(({ mean, variance }, i) => {
    const error = Math.sqrt(variance);
    const item = $("scores").children[i];
    const value = `${two(mean)} ± ${two(error)}`;
    if (item.dataset.score !== undefined && item.dataset.score !== String(mean)) {
      told.push(`${groups[i].shown}: ${two(mean)}, plus or minus ${two(error)}`);
    }
    Object.assign(item.dataset, { score: mean, error });
    item.querySelector(".value").textContent = value;
    const [low, high] = [Math.max(mean - error, 0) || 0, Math.min(mean + error, 1) || 0];
    item.querySelector(".band").style.left = `${100 * low}%`;
    item.querySelector(".band").style.width = `${100 * (high - low)}%`;
    item.querySelector(".mark").style.left = `${100 * (mean || 0)}%`;
  });
  $("status").textContent = told.join(". ");
}
function showAnswers() {
  $("so-far").hidden = !answers.size;
  $("given").replaceChildren(
    ...[...answers].map(([column, given]) => {
      const label = given ? (columns[column].cuts ? given.cell : columns[column].labels[given.code]) : "skipped";
      return make(
        "li",
        {},
        make("bdi", {}, textOf(column)),
        ": ",
        make("strong", {}, make("bdi", {}, label)),
        " ",
        make(
          "button",
          {
            type: "button",
            class: "small-button",
            "aria-label": `Change: ${textOf(column)}`,
            onclick: () => change(column),
          },
          "Change",
        ),
      );
    }),
  );
}
$("scores").append(
  ...groups.map((group) =>
    make(
      "li",
      {},
      make("bdi", {}, group.shown),
      make("span", { class: "value" }),
      make("span", { class: "bar", "aria-hidden": "true" }, make("span", { class: "band" }), make("span", { class: "mark" })),
    ),
  ),
);

// ---- the file ----

// One line with the columns of the model, which `latree transform` reads, and the scores.
const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
function csvText() {
  const { scores } = now();
  const place = new Map(columns.map(({ place }, column) => [place, column]));
  const cells = page.header.map((_, i) => answers.get(place.get(i))?.cell ?? "");
  const numbers = scores.flatMap(({ mean, variance }) => [mean, Math.sqrt(variance)]);
  const names = [...page.header, ...groups.flatMap(({ file }) => [`${file}: score`, `${file}: standard error`])];
  return [names, [...cells, ...numbers.map((x) => (Number.isNaN(x) ? "" : x.toFixed(4)))]]
    .map((line) => `${line.map(cell).join(",")}\n`)
    .join("");
}
for (const button of document.querySelectorAll(".download")) {
  button.addEventListener("click", () => {
    const link = make("a", { download: "answers.csv" });
    link.href = URL.createObjectURL(new Blob([csvText()], { type: "text/csv" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

$("app").hidden = false;
show(false);
