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
from cosched.experiments.design import make_design
from cosched.experiments.state import State
from cosched.experiments.worker import Context, execute
from support import same_results, study_command, wait_for_rows

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
    """A folder with three parts; the last task is not done."""
    context = Context.here(NAME)
    made = [execute(context, number, task) for number, task in enumerate(plan.tasks)]
    state = State.open(tmp_path, plan, context.version, False)
    for chosen in (made[:4], made[4:8], made[8:-1]):
        state.add(chosen)
        state.flush()
    state.close()
    return tmp_path


# --- digests --------------------------------------------------------------------------------


def test_readers_can_check_the_digest(tmp_path):
    """As the page on studies says it, with what is in the file alone."""
    run(tmp_path)
    names = ("results.parquet", "timings.parquet", "state/part-000001.parquet")
    digests = {}
    for name in names:
        data = (tmp_path / name).read_bytes()
        digest = pq.read_metadata(tmp_path / name).metadata[b"cosched.sha256"]
        assert hashlib.sha256(data.replace(digest, b"0" * 64)).hexdigest().encode() == digest
        digests[name] = digest.decode()
    listed = json.loads((tmp_path / "state" / "study.json").read_text())
    assert listed["parts"] == {"part-000001.parquet": digests[names[2]]}
    assert listed["results"] == {name: digests[name] for name in names[:2]}


def test_a_row_that_looks_like_a_digest(tmp_path, plan):
    """The place of the digest is found among rows that hold its name and zeros."""
    row = json.dumps({"status": "ok", "text": f'cosched.sha256": "{"0" * 64}'})
    context = Context.here(NAME)
    outcome = execute(context, 0, plan.tasks[0])._replace(row=row)
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
    assert "part-000002.parquet: whole, 4 rows" in captured.out
    assert "all 4 files are whole" in captured.out
    assert captured.err == ""
    run(begun, resume=True)
    assert main(["study", "verify", str(begun)]) == 0
    assert "results.parquet: whole, 12 rows" in capsys.readouterr().out


def test_verify_says_what_is_damaged(begun, capsys):
    part = begun / "state" / "part-000002.parquet"
    part.write_bytes(part.read_bytes()[:100])
    assert main(["study", "verify", str(begun)]) == 1
    captured = capsys.readouterr()
    assert "part-000002.parquet: DAMAGED: its bytes do not match its digest" in captured.out
    assert "part-000003.parquet: whole, 3 rows" in captured.out
    assert "1 of 4 files are damaged" in captured.err
    assert "--resume" in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["nowhere"], ["."], [], [".", "."], ["--fast"]])
