"use strict";
const rows = Array.from(document.querySelectorAll(".row"));
const form = document.querySelector("form");
const shown = document.querySelector("output");
const texts = new Map();

/// What the filter looks in: the line and the body.
function textOf(row) {
  let text = texts.get(row);
  if (text === undefined) {
    text = row.textContent.toLowerCase();
    texts.set(row, text);
  }
  return text;
}

function filter() {
  const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const wrong = form.elements.wrong.checked;
  const hidden = ["requests", "events", "output"].filter((name) => !form.elements[name].checked);
  let count = 0;
  for (const row of rows) {
    const kind = row.dataset.kind;
    const fits = !hidden.includes(kind)
      && (!wrong || row.classList.contains("violation"))
      && words.every((word) => textOf(row).includes(word));
    row.hidden = !fits;
    count += fits ? 1 : 0;
  }
  shown.value = count === rows.length ? `${count} messages` : `${count} of ${rows.length} messages`;
}

let marked = [];
function mark(event) {
  const row = event.target.closest(".row");
  for (const other of marked) other.classList.remove("pair");
  marked = [];
  if (row && row.dataset.pair) {
    marked = [row, document.getElementById(row.dataset.pair)].filter(Boolean);
    for (const one of marked) one.classList.add("pair");
  }
}

let waiting;
form.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(filter, 80);
});
form.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("mouseover", mark);
document.addEventListener("focusin", mark);
// A link may bring its filter: page.html#filter=setBreakpoints
if (location.hash.startsWith("#filter=")) {
  form.elements.words.value = decodeURIComponent(location.hash.slice("#filter=".length));
}
filter();
