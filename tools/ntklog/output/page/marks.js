// SPDX-License-Identifier: GPL-2.0-only
// Marks: the bars, cells and functions of pictures and tables. The pointer and the focus show the
// numbers of a mark, and a click keeps them. A picture is one stop of the Tab key; the arrow keys
// move among its marks.

const tip = make("div", { id: "tip", "aria-hidden": "true", hidden: "" });
let keptMark = null;

// Return the numbers of a mark: its label, unless the mark has a function that computes them.
function tipText(mark) {
  return mark.tip ? mark.tip() : mark.getAttribute("aria-label");
}

function placeTip(mark) {
  const at = mark.getBoundingClientRect(), size = tip.getBoundingClientRect(), gap = 6;
  const right = document.documentElement.clientWidth - size.width - gap;
  const above = at.top - size.height - gap;
  const left = Math.max(at.left, 0) + Math.min(at.width, 40) / 2 - 12;
  tip.style.left = `${Math.max(gap, Math.min(right, left)) + scrollX}px`;
  tip.style.top = `${(above > 0 ? above : at.bottom + gap) + scrollY}px`;
}

function showTip(mark) {
  const [first, ...rest] = tipText(mark).split("\n");
  tip.replaceChildren(make("strong", {}, first), ...rest.map((line) => make("div", {}, line)));
  tip.hidden = false;
  placeTip(mark);
}

function hideTip() {
  tip.hidden = true;
  keptMark = null;
}

// Move the stop of the Tab key, and the focus, to a mark.
function focusMark(picture, mark) {
  picture.querySelector("[tabindex='0'].mark")?.setAttribute("tabindex", "-1");
  mark.setAttribute("tabindex", "0");
  mark.focus();
}

// Return the mark that an arrow key, Home or End leads to. A row has rowLength marks, or one.
function nextMark(marks, mark, key, rowLength) {
  const steps = {
    ArrowLeft: -1, ArrowRight: 1, ArrowUp: -(rowLength ?? 1), ArrowDown: rowLength ?? 1,
  };
  if (key === "Home")
    return marks[0];
  if (key === "End")
    return marks[marks.length - 1];
  return key in steps ? marks[marks.indexOf(mark) + steps[key]] : undefined;
}

// Make elements of a picture marks. getMarks() returns them in their present order; next() replaces
// nextMark(), and activate() is called for a click, the Enter key and the space bar.
function addMarks(picture, getMarks, { rowLength, next, activate } = {}) {
  const marks = getMarks();
  marks.forEach((mark, i) => {
    mark.classList.add("mark");
    mark.setAttribute("tabindex", i ? "-1" : "0");
  });
  picture.addEventListener("keydown", (event) => {
    const mark = event.target.closest(".mark");
    if (!mark || event.ctrlKey || event.altKey || event.metaKey)
      return;
    if (event.key === "Enter" || event.key === " ") {
      if (!event.target.closest("summary, a, button")) {
        activate?.(mark);
        event.preventDefault();
      }
      return;
    }
    const target = next ? next(mark, event.key) : nextMark(getMarks(), mark, event.key, rowLength);
    if (target) {
      focusMark(picture, target);
      event.preventDefault();
    }
  });
  picture.addEventListener("click", (event) => {
    const mark = event.target.closest(".mark");
    if (mark) {
      focusMark(picture, mark);
      activate?.(mark);
    }
  });
}

function prepareTips() {
  document.body.append(tip);
  const show = (event) => {
    const mark = event.target.closest?.(".mark");
    if (mark && (!keptMark || event.type === "focusin"))
      showTip(mark);
  };
  document.addEventListener("mouseover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("focusout", hideTip);
  document.addEventListener("mouseout", (event) => {
    if (!keptMark && event.target.closest?.(".mark"))
      tip.hidden = true;
  });
  document.addEventListener("click", (event) => {
    const mark = event.target.closest?.(".mark");
    if (mark) {
      showTip(mark);
      keptMark = mark;
    } else if (!event.target.closest?.("#tip")) {
      hideTip();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape")
      hideTip();
  });
}

// Make a list of names with bars: [name, time], with the share of all.
function makeBarList(rows, all, what, className) {
  const most = Math.max(...rows.map(([, ns]) => ns));
  const list = make("ol", { class: `bar-list ${className}` });
  for (const [name, ns] of rows) {
    const share = all > 0 ? ns / all : 0;
    const label = `${name}: ${what} ${formatTime(ns)}, ${formatShare(share)}`;
    const bar = make("span", { class: "bar", style: `width: ${100 * ns / most}%` });
    list.append(make("li", { "aria-label": label, class: name === "(others)" ? "rest" : "" },
                     breakable(name),
                     make("span", { class: "numbers" }, `${formatTime(ns)} `,
                          make("small", {}, formatShare(share))), bar));
  }
  addMarks(list, () => [...list.children]);
  return list;
}

// Make a bar of the parts of the waiting time, with a list of them: [id, text, time].
function makeParts(parts, all) {
  const shown = parts.filter(([, , ns]) => ns > 0).sort((a, b) => b[2] - a[2]);
  const bar = make("div", { class: "parts", role: "group", "aria-label": "Parts of the waiting" });
  const list = make("ul", { class: "key" });
  for (const [id, text, ns] of shown) {
    const label = `${text}: ${formatTime(ns)}, ${formatShare(ns / all)}`;
    bar.append(make("span", {
      class: `part ${id}`, role: "img", "aria-label": label, style: `flex-grow: ${ns / all}`,
    }));
    list.append(make("li", {}, make("span", { class: `swatch ${id}` }),
                     `${text}: ${formatTime(ns)} `, make("small", {}, formatShare(ns / all))));
  }
  addMarks(bar, () => [...bar.children]);
  return make("div", {}, bar, list);
}
