// SPDX-License-Identifier: GPL-2.0-only
// Time lines: a row of bars for each lock or thread, and the longest waits. All of them show the
// same span of time, which can be zoomed.

const ROW_HEIGHT = 28;
const view = { begin: 0, end: 0, from: 0, to: 0, redraws: [] };

// Find the span of time from the first begin of a time line to the last end of one.
function prepareView() {
  const lines = data.timelines ?? [];
  view.begin = Math.min(...lines.map((line) => line.origin));
  view.end = Math.max(...lines.map((line) => line.origin + line.slot * line.rows[0].sums.length));
  [view.from, view.to] = [view.begin, view.end];
}

// Show a span of time within the whole time, of which it is a millionth at least.
function setView(from, to) {
  const all = view.end - view.begin, length = Math.min(all, Math.max(all / 1e6, to - from));
  view.from = Math.max(view.begin, Math.min(view.end - length, from));
  view.to = view.from + length;
  view.redraws.forEach((redraw) => redraw());
  hideTip();
}

function zoomView(factor) {
  const middle = (view.from + view.to) / 2, half = (view.to - view.from) / 2 * factor;
  setView(middle - half, middle + half);
}

function moveView(part) {
  const step = (view.to - view.from) * part;
  setView(view.from + step, view.to + step);
}

const VIEW_KEYS = { "+": () => zoomView(0.5), "-": () => zoomView(2), 0: () => resetView() };

function resetView() {
  setView(view.begin, view.end);
}

function makeViewTools() {
  const span = make("output", { class: "span", "aria-live": "polite" });
  view.redraws.push(() => {
    const step = (view.to - view.from) / 100;
    span.textContent = `${formatSeconds(view.from, step)} to ${formatSeconds(view.to, step)}`;
  });
  return make("div", { class: "tools", role: "group", "aria-label": "Zoom of the time lines" },
              makeButton("Zoom in", () => zoomView(0.5)), makeButton("Zoom out", () => zoomView(2)),
              makeButton("Earlier", () => moveView(-0.5)), makeButton("Later", () => moveView(0.5)),
              makeButton("All", resetView, "Show the whole time"), span);
}

// Make a drawing whose x is time: drag over it to zoom into a span.
function makeDrawing(height, label) {
  const svg = makeSvg("svg", { class: "drawing", role: "group", "aria-label": label,
                               preserveAspectRatio: "none", style: `height: ${height}px` });
  const time = (event) => {
    const at = svg.getBoundingClientRect();
    return view.from + (event.clientX - at.left) / at.width * (view.to - view.from);
  };
  let from, x;
  svg.addEventListener("pointerdown", (event) => { [from, x] = [time(event), event.clientX]; });
  svg.addEventListener("pointerup", (event) => {
    const to = time(event);
    if (from !== undefined && Math.abs(event.clientX - x) > 5)
      setView(Math.min(from, to), Math.max(from, to));
    from = undefined;
  });
  svg.addEventListener("keydown", (event) => {
    if (VIEW_KEYS[event.key] && !event.ctrlKey && !event.metaKey)
      VIEW_KEYS[event.key]();
  });
  return svg;
}

// Draw bars, in a drawing that shows slots of time. A bar's mark is as high as the row.
function makeBars(line, row, most) {
  const total = row.sums.reduce((sum, value) => sum + value, 0) * line.slot;
  const svg = makeDrawing(ROW_HEIGHT, `${row.label}: ${formatTime(total * 1e9)} in all`);
  const slots = [];
  row.sums.forEach((sum, i) => {
    if (sum <= 0)
      return;
    const barHeight = Math.max(2, sum / most * (ROW_HEIGHT - 2));
    const begin = line.origin + i * line.slot;
    const label = `${row.label}\nfrom ${begin.toFixed(3)} s on: ${sum.toFixed(3)} ${line.what}\n` +
      `${formatTime(sum * line.slot * 1e9)} in ${formatTime(line.slot * 1e9)}`;
    const mark = makeSvg("g", { role: "img", "aria-label": label },
                         makeSvg("rect", { class: "hit", x: i, width: 1, height: ROW_HEIGHT }),
                         makeSvg("rect", { class: line.is_wait ? "wait" : "hold", x: i,
                                           y: ROW_HEIGHT - barHeight, width: 0.92,
                                           height: barHeight }));
    mark.slot = i;
    svg.append(mark);
    slots.push(mark);
  });
  const slotOf = (time) => (time - line.origin) / line.slot;
  const inView = () => slots.filter((mark) => mark.slot + 1 > slotOf(view.from) &&
                                              mark.slot < slotOf(view.to));
  addMarks(svg, () => slots);
  svg.addEventListener("focusin", () => {
    // The arrow keys lead out of the view: follow them.
    const mark = svg.querySelector("[tabindex='0'].mark"), shown = inView();
    if (mark && shown.length && !shown.includes(mark))
      moveView(mark.slot < shown[0].slot ? -0.5 : 0.5);
  });
  view.redraws.push(() => {
    svg.setAttribute("viewBox", `${slotOf(view.from)} 0 ${(view.to - view.from) / line.slot} ` +
                                ROW_HEIGHT);
    const shown = inView(), stop = svg.querySelector("[tabindex='0'].mark");
    if (shown.length && !shown.includes(stop)) {
      stop?.setAttribute("tabindex", "-1");
      shown[0].setAttribute("tabindex", "0");
    }
  });
  return svg;
}

