# SPDX-License-Identifier: GPL-2.0-only
"""How Sphinx makes HTML of these pages: make docs."""

import os
import re
import shutil

from docutils import nodes

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)

with open(os.path.join(TOP, "dkms.conf"), encoding="utf-8") as stream:
    release = re.search(r'^PACKAGE_VERSION="(.*)"', stream.read(), re.M).group(1)

project = "ntklog"
author = "the founders of ntklog"
project_copyright = "2026, " + author
version = release

html_theme = "alabaster"
html_theme_options = {"description": "NT's lock instrumentation for Linux", "page_width": "76em",
                      "body_min_width": 0, "body_max_width": "none", "show_powered_by": False}
# Nothing is fetched by a reader's browser, and the pages do not depend on when they were made.
html_show_sphinx = False
html_copy_source = False
html_last_updated_fmt = None

# Literal blocks are commands, outputs and C, with no mark for which; none is coloured.
highlight_language = "none"


def lead_to_pages(app, doctree, page):
    """Links name files, as they are in the source: of pages they become links to HTML, other
    files are copied next to it."""
    directory = os.path.dirname(app.env.doc2path(page))
    for link in doctree.findall(nodes.reference):
        name, hash_, anchor = link.get("refuri", "").partition("#")
        # NEWS.rst is above the page that includes it.
        paths = [os.path.normpath(os.path.join(base, name)) for base in (directory, TOP)]
        path = next((path for path in paths if os.path.isfile(path)), None)
        if not name or ":" in name or not path:
            continue
        if path.endswith(".rst") and app.env.path2doc(path) in app.env.found_docs:
            uri = app.builder.get_relative_uri(page, app.env.path2doc(path))
        else:
            copy = "_files/" + os.path.relpath(path, TOP)
            os.makedirs(os.path.dirname(os.path.join(app.outdir, copy)), exist_ok=True)
            shutil.copyfile(path, os.path.join(app.outdir, copy))
            uri = "../" * page.count("/") + copy
        link["refuri"] = uri + hash_ + anchor


def setup(app):
    app.connect("doctree-resolved", lead_to_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
