"""Links that lead somewhere in a clone and on the site.

Notebooks are beside this folder and pages of studies are made for the site: in a clone, and so in
the sources of the pages, a link names the notebook (``../notebooks/03_cluster.ipynb``), or the page
that says how results are made, with the study (``results/index.md#cluster-table4``). On the site
the tutorial and the page of the study stand for them.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from posixpath import normpath, relpath

from sphinx.application import Sphinx

from cosched.experiments.catalogue import STUDIES

#: A link of Markdown: what it leads to, and its anchor.
_LINK = re.compile(r"\]\((?P<path>[\w./-]+\.(?:md|ipynb))(?:#(?P<anchor>[\w-]+))?\)")
_RESULTS = "docs/results/index.md"


def on_site(text: str, docname: str) -> str:
    """The text of a page (``howto/when``, ``tutorials/03_cluster``) with the links of the site."""
    folder = PurePosixPath("docs", docname).parent
    in_clone = PurePosixPath("notebooks") if folder.name == "tutorials" else folder

    def replaced(link: re.Match[str]) -> str:
        target, anchor = normpath(str(in_clone / link["path"])), link["anchor"]
        if target == _RESULTS and anchor in STUDIES:
            return f"]({relpath(f'docs/results/{anchor}.md', folder)})"
        if target.startswith("notebooks/"):
            target = target.replace("notebooks/", "docs/tutorials/", 1)
        elif folder == in_clone:
            return link[0]
        return f"]({relpath(target, folder)}{f'#{anchor}' if anchor else ''})"

    return _LINK.sub(replaced, text)


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = on_site(source[0], docname)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
