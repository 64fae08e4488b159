// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page of a report: tables and pictures. The page needs no network and no other file, and is
 * light or dark as the reader's system is. Its script sorts and shortens tables. Without the
 * script all rows are visible.
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "html.h"
#include "message.h"
#include "report_flames.h"
#include "report_pictures.h"

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<style>\n"
	":root { --page: #fcfcfb; --text: #1d1d1b; --quiet: #62625e; --line: #dededa;\n"
	"  --wait: #c2410c; --hold: #1d64b4; --band: #f1f1ee; }\n"
	"@media (prefers-color-scheme: dark) {\n"
	"  :root { --page: #191a1c; --text: #ececea; --quiet: #a3a3a0; --line: #3a3b3e;\n"
	"    --wait: #f58a4b; --hold: #6cabf0; --band: #232427; }\n"
	"}\n"
	"body { background: var(--page); color: var(--text); margin: 2rem auto;\n"
	"  max-width: 1248px; padding: 0 1rem; font: 15px/1.45 system-ui, sans-serif; }\n"
	"h1 { font-size: 1.5rem; margin-bottom: .3rem; overflow-wrap: anywhere; }\n"
	"h2 { font-size: 1.1rem; margin: 2.2rem 0 .4rem; }\n"
	"p, li { color: var(--quiet); margin: .2rem 0; }\n"
	"ul { padding-left: 1.1rem; }\n"
	"figure { margin: 0; }\n"
	".name { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }\n"
	"svg { display: block; width: 100%; }\n"
	".bars { height: 26px; background: var(--band); }\n"
	".chart { height: 110px; }\n"
	".line { stroke: var(--line); vector-effect: non-scaling-stroke; }\n"
	".wait { fill: var(--wait); }\n"
	".hold { fill: var(--hold); }\n"
	".row { display: grid; grid-template-columns: 18rem 1fr; gap: 0 .8rem;\n"
	"  align-items: center; margin-bottom: 2px; }\n"
	".ticks { position: relative; height: 1.4rem; color: var(--quiet); font-size: 12px; }\n"
	".ticks span { position: absolute; transform: translateX(-50%); white-space: nowrap; }\n"
	".ticks span:first-child { transform: none; }\n"
	".ticks .end { transform: translateX(-100%); }\n"
	".depths { display: grid; grid-template-columns: repeat(8, 1fr); gap: 2px;\n"
	"  font-size: 12px; text-align: center; }\n"
	".depths span { position: relative; min-height: 24px; line-height: 24px;\n"
	"  background: var(--band); isolation: isolate; }\n"
	".depths span::before { content: \"\"; position: absolute; inset: 0; z-index: -1;\n"
	"  background: var(--hold); opacity: var(--part, 0); }\n"
	".depths.axis span { background: none; color: var(--quiet); }\n"
	".charts { display: grid; gap: 1rem 1.5rem;\n"
	"  grid-template-columns: repeat(auto-fit, minmax(min(380px, 100%), 1fr)); }\n"
	".flame { font-size: 12px; overflow: hidden; }\n"
	".flame ul { display: flex; margin: 0; padding: 0; list-style: none; }\n"
	".flame li { flex: none; min-width: 0; margin: 0; }\n"
	".flame span { display: block; height: 18px; line-height: 18px; margin: 0 1px 1px 0;\n"
	"  padding: 0 2px; overflow: hidden; white-space: nowrap; color: var(--text);\n"
	"  background: color-mix(in srgb, var(--flame) 32%, var(--page)); cursor: pointer; }\n"
	".flame li li:nth-child(even) > span, .flame > ul > li:nth-child(even) > span {\n"
	"  background: color-mix(in srgb, var(--flame) 48%, var(--page)); }\n"
	".flame span:hover, .flame span:focus { outline: 1px solid var(--text);\n"
	"  outline-offset: -1px; }\n"
	".flame small { color: var(--quiet); }\n"
	".flame.wait { --flame: var(--wait); }\n"
	".flame.hold { --flame: var(--hold); }\n"
	".flame .away { display: none; }\n"
	".flame .whole { width: 100% !important; }\n"
	".said { min-height: 1.5em; font: 13px/1.4 ui-monospace, monospace; }\n"
	".key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .8em; }\n"
	".table { overflow-x: auto; }\n"
	"table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; }\n"
	"th, td { padding: .25rem .3rem; text-align: right; }\n"
	"th { border-bottom: 1px solid var(--line); color: var(--quiet); font-weight: 600;\n"
	"  vertical-align: bottom; }\n"
	"tr:nth-child(even) td { background: var(--band); }\n"
	"th.name, td.name { text-align: left; min-width: 10.5rem; font-size: 12px; }\n"
	"button { font: inherit; color: inherit; background: none; border: 0; padding: 0;\n"
	"  text-align: inherit; cursor: pointer; }\n"
	"button:hover { color: var(--text); text-decoration: underline; }\n"
	"button.more { color: var(--hold); margin-top: .3rem; font-size: 13px; }\n"
	"th[aria-sort=descending] button::after { content: \" \\25BE\"; }\n"
	"th[aria-sort=ascending] button::after { content: \" \\25B4\"; }\n"
	"@media (max-width: 700px) {\n"
	"  body { margin: 1rem auto; }\n"
	"  .row { grid-template-columns: 1fr; margin-bottom: .4rem; }\n"
	"  .row .ticks span:nth-child(even) { display: none; }\n"
	"}\n"
	/* In a narrow window each row of a table becomes a block, whose cells have their titles. */
	"@media (max-width: 1240px) {\n"
	"  table, tbody { display: block; }\n"
	"  thead { display: none; }\n"
	"  .script thead { display: block; }\n"
	"  thead tr { display: flex; flex-wrap: wrap; gap: .1rem .9rem; }\n"
	"  th { padding: .2rem 0; border: 0; }\n"
	"  th.name { min-width: 0; }\n"
	"  tbody tr { display: grid; gap: 0 1.2rem;\n"
	"    grid-template-columns: repeat(auto-fill, minmax(min(9rem, 100%), 1fr));\n"
	"    padding: .4rem 0; border-top: 1px solid var(--line); }\n"
	"  tr:nth-child(even) td { background: none; }\n"
	"  td { display: flex; justify-content: space-between; gap: .5rem; padding: .05rem 0; }\n"
	"  td::before { content: attr(data-title); color: var(--quiet); white-space: normal;\n"
	"    text-align: left; }\n"
	"  td.name { grid-column: 1 / -1; justify-content: start; }\n"
	"  [hidden] { display: none; }\n"
	"}\n"
	"</style>\n";

