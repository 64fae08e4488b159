// SPDX-License-Identifier: GPL-2.0-only
// Flame graphs: a function is as wide as its share of the time, and its callees are below it. A
// click, the Enter key or the space bar widens a function, and the arrow keys move along the calls.

const FLAME_HEIGHT = 19;

// Make a tree of the functions, which come each before its callees: [depth, name, time, time in
// itself, records].
function makeFlameTree(graph) {
  const root = { name: "all", ns: graph.total, own: 0, records: 0, depth: 0, from: 0, to: 1,
                 callees: [], caller: null };
  const path = [root], nodes = [root];
  for (const [depth, name, ns, own, records] of graph.functions) {
    const caller = path[depth];
    const last = caller.callees[caller.callees.length - 1];
    const from = last ? last.to : caller.from;
    // The sum of rounded widths may exceed that of the caller.
    const to = Math.min(caller.to, from + ns / graph.total);
    const node = { name, ns, own, records, depth: depth + 1, from, to, callees: [], caller };
    caller.callees.push(node);
    path[depth + 1] = node;
    nodes.push(node);
  }
  return nodes;
}

function flameLabel(node, total) {
  return `${node.name}\n${formatTime(node.ns)}, ${formatShare(node.ns / total)} of all; itself ` +
    `${formatTime(node.own)}${node.records ? `; ${formatCount(node.records)} records` : ""}`;
}

// Choose one of three shades by a name, so that most neighbours differ.
function shadeOf(name) {
  let sum = 0;
  for (const character of name)
    sum = (sum * 31 + character.charCodeAt(0)) % 997;
  return sum % 3;
}

function isWithin(node, caller) {
  return node.from >= caller.from && node.to <= caller.to && node.depth >= caller.depth;
}

class Flame {
  constructor(graph, className, title) {
    this.nodes = makeFlameTree(graph);
    this.total = graph.total;
    this.tree = make("div", { class: `flame ${className}`, role: "tree", "aria-label": title });
    for (const node of this.nodes) {
      node.element = make("div", {
        class: `shade${shadeOf(node.name)}`, role: "treeitem", "aria-level": node.depth + 1,
        "aria-label": flameLabel(node, this.total),
      }, `${node.name} `, make("small", {}, formatTime(node.ns)));
      node.element.node = node;
      this.tree.append(node.element);
    }
    addMarks(this.tree, () => this.nodes.map((node) => node.element), {
      next: (mark, key) => this.next(mark.node, key)?.element,
      activate: (mark) => this.widen(mark.node),
    });
    this.widen(this.nodes[0]);
  }

  // Show a function as wide as the graph, with its callers above it and its callees.
  widen(root) {
    // A second click undoes the first.
    this.root = root === this.root ? this.nodes[0] : root;
    const { from, to } = this.root;
    let deepest = 0;
    for (const node of this.nodes) {
      const left = Math.max(node.from, from), right = Math.min(node.to, to);
      const width = (right - left) / (to - from);
      const isShown = width > 0.0004 &&
        (isWithin(node, this.root) || isWithin(this.root, node));
      node.element.hidden = !isShown;
      if (!isShown)
        continue;
      deepest = Math.max(deepest, node.depth);
      node.element.style.left = `${100 * (left - from) / (to - from)}%`;
      node.element.style.width = `${100 * width}%`;
      node.element.style.top = `${FLAME_HEIGHT * node.depth}px`;
    }
    this.tree.style.height = `${FLAME_HEIGHT * (deepest + 1)}px`;
    // A hidden function cannot have the focus.
    if (this.tree.querySelector("[tabindex='0'].mark")?.hidden) {
      this.tree.querySelector("[tabindex='0'].mark").setAttribute("tabindex", "-1");
      this.root.element.setAttribute("tabindex", "0");
    }
  }

  next(node, key) {
    const shown = (list) => list.filter((each) => !each.element.hidden);
    const row = shown(this.nodes.filter((each) => each.depth === node.depth));
    const at = row.indexOf(node);
    switch (key) {
    case "ArrowUp":
      return node.caller;
    case "ArrowDown":
      return shown(node.callees).sort((a, b) => b.ns - a.ns)[0];
    case "ArrowLeft":
      return row[at - 1];
    case "ArrowRight":
      return row[at + 1];
    case "Home":
      return this.nodes[0];
    case "n":
      return this.nextFound(node);
    case "Escape":
      this.widen(this.nodes[0]);
      return node;
    default:
      return undefined;
    }
  }

  // Mark the functions whose names contain a text. Returns the number, and the time in them, in
  // which a function that calls itself counts once.
  search(text) {
    const wanted = text.toLowerCase();
    let count = 0, ns = 0;
    for (const node of this.nodes.slice(1)) {
      node.isFound = wanted !== "" && node.name.toLowerCase().includes(wanted);
      node.element.classList.toggle("found", node.isFound);
      node.isInFound = node.isFound || node.caller.isInFound;
      count += node.isFound;
      if (node.isFound && !node.caller.isInFound)
        ns += node.ns;
    }
    this.tree.classList.toggle("searched", wanted !== "");
    return { count, ns };
  }

  // Return the first found function behind another one, or from the begin on.
  nextFound(node) {
    const found = this.nodes.filter((each) => each.isFound && !each.element.hidden);
    return found[found.indexOf(node) + 1] ?? found[0];
  }

  focusFound() {
    const found = this.nextFound(null);
    if (found)
      focusMark(this.tree, found.element);
  }
}

// Make a field that searches flame graphs.
function makeSearch(flames) {
  const result = make("output", { class: "found-text", "aria-live": "polite" });
  const field = make("input", { type: "search", placeholder: "Search functions",
                                "aria-label": "Search functions", spellcheck: "false" });
  field.addEventListener("input", () => {
    const found = flames.map(([title, flame]) => {
      const { count, ns } = flame.search(field.value);
      return `${title}: ${count} functions, ${formatTime(ns)} ` +
        `(${formatShare(ns / flame.total)})`;
    });
    result.textContent = field.value ? found.join("; ") : "";
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter")
      flames.find(([, flame]) => flame.nodes.some((node) => node.isFound))?.[1].focusFound();
  });
  return make("div", { class: "tools" }, field,
              makeButton("Reset zoom", () => flames.forEach(([, flame]) =>
                flame.widen(flame.nodes[0]))), result);
}

// Make flame graphs above each other, with one search: [title, graph, class].
function makeFlames(graphs) {
  const present = graphs.filter(([, graph]) => graph);
  const flames = present.map(([title, graph, className]) =>
    [title, new Flame(graph, className, title)]);
  if (!flames.length)
    return make("p", {}, "No function of these waits is recorded.");
  return make("div", {}, makeSearch(flames), ...flames.map(([title, flame], i) => {
    const leftOut = present[i][1].left_out;
    return make("figure", {}, make("figcaption", {}, `${title}: ${formatTime(flame.total)}`),
                flame.tree,
                ...(leftOut ? [make("p", {}, `${formatCount(leftOut)} functions with less time ` +
                                    "are left out: report --folded has them.")] : []));
  }));
}

function addFlames() {
  const flames = data.flames;
  if (!flames?.waits && !flames?.holds)
    return;
  addSection("flames", "Flame graphs of all locks",
             make("p", {}, "A function is as wide as the time in it and in what it called; the " +
                  "outermost is on top. Click to widen one, and again to go back. The arrow keys " +
                  "walk; Enter in the search leads to the first match, and n to the next one."),
             makeFlames([["Time waited", flames.waits, "wait"],
                         ["Time that locks were held", flames.holds, "hold"]]));
}
