"""Names of the user's in pages: none of them steers a terminal, or turns the order of letters."""

import pytest
from right_size_log import log

import cosched as cs
from cosched import io
from cosched.cli import main

HOSTILE = "ada\x1b[31m\u202eevil\x07\x9b\u2066"
STEERING = ("\x1b", "\u202e", "\x07", "\x9b", "\u2066")


def require_readable(path):
    """The name is there, and each character that steers is shown as Python writes it."""
    text = path.read_text(encoding="utf-8")
    assert not [character for character in STEERING if character in text]
    assert r"ada\x1b[31m\u202eevil\x07\x9b\u2066" in text


@pytest.mark.parametrize("suffix", [".html", ".md", ".HTML"])
def test_a_page_shows_what_would_steer(tmp_path, suffix):
    path = tmp_path / f"page{suffix}"
    harmless_text = "one\ttwo\u00a0three\u2003four\u00e9\n"
    io.write_text(f"{HOSTILE}\n{harmless_text}", path)
    require_readable(path)
    assert path.read_text(encoding="utf-8").endswith(harmless_text)


def test_other_files_keep_their_texts(tmp_path):
    io.write_text(HOSTILE, tmp_path / "names.txt")
    assert (tmp_path / "names.txt").read_text(encoding="utf-8") == HOSTILE


@pytest.fixture
def instance():
    return log(user=[HOSTILE] * 200, job_name=[HOSTILE] * 200, account=[HOSTILE] * 200)


def test_the_page_of_right_sizes(instance, tmp_path):
    cs.cluster.rightsize(instance).write(tmp_path / "sizes.html")
    require_readable(tmp_path / "sizes.html")


def test_the_page_of_an_audit(instance, tmp_path):
    cs.cluster.audit(instance, path=tmp_path / "audit.html")
    require_readable(tmp_path / "audit.html")


def test_tables_of_commands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]], names=[HOSTILE, "b"]).write("times.json")
    arguments = ["packs", "times.json", "--max-tasks", "1"]
    assert main(["solve", *arguments, "--algorithm", "sequential", "-o", "plan.md"]) == 0
    capsys.readouterr()
    text = (tmp_path / "plan.md").read_text(encoding="utf-8")
    assert not [character for character in STEERING if character in text]