/* A click sorts numbers from the greatest on, and names from A on; a sorted column, backwards. */
static const char script[] =
	"<script>\n"
	"document.documentElement.classList.add(\"script\");\n"
	"for (const table of document.querySelectorAll(\"table\")) {\n"
	"  const [shown, more] = table.tBodies, heads = [...table.tHead.rows[0].cells];\n"
	"  if (more) {\n"
	"    const button = document.createElement(\"button\");\n"
	"    const label = () => { button.textContent = more.hidden ?\n"
	"      \"Show \" + more.rows.length + \" more\" : \"Show less\"; };\n"
	"    button.className = \"more\";\n"
	"    button.onclick = () => { more.hidden = !more.hidden; label(); };\n"
	"    more.hidden = true;\n"
	"    label();\n"
	"    table.parentNode.after(button);\n"
	"  }\n"
	"  heads.forEach((head, i) => {\n"
	"    const button = document.createElement(\"button\");\n"
	"    const isName = head.classList.contains(\"name\");\n"
	"    const value = (row) => isName ? row.cells[i].textContent :\n"
	"      Number(row.cells[i].dataset.value ?? -1);\n"
	"    button.textContent = head.textContent;\n"
	"    head.replaceChildren(button);\n"
	"    button.onclick = () => {\n"
	"      const before = head.ariaSort, first = isName ? \"ascending\" : \"descending\";\n"
	"      const other = isName ? \"descending\" : \"ascending\";\n"
	"      const order = before === first ? other : first;\n"
	"      const rows = [...table.tBodies].flatMap((body) => [...body.rows]);\n"
	"      const count = shown.rows.length, sign = order === \"ascending\" ? 1 : -1;\n"
	"      rows.sort((a, b) => sign * (isName ? value(a).localeCompare(value(b)) :\n"
	"        value(a) - value(b)));\n"
	"      rows.forEach((row, n) => (n < count ? shown : more).append(row));\n"
	"      heads.forEach((each) => each.removeAttribute(\"aria-sort\"));\n"
	"      head.setAttribute(\"aria-sort\", order);\n"
	"    };\n"
	"  });\n"
	"}\n"
	/* A click makes a function and its callers as wide as the page, a second one undoes it. */
	"for (const flame of document.querySelectorAll(\".flame\")) {\n"
	"  const said = flame.nextElementSibling;\n"
	"  const widen = (span) => {\n"
	"    const item = span.parentNode, again = item.dataset.widened;\n"
	"    flame.querySelectorAll(\".away, .whole, [data-widened]\").forEach((each) => {\n"
	"      each.classList.remove(\"away\", \"whole\");\n"
	"      delete each.dataset.widened;\n"
	"    });\n"
	"    if (again)\n"
	"      return;\n"
	"    item.dataset.widened = \"1\";\n"
	"    for (let at = item; at !== flame; at = at.parentNode.parentNode) {\n"
	"      for (const other of at.parentNode.children)\n"
	"        if (other !== at)\n"
	"          other.classList.add(\"away\");\n"
	"      at.classList.add(\"whole\");\n"
	"    }\n"
	"  };\n"
	"  const tell = (event) => {\n"
	"    const span = event.target.closest(\"span\");\n"
	"    said.textContent = span ? span.title : \"\";\n"
	"  };\n"
	"  flame.addEventListener(\"mouseover\", tell);\n"
	"  flame.addEventListener(\"focusin\", tell);\n"
	"  flame.addEventListener(\"click\", (event) => {\n"
	"    const span = event.target.closest(\"span\");\n"
	"    if (span)\n"
	"      widen(span);\n"
	"  });\n"
	"  flame.addEventListener(\"keydown\", (event) => {\n"
	"    if (event.key === \"Enter\" && event.target.matches(\"span\"))\n"
	"      widen(event.target);\n"
	"  });\n"
	"}\n"
	"</script>\n";

