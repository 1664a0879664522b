"""The command line: output, files, exit codes, one clear line on bad input."""

import errno
import json
import os
import subprocess
import sys

import pandas as pd
import pytest

import cosched as cs
from cosched.cli import COMMANDS, main
from cosched.registry import FAMILIES, presentation


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("task,1,2,3,4\nfft,8,4.5,3.2,2.6\nlu,6,3.4,2.6,2.1\nsort,4,2.6,2,1.8\n")
    return path


def refused(capsys, *arguments) -> str:
    """The single line that a bad call prints; its exit code must be 2."""
    assert main([str(a) for a in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("cosched: error: ")
    assert captured.err.count("\n") == 1
    assert len(captured.err) < 600
    return captured.err


def test_solve_writes_what_validate_reads(table, tmp_path, capsys):
    out = tmp_path / "plan.json"
    assert (
        main(
            [
                "solve",
                "packs",
                str(table),
                "--max-tasks",
                "2",
                "--algorithm",
                "pairs",
                "-o",
                str(out),
                "--plot",
                str(tmp_path / "plan.svg"),
            ]
        )
        == 0
    )
    assert "pairs" in capsys.readouterr().out
    assert (tmp_path / "plan.svg").read_text().startswith("<?xml")
    data = json.loads(out.read_text())
    assert data["family"] == "packs"
    assert data["value"] == pytest.approx(data["bound"]["value"])
    assert main(["validate", "packs", str(table), str(out), "--max-tasks", "2"]) == 0
    assert capsys.readouterr().out.startswith("valid: 3 placements")
    assert sorted(os.listdir(tmp_path)) == ["plan.json", "plan.svg", "times.csv"]


def test_validate_refuses_a_changed_schedule(table, tmp_path, capsys):
    out = tmp_path / "plan.json"
    main(["solve", "packs", str(table), "--algorithm", "optimal", "-o", str(out)])
    capsys.readouterr()
    data = json.loads(out.read_text())
    for change, part in (
        (lambda d: d["placements"].pop(), "not placed"),
        (lambda d: d.update(value=d["value"] / 2), "states cost"),
        (lambda d: d.update(family="dags"), "not a schedule of the family packs"),
        (lambda d: d.update(placements=3), "placements"),
        (lambda d: d.update(value=float("nan")), "states cost"),
        (lambda d: d.update(bound=3), "states the bound 3"),
        (lambda d: d["bound"].update(value=d["value"] * 1.01), "above the cost"),
    ):
        broken = json.loads(json.dumps(data))
        change(broken)
        (tmp_path / "broken.json").write_text(json.dumps(broken))
        line = refused(capsys, "validate", "packs", table, tmp_path / "broken.json")
        assert part in line
        assert "broken.json" in line


def test_compare_several_pack_sizes(table, tmp_path, capsys):
    for suffix in (".csv", ".json", ".md"):
        out = tmp_path / f"table{suffix}"
        assert (
            main(
                [
                    "compare",
                    "packs",
                    str(table),
                    "--max-tasks",
                    "1,2,3",
                    "-o",
                    str(out),
                    "--algorithms",
                    "optimal",
                    "sequential",
                ]
            )
            == 0
        )
        assert out.stat().st_size > 100
    frame = pd.read_csv(tmp_path / "table.csv")
    assert list(frame.columns[:7]) == [
        "max_tasks",
        "algorithm",
        "status",
        "value",
        "bound",
        "gap",
        "seconds",
    ]
    assert len(frame) == 6
    best = frame[frame.algorithm == "optimal"].value
    assert best.is_monotonic_decreasing
    assert "sequential" in capsys.readouterr().out


def test_bound_and_generate(tmp_path, capsys):
    csv = tmp_path / "w.csv"
    assert main(["generate", "packs_ii", "--seed", "1", "-o", str(csv), "--option", "tasks=5"]) == 0
    assert cs.packs.Instance.read(csv) == cs.workloads.packs_ii(seed=1, tasks=5)
    out = tmp_path / "b.json"
    assert main(["bound", "packs", str(csv), "--bound", "area", "-o", str(out)]) == 0
    assert "cost at least" in capsys.readouterr().out
    stated = json.loads(out.read_text())["value"]
    assert stated == cs.packs.bound(cs.packs.Instance.read(csv), "area").value
    table = tmp_path / "b.csv"
    assert main(["bound", "packs", str(csv), "--bound", "area", "-o", str(table)]) == 0
    assert pd.read_csv(table).to_dict("records") == [
        {"family": "packs", "method": "area", "value": pytest.approx(stated)}
    ]
    refused(capsys, "bound", "packs", csv, "-o", tmp_path / "b.txt")
    refused(capsys, "bound", "packs", csv, "-o", tmp_path / "no" / "b.md")
    (tmp_path / "folder.json").mkdir()
    line = refused(capsys, "bound", "packs", csv, "-o", tmp_path / "folder.json")
    assert "folder.json: is a folder" in line
    line = refused(capsys, "generate", "packs_ii", "-o", tmp_path / "folder.json")
    assert "/folder.json: " in line
    for arguments in ((), ("solve",), ("study",)):
        assert "expected one of the commands" in refused(capsys, *arguments)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["solve", "packs", "missing.csv", "--algorithm", "pairs"], "missing.csv: No such file"),
        (["solve", "packs", "TABLE"], "--algorithm is missing"),
        (["solve", "zoo", "TABLE"], "No such command 'zoo': expected one of packs, dags"),
        (["bound", "pack", "TABLE"], "Did you mean 'packs'"),
        (["solve", "packs", "TABLE", "--algorithm", "pear"], "near: pairs"),
        (["solve", "packs", "TABLE", "--algorithm", "pairs", "--option", "x=1"], "unknown option"),
        (["solve", "packs", "TABLE", "--algorithm", "pairs", "--option", "x"], "KEY=VALUE"),
        (["solve", "packs", "TABLE", "--algorithm", "pairs", "--max-tasks", "0"], "--max-tasks: 0"),
        (["solve", "packs", "TABLE", "--algorithm", "pairs", "--max-tasks", "x"], "an integer"),
        (["solve", "packs", "TABLE", "--algorithm", "pairs", "--procs", "0"], "--procs: 0"),
        (["solve", "packs", "TABLE", "--algorithm", "pairs", "--procs", "9"], "outside"),
        (["solve", "packs", "TABLE", "--algorithm", "pairs", "--seed", "-1"], "--seed"),
        (
            ["solve", "packs", "TABLE", "--algorithm", "pairs", "-o", "x.txt"],
            "--output x.txt: unsupported format (use .json",
        ),
        (["solve", "packs", "TABLE", "--algorithm", "pairs", "-o", "no/x.json"], "no such folder"),
        (
            ["solve", "packs", "TABLE", "--algorithm", "pairs", "--plot", "x.gif"],
            "--plot x.gif: unsupported format",
        ),
        (["compare", "packs", "TABLE", "--time-limit", "-1"], "positive"),
        (["compare", "packs", "TABLE", "--max-tasks", "2,,3"], "integer"),
        (["bound", "packs", "TABLE", "--bound", "colums"], "columns"),
        (["generate", "packs_iv", "-o", "x.csv"], "packs_ii"),
        (["nonsense"], "nonsense"),
        (["solve", "pax", "TABLE"], "pax"),
        (["solve", "packs", "TABLE", "--nonsense"], "nonsense"),
    ],
)
def test_bad_calls(arguments, part, table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = refused(capsys, *(str(table) if a == "TABLE" else a for a in arguments))
    assert part in line
    assert os.listdir(tmp_path) == ["times.csv"]  # nothing half-written


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "line 1: empty"),
        ("task,1,2\n", "no rows"),
        ("task,1,2\na,3\n", "line 2: 2 cells"),
        ("task,1,2\na,,\n", "line 2: task 'a' has no time"),
        ("task,processors,seconds\na,1,\n", "task 'a' has no time"),
        ("task,1,2\na,3,nan\n", "line 2, column '2': 'nan'"),
        ("task,1,2\na,3,-2\n", "line 2, column '2': '-2'"),
        ("task,1,2\na,3,0\n", "positive"),
        ("task,1,2\na,3,2s\n", "'2s'"),
        ("task,1,2\na,3,1e999\n", "'1e999'"),
        ("task,1,2\na,3,1_0\n", "'1_0'"),
        ("task,1,2\n\na,3,2\na,3,2\n", "line 4: task 'a' is there twice"),
        ("task,1,2\n,3,2\n", "column 'task': empty"),
        ("task,2,1\na,3,2\n", "increasing"),
        ("task,0,1\na,3,2\n", "expected an integer in 1"),
        ("task,1,two\na,3,2\n", "'two'"),
        ("task,1," + "9" * 5000 + "\na,3,2\n", "expected an integer"),
        ("task,1\na," + "9" * 5000 + "\n", "positive"),
        ("task,1\na," + "9" * 10_000_000 + "\n", "line 2: field larger"),
        ("task,1,10000000\na,3,2\n", "10000000"),
        ("a,b\n1,2\n", "expected 'task,1,2,3,...'"),
        ("task,processors,seconds\na,1.5,3\n", "column 'processors': '1.5'"),
        ("task,processors,seconds\na,1,3\na,4,1\nb,2,5\nb,4,3\n", "'b' was measured on 2,4"),
        ("\x00\x01", "line 1"),
    ],
    ids=lambda value: value[:20],
)
def test_bad_files_name_line_and_column(text, part, tmp_path, capsys):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    line = refused(capsys, "solve", "packs", path, "--algorithm", "pairs")
    assert part in line
    assert "bad.csv" in line


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "line 1, column 2: not JSON"),
        ("[1]", "expected an object"),
        ('{"times": [[1, "x"]]}', "times"),
        ('{"times": [[1, 2]], "max_tasks": 0}', "max_tasks = 0"),
        ('{"times": [[1, 2]], "names": ["a", "b"]}', "names has 2"),
        ('{"times": [[' + "9" * 5000 + "]]}", "bad.json"),
    ],
)
def test_bad_json(text, part, tmp_path, capsys):
    path = tmp_path / "bad.json"
    path.write_text(text)
    assert part in refused(capsys, "solve", "packs", path, "--algorithm", "pairs")


