"""The site builds without a warning; tutorials run; it names all and fetches nothing."""

import html
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from cosched.registry import FAMILIES, family
from support import REPO

NOTEBOOKS = sorted((REPO / "notebooks").glob("*.ipynb"))
BUILD = REPO / "build" / "docs-quick"

# Without the site, notebooks run in test_notebooks.py and pages in test_pages.py.
pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def site() -> Path:
    """The pages as `make docs` makes them, notebooks at reduced size; what is unchanged is kept."""
    command = "-W --keep-going -q -j 2 -b html -d"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *command.split()]
        + [BUILD / "doctrees", REPO / "docs", BUILD / "html"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COSCHED_QUICK": "1"},
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return BUILD / "html"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_shows_a_picture(path, site):
    cells = json.loads(path.read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells), "commit without outputs"
    page = (site / "tutorials" / f"{path.stem}.html").read_text()
    pictures = re.findall(r'<img[^>]*src="\.\./(_images/[^"]+\.png)"', page)
    assert pictures
    assert all((site / picture).stat().st_size > 1000 for picture in pictures)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_reference_has_all_names_of_a_family(name, site):
    page = (site / "reference" / f"{name}.html").read_text()
    module = import_module(f"cosched.{name}")
    for thing in module.__all__:
        if thing not in ("ALGORITHMS", "BOUNDS", "FAMILY"):
            assert f'id="cosched.{name}.{thing}"' in page, thing
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    for shown in (*family(name).algorithms, *family(name).bounds):
        assert shown in text, shown


def test_pages_fetch_nothing(site):
    """Scripts, styles and pictures are all in the folder."""
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        text = page.read_text()
        tags = re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", text)
        fetched = [tag for tag in tags if re.search(r'(?:src|href)="(?:https?:)?//', tag)]
        assert not fetched, (page, fetched)
        assert "mathjax" not in text.lower(), page