static void print_head(const struct table *table, FILE *stream)
{
	size_t k;

	fputs("<div class=\"table\"><table>\n<thead><tr>", stream);
	for (k = 0; k < table->shown_count; k++) {
		size_t i = table->shown[k];
		bool is_name = table->columns[i].kind == CELL_TEXT;

		fprintf(stream, "<th scope=\"col\"%s%s>%s</th>", is_name ? " class=\"name\"" : "",
			i != table->sort ? "" : is_name ? " aria-sort=\"ascending\"" :
			" aria-sort=\"descending\"", table->columns[i].title);
	}
	fputs("</tr></thead>\n<tbody>\n", stream);
}

/* Print a number, which may be broken before its error: "~19286" and "+-23%". */
static void print_number(FILE *stream, char *text)
{
	char *error = strstr(text, "+-");

	if (error) {
		*error = '\0';
		html_print_escaped(stream, text);
		fputs("<wbr>", stream);
		*error = '+';
		text = error;
	}
	html_print_escaped(stream, text);
}

static void print_cells(const struct table *table, FILE *stream, size_t row)
{
	char text[NAME_SIZE];
	size_t k;

	fputs("<tr>", stream);
	for (k = 0; k < table->shown_count; k++) {
		size_t i = table->shown[k];
		const union cell *cell = &table->cells[row * table->column_count + i];
		enum cell_kind kind = table->columns[i].kind;

		table_format_cell(table, row, i, text, sizeof(text));
		fprintf(stream, "<td data-title=\"%s\"", table->columns[i].title);
		if (kind == CELL_TEXT) {
			fputs(" class=\"name\">", stream);
			html_print_name(stream, text);
		} else {
			if (isfinite(cell->number))
				fprintf(stream, " data-value=\"%.9g\"", cell->number);
			fputc('>', stream);
			print_number(stream, text);
		}
		fputs("</td>", stream);
	}
	fputs("</tr>\n", stream);
}

static void print_table(const struct table *table, FILE *stream, size_t top, size_t all)
{
	size_t shown = table_top(table, top), rows = table_top(table, all), row;

	fputs("<h2>", stream);
	html_print_escaped(stream, table->title);
	fprintf(stream, ", by %s", table->columns[table->sort].name);
	if (rows < table->rows)
		fprintf(stream, " (%zu of %zu)", rows, table->rows);
	fputs("</h2>\n", stream);
	print_head(table, stream);
	for (row = 0; row < rows; row++) {
		if (row == shown)
			fputs("</tbody>\n<tbody>\n", stream);
		print_cells(table, stream, row);
	}
	fputs("</tbody></table></div>\n", stream);
}

static void print_page(const struct report *report, FILE *stream, size_t top, size_t all,
		       unsigned int tables)
{
	size_t i;

	fputs(head, stream);
	fputs("<title>ntklog: ", stream);
	html_print_escaped(stream, report->file->path);
	fputs("</title>\n</head>\n<body>\n<main>\n<h1>", stream);
	html_print_escaped(stream, report->file->path);
	fputs("</h1>\n<ul>\n", stream);
	report_facts(report, stream, "<li>", "</li>");
	fputs("</ul>\n", stream);
	/* The options that choose tables choose the pictures of the same locks, too. */
	if (tables & (1 << REPORT_LOCKS | 1 << REPORT_CALLERS))
		report_print_lock_pictures(report, stream);
	if (tables & 1 << REPORT_RESOURCES)
		report_print_resource_pictures(report, stream);
	if (tables & 1 << REPORT_THREADS)
		report_print_thread_pictures(report, stream);
	if (tables & 1 << REPORT_STACKS)
		report_print_flames(report, stream);
	for (i = 0; i < REPORT_TABLES; i++)
		/* Flame graphs show the stacks. */
		if (i != REPORT_STACKS && tables & 1 << i &&
		    table_has_cells(&report->tables[i]))
			print_table(&report->tables[i], stream, top, all);
	fputs("</main>\n", stream);
	fputs(script, stream);
	fputs("</body>\n</html>\n", stream);
}

/**
 * report_print_html() - write the page
 * @report: report with sorted tables
 * @path: path of the page; "-" is the standard output
 * @top: most rows of a table that are visible before a click; 0 for all
 * @all: most rows of a table in the page; 0 for all
 * @tables: tables to show, as bits, which also choose the pictures
 *
 * Return: 0, or -1 after a message.
 */
int report_print_html(const struct report *report, const char *path, size_t top, size_t all,
		      unsigned int tables)
{
	FILE *stream = strcmp(path, "-") ? fopen(path, "w") : stdout;
	int err;

	if (!stream) {
		message("%s: %s", path, strerror(errno));
		return -1;
	}
	print_page(report, stream, top, all, tables);
	err = finish_output(stream, stream == stdout ? NULL : path);
	if (stream != stdout)
		fclose(stream);
	return err;
}
