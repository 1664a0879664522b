"""What is typed behind a command: types of options, and files that are read and written."""

from pathlib import Path

import click
import pytest

from cosched.cli import main
from cosched.cli.command_groups import require_separate_outputs
from cosched.cli.commands.batch import Gigabytes
from cosched.cli.option_types import (
    CommaList,
    InputPath,
    Integer,
    Number,
    NumberOrNone,
    OutputFile,
    ParsedByLibrary,
    Seconds,
    TextType,
    Words,
)
from cosched.errors import InvalidInstance


@pytest.mark.parametrize(
    ("option_type", "text", "value"),
    [
        (Integer(0, 9), "7", 7),
        (Integer(0, 9), " 7 ", 7),
        (Number(0, 1), "0.25", 0.25),
        (NumberOrNone(), "None", None),
        (NumberOrNone(), "2.5", 2.5),
        (Seconds(), "90", 90.0),
        (Seconds(), "1h30m", 5400.0),
        (Seconds(allows_none=True), "none", None),
        (Seconds(allows_zero=True), "0", 0.0),
        (Seconds(allows_negative=True), "-5", -5.0),
        (CommaList(Integer()), "1,2,4", [1, 2, 4]),
        (Gigabytes(), "64", 64.0),
        (Gigabytes(), "512MB", 0.512),
        (Gigabytes(), "2GiB", 2.147483648),
        (ParsedByLibrary("cpus,gpus", "cosched.dags.arguments:parse_units"), "16,4", (16, 4)),
        (Words(("low", "high")), "low", "low"),
    ],
)
def test_a_type_reads_a_text(option_type, text, value):
    option = click.Option(["-x", "--size"], type=option_type)
    assert option_type.convert(text, option, None) == value


@pytest.mark.parametrize(
    ("option_type", "text", "message"),
    [
        (Integer(0, 9), "10", "--size: 10: expected an integer in 0..9"),
        (Integer(0, 9), "1_0", "--size: '1_0': expected an integer in 0..9"),
        (Number(0, 1), "1", "--size: '1': expected a number between 0 and 1"),
        (Number(0), "nan", "--size: 'nan': expected a positive number"),
        (NumberOrNone(), "0", "--size: '0': expected a positive number, or 'none'"),
        (Seconds(), "0", "--size: '0': expected a positive number of seconds, 5m"),
        (Seconds(), "none", "--size: 'none': expected a positive number of seconds, 5m"),
        (Seconds(allows_zero=True), "-1", "--size: '-1': expected a number >= 0 of seconds, or 5m"),
        (CommaList(Integer()), "1,,4", "--size: empty cell: expected an integer in 1..1000000"),
        (
            Gigabytes(),
            "much",
            "--size: 'much': expected a positive number of GB, or one with its unit, as 512MB",
        ),
        (
            Gigabytes(),
            "0GB",
            "--size: '0GB': expected a positive number of GB, or one with its unit, as 512MB",
        ),
        (Words(("low", "high")), "lo", "--size 'lo': expected one of low, high (near: low)"),
        (
            OutputFile(".png", ".svg"),
            "a.pdf",
            "--size a.pdf: unsupported format (use .png or .svg)",
        ),
    ],
)
def test_a_type_names_the_option_in_its_error(option_type, text, message):
    option = click.Option(["-x", "--size"], type=option_type)
    with pytest.raises(InvalidInstance) as caught:
        option_type.convert(text, option, None)
    assert str(caught.value) == message


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
        ("solve cluster times.csv -o new.csv --jobs new.csv", "new.csv", "writes"),
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


def test_a_file_is_not_dropped_where_an_option_is_given_twice(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "times.csv").write_text(TIMES)
    command = "solve packs times.csv --algorithm optimal -o a.json --output b.json"
    assert main(command.split()) == 2
    assert "--output is given twice: expected one file" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"times.csv"}


def test_a_run_writes_its_report_and_its_record(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text(RUNS)
    (tmp_path / "codes.toml").write_text(CODES)
    (tmp_path / "other.toml").write_text('procs = 2\n[task.c]\ncommand = "true"\n')
    assert main(["plan", "runs.csv", "--codes", "codes.toml", "-o", "plan.json"]) == 0
    command = "run plan.json --codes codes.toml --oversubscribe -o a.html -o a.json"
    assert main(command.split()) == 0
    assert "<html" in (tmp_path / "a.html").read_text()
    assert '"tasks"' in (tmp_path / "a.json").read_text()
    capsys.readouterr()
    for command in ("run plan.json --codes other.toml", "script plan.json --codes other.toml -o s"):
        assert main(command.split()) == 2
        error = capsys.readouterr().err
        assert "plan.json: unknown task 'a'" in error
        assert "expected a plan of the codes of other.toml" in error


def test_a_device_may_be_written_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parameters = [
        click.Argument(["file"], type=InputPath()),
        click.Option(["--output"], type=OutputFile()),
        click.Option(["--plot", "picture"], type=OutputFile()),
    ]
    device = Path("/dev/null")
    require_separate_outputs(parameters, {"output": device, "picture": device})
    require_separate_outputs(parameters, {"output": Path("a"), "file": Path("b"), "picture": None})
    with pytest.raises(InvalidInstance, match="writes this file twice"):
        require_separate_outputs(parameters, {"output": Path("a"), "picture": Path("./a")})


def test_a_type_of_options_has_to_read_texts():
    class Unfinished(TextType[int]):
        name = "unfinished"

    with pytest.raises(TypeError, match=r"abstract method '?read'?"):
        Unfinished()
