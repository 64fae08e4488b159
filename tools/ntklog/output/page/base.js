// SPDX-License-Identifier: GPL-2.0-only
// Shared parts of the script: the data, elements, and numbers as the tables print them.

const data = JSON.parse(document.getElementById("data").textContent);

document.documentElement.classList.add("script");

// Make an element with attributes and children, which are elements or texts.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {}))
    element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function makeSvg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes ?? {}))
    element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function makeButton(text, onClick, label) {
  const button = make("button", { type: "button" }, text);
  if (label)
    button.setAttribute("aria-label", label);
  button.addEventListener("click", onClick);
  return button;
}

// Make a section of the page, which the list of contents names.
function addSection(id, title, ...children) {
  const section = make("section", { id }, make("h2", {}, title), ...children);
  document.querySelector("main").append(section);
  return section;
}

// Format a number as printf() does: of two nearest texts, the one with an even last digit.
function toFixed(number, decimals) {
  const exact = number.toFixed(decimals + 40), begin = exact.slice(0, -40).replace(/\.$/, "");
  const isTie = /^50*$/.test(exact.slice(-40));
  return isTie && /[02468]$/.test(begin) ? begin : number.toFixed(decimals);
}

// Format nanoseconds as cell_format_text() of the tool does.
function formatTime(ns) {
  for (const [unit, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) {
    const value = ns / unit, size = Math.abs(value);
    // From 999.5 of the smaller unit on, the number would be printed as 1000.
    if (size >= 0.9995)
      return toFixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0) + name;
  }
  return toFixed(ns, 0) + "ns";
}

function formatShare(share) {
  return share > 0 && share < 0.0005 ? "<0.1%" : toFixed(100 * share, 1) + "%";
}

// Format a number with a separator of thousands, for texts that have room.
function formatCount(count) {
  return count.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

// Format seconds with as many decimals as a step of an axis needs.
function formatSeconds(seconds, step) {
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step) + 0.5)));
  return seconds.toFixed(decimals) + " s";
}

// Make a name that may be broken between its words.
function breakable(name) {
  const span = make("span", { class: "name" });
  for (const part of name.split(/(?<=[_.:/+])/))
    span.append(part, make("wbr"));
  return span;
}
