// SPDX-License-Identifier: GPL-2.0-only
// Tables: sort by a click on a heading, show more rows, describe a cell.

// Sort by a column: numbers from the greatest on, names from A on. If the table is sorted by this
// column, reverse the order.
function sortTable(table, column) {
  const headCells = [...table.tHead.rows[0].cells], head = headCells[column];
  const isName = head.classList.contains("name");
  const first = isName ? "ascending" : "descending", other = isName ? "descending" : "ascending";
  const direction = head.ariaSort === first ? other : first;
  const sign = direction === "ascending" ? 1 : -1;
  const [shownBody] = table.tBodies, shownCount = shownBody.rows.length;
  const value = (row) => isName ? row.cells[column].textContent :
    Number(row.cells[column].dataset.value ?? -1);
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  rows.sort((a, b) => sign * (isName ? value(a).localeCompare(value(b)) : value(a) - value(b)));
  rows.forEach((row, i) => table.tBodies[i < shownCount ? 0 : 1].append(row));
  headCells.forEach((each) => each.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", direction);
}

// Hide the rows of the second body behind a button.
function shortenTable(table) {
  const more = table.tBodies[1];
  if (!more)
    return;
  const button = makeButton("", () => {
    more.hidden = !more.hidden;
    label();
  });
  const label = () => {
    button.textContent = more.hidden ? `Show ${more.rows.length} more` : "Show less";
    button.setAttribute("aria-expanded", !more.hidden);
  };
  button.className = "more";
  more.hidden = true;
  label();
  table.parentNode.after(button);
}

// Describe a cell: its row, its column, its text and, of a time, the nanoseconds before rounding.
function cellText(cell) {
  const head = cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
  const name = cell.parentNode.cells[0].textContent, value = cell.dataset.value;
  const shown = cell.textContent, isTime = /\d[num]?s$|\d[num]?s\+/.test(shown);
  const exact = value === undefined || !isTime ? shown :
    `${shown} = ${formatCount(Number(value))} ns`;
  return `${name}\n${head.textContent}: ${exact}\n${head.dataset.help}`;
}

function prepareTable(table) {
  [...table.tHead.rows[0].cells].forEach((head, i) => {
    head.dataset.help = head.title;
    head.replaceChildren(makeButton(head.textContent, () => sortTable(table, i)));
  });
  shortenTable(table);
  const cells = [...table.querySelectorAll("td:not(.name)")];
  for (const cell of cells)
    cell.tip = () => cellText(cell);
  const width = table.tBodies[0].rows[0].querySelectorAll("td:not(.name)").length;
  addMarks(table, () => [...table.querySelectorAll("tbody:not([hidden]) td:not(.name)")],
           { rowLength: width });
}

function prepareTables() {
  document.querySelectorAll("table").forEach(prepareTable);
}
