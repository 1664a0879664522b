"""``--json`` prints the result as JSON and nothing else; ``-o`` writes it; both say the same."""

import json

import pytest

from cosched.cli import main

CODES = 'procs = 2\n[task.a]\ncommand = "true"\n[task.b]\ncommand = "true"\n'
RUNS = "task,processors,seconds\na,1,2\na,2,1.5\nb,1,3\n"
TIMES = "task,1,2,3,4\nfft,8,4.5,3.2,2.6\nlu,6,3.4,2.6,2.1\nsort,4,2.6,2,1.8\n"


def called(line):
    """The exit code of a command line."""
    return main(line.split())


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    """A folder with an instance, its schedule, measured codes and their plan."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "times.csv").write_text(TIMES)
    (tmp_path / "codes.toml").write_text(CODES)
    (tmp_path / "runs.csv").write_text(RUNS)
    assert called("solve packs times.csv --algorithm optimal -o schedule.json") == 0
    assert called("plan runs.csv --codes codes.toml -o plan.json") == 0
    assert called("generate lublin --n 40 --nodes 8 -o log.csv") == 0
    assert called("generate requests --n 300 --nodes 2 -o requests.csv") == 0
    capsys.readouterr()
    return tmp_path


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("solve packs times.csv --algorithm optimal", "placements"),
        ("compare packs times.csv --algorithms pairs,optimal", 1),
        ("solve cluster log.csv --nodes 8 --algorithm EASY --jobs jobs.csv", "placements"),
        ("compare cluster log.csv --nodes 8 --policies FCFS,EASY", 1),
        ("bound packs times.csv", "method"),
        ("validate packs times.csv schedule.json", "gap"),
        ("plan runs.csv --codes codes.toml", "placements"),
        ("run plan.json --codes codes.toml --dry-run --oversubscribe", 1),
        ("run plan.json --codes codes.toml --oversubscribe", "tasks"),
        ("profile codes.toml --repeat 1 --counts 1 -o new.csv --oversubscribe", 1),
        ("audit log.csv --nodes 8", "report"),
        ("rightsize requests.csv --nodes 32 --risk 0.1", "backtest"),
        ("library list packs", 1),
        ("library show packs/ii-33-p16-s1", "best"),
        ("study list", 1),
        ("fetch --list", 1),
    ],
)
def test_a_result_is_printed_as_json_alone(command, key, folder, capsys):
    assert called(f"{command} --json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (len(result) > key) if isinstance(key, int) else (key in result)


@pytest.mark.parametrize(
    "command",
    [
        "bound packs times.csv",
        "validate packs times.csv schedule.json",
        "plan runs.csv --codes codes.toml",
        "rightsize requests.csv --nodes 32 --risk 0.1",
        "library list packs",
        "library show packs/ii-33-p16-s1",
    ],
)
def test_what_is_written_is_what_is_printed(command, folder, capsys):
    assert called(f"{command} --json -o new.json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads((folder / "new.json").read_text())


@pytest.mark.parametrize("words", ["--json out.json", "--json=out.json"])
def test_a_file_behind_json_is_refused_with_the_option_that_writes_it(words, folder, capsys):
    assert called(f"plan runs.csv --codes codes.toml {words}") == 2
    assert (
        capsys.readouterr()
        .err.rstrip()
        .endswith(": --json prints to the terminal, -o out.json writes a file")
    )
    assert not (folder / "out.json").exists()


def test_a_report_and_its_numbers_are_written_together(folder, capsys):
    command = "audit log.csv --nodes 8 -o a.html"
    assert called(f"{command} --json numbers.json") == 0  # as in earlier versions
    printed = capsys.readouterr().out
    assert "wrote a.html" in printed
    assert "wrote numbers.json" in printed
    assert json.loads((folder / "numbers.json").read_text())["rows"]
    assert called("audit log.csv --nodes 8 -o a.html -o b.html") == 2
    assert "two files end in .html" in capsys.readouterr().err


def test_an_audit_links_to_no_report_that_does_not_exist(folder, capsys):
    assert called("audit log.csv --nodes 8 --rightsize none.html -o a.html") == 2
    assert "--rightsize: none.html: no such file" in capsys.readouterr().err
    assert not (folder / "a.html").exists()


def test_the_simulator_as_reference_needs_a_slurm_conf(folder, capsys):
    assert called("audit log.csv --nodes 8 --reference slurm-backfill -o a.html") == 2
    assert "for this machine: expected a slurm.conf (--machine)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "content"),
    [
        ("audit log.csv --nodes 8", "the report (.html), or its numbers (.json)"),
        ("convert log.csv --nodes 8", "the log (.swf, .csv, .json or .parquet)"),
        ("script plan.json --codes codes.toml", "the script for sbatch"),
        ("generate lublin", "the instance (.csv, .json, ...)"),
        ("batch runs.csv --time 1h --cores-per-node 2", "new folder for the scripts"),
        ("snapshot --from .", "the snapshot (.json)"),
    ],
)
def test_a_missing_output_is_named_with_its_content(command, content, folder, capsys):
    assert called(command) == 2
    assert capsys.readouterr().err == f"cosched: error: missing --output/-o: {content}\n"
