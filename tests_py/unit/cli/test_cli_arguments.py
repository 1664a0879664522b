"""Options of commands that come from signatures and docstrings."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from cosched.cli import main
from cosched.cli.parameters import Arguments, in_groups, require_separate_outputs
from cosched.errors import InvalidInstance


def work(
    what: str = "some",
    most_tasks: int | None = None,
    share: float = 0.05,
    strict: bool = False,
    folder: str | PathLike[str] | None = None,
    **more: Any,
) -> None:
    """Work.

    Parameters
    ----------
    what : {"some", "all"}
        Which. Not in the help.
    most_tasks, share : int
        See :func:`other` and
        ``this``.
    strict : bool
        Refuse.
    folder : path-like, optional
        Where.
    """


def ran(*typed):
    """What a command is given, and its help."""
    seen = []
    app = typer.Typer()

    def command(
        given: Annotated[dict, Arguments(work, "what", "most_tasks", "share", "strict", "folder")],
    ):
        seen.append({**given})

    app.command()(in_groups(command))
    done = CliRunner().invoke(app, list(typed), env={"COLUMNS": "200"})
    return seen, done


def test_defaults_are_the_function_s():
    (given,), _ = ran()
    wanted = {"what": "some", "most_tasks": None, "share": 0.05, "strict": False, "folder": None}
    assert given == wanted


def test_what_is_typed_is_checked_and_named_by_its_flag():
    (given,), _ = ran("--most-tasks", "3", "--share", "0.5", "--strict", "--folder", "x")
    assert (given["most_tasks"], given["share"], given["strict"]) == (3, 0.5, True)
    assert given["folder"].name == "x"
    for flag, text in [("--most-tasks", "0"), ("--most-tasks", "1_0"), ("--share", "nan")]:
        seen, done = ran(flag, text)
        assert seen == []
        assert isinstance(done.exception, InvalidInstance)
        assert str(done.exception).startswith(f"{flag}: ")


def test_the_docstring_s_first_sentence_explains():
    text = ran("--help")[1].output
    for said in ("some, all: Which.", "See other and this.", "Refuse.", "[default: 0.05]"):
        assert said in text
    assert "Not in the help" not in text


def test_an_option_without_a_word_is_refused():
    with pytest.raises(KeyError, match="more"):
        Arguments(work, "more").parameters()


# --- files to write are not those that are read --------------------------------------------------

RUNS = "task,processors,seconds\na,1,2\na,2,1.5\nb,1,3\n"
CODES = 'procs = 2\n[task.a]\ncommand = "true"\n[task.b]\ncommand = "true"\n'
TIMES = "task,1,2\na,8,4.5\nb,6,3.4\n"


@pytest.mark.parametrize(
    ("command", "name", "use"),
    [
        ("script plan.json --codes codes.toml -o plan.json", "plan.json", "reads"),
        ("script plan.json --codes codes.toml -o ./codes.toml", "codes.toml", "reads"),
        ("script plan.json --codes codes.toml -o link.toml", "codes.toml", "reads"),
        ("run plan.json --codes codes.toml -o plan.json", "plan.json", "reads"),
        ("solve packs times.csv -o times.csv", "times.csv", "reads"),
        ("compare packs times.csv -o times.csv", "times.csv", "reads"),
        ("solve packs times.csv -o new.json --plot new.json", "new.json", "writes"),
        ("profile codes.toml -o codes.toml", "codes.toml", "reads"),
    ],
)
def test_no_command_writes_over_a_file_that_it_reads(
    command, name, use, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text(RUNS)
    (tmp_path / "codes.toml").write_text(CODES)
    (tmp_path / "times.csv").write_text(TIMES)
    (tmp_path / "link.toml").symlink_to("codes.toml")
    assert main(["plan", "runs.csv", "--codes", "codes.toml", "-o", "plan.json"]) == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    capsys.readouterr()
    assert main(command.split()) == 2
    assert f"{name}: the command {use} this file" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_device_may_be_written_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_separate_outputs({"output": Path("/dev/null"), "picture": Path("/dev/null")})
    require_separate_outputs({"output": Path("a"), "file": Path("b"), "picture": None})
