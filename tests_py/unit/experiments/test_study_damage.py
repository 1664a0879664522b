"""What can befall a study's files: damage, a full disk, an end at any moment, a second run."""

import errno
import fcntl
import hashlib
import json
import os
import resource
import shutil
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import toy_studies
from cosched import experiments
from cosched.cli import main
from cosched.errors import StudyError
from cosched.experiments.state import State
from cosched.experiments.study import make_design
from cosched.experiments.worker import Context, execute
from support import rows_kept, same_results, study_command, wait_for_rows

NAME = "toy_studies:PLAIN"


def run(out, **options):
    return experiments.run(NAME, quick=True, workers=0, out=out, **options)


def damaged(out):
    return {file.name: file.damage for file in experiments.verify(out) if file.damage}


def notes(capsys):
    """What was said, a line each; the campaign itself says nothing here."""
    return capsys.readouterr().err.splitlines()


@pytest.fixture(scope="module")
def plan():
    return make_design(toy_studies.PLAIN, NAME, True)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """results.parquet of a run that nothing befell."""
    out = tmp_path_factory.mktemp("expected")
    run(out)
    return (out / "results.parquet").read_bytes()


@pytest.fixture
def begun(tmp_path, plan):
    """A folder with all rows but the last task's."""
    context = Context.here(NAME)
    made = [execute(context, number, task) for number, task in enumerate(plan.tasks)]
    state = State.open(tmp_path, plan, context.version, False)
    state.add(made[:-1])
    state.close()
    return tmp_path


# --- digests --------------------------------------------------------------------------------


def rows_of(out):
    """The file of the rows, and its lines: the head, the rows, the head again."""
    path = out / "state" / "rows.jsonl"
    return path, path.read_text().splitlines(keepends=True)


def test_readers_can_check_the_digests(tmp_path):
    """As the page on studies says it, with what is in the files alone."""
    run(tmp_path)
    _, lines = rows_of(tmp_path)
    for line in lines:
        digest, _, text = line.rstrip("\n").partition(" ")
        assert hashlib.sha256(text.encode()).hexdigest() == digest
    assert lines[0] == lines[-1]
    head = json.loads(lines[0].partition(" ")[2])
    assert head["rows"] == len(lines) - 2 == 12
    assert list(head["digests"]) == ["results.parquet", "timings.parquet", "report.html"]
    for name, digest in head["digests"].items():
        data = (tmp_path / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest
        if name.endswith(".parquet"):
            own = pq.read_metadata(tmp_path / name).metadata[b"cosched.sha256"]
            assert hashlib.sha256(data.replace(own, b"0" * 64)).hexdigest().encode() == own


def test_a_row_that_looks_like_a_digest(tmp_path, plan):
    """Lines are told apart whatever the rows hold: new lines, heads, digests."""
    text = f'cosched.sha256": "{"0" * 64}\n{"0" * 64} {{"owner": {{}}}}'
    row = json.dumps({"status": "ok", "text": text})
    context = Context.here(NAME)
    outcome = execute(context, 0, plan.tasks[0])._replace(row=row, detail=text)
    state = State.open(tmp_path, plan, context.version, False)
    state.add([outcome])
    state.close()
    assert not damaged(tmp_path)
    again = State.open(tmp_path, plan, context.version, True)
    assert again.outcomes == {0: outcome}
    again.close()


def test_verify_says_what_is_whole(begun, capsys):
    assert main(["study", "verify", str(begun)]) == 0
    captured = capsys.readouterr()
    assert "rows.jsonl: whole, 11 rows" in captured.out
    assert "all 1 files are whole" in captured.out
    assert captured.err == ""
    run(begun, resume=True)
    assert main(["study", "verify", str(begun)]) == 0
    assert "results.parquet: whole, 12 rows" in capsys.readouterr().out


def test_verify_says_what_is_damaged(begun, capsys):
    path, lines = rows_of(begun)
    path.write_text("".join(lines)[:1000])
    assert main(["study", "verify", str(begun)]) == 1
    captured = capsys.readouterr()
    assert "rows.jsonl: DAMAGED: 1 of its lines do not match their digests" in captured.out
    assert "1 of 1 files are damaged" in captured.err
    assert "--resume" in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["nowhere"], ["."], [], [".", "."], ["--fast"]])
