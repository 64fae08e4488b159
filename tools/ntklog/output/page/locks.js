// SPDX-License-Identifier: GPL-2.0-only
// A section for each of the locks with the longest waits. Its pictures are drawn when it is opened.

const CHART_HEIGHT = 64;

function powerText(power) {
  return formatTime(10 ** power).replace(/\.0+/, "");
}

// Draw a distribution over an axis of powers of ten.
function makeChart(times, name, isWait) {
  const from = (i) => 10 ** (times.first + i * times.decades / shares.length);
  const { shares, count, mean, median, p95, longest } = times[name];
  const what = isWait ? "waits" : "holds";
  const numbers = `${formatCount(count)} ${what}: mean ${formatTime(mean)}, median ` +
    `${formatTime(median)}, 95% up to ${formatTime(p95)}, longest ${formatTime(longest)}`;
  const svg = makeSvg("svg", { class: "drawing chart", role: "group", "aria-label": numbers,
                               viewBox: `0 0 ${shares.length} ${CHART_HEIGHT}`,
                               preserveAspectRatio: "none" });
  const most = Math.max(...shares), marks = [];
  shares.forEach((share, i) => {
    if (share <= 0)
      return;
    const barHeight = Math.max(2, share / most * (CHART_HEIGHT - 2));
    const label = `${formatShare(share)} of the ${what}\n` +
      `from ${formatTime(from(i))} to ${formatTime(from(i + 1))}`;
    marks.push(makeSvg("g", { role: "img", "aria-label": label },
                       makeSvg("rect", { class: "hit", x: i, width: 1, height: CHART_HEIGHT }),
                       makeSvg("rect", { class: isWait ? "wait" : "hold", x: i + 0.05, width: 0.9,
                                         y: CHART_HEIGHT - barHeight, height: barHeight })));
  });
  svg.append(...marks);
  addMarks(svg, () => marks);
  return make("div", {}, make("p", {}, numbers), svg);
}

function makeDistribution(times) {
  const step = Math.ceil(times.decades / 5), ticks = make("div", { class: "ticks" });
  for (let i = 0; i <= times.decades; i += step)
    ticks.append(make("span", { style: `left: ${100 * i / times.decades}%` },
                      powerText(times.first + i)));
  return make("figure", {}, make("figcaption", {}, `How long it is waited for and held` +
                                 (times.label ? ` (${times.label})` : "")),
              ...(times.waits ? [makeChart(times, "waits", true)] : []),
              ...(times.holds ? [makeChart(times, "holds", false)] : []), ticks);
}

// Show the shares of the acquisitions by the number of locks that their CPU held at the release.
function makeDepths(depths) {
  const row = make("div", { class: "depths", role: "group", "aria-label": "Nesting" });
  depths.forEach((share, i) => {
    const label = `${formatShare(share)} of the acquisitions were released with ${i + 1} ` +
      `lock${i ? "s" : ""} owned, itself included`;
    row.append(make("span", { role: "img", "aria-label": label, style: `--part: ${share}` },
                    make("b", {}, i + 1), ` ${share > 0 ? formatShare(share) : "-"}`));
  });
  addMarks(row, () => [...row.children]);
  return make("figure", {}, make("figcaption", {}, "How deep it is nested"), row);
}

function makeTimelineOfLock(lock) {
  for (const line of data.timelines ?? []) {
    const row = line.rows.find((each) => each.label === lock.name);
    if (row && line.is_wait)
      return make("figure", {}, make("figcaption", {}, "When it was waited for"),
                  makeBars(line, row, Math.max(...row.sums)), makeAxis());
  }
  return "";
}

function makeNameFigure(title, rows, all, what, className) {
  return make("figure", {}, make("figcaption", {}, title),
              rows?.length ? makeBarList(rows, all, what, className) :
              make("p", {}, "Not recorded."));
}

function fillLock(details, lock) {
  if (lock.wait > 0)
    details.append(makeParts(lock.parts, lock.wait),
                   make("div", { class: "pair" },
                        makeNameFigure("Who waited", lock.waiters, lock.wait, "waited", "wait"),
                        makeNameFigure("Who held it meanwhile", lock.holders, lock.wait,
                                       "held it for", "hold")),
                   makeFlames([["Waiters, by stack", lock.waiter_stacks, "wait"],
                               ["Holders meanwhile, by stack", lock.holder_stacks, "hold"]]));
  details.append(makeTimelineOfLock(lock),
                 make("div", { class: "pair" }, ...lock.times.map(makeDistribution)),
                 ...(lock.depths ? [makeDepths(lock.depths)] : []));
  view.redraws.forEach((redraw) => redraw());
}

function makeLock(lock, i, most) {
  const numbers = lock.wait > 0 ? `${formatTime(lock.wait)} in ${formatCount(lock.waits)} ` +
    `wait${lock.waits === 1 ? "" : "s"}; longest ${formatTime(lock.longest)}` : "no waits";
  const details = make("details", { id: `lock-${i}`, class: "lock" },
                       make("summary", {}, breakable(lock.name), " ",
                            make("span", { class: "numbers" }, numbers),
                            make("span", { class: "bar", style:
                              `width: ${100 * (lock.wait ?? 0) / most}%` })));
  details.addEventListener("toggle", () => fillLock(details, lock), { once: true });
  return details;
}

// Make the names of locks in the tables refer to their sections.
function linkLocks() {
  const ids = new Map();
  data.locks.forEach((lock, i) => {
    if (!ids.has(lock.lock))
      ids.set(lock.lock, `lock-${i}`);
  });
  for (const cell of document.querySelectorAll("td.name")) {
    const id = ids.get(cell.textContent);
    if (id)
      cell.replaceChildren(make("a", { href: `#${id}` }, ...cell.childNodes));
  }
}

// Open the section that the URL of the page names.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target?.matches("details")) {
    target.open = true;
    target.scrollIntoView();
    target.firstChild.focus();
  }
}

function addLocks() {
  if (!data.locks?.length)
    return;
  const most = Math.max(1, ...data.locks.map((lock) => lock.wait ?? 0));
  const rest = data.lock_count - data.locks.length;
  const locks = data.locks.map((lock, i) => makeLock(lock, i, most));
  addSection("locks", "Locks", make("p", {}, "Those with the longest waits; open one for its " +
             "waiters, holders, stacks and distributions." +
             (rest ? ` ${formatCount(rest)} others are in the tables only.` : "")), ...locks);
  locks[0].open = true;
  linkLocks();
  addEventListener("hashchange", openTarget);
}
