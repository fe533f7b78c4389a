"use strict";
// Builds a folded table when its section is opened. SPDX-License-Identifier: Apache-2.0
(() => {
  const block = document.getElementById("tables");
  if (!block) return;
  const {tables, texts} = JSON.parse(block.textContent);
  const build = (place) => {
    const [textColumns, head, rows] = tables[place.dataset.table], table = document.createElement("table");
    place.removeAttribute("data-table");
    const names = table.createTHead().insertRow();
    head.forEach((name, column) => {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = texts[name];
      if (column < textColumns) cell.className = "text";
      names.append(cell);
    });
    const body = table.createTBody();
    for (const row of rows) {
      const made = body.insertRow();
      row.forEach((said, column) => {
        const cell = made.insertCell(), [kind, number, text] = Array.isArray(said) ? said : ["", 0, said];
        cell.textContent = texts[text];
        cell.className = kind === "share" ? "share" : kind === "branch" ? "text branch" : column < textColumns ? "text" : "";
        if (kind === "share") cell.style.setProperty("--share", `${number}%`);
        if (kind === "branch") cell.style.setProperty("--depth", number);
      });
    }
    place.append(table);
  };
  const shown = (place) => !place.parentElement.closest("details:not([open])");
  const fill = (root) => [...root.querySelectorAll("[data-table]")].filter(shown).forEach(build);
  fill(document);
  document.addEventListener("toggle", (event) => { if (event.target.open) fill(event.target); }, true);
})();
