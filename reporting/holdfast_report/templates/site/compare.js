"use strict";
// Any two commits, side by side. Values lie in files of some commits each, which are loaded when they are asked for, as
// scripts, because a page on a disk may read nothing else. SPDX-License-Identifier: Apache-2.0
(() => {
  const {commits, chunk, environments, holds, steps: STEPS, versions} = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const [a, b, named, changed, table, said, cut] = ["a", "b", "named", "changed", "table", "said", "cut"].map(find);
  const MOST = 500, UNSAFE = /[^A-Za-z0-9_.-]/gu, loaded = {}, held = {};
  let series = null;
  const named_once = ({cases, classes, metrics, rows, variants}) => rows.map(([a_case, a_class, a_variant, a_metric, noise]) => {
    const [name, page] = cases[a_case], [metric, unit, better] = metrics[a_metric], variant = variants[a_variant];
    return {
      case: name, class: classes[a_class], variant, metric, unit, better, noise, part: `${name.split("/")[0]} on ${classes[a_class]}`,
      name: `${name} ${variant} ${metric} ${classes[a_class]}`.toLowerCase(),
      address: `${page}#${[classes[a_class], variant, metric].join(".").replace(UNSAFE, "_")}`,
    };
  });
  window.holdfast = {
    series: (of, data) => { held.series = of; series = named_once(data); },
    values: (number, of, columns) => { held[`values-${number}`] = of; loaded[number] = columns; },
  };
  const pending = {};
  const load = (name) => pending[name] ||= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = `data/${name}.js?${versions[name]}`;
    script.onload = () => held[name] === holds[name] ? done() : failed(new Error("the site was drawn again since this page was loaded; load it anew"));
    script.onerror = () => { delete pending[name]; failed(new Error(`data/${name}.js is missing; draw the site again`)); };
    document.body.append(script);
  });
  const readable = (value, unit, digits = 4) => {
    if (value === null) return "–";
    const steps = STEPS[unit] || [[1, unit === "1" ? "" : unit]];
    const [scale, name] = steps.find(([one]) => Math.abs(value) >= one * 0.9995) || steps[steps.length - 1];
    if (scale === 1 && Number.isInteger(value)) digits = 15;
    return `${Number((value / scale).toPrecision(digits)).toLocaleString("en", {maximumSignificantDigits: digits})} ${value === 0 && unit === "s" ? "s" : name}`.trim();
  };
  const valuesAt = (position) => {
    const columns = loaded[Math.floor(position / chunk)], inside = position % chunk;
    return series.map((_, index) => {  // [place in the chunk, value, ...]: each holds until the next; null ends it
      const known = columns[index];
      let value = null;
      for (let at = 0; known && at < known.length && known[at] <= inside; at += 2) value = known[at + 1];
      return value;
    });
  };
  const commitOf = (text) => commits.findIndex(([name]) => {
    const wanted = text.trim().split(" ")[0];
    return wanted.length > 3 && (name.startsWith(wanted) || wanted.startsWith(name));
  });
  const cell = (row, text, kind) => {
    const made = row.insertCell();
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  // The suites of each class with a value; what only one of the two commits was measured on is not compared.
  const measured = (values) => new Set(series.filter((_, index) => values[index] !== null).map((one) => one.part));
  // Which of them, or their class where all did, have another machine, driver or compiler at each of the two.
  const moved = (both, first, second) => Object.entries(environments).flatMap(([name, suites]) => {
    const at = (suite, position) => suites[suite].filter(([begun]) => begun <= position).pop()?.[1];
    const here = Object.keys(suites).filter((suite) => both.has(`${suite} on ${name}`)), other = here.filter((suite) => at(suite, first) !== at(suite, second));
    return other.length && other.length === here.length ? [name] : other.map((suite) => `${suite} on ${name}`);
  });
  const compared = (first, second) => {
    const before = valuesAt(first), after = valuesAt(second), rows = [], [had, has] = [before, after].map(measured);
    alone = [...had, ...has].filter((part) => !had.has(part) || !has.has(part)).sort();
    apart = moved(new Set([...had].filter((part) => has.has(part))), first, second);
    series.forEach((one, index) => {
      const [x, y] = [before[index], after[index]];
      if (!had.has(one.part) || !has.has(one.part) || (x === null && y === null)) return;
      const change = x === null || y === null ? null : x === 0 ? (y === 0 ? 0 : Math.sign(y)) : y / x - 1;
      // How many times the change is what neighbours in the history differ by; a count that never varies has no noise.
      const weight = change === null ? 0 : change === 0 ? -1 : Math.abs(change) / Math.max(one.noise, 1e-12);
      rows.push({one, x, y, change, weight});
    });
    return rows.sort((p, q) => (q.one.noise === 0 && q.change ? 1 : 0) - (p.one.noise === 0 && p.change ? 1 : 0) || (p.one.noise || q.one.noise ? q.weight - p.weight : Math.abs(q.change) - Math.abs(p.change)));
  };
  const sound = (row) => row.change === null || (row.change !== 0 && (row.one.noise === 0 || row.weight >= 3));
  const show = (rows) => {
    const words = named.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = rows.filter((row) => (!changed.checked || sound(row)) && words.every((word) => row.one.name.includes(word)));
    const body = table.tBodies[0];
    body.textContent = "";
    for (const {one, x, y, change, weight} of shown.slice(0, MOST)) {
      const row = body.insertRow(), link = document.createElement("a");
      link.href = one.address;
      link.append(...one.case.split(/(?<=\/)/).flatMap((part) => [part, document.createElement("wbr")]));
      cell(row, "", "text").append(link);
      cell(row, one.metric, "text");
      const tone = !change ? "" : one.better === "same" ? "odd" : (change > 0) === (one.better === "lower") ? "bad" : "good";
      const mark = {bad: "✗ ", good: "▲ ", odd: "≠ "}[tone] || "";
      cell(row, change === null ? (x === null ? "new" : "gone") : x === 0 && change ? `${mark}from 0` : `${mark}${change > 0 ? "+" : ""}${(100 * change).toLocaleString("en", {maximumSignificantDigits: 3})} %`.replace("-", "−"), tone ? `verdict ${tone}` : "");
      const alike = x !== y && readable(x, one.unit) === readable(y, one.unit), digits = alike ? 12 : 4;
      cell(row, readable(x, one.unit, digits));
      cell(row, readable(y, one.unit, digits));
      cell(row, change === null || !change ? "" : one.noise === 0 ? "exact" : `${Number(weight.toPrecision(2))}×`);
      cell(row, one.variant, "text");
      cell(row, one.class, "text");
    }
    table.hidden = !shown.length;
    said.textContent = `${shown.length} of ${rows.length} series${changed.checked ? " changed: exact ones at all, others by three times their noise or more" : ""}; what is most significant comes first.${apart.length ? ` Not the code alone: ${apart.join(" and ")} ${apart.length > 1 ? "have" : "has"} another environment at each of the two, and what was timed is not comparable.` : ""}${alone.length ? ` Not compared, because only one of the two has them: ${alone.join(", ")}.` : ""}`;
    cut.textContent = shown.length > MOST ? `The first ${MOST} are shown; narrow them down by name.` : "";
  };
  let rows = [], apart = [], alone = [];
  const run = async () => {
    const first = commitOf(a.value), second = commitOf(b.value);
    for (const [input, at] of [[a, first], [b, second]])
      find(`${input.id}-said`).textContent = at < 0 ? "no such commit" : `${commits[at][1]} ${commits[at][2]}`;
    if (first < 0 || second < 0) {
      [rows, table.hidden, said.textContent, cut.textContent] = [[], true, "", ""];
      return;
    }
    try {
      await Promise.all(["series", `values-${Math.floor(first / chunk)}`, `values-${Math.floor(second / chunk)}`].map(load));
    } catch (error) {
      [rows, table.hidden, said.textContent, cut.textContent] = [[], true, error.message, ""];
      return;
    }
    rows = compared(first, second);
    show(rows);
    remember();
  };
  const remember = () => history.replaceState(null, "",
    `#from=${commits[commitOf(a.value)][0]}&to=${commits[commitOf(b.value)][0]}${named.value ? `&name=${encodeURIComponent(named.value)}` : ""}${changed.checked ? "" : "&all=1"}`);
  const recall = () => {
    const given = Object.fromEntries(location.hash.slice(1).split("&").filter((part) => part.includes("=")).map((part) => part.split("=")));
    a.value = given.from || commits[Math.max(0, commits.length - 2)][0];
    b.value = given.to || commits[commits.length - 1][0];
    try {
      named.value = given.name ? decodeURIComponent(given.name) : "";
    } catch {
      named.value = "";  // an address that was cut short
    }
    changed.checked = !given.all;
    run();
  };
  for (const [name, date, subject] of commits.slice().reverse()) find("known").append(new Option(`${date} ${subject}`, name));
  for (const input of [a, b]) input.addEventListener("change", run);
  for (const input of [named, changed]) input.addEventListener("input", () => { if (rows.length) { show(rows); remember(); } });
  find("swap").addEventListener("click", () => { [a.value, b.value] = [b.value, a.value]; run(); });
  find("compare").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", recall);
  find("compare").hidden = false;
  recall();
})();
