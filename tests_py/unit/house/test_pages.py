"""What people copy from the README and the pages of the site runs, and prints what they say.

A page is run from top to bottom in an empty folder. A block after "`name`:" is that file; a block
of ``python`` is run, and prints the block of ``text`` right after it, if there is one; the lines of
``bash`` that begin with ``cosched`` succeed. Blocks of ``sh`` and ``py`` need what a test has not
(a network, a cluster) and are left alone.
"""

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from cosched.cli import main
from support import REPO

README = REPO / "README.md"
PAGES = [
    REPO / "docs" / "index.md",
    *sorted(REPO.glob("docs/howto/*.md")),
    *sorted(REPO.glob("docs/explanation/*.md")),
    REPO / "docs" / "faq.md",
]
WITH_LINKS = [README, REPO / "CONTRIBUTING.md", REPO / "cpp" / "README.md"]


class Block(NamedTuple):
    """A fenced block of a page."""

    line: int
    language: str
    text: str
    file: str | None
    follows: bool  # directly the block before


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found, end = [], 0
    for fence in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        before = text[end : fence.start()]
        named = re.search(r"`([\w.-]+)`:\s*$", before)
        line = text.count("\n", 0, fence.start()) + 2
        found.append(
            Block(line, fence[1], fence[2], named and named[1], bool(found) and not before.strip())
        )
        end = fence.end()
    return found


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    forget_modules_of(tmp_path)


def forget_modules_of(folder: Path) -> None:
    """A user's next command is another process."""
    for name, module in list(sys.modules.items()):
        if str(folder) in str(getattr(module, "__file__", "")):
            del sys.modules[name]


def run_python(page: Path, block: Block, names: dict) -> str:
    printed = io.StringIO()
    # Line numbers of the page in tracebacks.
    source = "\n" * (block.line - 1) + block.text
    with contextlib.redirect_stdout(printed):
        exec(compile(source, str(page), "exec"), names)
    return printed.getvalue()


def run_commands(page: Path, block: Block, capsys) -> None:
    for text in block.text.replace("\\\n", " ").splitlines():
        if text.startswith("cosched "):
            arguments = shlex.split(text, comments=True)[1:]
            code = main(arguments)
            forget_modules_of(Path.cwd())
            assert code == 0, f"{page.name}: {text}: {capsys.readouterr().err}"


def run_page(page: Path, folder: Path, capsys) -> None:
    names: dict = {"__name__": "page"}
    printed = None
    for block in blocks(page):
        before, printed = printed, None
        if block.file:
            (folder / block.file).write_text(block.text)
        elif block.language == "python":
            printed = run_python(page, block, names)
        elif block.language == "bash":
            run_commands(page, block, capsys)
        elif block.language == "text" and block.follows and before is not None:
            assert lines(before) == lines(block.text), f"{page.name}, line {block.line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_page_runs(page, folder, capsys):
    run_page(page, folder, capsys)


def test_the_readme_is_short_and_its_commands_leave_what_they_say(folder, capsys):
    assert len(README.read_text().splitlines()) <= 120
    (folder / "notebooks").symlink_to(REPO / "notebooks")  # as in the clone
    run_page(README, folder, capsys)
    for name in ("audit.html", "when.png", "cluster.png", "why.csv", "easy.json", "plan.json"):
        assert (folder / name).stat().st_size > 1_000, name


@pytest.mark.parametrize("page", WITH_LINKS, ids=lambda page: page.name)
def test_links_and_make_targets_exist(page):
    text = page.read_text()
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert (page.parent / target).exists(), target
    makefile = (REPO / "Makefile").read_text()
    for name in re.findall(r"(?:`|^)make ([a-z-]+)", text, flags=re.MULTILINE):
        assert re.search(rf"^{name}:", makefile, flags=re.MULTILINE), f"make {name}"
