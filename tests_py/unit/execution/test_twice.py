"""What resumes or appends: done twice, it leaves what once left."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from cosched.cli import main

CODES = '[task.a]\ncommand = "true"\ncounts = [1]\n[task.b]\ncommand = "true"\ncounts = [1]\n'
RUN = ["run", "plan.json", "--codes", "codes.toml", "--oversubscribe"]
#: The command, what is given to it beside when it goes on, and files that say when something ran.
COMMANDS = {
    "profile": (["profile", "codes.toml", "--oversubscribe", "-o", "new.csv"], [], ()),
    "run": ([*RUN, "-o", "execution.json"], ["--resume"], ("journal",)),
    "measure": ([*RUN, "--measure", "new.csv"], ["--resume"], ("journal",)),
    "study": (
        ["study", "run", "toy_studies:TOY", "--quick", "--workers", "1"], ["--resume"], ()
    ),
}  # fmt: skip


def content(path):
    """Of a database what it says: SQLite counts in its header how often it was written."""
    if path.suffix != ".sqlite":
        return path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


@pytest.mark.parametrize("name", COMMANDS)
def test_twice_is_once(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes.toml").write_text("procs = 2\n" + CODES)
    (tmp_path / "runs.csv").write_text("task,processors,seconds\na,1,0.2\nb,1,0.2\n")
    assert main(["plan", "runs.csv", "--codes", "codes.toml", "-o", "plan.json"]) == 0
    command, arguments, passed_over = COMMANDS[name]

    def files_now():
        return {
            str(path.relative_to(tmp_path)): content(path)
            for path in sorted(tmp_path.rglob("*"))
            if path.is_file() and not any(part in path.name for part in passed_over)
        }

    before = files_now()
    assert main(command) == 0
    once = files_now()
    assert len(once) > len(before)
    for _ in range(2):
        assert main([*command, *arguments]) == 0
        assert files_now() == once
