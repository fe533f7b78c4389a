"use strict";
// The plots of a case: what is at the pointer or the arrow keys, a click to the commit, another range of commits and a
// logarithmic axis, all of which the address holds. Shapes are those of site/figures.py. SPDX-License-Identifier: Apache-2.0
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const {commits, figures, link, processors, steps: STEPS} = data;
  const LEFT = 58, RIGHT = 344, TOP = 20, BOTTOM = 130, LABEL = 58, last = commits.length - 1;
  // A content is named as one, needs more room, and has no page in the repository.
  const called = (at, letters) => (commits[at][3] ? `${commits[at][3]} ` : "") + commits[at][0].slice(0, letters);
  const room = (at) => (commits[at][3] ? 1.6 : 1) * LABEL;
  const addressOf = (at) => link && !commits[at][3] ? link + commits[at][0] : null;
  const scaleOf = (most, unit) => {
    if (unit === "1" || !most) return [1, unit === "1" ? "" : unit];
    const steps = STEPS[unit] || (unit.endsWith("/s") ? STEPS["/s"] : [[1, unit]]);
    const [scale, name] = steps.find(([one]) => most >= one * 0.9995) || steps[steps.length - 1];
    return [scale, STEPS[unit] ? name : name + unit.replace(/^1/, "")];
  };
  const plain = (number, digits) => {
    const text = String(Number(number.toPrecision(digits)));
    return text.replace("-", "\u2212");
  };
  const readable = (value, unit) => {
    const [scale, name] = scaleOf(Math.abs(value), unit);
    const whole = scale === 1 && Number.isInteger(value);
    return `${whole ? value.toLocaleString("en").replace("-", "\u2212") : plain(value / scale, 5)} ${name}`.trim();
  };
  const labels = (ticks, unit) => {
    const [scale, name] = scaleOf(Math.max(...ticks.map(Math.abs)), unit);
    const numbers = ticks.map((tick) => tick / scale), least = 1e-9 * Math.max(...numbers.map(Math.abs));
    let digits = 3;
    while (digits < 11 && numbers.some((number) => Math.abs(Number(number.toPrecision(digits)) - number) > least)) ++digits;
    return numbers.map((number) => `${plain(number, digits)} ${name}`.trim());
  };
  const fit = (texts) => {
    const widest = Math.max(...texts.map((text) => text.getComputedTextLength()));
    if (widest > LEFT - 4) for (const text of texts) text.style.fontSize = `${10 * (LEFT - 4) / widest}px`;
  };
  const short = (number) => String(Math.round(number * 10) / 10);
  const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

  const view = {from: 0, to: last, axis: "linear"};
  const isWhole = () => view.from === 0 && view.to === last && view.axis === "linear";

  const linearTicks = (low, high) => {
    const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough) * power;
    const ticks = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) ticks.push(Math.abs(tick) < step * 1e-9 ? 0 : tick);
    return ticks;
  };
  const logTicks = (low, high) => {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power)
      for (const one of [1, 2, 5]) if (one * 10 ** power >= low && one * 10 ** power <= high) ticks.push(one * 10 ** power);
    return ticks.length > 1 ? ticks.filter((_, index) => index % Math.ceil(ticks.length / 6) === 0) : linearTicks(low, high).filter((tick) => tick > 0);
  };

  const plots = figures.map((figure, index) => {
    const element = document.querySelector(`[data-figure="${index}"]`), svg = element.querySelector("svg");
    const at = figure.at || figure.values.map((_, position) => position);
    return {figure, at, svg, element, readout: element.querySelector(".readout"), frame: svg.querySelector(".frame"),
      marks: svg.querySelector(".marks"), original: [svg.querySelector(".frame").innerHTML, svg.querySelector(".marks").innerHTML], pointed: null};
  });
  // The lowest and the highest value that is shown, as trends.reach_of says.
  const reachOf = (values, kept) => {
    const ordered = [...values].sort((a, b) => a - b), few = ordered.length >= 8 ? Math.max(1, Math.floor(ordered.length / 20)) : 0;
    const rest = [...kept, ...ordered.slice(few, ordered.length - few)], low = Math.min(...rest), high = Math.max(...rest);
    const far = low === high ? Infinity : 2 * Math.max(high - low, 0.1 * Math.max(Math.abs(low), Math.abs(high)));
    const near = [low, high, ...ordered.filter((value) => low - far <= value && value <= high + far)];
    return [Math.min(...near), Math.max(...near)];
  };
  // At the first range the marks lie where site/figures.py has put them; it left the limits of the values with us.
  const limitsOf = (plot) => {
    const {figure, at} = plot, values = [], kept = [];
    figure.values.forEach((value, index) => {
      if (at[index] < view.from || at[index] > view.to) return;
      values.push(value);
      if (figure.alarms.includes(index)) kept.push(value);
    });
    if (!values.length) return null;
    kept.push(values[values.length - 1], ...figure.levels.filter(([first, end]) => end >= view.from && first <= view.to).map(([, , level]) => level));
    // A logarithmic axis shows all.
    const shown = view.axis === "log" ? values : reachOf(values, kept);
    if (figure.band) shown.push(figure.band[0], figure.band[2]);
    let low = Math.min(...shown), high = Math.max(...shown);
    if (low === 0 && high === 0) return {log: false, low, high: 1};
    if (view.axis === "log" && low > 0) return {log: true, low: low / (high / low) ** 0.1 / 1.02, high: high * (high / low) ** 0.1 * 1.02};
    const slack = 0.18 * Math.max(high - low, figure.whole && high > low ? 0 : 0.1 * Math.abs(high), 1e-12);
    low = low >= 0 && low - slack < 0 ? 0 : low - slack;
    return {log: false, low, high: high + slack};
  };
  const xOf = (at) => LEFT + (at - view.from + 0.5) / (view.to - view.from + 1) * (RIGHT - LEFT);
  const yIn = (limits) => (value) => {
    value = Math.min(Math.max(value, limits.low), limits.high);
    const share = limits.log ? Math.log(value / limits.low) / Math.log(limits.high / limits.low) : (value - limits.low) / (limits.high - limits.low);
    return BOTTOM - share * (BOTTOM - TOP);
  };

  const redraw = (plot) => {
    const {figure, at} = plot, limits = isWhole() ? null : limitsOf(plot);
    plot.element.classList.toggle("linear", view.axis === "log" && limits !== null && !limits.log);
    if (isWhole()) {
      [plot.frame.innerHTML, plot.marks.innerHTML] = plot.original;
      return;
    }
    if (!limits) {
      plot.frame.innerHTML = `<text x="${LEFT}" y="70">no value in this range</text>`;
      plot.marks.innerHTML = "";
      return;
    }
    const y = yIn(limits), inside = (one) => one >= view.from && one <= view.to;
    const [scale] = scaleOf(limits.high, figure.unit);
    const ticks = (limits.log ? logTicks : linearTicks)(limits.low / scale, limits.high / scale).map((tick) => tick * scale), texts = labels(ticks, figure.unit);
    plot.frame.innerHTML = `<path class="grid" d="${ticks.map((tick) => `M${LEFT} ${short(y(tick))}H${RIGHT}`).join("")}"/><g class="ticks">` +
      ticks.map((tick, index) => `<text x="${LEFT - 4}" y="${short(y(tick) + 3)}">${texts[index]}</text>`).join("") + "</g>";
    fit([...plot.frame.querySelectorAll("text")]);
    const parts = [], moves = figure.environment.filter(inside), uprights = (positions) => positions.filter(inside).map((one) => `M${short(Math.max(LEFT, xOf(one - 0.5)))} ${TOP}V${BOTTOM}`).join("");
    if (figure.band && (!limits.log || figure.band[0] > 0)) {
      parts.push(`<path class="band" d="M${LEFT} ${short(y(figure.band[2]))}H${RIGHT}V${short(y(figure.band[0]))}H${LEFT}z"/>`);
      parts.push(`<path class="accepted" d="M${LEFT} ${short(y(figure.band[1]))}H${RIGHT}"/>`);
    }
    parts.push(`<path class="environment" d="${moves.length > 60 ? "" : uprights(moves)}"/><path class="change" d="${uprights(figure.changes.map((one) => one[0]))}"/>`);
    const seen = figure.values.map((value, index) => [at[index], value, index]).filter(([one]) => inside(one));
    const out = seen.filter(([, value]) => value < limits.low || value > limits.high), inner = seen.filter((one) => !out.includes(one));
    parts.push(`<path class="dots ${seen.length <= 120 ? "few" : "many"}" d="${inner.map(([one, value]) => `M${short(xOf(one))} ${short(y(value))}h0`).join("")}"/>`);
    if (out.length) parts.push(`<path class="beyond" d="${out.map(([one, value]) => `M${short(xOf(one))} ${short(y(value))}l-3 ${value > limits.high ? 5 : -5}h6z`).join("")}"/>`);
    parts.push(`<path class="level" d="${figure.levels.filter(([first, end]) => end >= view.from && first <= view.to)
      .map(([first, end, level]) => `M${short(xOf(Math.max(first, view.from)))} ${short(y(level))}H${short(xOf(Math.min(end, view.to)))}`).join("")}"/>`);
    parts.push(`<path class="alarm" d="${seen.filter(([, , index]) => figure.alarms.includes(index)).map(([one, value]) => `M${short(xOf(one) - 3)} ${short(y(value) - 3)}l6 6m0 -6l-6 6`).join("")}"/>`);
    const taken = [], texted = [];
    for (const [one, percent, worse] of figure.changes.filter(([at]) => inside(at))) {
      const needs = room(one), x = Math.min(Math.max(xOf(one - 0.5), LEFT + needs / 2), RIGHT - needs / 2), address = addressOf(one);
      if (taken.some(([other, wide]) => Math.abs(x - other) < (needs + wide) / 2)) continue;
      taken.push([x, needs]);
      texted.push(`<text class="${worse ? "worse" : "moved"}" x="${short(x)}" y="${TOP - 6}">${percent}</text>`);
      const name = `<text x="${short(x)}" y="${BOTTOM + 14}">${escaped(called(one, 7))}</text>`;
      texted.push(address ? `<a href="${escaped(address)}">${name}</a>` : name);
    }
    for (const [one, side, x] of [[view.from, "start", LEFT], [view.to, "end", RIGHT]].slice(0, view.to - view.from + 1))
      if (taken.every(([other, wide]) => Math.abs(x - other) > room(one) + 0.6 * wide)) texted.push(`<text class="end ${side}" x="${x}" y="${BOTTOM + 14}">${escaped(called(one, 7))}</text>`);
    parts.push(`<g class="labels">${texted.join("")}</g>`);
    plot.marks.innerHTML = parts.join("");
  };

  // What is at a point, and how the reader comes to its commit.
  const point = (plot, index) => {
    const at = plot.at[index], [, date, subject] = commits[at], address = addressOf(at), value = readable(plot.figure.values[index], plot.figure.unit);
    plot.pointed = index;
    plot.readout.textContent = "";
    const strong = document.createElement("strong");
    strong.textContent = `${value} `;
    const where = document.createElement(address ? "a" : "span");
    where.className = "sha";
    where.textContent = called(at, 10);
    if (address) where.href = address;
    const on = processors[plot.figure.on[index]];
    plot.readout.append(strong, where, ` ${date} ${subject}${on ? `${subject ? "," : ""} on ${on}` : ""}`);
    plot.marks.querySelector(".pointed")?.remove();
    const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    const y = heightIn(plot)(plot.figure.values[index]);
    circle.setAttribute("class", "pointed");
    circle.setAttribute("cx", short(xOf(at)));
    circle.setAttribute("cy", short(y));
    circle.setAttribute("r", "4.5");
    plot.marks.append(circle);
  };
  const heightIn = (plot) => yIn(isWhole() ? {low: plot.figure.limits[0], high: plot.figure.limits[1]} : limitsOf(plot));
  const visible = (plot) => plot.at.map((at, index) => [at, index]).filter(([at]) => at >= view.from && at <= view.to);
  const nearest = (plot, event) => {
    const box = plot.svg.getBoundingClientRect(), scale = 350 / box.width, known = visible(plot), height = known.length && heightIn(plot);
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    let best = null, least = Infinity;
    for (const [at, index] of known) {  // of several values of a commit the nearest
      const apart = Math.abs(xOf(at) - x) + 1e-4 * Math.abs(height(plot.figure.values[index]) - y);
      if (apart < least) [best, least] = [index, apart];
    }
    return best;
  };
  const go = (plot) => {
    const address = plot.pointed === null ? null : addressOf(plot.at[plot.pointed]);
    if (address) location.assign(address);
  };
  for (const plot of plots) {
    plot.svg.addEventListener("pointermove", (event) => { const index = nearest(plot, event); if (index !== null) point(plot, index); });
    plot.svg.addEventListener("click", (event) => {
      if (event.target.closest("a")) return;
      const index = nearest(plot, event), before = plot.pointed;
      if (index === null) return;
      point(plot, index);
      if (event.pointerType !== "touch" || before === index) go(plot);
    });
    plot.svg.addEventListener("keydown", (event) => {
      const known = visible(plot).map(([, index]) => index);
      if (!known.length) return;
      const here = known.indexOf(plot.pointed), step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (step) point(plot, known[here < 0 ? (step > 0 ? 0 : known.length - 1) : Math.min(Math.max(here + step, 0), known.length - 1)]);
      else if (event.key === "Home") point(plot, known[0]);
      else if (event.key === "End") point(plot, known[known.length - 1]);
      else if (event.key === "Enter") return go(plot);
      else return;
      event.preventDefault();
    });
  }

  const form = document.getElementById("range"), from = document.getElementById("from"), to = document.getElementById("to");
  const show = () => {
    from.value = view.from;
    to.value = view.to;
    for (const input of [from, to]) {
      const said = `${commits[input.value][1]} ${called(input.value, 7)}`;
      input.nextElementSibling.textContent = said;
      input.setAttribute("aria-valuetext", said);
    }
    for (const button of form.querySelectorAll("[data-axis]")) button.setAttribute("aria-pressed", String(button.dataset.axis === view.axis));
    for (const plot of plots) {
      redraw(plot);
      if (plot.pointed !== null && visible(plot).some(([, index]) => index === plot.pointed)) point(plot, plot.pointed);
    }
  };
  const remember = () => {
    const named = document.querySelector(".panel:target")?.id || parsed().show;
    const parts = isWhole() ? [] : [`from=${commits[view.from][0]}`, `to=${commits[view.to][0]}`, `axis=${view.axis}`];
    if (named && parts.length) parts.push(`show=${named}`);
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : named ? `#${named}` : location.pathname);
  };
  const plainly = (said) => { try { return decodeURIComponent(said); } catch { return ""; } };  // nothing of an address that was cut short
  const parsed = () => Object.fromEntries(location.hash.slice(1).split("&").filter((part) => part.includes("=")).map((part) => [part.slice(0, part.indexOf("=")), plainly(part.slice(part.indexOf("=") + 1))]));
  const recall = () => {
    const said = parsed(), find = (name, otherwise) => {
      const found = name ? commits.findIndex(([one]) => one.startsWith(name) || name.startsWith(one)) : -1;
      return found < 0 ? otherwise : found;
    };
    view.from = find(said.from, 0);
    view.to = Math.max(find(said.to, last), view.from);
    view.axis = said.axis === "log" ? "log" : "linear";
    show();
    if (said.show) document.getElementById(said.show)?.scrollIntoView();
  };
  const set = (change) => { Object.assign(view, change); show(); remember(); };
  from.addEventListener("input", () => set({from: Math.min(Number(from.value), view.to)}));
  to.addEventListener("input", () => set({to: Math.max(Number(to.value), view.from)}));
  form.addEventListener("click", (event) => {
    const {last: count, axis} = event.target.dataset;
    if (count) set({from: count === "all" ? 0 : Math.max(0, last + 1 - Number(count)), to: last});
    if (axis) set({axis});
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", recall);
  form.hidden = false;
  recall();
})();
