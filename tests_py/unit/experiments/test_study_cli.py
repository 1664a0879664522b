"""``cosched study``: output, exit codes, one clear line on bad input."""

import os
from types import SimpleNamespace

import pytest

import toy_studies
from cosched import experiments
from cosched.cli import main


def test_list(capsys):
    assert main(["study", "list"]) == 0
    listed = capsys.readouterr().out
    for name in experiments.STUDIES:
        assert name in listed


def test_help_has_examples(capsys):
    for command in ([], ["list"], ["run"]):
        assert main(["study", *command, "--help"]) == 0
        assert "Example: cosched study " in " ".join(capsys.readouterr().out.split())
    assert main(["study", "list"]) == 0


def test_run_and_resume(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["study", "run", "toy_studies:RAISES", "--quick", "--workers", "1"]
    assert main(command) == 1  # a task ended in an error
    captured = capsys.readouterr()
    assert "means" in captured.out
    assert "paper" in captured.out
    assert "out/toy/report.html" in captured.out
    assert captured.err.count("\n") == 1
    assert "1 of 12 tasks ended in an error, see out/toy/errors.txt" in captured.err
    assert main(command) == 2
    assert "12 of 12 rows" in capsys.readouterr().err
    before = (tmp_path / "out/toy/results.parquet").read_bytes()
    assert main([*command, "--resume"]) == 1
    assert (tmp_path / "out/toy/results.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["packs-fig25"], "near: packs-fig2-5"),
        (["toy_studies:NONE"], "NONE"),
        ([], "Missing argument"),
        (["toy_studies:TOY", "--workers", "0"], "--workers"),
        (["toy_studies:TOY", "--workers", "two"], "--workers"),
        (["toy_studies:TOY", "--workers", "1", "--dask", "127.0.0.1:1"], "not both"),
        (["toy_studies:TOY", "--dask", "x"], "expected HOST:PORT"),
        (["toy_studies:TOY", "--out", "file"], "file"),
        (["toy_studies:NEEDS"], "needs pwa/nowhere.gz"),
        (["toy_studies:TOY", "--fast"], "--fast"),
    ],
)
def test_bad_calls(arguments, part, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert main(["study", "run", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("cosched: error: ")
    assert captured.err.count("\n") == 1
    assert part in captured.err
    assert not (tmp_path / "out" / "toy" / "results.parquet").exists()


def test_all_runs_what_has_its_data(tmp_path, capsys, monkeypatch):
    studies = {"one": toy_studies.TOY, "two": toy_studies.NEEDS, "three": toy_studies.RAISES}
    calls = []

    def run(name, *, out, **options):
        calls.append((name, out, options))
        return SimpleNamespace(name=name, out=out, frame=[1], errors=[1] if name == "three" else [])

    monkeypatch.setattr(experiments, "STUDIES", studies, raising=False)
    monkeypatch.setattr(experiments, "run", run)
    monkeypatch.setenv("COSCHED_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["study", "run", "all", "--out", str(tmp_path), "--workers", "2"]) == 2
    assert [(name, os.path.relpath(out, tmp_path)) for name, out, _ in calls] == [
        ("one", "one"),
        ("three", "three"),
    ]
    arguments = {"quick": False, "workers": 2, "dask": None, "resume": False, "task_timeout": None}
    assert calls[0][2] == arguments
    assert "two needs pwa/nowhere.gz" in capsys.readouterr().err
    assert main(["study", "run", "all", "--quick"]) == 1  # now all have theirs; one has errors
    assert len(calls) == 2 + 3


def test_ctrl_c_says_how_to_go_on(capsys, monkeypatch):
    def run(*_, **__):
        raise KeyboardInterrupt("interrupted: 3 of 9 rows are kept")

    monkeypatch.setattr(experiments, "run", run)
    assert main(["study", "run", "toy_studies:TOY"]) == 130
    assert capsys.readouterr().err == "cosched: interrupted: 3 of 9 rows are kept\n"
