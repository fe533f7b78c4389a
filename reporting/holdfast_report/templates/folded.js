"use strict";
// Builds a folded piece of the page, or a folded table, when its section is opened. SPDX-License-Identifier: Apache-2.0
(() => {
  const block = document.getElementById("folded");
  if (!block) return;
  const FEW = 3;  // columns, which fit on a phone
  let said = null;
  // A text that may break after the parts of its names.
  const part = (cell) => {
    const words = cell.textContent.split(/(?<=[/_])/);
    if (cell.textContent.includes("/")) cell.classList.add("path");
    cell.replaceChildren(...words.flatMap((word, index) => index ? [document.createElement("wbr"), word] : [word]));
  };
  const build = (place) => {
    const {tables, texts} = said, [textColumns, head, rows] = tables[place.dataset.table], table = document.createElement("table");
    place.removeAttribute("data-table");
    if (head.length > FEW) table.className = "stacked";
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
        const named = kind === "" && column < textColumns;
        cell.textContent = texts[text];
        cell.className = kind === "share" ? "share" : kind === "branch" ? "text branch" : column < textColumns ? "text" : "";
        if (named) part(cell);
        if (kind === "share") cell.style.setProperty("--share", `${number}%`);
        if (kind === "branch") cell.style.setProperty("--depth", number);
      });
    }
    // On a phone a row of many numbers stands as lines, each with its name; its roles keep it a table for screen readers.
    if (head.length > FEW)
      for (const [kind, role] of [["table", "table"], ["thead, tbody", "rowgroup"], ["tr", "row"], ["th", "columnheader"], ["td", "cell"]])
        (kind === "table" ? [table] : table.querySelectorAll(kind)).forEach((one) => {
          one.setAttribute("role", role);
          if (role === "cell") one.dataset.head = texts[head[one.cellIndex]];
        });
    place.append(table);
  };
  const lay = (place) => { place.outerHTML = said.pieces[place.dataset.piece]; };
  const shown = (place) => !place.parentElement.closest("details:not([open])");
  const places = (root, kind, wanted) => [...root.querySelectorAll(`[data-${kind}]`)].filter(wanted);
  // A piece may hold places of further pieces.
  const layAll = (root, wanted) => {
    let laid = false;
    for (let some; (some = places(root, "piece", wanted)).length; laid = true) some.forEach(lay);
    return laid;
  };
  const tell = () => document.dispatchEvent(new Event("unfolded"));
  const fill = (root) => {
    if (!said) return;
    const laid = layAll(root, shown);
    places(root, "table", shown).forEach(build);
    if (laid) tell();
  };
  document.addEventListener("toggle", (event) => { if (event.target.open) fill(event.target); }, true);
  // A search through the whole page asks for all pieces.
  document.addEventListener("unfold", () => { if (said && layAll(document, () => true)) tell(); });
  const packed = Uint8Array.from(atob(block.textContent), (letter) => letter.charCodeAt(0));
  const read = async () => {
    const json = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    said = await new Response(json).json();
    fill(document);
    tell();
  };
  read().catch((error) => {
    for (const place of document.querySelectorAll("[data-piece], [data-table]")) place.textContent = `This browser cannot show it: ${error.message}`;
  });
})();
