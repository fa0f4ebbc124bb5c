// Sorts the tables of class "sortable" by a column, and opens the fold that a link leads to.
// The page is complete without it.
"use strict";
const MISSING = ["", "–"];

function valueOf(row, column) {
  const text = row.cells[column].textContent.trim();
  const plain = text.replace(/[\u202f%]/g, "").replace("\u2212", "-").replace("< ", "");
  const number = MISSING.includes(text) ? -Infinity : Number(plain);
  return Number.isNaN(number) ? text : number;
}

function sortBy(table, head, column) {
  const downwards = head.getAttribute("aria-sort") !== "descending";
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [valueOf(row, column), row]);
  rows.sort(([a], [b]) => {
    const order = typeof a === "string" || typeof b === "string"
      ? String(b).localeCompare(String(a), "en", { numeric: true }) : b - a || 0;
    return downwards ? order : -order;
  });
  body.append(...rows.map(([, row]) => row));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", downwards ? "descending" : "ascending");
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, head, column));
    head.append(button);
  });
}

function unfold() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const fold = target && target.querySelector(":scope > details");
  if (fold) fold.open = true;
}
addEventListener("hashchange", unfold);
unfold();