def test_verify_of_no_study(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["study", "verify", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# --- damage ---------------------------------------------------------------------------------


def test_a_damaged_part_runs_again_and_is_said(begun, plan, expected, capsys):
    part = begun / "state" / "part-000002.parquet"
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    state = State.open(begun, plan, Context.here(NAME).version, True)
    assert state.pending() == [4, 5, 6, 7, 11]
    state.close()
    (line,) = notes(capsys)
    assert line.startswith(f"note: {part}: damaged (its bytes do not match its digest); moved to ")
    assert line.endswith("its tasks run again")
    assert (part.parent / "damaged" / part.name).read_bytes() == data
    assert not damaged(begun)
    run(begun, resume=True)
    assert same_results(begun, expected)
    assert notes(capsys) == []


def test_a_missing_part_is_said(begun, expected, capsys):
    (begun / "state" / "part-000003.parquet").unlink()
    assert damaged(begun) == {"state/part-000003.parquet": "missing"}
    run(begun, resume=True)
    (line,) = notes(capsys)
    assert "part-000003.parquet: damaged (missing); its tasks run again" in line
    assert same_results(begun, expected)
    assert not damaged(begun)


def test_swapped_parts_are_said(begun, expected, capsys):
    one, two = (begun / "state" / f"part-00000{number}.parquet" for number in (1, 2))
    kept = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(kept)
    assert set(damaged(begun).values()) == {"it was not written by that name"}
    run(begun, resume=True)
    assert len(notes(capsys)) == 2
    assert same_results(begun, expected)


def test_parts_of_others_are_said(begun, tmp_path, plan, expected, capsys):
    """Of another study, by the name of the next part; of another run of this study."""
    for name, place in (("TOY", 4), ("PLAIN", 2)):
        other = tmp_path / name
        experiments.run(f"toy_studies:{name}", quick=True, workers=0, out=other)
        data = (other / "state" / "part-000001.parquet").read_bytes()
        (begun / "state" / f"part-00000{place}.parquet").write_bytes(data)
    assert list(damaged(begun)) == ["state/part-000002.parquet", "state/part-000004.parquet"]
    capsys.readouterr()
    run(begun, resume=True)
    assert len(notes(capsys)) == 2
    assert same_results(begun, expected)


def test_a_damaged_list_is_written_anew(begun, expected, capsys):
    listed = begun / "state" / "study.json"
    listed.write_bytes(listed.read_bytes().replace(b'"tasks": 12', b'"tasks": 13'))
    assert list(damaged(begun)) == ["state/study.json"]
    with pytest.raises(StudyError, match=r"11 of 12 rows .* add --resume"):
        run(begun)
    run(begun, resume=True)
    (line,) = notes(capsys)
    assert "study.json: damaged (its bytes do not match its digest); written anew" in line
    assert same_results(begun, expected)
    assert not damaged(begun)


def test_a_damaged_list_hides_no_other_plan(begun, capsys):
    """The parts themselves say whose they are."""
    (begun / "state" / "study.json").write_bytes(b"\xff\xfe")
    with pytest.raises(StudyError, match="begun with another study"):
        experiments.run("toy_studies:TOY", quick=True, workers=0, resume=True, out=begun)
    assert len(list(begun.glob("state/part-*"))) == 3
    assert notes(capsys) == []


@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_a_missing_list_is_one_line(resume, begun, capsys):
    (begun / "state" / "study.json").unlink()
    before = sorted(begun.rglob("*"))
    command = ["study", "run", NAME, "--quick", "--workers", "1", "--out", str(begun)]
    assert main([*command, *resume]) == 2
    (line,) = notes(capsys)
    assert f"{begun}/state/study.json is missing" in line
    assert f"put it back, choose another --out, or remove {begun}/state" in line
    assert sorted(begun.rglob("*")) == before
    assert damaged(begun) == {"state/study.json": "missing"}


def test_damaged_results_are_written_anew(begun, expected, capsys):
    run(begun, resume=True)
    (begun / "timings.parquet").unlink()
    (begun / "results.parquet").write_bytes(expected[:-1])
    assert list(damaged(begun)) == ["results.parquet", "timings.parquet"]
    run(begun, resume=True)
    assert [line.endswith("; written anew at the end") for line in notes(capsys)] == [True] * 2
    assert same_results(begun, expected)
    assert not damaged(begun)


def test_all_parts_gone(begun, expected, capsys):
    """Nothing is there to resume, so a run without --resume begins anew, and says why."""
    for part in begun.glob("state/part-*"):
        part.unlink()
    run(begun)
    assert len(notes(capsys)) == 3
    assert same_results(begun, expected)


# --- an end at any moment -------------------------------------------------------------------


@pytest.fixture
def each_write(monkeypatch):
    """Call a function before and after each step of each write; there is a part for six rows."""
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
        if list(folder.glob("state/part-*")):
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
        if list(out.glob("state/part-*")):
            assert not damaged(out)
        run(out, resume=True)
        assert same_results(out, expected)
        assert not unfinished(out)
        moments += 1
    assert moments > 40
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
        rows = sum(pq.read_metadata(part).num_rows for part in out.glob("state/part-*"))
        kept = 0 if "no row is kept" in line else int(line.split(" of 12 rows")[0].split()[-1])
        assert kept <= rows <= kept + 1  # one whose part is there, but not in the list
        if rows:
            assert not damaged(out)
        run(out, resume=True)
        assert same_results(out, expected)
        moment += 3
    assert moment > 20
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
