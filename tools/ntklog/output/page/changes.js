// SPDX-License-Identifier: GPL-2.0-only
// The changes between two recordings, each with its confidence interval around the change.

const CHANGE_WORDS = {
  more: "more for sure", less: "less for sure", noise: "within the noise",
  unknown: "its interval is not known",
};

function formatChange(number) {
  const text = data.is_count ? formatCount(number) : formatTime(number);
  return number > 0 ? `+${text}` : text;
}

function changeLabel(change) {
  const format = (number) => formatChange(number).replace("+", "");
  const share = change.before > 0 ? ` (${change.change > 0 ? "+" : ""}` +
    `${(100 * change.change / change.before).toFixed(1)}%)` : "";
  const interval = change.interval === null ? "?" : format(change.interval);
  return `${change.lock}${change.caller ? `, ${change.caller}` : ""}\n` +
    `${format(change.before)} before, ${format(change.after)} after\n` +
    `${formatChange(change.change)} +-${interval}${share}: ${CHANGE_WORDS[change.verdict]}`;
}

// Draw a change on an axis from -most to most: a bar, and a line over its interval.
function makeChange(change, most) {
  const at = (number) => 500 + Math.max(-1, Math.min(1, number / most)) * 490;
  const from = Math.min(at(0), at(change.change)), to = Math.max(at(0), at(change.change));
  const interval = change.interval ?? 0;
  const mark = makeSvg("g", { role: "img", "aria-label": changeLabel(change),
                              class: change.verdict },
    makeSvg("rect", { class: "hit", x: 0, width: 1000, height: 20 }),
    makeSvg("rect", { x: from, width: Math.max(2, to - from), y: 5, height: 10 }),
    makeSvg("line", { class: "interval", y1: 10, y2: 10, x1: at(change.change - interval),
                      x2: at(change.change + interval) }),
    ...[-interval, interval].map((end) =>
      makeSvg("line", { class: "interval", y1: 5, y2: 15, x1: at(change.change + end),
                        x2: at(change.change + end) })));
  return makeSvg("svg", { class: "drawing", viewBox: "0 0 1000 20", preserveAspectRatio: "none",
                          style: "height: 20px" },
                 makeSvg("line", { class: "zero", x1: 500, x2: 500, y1: 0, y2: 20 }), mark);
}

// Read a row of diff --json, in which names of times end in "_ns" and those of counts do not.
function readChange(row) {
  const readNumber = (name) => row[name] ?? row[`${name}_ns`] ?? null;
  return { lock: row.lock ?? "", caller: row.caller ?? "", verdict: row.verdict,
           before: readNumber("before"), after: readNumber("after"), change: readNumber("change"),
           interval: readNumber("interval") };
}

function addChanges() {
  if (!data.changes?.length)
    return;
  const changes = data.changes.map(readChange);
  const changeSizes = changes.map((change) => Math.abs(change.change));
  const intervalEnds = changes.map((change, i) => changeSizes[i] + (change.interval ?? 0));
  // An interval that is much wider than all changes ends at the edge.
  const most = Math.max(Math.min(Math.max(...intervalEnds), 2 * Math.max(...changeSizes)), 1e-9);
  const rows = changes.map((change) => {
    const name = breakable(change.lock);
    if (change.caller)
      name.append(make("br"), make("small", {}, breakable(change.caller)));
    return makeRow(name, makeChange(change, most));
  });
  const picture = make("div", { role: "group", "aria-label": "Changes" }, ...rows);
  addMarks(picture, () => [...picture.querySelectorAll("g")]);
  const keyItems = [["more", "more"], ["less", "less"], ["noise", "noise"]].map(([id, text]) =>
    make("li", {}, make("span", { class: `swatch ${id}` }), text));
  const hiddenCount = data.change_count - data.changes.length;
  const ticks = [-most, 0, most].map((number, i) =>
    make("span", { style: `left: ${50 * i}%` }, formatChange(number)));
  addSection("changes", "The greatest changes",
             make("p", {}, "Each bar is a change; the line over it is the confidence interval of " +
                  "95%." + (hiddenCount > 0 ?
                            ` ${formatCount(hiddenCount)} smaller ones are not shown.` : "")),
             make("ul", { class: "key" }, ...keyItems), picture,
             makeRow(make("span"), make("div", { class: "ticks three" }, ...ticks)));
}