def test_verify_of_no_study(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["study", "verify", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# --- damage ---------------------------------------------------------------------------------


def test_a_damaged_row_runs_again_and_is_said(begun, plan, expected, capsys):
    path, lines = rows_of(begun)
    lines[5] = lines[5].replace("ok", "ko", 1)
    path.write_text("".join(lines))
    state = State.open(begun, plan, Context.here(NAME).version, True)
    assert state.pending() == [4, 11]
    state.close()
    (line,) = notes(capsys)
    damage = "1 of its lines do not match their digests"
    assert line.startswith(f"note: {path}: damaged ({damage}); moved to {begun}/state/rows.damaged")
    assert line.endswith("2 tasks have no row and run again")
    assert (begun / "state" / "rows.damaged").read_text() == "".join(lines)
    assert not damaged(begun)
    run(begun, resume=True)
    assert same_results(begun, expected)
    assert notes(capsys) == []


@pytest.mark.parametrize("place", [0, -1])
def test_a_damaged_head_is_there_again(place, begun, expected, capsys):
    path, lines = rows_of(begun)
    lines[place] = lines[place].replace('"tasks": 12', '"tasks": 13')
    path.write_text("".join(lines))
    assert list(damaged(begun)) == ["state/rows.jsonl"]
    with pytest.raises(StudyError, match=r"11 of 12 rows .* add --resume"):
        run(begun)
    run(begun, resume=True)
    (line,) = notes(capsys)
    assert line.endswith("1 tasks have no row and run again")
    assert same_results(begun, expected)
    assert not damaged(begun)


def test_rows_that_are_gone_are_said(begun, expected, capsys):
    path, lines = rows_of(begun)
    path.write_text("".join([*lines[:3], *lines[5:]]))
    assert damaged(begun) == {"state/rows.jsonl": "9 rows where 11 were written"}
    run(begun, resume=True)
    (line,) = notes(capsys)
    assert line.endswith("3 tasks have no row and run again")
    assert same_results(begun, expected)


def test_rows_of_another_study_are_not_taken(begun, tmp_path, expected, capsys):
    experiments.run("toy_studies:RAISES", quick=True, workers=0, out=tmp_path / "other")
    path, lines = rows_of(begun)
    _, others = rows_of(tmp_path / "other")
    path.write_text("".join([*lines[:-1], others[3], lines[-1]]))
    assert list(damaged(begun)) == ["state/rows.jsonl"]
    run(begun, resume=True)
    assert same_results(begun, expected)
    path.write_text("".join(others))
    with pytest.raises(StudyError, match="begun with another study"):
        run(begun, resume=True)
    assert rows_of(begun)[1] == others


def test_a_file_that_does_not_say_whose_it_is(begun, expected, capsys):
    path, lines = rows_of(begun)
    path.write_text("".join(lines[1:-1]))
    assert damaged(begun) == {"state/rows.jsonl": "none of its 11 lines says whose the rows are"}
    run(begun)  # nothing is there to go on with
    (line,) = notes(capsys)
    assert line.endswith("12 tasks have no row and run again")
    assert same_results(begun, expected)


def test_a_state_of_an_earlier_version_is_left_alone(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "study.json").write_text("{}")
    for resume in (False, True):
        with pytest.raises(StudyError, match="no state of this version of cosched"):
            run(tmp_path, resume=resume)
    assert list(tmp_path.glob("**/*.*")) == [tmp_path / "state" / "study.json"]


def test_rows_that_are_missing_beside_results(begun, expected, capsys):
    run(begun, resume=True)
    (begun / "state" / "rows.jsonl").unlink()
    assert damaged(begun) == {"state/rows.jsonl": "missing"}
    run(begun)
    (line,) = notes(capsys)
    assert line.endswith("damaged (missing); 12 tasks have no row and run again")
    assert same_results(begun, expected)
    assert not damaged(begun)


def test_damaged_results_are_written_anew(begun, expected, capsys):
    run(begun, resume=True)
    (begun / "timings.parquet").unlink()
    (begun / "results.parquet").write_bytes(expected[:-1])
    assert list(damaged(begun)) == ["results.parquet", "timings.parquet"]
    run(begun, resume=True)
    assert [line.endswith("; written anew at the end") for line in notes(capsys)] == [True] * 2
    assert same_results(begun, expected)
    assert not damaged(begun)


# --- an end at any moment -------------------------------------------------------------------


@pytest.fixture
def each_write(monkeypatch):
    """Call a function before and after each step of each write; one for six rows."""
    hooks = []

    def watched(owner, name):
        real = getattr(owner, name)

        def step(*arguments, **keywords):
            for hook in hooks:
                hook("before")
            answer = real(*arguments, **keywords)
            for hook in hooks:
                hook("after")
            return answer

        monkeypatch.setattr(owner, name, step)

    for owner, name in (
        (os, "replace"),
        (tempfile, "mkstemp"),
        (Path, "write_bytes"),
        (Path, "write_text"),
    ):
        watched(owner, name)
    add = State.add

    def add_and_flush(self, found):
        add(self, found)
        if len(self.outcomes) % 6 == 0:
            self.flush()

    monkeypatch.setattr(State, "add", add_and_flush)
    return hooks


def unfinished(out):
    return [path for path in out.rglob(".*") if path.is_file()]


def content(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_kill_at_any_moment(tmp_path, each_write, expected, capsys):
    """What lies in the folder at each moment is what a kill then would leave."""
    out, seen, left = tmp_path / "out", [], []

    def snapshot(_):
        now = content(out)
        if now not in seen:
            seen.append(now)
            left.append(shutil.copytree(out, tmp_path / f"left{len(left)}"))

    each_write.append(snapshot)
    run(out)
    each_write.clear()
    assert len(left) > 20
    assert any(unfinished(folder) for folder in left)
    for folder in left:
        if (folder / "state" / "rows.jsonl").exists():
            assert not damaged(folder)
        run(folder, resume=True)
        assert same_results(folder, expected)
        assert not unfinished(folder)
        assert not damaged(folder)
    assert notes(capsys) == []


def test_ctrl_c_at_any_moment(tmp_path, each_write, expected, capsys):
    moments = 0
    while True:
        out = tmp_path / f"out{moments}"
        left = moments

        def interrupt(_):
            nonlocal left
            left -= 1
            if left == -1:
                raise KeyboardInterrupt

        each_write[:] = [interrupt]
        try:
            run(out)
            break
        except KeyboardInterrupt as stop:
            said = str(stop)
        each_write.clear()
        assert "the same command with --resume goes on" in said
        if (out / "state" / "rows.jsonl").exists():
            assert not damaged(out)
        run(out, resume=True)
        assert same_results(out, expected)
        assert not unfinished(out)
        moments += 1
    assert moments > 30
    assert notes(capsys) == []


# --- a full disk ----------------------------------------------------------------------------


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_is_full_from_some_write_on(reason, tmp_path, each_write, expected, capsys):
    moment = 0
    while True:
        out = tmp_path / f"out{moment}"
        left = moment

        def full(when):
            nonlocal left
            left -= when == "before"
            if left < 0:
                raise OSError(reason, os.strerror(reason))

        each_write[:] = [full]
        try:
            run(out)
            break
        except StudyError as error:
            line = str(error)
        each_write.clear()
        assert line.startswith(f"{out}: {os.strerror(reason)}: free some space and run the same ")
        assert "--resume" in line
        assert not unfinished(out)
        rows = rows_kept(out)
        kept = 0 if "no row is kept" in line else int(line.split(" of 12 rows")[0].split()[-1])
        assert kept <= rows <= kept + 1
        if rows:
            assert not damaged(out)
        run(out, resume=True)
        assert same_results(out, expected)
        moment += 3
    assert moment > 15
    assert notes(capsys) == []


def test_a_limit_of_the_system(tmp_path, expected):
    """For real: files may have 4,000 bytes, which a report has not."""
    out = tmp_path / "out"
    driver = study_command(
        *(NAME, "--quick", "--workers", "1", "--out", out),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, -1)),
        COVERAGE_PROCESS_CONFIG="",  # whose own file would be too large as well
    )
    _, errors = driver.communicate(timeout=120)
    assert driver.returncode == 2, errors
    assert errors.count("\n") == 1, errors
    assert "File too large: free some space and run the same command again with" in errors
    assert not unfinished(out)
    run(out, resume=True)
    assert same_results(out, expected)


# --- a second run ---------------------------------------------------------------------------


def test_a_second_run_in_the_folder_is_refused(tmp_path, capsys):
    (tmp_path / "pace").write_text("0.3")
    out = tmp_path / "out"
    command = ["toy_studies:PLAIN", "--workers", "1", "--out", str(out)]
    first = study_command(*command, TOY_SLEEP=str(tmp_path / "pace"))
    try:
        wait_for_rows(out, first)
        for more in ([], ["--resume"]):
            assert main(["study", "run", *command, *more]) == 2
            (line,) = notes(capsys)
            assert f"{out}: another run is at work there" in line
        assert main(["study", "verify", str(out)]) == 0  # a look is free
    finally:
        first.kill()
        first.communicate()
    assert main(["study", "run", *command, "--resume"]) == 0  # nobody is at work there now


def test_a_file_system_without_locks_is_said(tmp_path, monkeypatch, capsys):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    run(tmp_path)
    (line,) = notes(capsys)
    assert line == f"note: {tmp_path}: its file system has no locks: let no other run write there"
