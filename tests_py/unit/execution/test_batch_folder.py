"""Folders of a batch that are damaged, or looked at with other options than they were made with."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from cosched.cli import main
from cosched.execution import BatchTask, batch, batches
from cosched.io import pipes


def shell(name, seconds=1.0):
    return BatchTask(name=name, seconds={1: seconds}, commands={1: ("true",)})


def written(folder, tasks, limit=60.0):
    batches.write(batch(tasks, limit=limit, cores=2, spread=0.0), folder)


@pytest.fixture
def jobs(tmp_path):
    """Two tasks, of which nothing has run."""
    folder = tmp_path / "jobs"
    written(folder, [shell("a"), shell("b")])
    return folder


@pytest.mark.parametrize(
    "line",
    [
        b'{"end":"a"}',
        b'{"cut":"a"}',
        b'{"cut":"a","seconds":null}',
        b'{"cut":"a","seconds":"x"}',
        b'{"end":["a"],"code":0}',
        b'{"end":"a\xff\xfe","code":0}',
        b"\xff\xfe",
        b"5",
        b"null",
        b"[1]",
        b'["start"]',
        b'"end"',
        b"[" * 100_000,
        b'{"end":"a","code":',
    ],
)
def test_a_damaged_line_of_a_journal_says_nothing(line, jobs, capsys):
    complete_lines = b'{"start":"b"}\n{"end":"b","code":0,"seconds":1.0}\n'
    (jobs / "part-001.journal.jsonl").write_bytes(line + b"\n" + complete_lines)
    assert main(["batch", str(jobs), "--status"]) == 1
    assert "1 completed, 1 waiting" in capsys.readouterr().out
    assert [task.name for task in batches.rest(jobs)[0].tasks] == ["a"]


def test_the_runner_goes_on_behind_a_damaged_line(jobs):
    lines = b'\xff\xfe\n5\n[1]\n{"end":"a"}\n{"end":["a"],"code":0}\n{"end":"b","code":0}\n'
    (jobs / "part-001.journal.jsonl").write_bytes(lines)
    assert subprocess.run(["bash", jobs / "part-001.sh"], timeout=30).returncode == 0
    assert sorted(batches.status(jobs)[0].completed) == ["a", "b"]
    assert (jobs / "part-001.outputs" / "a.out").exists()
    assert not (jobs / "part-001.outputs" / "b.out").exists()


def test_commands_to_copy_are_quoted(tmp_path, capsys):
    folder, codes = tmp_path / "a $b 'c'", tmp_path / "list.csv"
    codes.write_text("command,seconds\ntrue,1\n")
    options = ["--time", "60", "--cores-per-node", "1", "-o", str(folder)]
    assert main(["batch", str(codes), *options]) == 0
    last_line = capsys.readouterr().out.splitlines()[-1]
    assert last_line.endswith(": " + shlex.join(["bash", str(folder / "submit.sh")]))
    assert main(["batch", str(folder), "--status"]) == 1
    assert shlex.join(["cosched", "batch", str(folder), "--rest"]) in capsys.readouterr().out


@pytest.mark.parametrize("name", ["part-001.journal.jsonl", "rest.json"])
def test_a_pipe_in_the_folder_is_refused(name, jobs, capsys):
    os.mkfifo(jobs / name)
    assert main(["batch", str(jobs), "--status"]) == 2
    assert f"{name}: no regular file" in capsys.readouterr().err
    done = subprocess.run(
        ["bash", jobs / "part-001.sh"], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert "no regular file" in done.stderr


def test_a_pipe_instead_of_the_numbers_of_jobs_is_refused(jobs, capsys, monkeypatch):
    monkeypatch.setattr(pipes, "WRITER_PATIENCE", 0.1)
    os.mkfifo(jobs / "submitted.txt")
    assert main(["batch", str(jobs), "--status"]) == 2
    assert "submitted.txt: a pipe without a writer" in capsys.readouterr().err


def changed(**values):
    return lambda data: data | values


def changed_task(**values):
    return lambda data: data | {"tasks": [data["tasks"][0] | values, *data["tasks"][1:]]}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("batch.json", lambda data: {"format": data["format"]}),
        ("batch.json", lambda data: [data]),
        ("batch.json", changed(format="other")),
        ("batch.json", changed(version=99)),
        ("batch.json", changed(allocations=[{}])),
        ("batch.json", changed(allocations=[])),
        ("batch.json", changed(allocations=5)),
        ("batch.json", changed(node={"cores": 1e999, "memory": None, "gpus": 0})),
        ("batch.json", changed(chance=None)),
        ("batch.json", changed(licences=[])),
        ("part-001.json", lambda data: {}),
        ("part-001.json", lambda data: []),
        ("part-001.json", changed_task(seconds=-1)),
        ("part-001.json", changed_task(seconds="long")),
        ("part-001.json", changed_task(need=[1])),
        ("part-001.json", changed_task(shared=[1.0])),
        ("part-001.json", changed_task(environment=5)),
    ],
)
@pytest.mark.parametrize("asked", [["--status"], ["--rest", "-o", "again"]])
def test_a_damaged_file_is_refused_by_its_name(name, change, asked, jobs, capsys, monkeypatch):
    monkeypatch.chdir(jobs.parent)
    path = jobs / name
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    assert main(["batch", str(jobs), *asked]) == 2
    errors = capsys.readouterr().err
    assert f"{path}: " in errors
    assert "expected what `cosched batch` wrote" in errors
    assert errors.count("\n") == 1


def test_the_rest_in_another_shape(tmp_path, capsys):
    jobs = tmp_path / "jobs"
    written(jobs, [shell("long", 3.0), shell("ok")], limit=10.0)
    (jobs / "part-001.journal.jsonl").write_text('{"cut":"long","seconds":9.5}\n')
    asked = ["batch", str(jobs), "--rest", "-o", str(tmp_path / "again")]
    assert main(asked) == 2
    errors = capsys.readouterr().err
    assert "task 'long' takes 11.4 s" in errors
    assert "expected a longer limit" in errors
    other_shape = ["--time", "1:00", "--chance", "0.8", "--spread", "0.2", "--nodes", "2"]
    assert main([*asked, *other_shape, "--memory-per-node", "4", "--cores-per-node", "3"]) == 0
    batch_file = json.loads((tmp_path / "again" / "batch.json").read_text())
    (allocation,) = batch_file["allocations"]
    assert (allocation["time"], allocation["limit"]) == (60.0, 30.0)
    assert (allocation["nodes"], batch_file["chance"]) == (2, 0.8)
    assert batch_file["spread"] == pytest.approx(0.2, rel=0.02)
    assert (batch_file["node"]["memory"], batch_file["node"]["cores"]) == (4.0, 3.0)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--rest", "--runs", "runs.csv", "-o", "again"], "--runs: the times are those of"),
        (["--status", "--time", "1:00"], "--status: expected the folder, and nothing beside"),
        (["--status", "-o", "again"], "--status: expected the folder, and nothing beside"),
    ],
)
def test_options_without_a_meaning_are_refused(more, said, jobs, capsys):
    assert main(["batch", str(jobs), *more]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"tasks": 3}', '{"nodes": 1, "limit": "a"}', None]
)
def test_the_runner_refuses_what_is_no_allocation(text, tmp_path):
    part = tmp_path / "part-001.json"
    if text is not None:
        part.write_text(text)
    done = subprocess.run(
        [sys.executable, batches.runner.__file__, part], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"{part} is not what cosched batch wrote: ")
    assert done.stderr.count("\n") == 1


def test_a_chance_is_said_as_it_was_asked_for(tmp_path, capsys):
    rows = tmp_path / "list.csv"
    rows.write_text("command,seconds\ntrue,5\n")
    for chance, percentage in (("0.95", "95%"), ("0.999", "99.9%"), ("0.999999999", "99.9999999%")):
        arguments = ["--time", "4h", "--cores-per-node", "1", "--chance", chance]
        assert main(["batch", str(rows), *arguments, "-o", str(tmp_path / chance)]) == 0
        assert f"with a chance of {percentage}\n" in capsys.readouterr().out
