"""Files that grow while codes run, with a fault at every write: whole lines, and all goes on."""

import errno
import itertools
import json
import os
import subprocess
import sys

import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.execution import Code, Codes, profile, run
from cosched.execution.journal import Journal, read_past
from cosched.execution.runs_file import RunsFile, read_runs

NAMES = ["a", "b", "c"]
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def codes(tmp_path):
    return Codes(
        procs=1, codes={name: Code(name=name, command="true", directory=tmp_path) for name in NAMES}
    )


def plan():
    return cs.packs.sequential(cs.packs.Instance([[0.1]] * 3, names=NAMES))


class Faults:
    """Stands for a function of ``os``: its k-th call fails, or writes a half."""

    def __init__(self, name, at, short=False, for_good=False):
        self.real = getattr(os, name)
        self.at, self.short, self.for_good = at, short, for_good
        self.calls = 0

    def __call__(self, handle, *arguments):
        self.calls += 1
        now = self.calls >= self.at if self.for_good else self.calls == self.at
        if not now:
            return self.real(handle, *arguments)
        if self.short:
            return self.real(handle, bytes(arguments[0])[: len(arguments[0]) // 2])
        if arguments and self.calls == self.at and not isinstance(arguments[0], int):
            self.real(handle, bytes(arguments[0])[:7])  # a part of it got there
        raise FULL


def faulty(monkeypatch, at, kind):
    """With a fault at the k-th write."""
    name = "fsync" if kind == "fsync" else "write"
    fault = Faults(name, at, short=kind == "short", for_good=kind == "full")
    monkeypatch.setattr(f"cosched.io.append_only.os.{name}", fault)
    if kind == "full":  # nothing can be taken back either
        monkeypatch.setattr("cosched.io.append_only.os.ftruncate", Faults("ftruncate", 1))
    return fault


def failure(work):
    try:
        work()
    except OSError as error:
        return error
    return None


@pytest.mark.parametrize("kind", ["fails", "fsync", "full"])
def test_a_journal_with_a_fault_at_every_write(kind, codes, tmp_path, monkeypatch):
    for at in itertools.count(1):
        journal = tmp_path / f"{at}.jsonl"
        with monkeypatch.context() as patch:
            Journal.open(journal, False, "").close()  # opening cuts what is there
            fault = faulty(patch, at, kind)
            error = failure(lambda journal=journal: run(plan(), codes, journal=journal))
        if error is None:
            assert fault.calls < at
            break
        assert (error.errno, error.filename) == (errno.ENOSPC, str(journal))
        text = journal.read_bytes()
        if kind != "full":
            assert text == b"" or text.endswith(b"\n")
        resumed = run(plan(), codes, journal=journal, resume=True)
        assert resumed.good
        assert {task.state for task in resumed.tasks} == {"completed"}
        assert journal.read_bytes().endswith(b"\n")
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        ended = [line["name"] for line in lines if line["event"] == "ended"]
        lost = [line["name"] for line in lines if line["event"] == "lost"]
        assert sorted(ended) == NAMES  # nothing that was known to be done ran again
        assert len(lost) <= 1
    assert at > 10


def test_short_writes_are_completed(codes, tmp_path, monkeypatch):
    for at in itertools.count(1):
        journal, out = tmp_path / f"{at}.jsonl", tmp_path / f"{at}.csv"
        with monkeypatch.context() as patch:
            fault = faulty(patch, at, "short")
            assert run(plan(), codes, journal=journal).good
            profile(codes, repeat=1, out=out)
        assert {task.state for task in read_past(journal).tasks.values()} == {"completed"}
        assert sorted(run.task for run in read_runs(out)) == NAMES
        if fault.calls < at:
            break


@pytest.mark.parametrize("kind", ["fails", "fsync"])
def test_runs_with_a_fault_at_every_write(kind, codes, tmp_path, monkeypatch):
    for at in itertools.count(1):
        out = tmp_path / f"{at}.csv"
        with monkeypatch.context() as patch:
            fault = faulty(patch, at, kind)
            error = failure(lambda out=out: profile(codes, repeat=2, out=out))
        if error is None:
            assert fault.calls < at
            break
        assert (error.errno, error.filename) == (errno.ENOSPC, str(out))
        text = out.read_bytes()
        assert text.count(b"\n") == at - 1  # whole rows, and all that were before the fault
        assert text == b"" or text.endswith(b"\n")
        assert len(profile(codes, repeat=2, out=out)) == 6


def test_the_command_names_the_file(codes, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cs.io.write_json(plan().to_dict(), "plan.json")
    lines = "".join(f'[task.{name}]\ncommand = "true"\n' for name in NAMES)
    (tmp_path / "codes.toml").write_text(f"procs = 1\n{lines}")
    with monkeypatch.context() as patch:
        faulty(patch, 4, "fails")
        assert main(["run", "plan.json", "--codes", "codes.toml"]) == 2
    expected_error = "cosched: error: plan.journal.jsonl: No space left on device\n"
    assert capsys.readouterr().err == expected_error
    assert main(["run", "plan.json", "--codes", "codes.toml", "--resume"]) == 0


def test_the_disk_of_the_system_is_full(codes, tmp_path):
    """A limit on the size of files, as the kernel has it: short writes, then errors."""
    cs.io.write_json(plan().to_dict(), tmp_path / "plan.json")
    lines = "".join(f'[task.{name}]\ncommand = "true"\n' for name in NAMES)
    (tmp_path / "codes.toml").write_text(f"procs = 1\n{lines}")
    program = (
        "import resource, signal, sys\n"
        "from cosched.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (700, resource.RLIM_INFINITY))\n"
        "sys.exit(main(['run', 'plan.json', '--codes', 'codes.toml']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "cosched: error: plan.journal.jsonl: File too large\n"
    journal = tmp_path / "plan.journal.jsonl"
    assert journal.read_bytes().endswith(b"\n")
    assert 300 < journal.stat().st_size <= 700
    command = [sys.executable, "-m", "cosched", "run", "plan.json", "--codes", "codes.toml"]
    assert subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True).returncode == 0


@pytest.mark.parametrize("kind", ["fifo", "device", "folder"])
def test_what_is_no_file_is_refused(kind, codes, tmp_path):
    name = tmp_path / "journal.csv"
    if kind == "fifo":
        os.mkfifo(name)
    elif kind == "device":
        name.symlink_to("/dev/null")
    else:
        name.mkdir()
    for opened in (lambda: run(plan(), codes, journal=name), lambda: RunsFile(name)):
        with pytest.raises(InvalidInstance, match=r"journal.csv: no regular file"):
            opened()


@pytest.mark.parametrize("text", ["notes of mine", '{"event": 3', "a\nb", '{"event": "run"}\nb'])
def test_a_file_that_is_no_journal_is_left_alone(text, codes, tmp_path):
    for name in ("journal.jsonl", "runs.csv"):
        (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInstance, match=r"journal.jsonl: line \d: .*: expected a line"):
        run(plan(), codes, journal=tmp_path / "journal.jsonl", resume=True)
    with pytest.raises(InvalidInstance, match=r"runs.csv: line 1: header"):
        RunsFile(tmp_path / "runs.csv")
    assert (tmp_path / "journal.jsonl").read_text() == text
    assert (tmp_path / "runs.csv").read_text() == text


def test_a_plan_whose_journal_would_have_too_long_a_name(codes, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "p" * 250 + ".json"
    cs.io.write_json(plan().to_dict(), name)
    (tmp_path / "codes.toml").write_text(
        "procs = 1\n" + "".join(f'[task.{task}]\ncommand = "true"\n' for task in NAMES)
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    command = ["run", name, "--codes", "codes.toml"]
    assert main(command) == 2
    assert capsys.readouterr().err.endswith(": File name too long\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert main([*command, "--journal", "j.jsonl"]) == 0
