// SPDX-License-Identifier: GPL-2.0-only
// Draw the pictures of the page, and the list of its contents.

function addParts() {
  const totalNs = data.parts?.reduce((sum, [, , ns]) => sum + ns, 0);
  if (totalNs > 0)
    document.querySelector("#answer .facts").before(
      make("figure", {},
           make("figcaption", {}, `What the waiting of ${formatTime(totalNs)} was made of`),
           makeParts(data.parts, totalNs)));
}

function addContents() {
  const list = make("ul");
  for (const section of document.querySelectorAll("main > section[id]")) {
    const title = section.querySelector("h2")?.textContent;
    if (title)
      list.append(make("li", {}, make("a", { href: `#${section.id}` }, title.split(":")[0])));
  }
  document.querySelector("header").append(make("nav", { "aria-label": "Contents" }, list));
}

prepareTips();
addParts();
if (data.timelines?.length)
  prepareView();
addLocks();
addTimelines();
addFlames();
addChanges();
prepareTables();
addContents();
view.redraws.forEach((redraw) => redraw());
openTarget();
