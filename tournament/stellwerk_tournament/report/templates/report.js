/* The script of the report: sorting, searching, and pointing at cells.

Law: it adds comfort and no content. The page is complete without it, and it makes the buttons and fields that need it.
It fetches nothing, and inserts texts as texts only. */
"use strict";
(function () {
  function valueOf(cell) {
    if (!cell) return "";
    if (cell.dataset.v !== undefined) return parseFloat(cell.dataset.v);
    const text = cell.textContent.trim();
    const number = parseFloat(text.replace(/,/g, "").replace("\u2212", "-"));
    return cell.classList.contains("num") && text !== "" && !isNaN(number) ? number : text.toLowerCase();
  }

  function compare(one, other) {
    if (typeof one === "number" && typeof other === "number") return one - other;
    if (typeof one === "number") return 1;
    if (typeof other === "number") return -1;
    return one < other ? -1 : one > other ? 1 : 0;
  }

  function sort(table, column, head) {
    const first = table.tBodies[0].rows[0];
    const numbers = first && typeof valueOf(first.cells[column]) === "number";
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numbers && head.textContent !== "#";
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    for (const body of table.tBodies) {
      const titles = Array.from(body.rows).filter((row) => row.classList.contains("group"));
      const rows = Array.from(body.rows).filter((row) => !row.classList.contains("group"));
      const keyed = rows.map((row) => [valueOf(row.cells[column]), row]);
      keyed.sort((one, other) => (down ? compare(other[0], one[0]) : compare(one[0], other[0])));
      body.append(...titles, ...keyed.map((pair) => pair[1]));
    }
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      if (head.classList.contains("plain")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, column, head));
    });
  }

  function reveal() {
    const row = document.getElementById(location.hash.slice(1));
    const details = row && row.closest("details");
    if (!details || details.open) return;
    details.open = true;
    row.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  reveal();

  const cross = document.querySelector("table.cross");
  const pointed = document.getElementById("pointed");
  function point(event) {
    const cell = event.target.closest("td[data-n]");
    if (!cell) return;
    const column = cross.tHead.rows[0].cells[cell.cellIndex].firstElementChild.title;
    const row = cell.parentNode.cells[0].firstElementChild.title;
    const matches = cell.dataset.n === "1" ? " match" : " matches";
    const score = ": " + cell.textContent + " % of " + cell.dataset.n + matches;
    pointed.textContent = row + " against " + column + score;
  }
  if (cross) {
    cross.addEventListener("pointerover", point);
    cross.addEventListener("click", point);
  }

  for (const table of document.querySelectorAll("table.filtered")) {
    const field = document.createElement("input");
    field.type = "search";
    const label = document.createElement("label");
    label.className = "filter";
    label.append("Show only rows with", field);
    table.parentNode.before(label);
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }
})();