function makeAxis() {
  const ticks = make("div", { class: "ticks", "aria-hidden": "true" });
  view.redraws.push(() => {
    const step = (view.to - view.from) / 4;
    ticks.replaceChildren(...[0, 1, 2, 3, 4].map((i) =>
      make("span", { style: `left: ${25 * i}%` }, formatSeconds(view.from + i * step, step / 10))));
  });
  return ticks;
}

function makeRow(label, ...content) {
  return make("div", { class: "row" }, label, make("div", { class: "content" }, ...content));
}

function findGreatestSum(line) {
  return Math.max(...line.rows.map((row) => Math.max(...row.sums)));
}

function makeTimeline(line) {
  const most = findGreatestSum(line);
  return make("div", { class: "timeline" }, make("h3", {}, line.title),
              make("p", {}, `${line.what[0].toUpperCase()}${line.what.slice(1)}, on average of ` +
                   `${formatTime(line.slot * 1e9)} each; the highest bar is ${most.toFixed(2)}.`),
              ...line.rows.map((row) => makeRow(breakable(row.label), makeBars(line, row, most))),
              makeRow(make("span"), makeAxis()));
}

function taskText(hold, thread, task) {
  return `${hold[task] || "thread"} ${hold[thread]}${hold.place ? ` in ${hold.place}` : ""}`;
}

// Describe a step of a wait: who held the lock, or that it was free.
function stepText(wait, step) {
  // Some holders of the part holder_ran may not have run: leave the text of the part out.
  const text = step.part === "holder_ran" ? "" :
    `\n${data.parts.find(([id]) => id === step.part)[1]}`;
  const holder = step.thread === undefined ? "" : `\nheld by ${taskText(step, "thread", "task")}`;
  const links = (step.waited_for ?? []).map((link) => `\nwaited for ${link.lock}` +
    (link.holder_thread === undefined ? "" :
      `, held by ${link.holder_task || "thread"} ${link.holder_thread}`));
  return `${wait.lock}: ${formatTime(step.for_ns)} from ${step.at.toFixed(6)} s on${text}` +
    holder + links.join("");
}

function showWait(wait) {
  const seconds = wait.for_ns / 1e9;
  setView(wait.at - seconds / 2, wait.at + seconds * 1.5);
}

// Draw a wait with its steps, each in the colour of its part. A click shows its span of time.
function makeLongestWait(wait) {
  const height = 16, seconds = wait.for_ns / 1e9;
  const label = `${formatTime(wait.for_ns)} from ${wait.at.toFixed(6)} s on: ${wait.lock}, ` +
    `waiter ${taskText(wait, "thread", "task")}`;
  const svg = makeDrawing(height, label);
  const steps = [[wait.at, seconds, "whole", label.replace(": ", "\n")],
                 ...wait.steps.map((step) => [step.at, step.for_ns / 1e9, step.part,
                                              stepText(wait, step)])];
  const marks = steps.map(([at, length, part, text]) => {
    const mark = makeSvg("rect", { role: "img", "aria-label": text, class: `part ${part}`,
                                   y: part === "whole" ? 0 : 3,
                                   height: part === "whole" ? height : height - 6 });
    mark.draw = () => {
      const all = view.to - view.from;
      // A step that is narrower than a pixel would not be seen.
      mark.setAttribute("x", (at - view.from) / all * 1000);
      mark.setAttribute("width", Math.max(2, length / all * 1000));
    };
    return mark;
  });
  svg.setAttribute("viewBox", `0 0 1000 ${height}`);
  svg.append(...marks);
  addMarks(svg, () => marks, { activate: () => showWait(wait) });
  view.redraws.push(() => marks.forEach((mark) => mark.draw()));
  return svg;
}

function makeLongestWaits() {
  return make("div", { class: "timeline" }, make("h3", {}, "The longest waits"),
              make("p", {}, "Each with its steps. A click shows the time of a wait."),
              ...data.longest.map((wait) => {
                const button = makeButton("", () => showWait(wait));
                button.append(`${formatTime(wait.for_ns)} `, breakable(wait.lock));
                button.className = "name";
                return makeRow(button, makeLongestWait(wait));
              }),
              makeRow(make("span"), makeAxis()));
}

function addTimelines() {
  if (!data.timelines?.length)
    return;
  addSection("time", "Time",
             make("p", {}, "Drag over a row to zoom into a span of time, or press +, -, 0 in it."),
             makeViewTools(), ...data.timelines.map(makeTimeline),
             ...(data.longest?.length ? [makeLongestWaits()] : []));
}
