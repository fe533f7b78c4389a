"use strict";
// Hides the rows of a table, or the named parts of a page, that lack one of the words, and what is left without any; a part without
// a name goes by its text. SPDX-License-Identifier: Apache-2.0
for (const input of document.querySelectorAll("input[data-filter]")) {
  const target = document.getElementById(input.dataset.filter);
  const said = input.parentElement.querySelector("[role=status]");
  let rows = [], texts = [], parts = [];
  const collect = () => {
    parts = [...target.querySelectorAll("section, article, details")].filter((part) => !part.closest("[data-name]"));
    rows = target.matches("table") ? [...target.tBodies[0].rows] : [...target.querySelectorAll("[data-name]")];
    texts = rows.map((row) => (row.dataset.name || row.textContent).toLowerCase());
  };
  const hide = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
      count += row.hidden ? 0 : 1;
      // A folded section with a match is opened.
      for (let fold = row.parentElement.closest("details"); fold && words.length && !row.hidden; fold = fold.parentElement.closest("details")) fold.open = true;
    });
    for (const part of parts) part.hidden = words.length > 0 && !part.querySelector("[data-name]:not([hidden])");
    said.textContent = words.length ? `${count} of ${rows.length}` : "";
  };
  const apply = () => {
    if (input.value) document.dispatchEvent(new Event("unfold"));  // folded parts may hold a word, too
    hide();
  };
  // A case's address filters the page by the case.
  const recall = () => {
    const named = location.hash.startsWith("#case-") && document.getElementById(location.hash.slice(1));
    if (!named || !named.dataset.case) return;
    input.value = named.dataset.case;
    apply();
    // After the browser has scrolled to the case's row: in the next frame, or soon if none is drawn.
    const top = () => scrollTo(0, 0);
    requestAnimationFrame(top);
    setTimeout(top, 100);
  };
  collect();
  // Pieces that came later; those of the whole page when the first of them can be laid.
  document.addEventListener("unfolded", () => { collect(); if (input.value) apply(); });
  window.addEventListener("hashchange", recall);
  window.addEventListener("load", recall);
  input.addEventListener("input", apply);
  input.parentElement.hidden = false;
  if (input.value) apply();
}
