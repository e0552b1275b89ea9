// Sorts the table by a column. The page is complete without it.
"use strict";
const table = /** @type {HTMLTableElement} */ (document.querySelector("table"));
const heads = /** @type {HTMLTableRowElement} */ (table.tHead?.rows[0]).cells;
const order = new Intl.Collator("en", { numeric: true });

for (const [column, head] of [...heads].entries()) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const each of heads) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    /** @param {HTMLTableRowElement} row */
    const text = (row) => row.cells[column]?.textContent ?? "";
    const rows = [...table.tBodies[0]?.rows ?? []].sort((a, b) => order.compare(text(a), text(b)) * (down ? -1 : 1));
    table.tBodies[0]?.append(...rows);
  });
}
