"""What people copy from the README and the pages of the site runs, and prints what they say.

A page is run from top to bottom in an empty folder. A block after "`name`:" is that file; a block
of ``python`` is run, and prints the block of ``text`` right after it, if there is one; the lines of
``bash`` that begin with ``cosched`` succeed, and print each line of the block of ``text`` right
after them (``...`` stands for lines that the page leaves out). Blocks of ``sh`` and ``py`` need
what a test has not (a network, a cluster) and are left alone. README.md and the pages of docs/start
use the folder ``notebooks`` of the repository.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from cosched.cli import main
from support import REPO, program

README = REPO / "README.md"
PAGES = [
    REPO / "docs" / "index.md",
    *sorted(REPO.glob("docs/start/*.md")),
    *sorted(REPO.glob("docs/howto/*.md")),
    *sorted(REPO.glob("docs/explanation/*.md")),
    *sorted(REPO.glob("docs/reference/*.md")),
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
    block_list, end = [], 0
    for fence in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        before = text[end : fence.start()]
        named = re.search(r"`([\w.-]+)`:\s*$", before)
        line = text.count("\n", 0, fence.start()) + 2
        block_list.append(
            Block(
                line,
                fence[1],
                fence[2],
                named and named[1],
                bool(block_list) and not before.strip(),
            )
        )
        end = fence.end()
    return block_list


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


def run_commands(page: Path, block: Block, capsys) -> str:
    """What the commands print."""
    printed = ""
    for text in block.text.replace("\\\n", " ").splitlines():
        if text.startswith("cosched "):
            arguments = shlex.split(text, comments=True)[1:]
            code = main(arguments)
            forget_modules_of(Path.cwd())
            streams = capsys.readouterr()
            assert code == 0, f"{page.name}: {text}: {streams.err}"
            printed += streams.out + streams.err
    return printed


def run_page(page: Path, folder: Path, capsys) -> None:
    names: dict = {"__name__": "page"}
    printed = console = None
    for block in blocks(page):
        before, printed = printed, None
        console_before, console = console, None
        if block.file:
            (folder / block.file).write_text(block.text)
        elif block.language == "python":
            printed = run_python(page, block, names)
        elif block.language == "bash":
            console = run_commands(page, block, capsys)
        elif block.language == "text" and block.follows and before is not None:
            assert lines(before) == lines(block.text), f"{page.name}, line {block.line}"
        elif block.language == "text" and block.follows and console_before is not None:
            missing = set(lines(block.text)) - set(lines(console_before)) - {"..."}
            assert not missing, f"{page.name}, line {block.line}: {missing}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_page_runs(page, folder, capsys):
    if page.parent.name == "start":
        (folder / "notebooks").symlink_to(REPO / "notebooks")
    run_page(page, folder, capsys)


def test_the_readme_is_short_and_its_commands_leave_what_they_say(folder, capsys):
    assert len(README.read_text().splitlines()) <= 120
    (folder / "notebooks").symlink_to(REPO / "notebooks")  # as in the clone
    run_page(README, folder, capsys)
    for name in ("audit.html", "plan.json"):
        assert (folder / name).stat().st_size > 1_000, name


def links_of(page: Path) -> list[tuple[str, str]]:
    """What links of a page in Markdown, or of a notebook, lead to beside it, and the anchors."""
    text = page.read_text()
    if page.suffix == ".md":
        text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\((?![a-z]+:|#|<)([^)\s#]+)(?:#([^)\s]*))?\)", text)
    return [(target, anchor) for target, anchor in targets]


def files_of_the_clone() -> set[Path]:
    """Tracked files, or where there is no git those that are there, and their folders."""
    listed = subprocess.run(
        [program("git"), "ls-files", "-z"], cwd=REPO, capture_output=True, text=True, check=False
    )
    names = listed.stdout.split("\0") if listed.returncode == 0 else []
    files = {REPO / name for name in names if name} or set(REPO.rglob("*"))
    return files | {folder for file in files for folder in file.parents}


def test_no_link_is_dead_in_a_clone():
    files = files_of_the_clone()
    pages = sorted(path for path in files if path.suffix in (".md", ".ipynb"))
    assert len(pages) > 40
    dead = [
        f"{page.relative_to(REPO)}: {target}"
        for page in pages
        for target, _ in links_of(page)
        if Path(os.path.normpath(page.parent / target)) not in files
    ]
    assert not dead


def test_links_of_a_clone_become_links_of_the_site(monkeypatch):
    """Tutorials and pages of studies, which only the site has, stand for what a clone has."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(REPO / "docs" / "_extensions")
    from clone_links import on_site

    for before, docname, after in (
        (
            "[a](../../notebooks/03_cluster.ipynb)",
            "howto/when",
            "[a](../tutorials/03_cluster.ipynb)",
        ),
        ("[a](../notebooks/03_cluster.ipynb)", "index", "[a](tutorials/03_cluster.ipynb)"),
        ("[a](index.md#bags-fig3)", "results/ledger", "[a](bags-fig3.md)"),
        ("[a](../results/index.md#bags-fig3)", "explanation/bags", "[a](../results/bags-fig3.md)"),
        ("[a](../results/index.md)", "explanation/bags", "[a](../results/index.md)"),
        ("[a](../docs/howto/snakemake.md)", "tutorials/08_graphs", "[a](../howto/snakemake.md)"),
        ("[a](audit.md#here)", "howto/when", "[a](audit.md#here)"),
    ):
        assert on_site(before, docname) == after
    files = files_of_the_clone()
    for page in sorted(
        path for path in files if path.suffix == ".md" and REPO / "docs" in path.parents
    ):
        name = page.relative_to(REPO / "docs").with_suffix("").as_posix()
        for target, _ in re.findall(
            r"\]\((?![a-z]+:|#|<)([^)\s#]+)(?:#([^)\s]*))?\)", on_site(page.read_text(), name)
        ):
            assert "notebooks/" not in target or not target.endswith(".ipynb"), (name, target)
            assert "results/index.md#" not in target


@pytest.mark.parametrize("page", WITH_LINKS, ids=lambda page: page.name)
def test_links_and_make_targets_exist(page):
    text = page.read_text()
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert (page.parent / target).exists(), target
    makefile = (REPO / "Makefile").read_text()
    for name in re.findall(r"(?:`|^)make ([a-z-]+)", text, flags=re.MULTILINE):
        assert re.search(rf"^{name}:", makefile, flags=re.MULTILINE), f"make {name}"
