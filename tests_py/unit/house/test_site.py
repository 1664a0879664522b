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

from cosched.cli import COMMANDS
from cosched.registry import FAMILIES, family
from support import REPO

sys.path.insert(0, str(REPO / "docs" / "_extensions"))

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
    """One page per class and function, to which the page of the module links."""
    page = (site / "reference" / f"{name}.html").read_text()
    module = import_module(f"cosched.{name}")
    for thing in module.__all__:
        if thing not in ("ALGORITHMS", "BOUNDS", "FAMILY"):
            path = f"cosched.{name}.{thing}"
            own_page = (site / "reference" / "api" / f"{path}.html").read_text()
            assert f'id="{path}"' in own_page, thing
            assert f'href="api/{path}.html"' in page, thing
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    for name_of_algorithm in (*family(name).algorithms, *family(name).bounds):
        assert name_of_algorithm in text, name_of_algorithm


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


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_has_every_option_of_a_command(name, site):
    from command_reference import command_of, subcommands  # it stands in docs/_extensions

    page = html.unescape((site / "reference" / "commands" / f"{name}.html").read_text())
    command, context = command_of(name)
    for each, each_context in subcommands(command, context):
        for parameter in each.get_params(each_context):
            if getattr(parameter, "hidden", False):
                continue
            names = {option for option in parameter.opts if option.startswith("--")}
            missing = [option for option in names - {"--help"} if option not in page]
            assert not missing, (name, missing)


def test_the_list_of_commands_has_the_options_of_all(site):
    assert "--help" in (site / "reference" / "commands" / "index.html").read_text()


def test_pages_need_no_sideways_scrolling(site):
    """On a screen of 1,400 pixels, the widest page of each kind."""
    import web

    pages = (
        "index", "glossary", "comparison", "benchmarks", "explanation/slurm-accuracy",
        "howto/audit", "reference/commands/audit", "reference/file-formats", "reference/stable",
    )  # fmt: skip
    with web.started() as browser:
        browser.set_window_size(1400, 1000)
        for page in pages:
            browser.get((site / f"{page}.html").as_uri())
            wide = browser.execute_script(
                "const root = document.scrollingElement;"
                "const blocks = [...document.querySelectorAll('pre, .table-wrapper')];"
                "return [root, ...blocks].filter(e => e.scrollWidth > e.clientWidth + 2)"
                ".map(e => e.textContent.trim().slice(0, 60));"
            )
            assert wide == [], page