def test_times_that_rise_are_said_and_not_used(tmp_path, capsys):
    path = tmp_path / "rising.csv"
    path.write_text("task,1,2,3\na,3,2,2.5\nb,3,,1\n")
    plan = tmp_path / "plan.json"
    for name in ("pack-by-pack-9", "optimal", "ilp"):
        command = ["solve", "packs", str(path), "--algorithm", name, "-o", str(plan)]
        assert main([*command, "--max-tasks", "1"]) == 0
        printed = "".join(capsys.readouterr())
        assert "slower on more processors (a: 2.5 s on 3, 2 s on 2)" in printed
        assert "1 of 6 times are infinite" in printed
        assert main(["validate", "packs", str(path), str(plan)]) == 0
        placements = json.loads(plan.read_text())["placements"]
        lengths = {len(row["units"]): row["end"] - row["start"] for row in placements}
        assert lengths == {2: 2.0, 3: 1.0}


def test_help_has_an_example_for_each_command(capsys):
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out
    for verb in COMMANDS:
        assert verb in listed
    of_families = ("solve", "compare", "bound", "validate")
    for verb in (*of_families, "generate", "fetch"):
        for command in ([verb], *([verb, name] for name in FAMILIES if verb in of_families)):
            assert main([*command, "--help"]) == 0
            assert "Example: cosched " in " ".join(capsys.readouterr().out.split())


def test_titles_of_pictures(table):
    from cosched.cli.report import compare_all

    packs, inst = presentation("packs"), cs.packs.Instance.read(table, max_tasks=2)
    for varied, start in (({}, "packs: pairs, "), ({"max_tasks": 2}, "packs max_tasks = 2: pairs")):
        _, _, best, _ = compare_all(packs, [(varied, inst)], ["pairs"], 0, None, {})
        assert best[0][0].startswith(start)


def test_version_and_module_entry():
    done = subprocess.run(
        [sys.executable, "-m", "cosched", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == cs.__version__


def test_a_closed_pipe_is_quiet(table):
    command = f"{sys.executable} -m cosched compare packs {table} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path):
    def write():
        with cs.io.replacing(tmp_path / "plan.json") as temporary:
            temporary.write_text("half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as error:
        write()
    assert error.value.filename == str(tmp_path / "plan.json")
    assert not list(tmp_path.iterdir())
