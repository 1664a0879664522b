"""Measuring codes: rows, order, resume, failures; plans in words; what the spread does."""

import csv
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.execution import Codes, plan, profile
from cosched.execution.runs_file import read_runs
from execution_codes import noting, read_notes, shell_notes


@pytest.fixture
def out(tmp_path):
    return tmp_path / "runs.csv"


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_each_code_on_each_count_alone(tmp_path, out):
    codes = noting(tmp_path, {"a": 0.0, "b": 0.0}, procs=2)
    frame = profile(codes, repeat=2, out=out, oversubscribe=True)
    assert list(frame.columns) == (
        ["task", "processors", "seconds", "status", "started", "host", "attempt"]
        + ["cpu_seconds", "memory", "memory_by", "load", "starved", "beside"]
        + ["command", "parameters"]
    )
    pairs = sorted(zip(frame.task, frame.processors, strict=True))
    assert pairs == sorted([(name, q) for name in "ab" for q in (1, 2)] * 2)
    notes = read_notes(tmp_path)
    assert [note["what"] for note in notes] == ["start", "end"] * 8  # never two at once
    assert {note["procs"] for note in notes} == {"1", "2"}
    assert (frame.seconds > 0).all()


def test_rounds_are_drawn_anew_and_go_over_all_codes(tmp_path, out):
    codes = shell_notes(tmp_path, dict.fromkeys("abcdef", "true"), procs=1)
    frame = profile(codes, repeat=3, out=out, seed=4)
    order = [frame.task.tolist()[k : k + 6] for k in (0, 6, 12)]
    assert all(sorted(round_) == list("abcdef") for round_ in order)
    assert order[0] != order[1] or order[1] != order[2]
    second_file = tmp_path / "again.csv"
    assert profile(codes, repeat=3, out=second_file, seed=4).task.tolist() == frame.task.tolist()


def test_a_failure_is_a_row_and_a_count_becomes_impossible(tmp_path, out):
    codes = shell_notes(tmp_path, {"a": "exit $(($COSCHED_PROCS - 1))"}, procs=2)
    frame = profile(codes, repeat=2, attempts=3, out=out, oversubscribe=True)
    failed = frame[frame.processors == 2]
    assert failed.status.tolist() == ["failed (1)"] * 3
    assert failed.seconds.isna().all()
    assert failed.attempt.tolist() == [1, 2, 3]
    inst = cs.packs.Instance.read(out)
    assert np.isinf(inst.times[0, 1])
    assert not [note for note in inst.notes if "not read" in note]


def test_a_timeout_is_a_row(tmp_path, out):
    codes = shell_notes(tmp_path, {"a": "sleep 60"}, procs=1)
    slow = Codes(procs=1, codes={"a": replace(codes["a"], timeout=0.05)})
    assert profile(slow, attempts=1, out=out).status.tolist() == ["timeout"]


def test_the_same_call_goes_on(tmp_path, out):
    codes = shell_notes(tmp_path, {"a": "note end", "b": "note end"}, procs=1)
    profile(codes, repeat=1, out=out)
    with open(out, "a") as file:
        file.write("b,1,0.0")  # a crash while a row was written
    frame = profile(codes, repeat=3, out=out)
    assert len(frame) == len(read_notes(tmp_path)) == 6
    assert len(profile(codes, repeat=3, out=out)) == 6  # nothing left to run
    assert len(read_notes(tmp_path)) == 6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_killed_profile_loses_the_run_at_hand_only(number, tmp_path):
    (tmp_path / "codes.toml").write_text(
        'procs = 1\n[task.a]\ncommand = "test -e block && echo $$ > pid && sleep 60; true"\n'
    )
    command = [sys.executable, "-m", "cosched", "profile", "codes.toml", "--repeat", "2"]
    assert (
        main(
            ["profile", str(tmp_path / "codes.toml"), "--repeat", "1"]
            + ["-o", str(tmp_path / "runs.csv")]
        )
        == 0
    )
    (tmp_path / "block").touch()
    driver = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "pid").exists():
        assert driver.poll() is None
        time.sleep(0.02)
    driver.send_signal(number)
    _, errors = driver.communicate(timeout=120)
    assert driver.returncode == 128 + number
    assert "runs.csv has 1 run; the same command goes on" in errors
    (tmp_path / "block").unlink()
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    assert [row["status"] for row in rows(tmp_path / "runs.csv")] == ["completed"] * 2


def test_pairs_are_those_that_were_wanted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes.toml").write_text(
        'procs = 4\n[task.a]\ncommand = "true"\n[task.b]\ncommand = "true"\n'
    )
    command = ["profile", "codes.toml", "--repeat", "1", "--oversubscribe"]
    assert main([*command, "--counts", "1,2,3,4"]) == 0
    assert "8 of 8 pairs of code and count were measured" in capsys.readouterr().out
    assert main([*command, "--counts", "1,2"]) == 0
    assert "4 of 4 pairs" in capsys.readouterr().out


def test_counts_that_no_code_may_have_are_refused(tmp_path, out):
    codes = shell_notes(tmp_path, {"a": "true"}, procs=4)
    limited_codes = Codes(procs=4, codes={"a": replace(codes["a"], counts=(1, 2))})
    with pytest.raises(InvalidInstance, match="none of the counts"):
        profile(limited_codes, counts=[4], out=out)
    with pytest.raises(InvalidInstance, match="at most 4"):
        profile(limited_codes, counts=[8], out=out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("task,processors\na,1\n", "line 1: header"),
        ("task,processors,seconds\na,1,x\n", "line 2, column 'seconds'"),
        ("task,processors,seconds\na,0,1\n", "line 2, column 'processors'"),
        ("task,processors,seconds,status\na,1,1,odd\n", "line 2, column 'status'"),
        ("task,processors,seconds\n,1,1\n", "line 2, column 'task'"),
    ],
)
def test_bad_runs(out, text, says):
    out.write_text(text)
    with pytest.raises(InvalidInstance, match=says):
        read_runs(out)


def sweep_of(folder, command, values):
    (folder / "codes.toml").write_text(
        f'procs = 1\n[task.a]\ncommand = "{command}"\n[task.b]\ncommand = "true"\n'
        f'[task.s]\ncommand = "echo {{x}}"\nparameters = {{ x = {values} }}\n'
    )
    return Codes.read(folder / "codes.toml")


def test_a_changed_command_is_measured_anew(tmp_path, out):
    profile(sweep_of(tmp_path, "true", [1, 2]), repeat=2, out=out)
    before = rows(out)
    assert {row["parameters"] for row in before if row["task"] != "s"} == {""}
    swept = {row["parameters"] for row in before if row["task"] == "s"}
    assert swept <= {'{"x": "1"}', '{"x": "2"}'}
    assert len({row["command"] for row in before}) == 2  # of a and b, and of s
    other = sweep_of(tmp_path, "true again", [3])
    notes = plan(out, sweep_of(tmp_path, "x", [1, 2])).notes
    (note,) = (note for note in notes if "do not count" in note)
    assert note.startswith("2 runs do not count: the command of a, or")
    frame = profile(other, repeat=2, out=out)
    assert rows(out)[: len(before)] == before  # kept, and nothing of them counts
    assert sorted(frame.task) == sorted(["a", "a", "b", "b", "s", "s"])
    assert frame.attrs["notes"][0].startswith("6 runs do not count: the command of ")
    new_rows = rows(out)
    assert [row["task"] for row in new_rows[len(before) :]] == frame.task.tolist()[2:]
    assert profile(other, repeat=2, out=out).task.tolist() == frame.task.tolist()
    assert rows(out) == new_rows


def test_of_a_changed_command_the_newest_runs_are_planned(out):
    ours = "task,processors,seconds,status,started,host,attempt,command"
    new = "a,1,2,completed,,h,1,second\n"
    out.write_text(f"{ours}\na,1,9,completed,,h,1,first\na,1,4,completed,,h,1,\n{new}")
    assert plan(out).result.value == 3.0  # a run that does not say its command counts
    assert cs.packs.Instance.read(out).times.tolist() == [[3.0]]
    out.write_text("task,processors,seconds,command\na,1,9,./a -n 1\na,1,3,./a -n 2\n")
    assert plan(out).result.value == 6.0  # a column of somebody's own
    assert cs.packs.Instance.read(out).times.tolist() == [[6.0]]


def test_a_sweep_that_is_measured_as_one_says_whose_times_it_is_planned_with(tmp_path, out):
    codes = sweep_of(tmp_path, "true", [1, 2, 3])
    profile(codes, repeat=1, out=out, alike=True)
    assert (
        "the 3 tasks of the sweep s are planned with the same times, measured on 1 of their "
        "combinations"
    ) in plan(out, codes).notes


def test_tasks_of_a_sweep_have_times_of_their_own(tmp_path, out, capsys):
    text = f"test {{x}} != 0 || {{ echo x >> {tmp_path}/zeros; exit 3; }}; sleep {{x}}"
    (tmp_path / "codes.toml").write_text(
        f"procs = 1\n[task.s]\ncommand = '{text}'\nparameters = {{ x = [0.02, 0.4, 0] }}\n"
    )
    codes = Codes.read(tmp_path / "codes.toml")
    frame = profile(codes, repeat=2, out=out)
    assert set(frame.task) == {"s"}
    assert sorted(frame.parameters) == sorted(f'{{"x": "{x}"}}' for x in [0.02, 0.4, 0] * 2)
    advice = plan(out, codes)
    instance = advice.result.instance
    times = dict(zip(instance.names, instance.times[:, 0].tolist(), strict=True))
    assert times.keys() == {"s x=0.02", "s x=0.4"}
    assert times["s x=0.02"] < 0.4 <= times["s x=0.4"]
    assert any(note.startswith("s x=0 failed on all counts: failed (3)") for note in advice.notes)
    assert not any("same times" in note for note in advice.notes)
    assert len(profile(codes, repeat=2, out=out)) == len(frame)
    assert main(["profile", str(tmp_path / "codes.toml"), "--repeat", "2", "-o", str(out)]) == 0
    output = capsys.readouterr().out
    assert "s x=0.02" in output
    assert "3 of 3 pairs of code and count were measured" in output


@pytest.mark.parametrize("more", [[], ["--adaptive"]])
def test_a_code_that_fails_everywhere_ends_alone(more, tmp_path, capsys):
    path, out = tmp_path / "codes.toml", tmp_path / "out.csv"
    path.write_text(
        'procs = 2\n[task.good]\ncommand = "sleep 0.1"\n[task.broken]\ncommand = "exit 3"\n'
        '[task.later]\ncommand = "sleep 0.1"\ngpus = 1\n'
    )
    arguments = ["profile", str(path), "-o", str(out), "--repeat", "1", "--oversubscribe", *more]
    assert main(arguments) == 0
    output = capsys.readouterr().out
    assert "note: broken failed on all counts: failed (3) on " in output
    assert "note: no [capacity] for gpus: no limit" in output
    assert {run.task for run in read_runs(out) if run.status == "completed"} == {"good", "later"}
    path.write_text('procs = 1\n[task.broken]\ncommand = "exit 3"\n')
    out.unlink()
    assert main(arguments) == 1
    assert "all runs failed: their outputs are in " in capsys.readouterr().err


@pytest.mark.parametrize("word", ["cores", "threads", "count", "procs"])
def test_columns_under_other_names(word, out):
    out.write_text(f"task,{word},time\na,1,4\na,2,3\n")
    assert plan(out).result.value == 3.0
    inst = cs.packs.Instance.read(out)
    assert inst.times.tolist() == [[4.0, 3.0]]
    assert f"column '{word}' is read as processors" in inst.notes
    out.write_text("task,cores,threads,time\na,1,1,4\n")  # which of them counts?
    for read in (plan, cs.packs.Instance.read):
        with pytest.raises(InvalidInstance, match=r"expected .*task,processors,seconds"):
            read(out)


def test_another_file_is_not_appended_to(tmp_path, out):
    out.write_text("some,thing\nelse,1\n")
    with pytest.raises(InvalidInstance, match="line 1: header"):
        profile(shell_notes(tmp_path, {"a": "true"}, procs=1), out=out)
    assert out.read_text() == "some,thing\nelse,1\n"


# --- plan -----------------------------------------------------------------------------------

RUNS = """\
task,processors,seconds
cfd,1,820
cfd,4,251
cfd,4,259
cfd,16,118
fem,1,400
fem,8,88
fem,16,71
md,1,300
md,16,22
post,1,40
"""


def test_a_plan_in_words(out):
    out.write_text(RUNS)
    advice = plan(out)
    advice.result.schedule.validate()
    text = "\n".join(advice.lines())
    assert "4 tasks on 16 processors end after" in text
    assert "proved: no schedule of any kind ends before" in text
    assert 0 <= advice.gap < 0.3
    assert advice.result.value < advice.sequential_makespan
    # post was measured on one processor only, and gets no other count
    counts = np.diff(advice.result.schedule.unit_begin)[np.argsort(advice.result.schedule.task)]
    assert counts[3] == 1
    for name, count in advice.unmeasured:
        assert f"{name},{count}," not in RUNS
        assert f"{name} on {count}" in text
    low, high = advice.spread
    assert low <= advice.result.value * 1.05
    assert low < high
    assert "in 90% of 200 draws" in text


def test_only_measured_counts_and_those_of_the_codes(tmp_path, out):
    out.write_text(RUNS)
    assert not plan(out, counts="measured").unmeasured
    codes = shell_notes(tmp_path, dict.fromkeys(("cfd", "fem", "md", "post"), "true"))
    codes = Codes(procs=16, codes={**codes.codes, "cfd": replace(codes["cfd"], counts=(4,))})
    advice = plan(out, codes)
    counts = np.diff(advice.result.schedule.unit_begin)[np.argsort(advice.result.schedule.task)]
    assert counts[0] == 4
    assert "whatever the times are that were not measured" in "\n".join(advice.lines())
    with pytest.raises(InvalidInstance, match="near: fen"):
        plan(out, Codes(procs=16, codes={"cfd": codes["cfd"], "fen": codes["fem"]}))


def test_the_bound_is_below_every_schedule(out):
    """By brute force over packs of two, and against all algorithms of moldable jobs."""
    random = np.random.default_rng(5)
    for _ in range(5):
        times = np.sort(random.uniform(1, 9, (4, 4)))[:, ::-1]
        lines = [f"t{i},{q + 1},{times[i, q]}" for i in range(4) for q in range(4)]
        out.write_text("task,processors,seconds\n" + "\n".join(lines) + "\n")
        advice = plan(out)
        best = cs.packs.solve(cs.packs.Instance(times), "optimal").value
        assert advice.bound.value <= advice.result.value * (1 + 1e-9)
        assert advice.result.value <= best * (1 + 1e-9)


def test_plan_writes_a_schedule_file_that_run_takes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes.toml").write_text(
        'procs = 1\n[task.a]\ncommand = "true"\n[task.b]\ncommand = "true"\n'
    )
    assert main(["profile", "codes.toml", "--repeat", "2"]) == 0
    assert (
        main(["plan", "runs.csv", "--codes", "codes.toml", "-o", "plan.json", "--plot", "plan.png"])
        == 0
    )
    output = capsys.readouterr().out
    assert "run it: cosched run plan.json --codes codes.toml" in output
    assert (
        main(["run", "plan.json", "--codes", "codes.toml", "-o", "e.json", "--plot", "e.png"]) == 0
    )
    assert cs.execution.Execution.read("e.json").good
    assert (tmp_path / "e.png").stat().st_size > 5000


# --- spread ---------------------------------------------------------------------------------


def test_spread_moves_the_value_of_packs_and_moldable(out):
    times, spread = np.array([[4.0, 2.5], [3.0, 2.0]]), np.array([[0.2, 0.2], [0.2, np.nan]])
    for inst in (
        cs.packs.Instance(times, spread=spread),
        cs.moldable.Instance(times, [1, 1], spread=spread),
    ):
        result = cs.registry.family(inst.family).solve(inst, "sequential")
        metrics = result.metrics()
        assert metrics["value_p5"] < result.value < metrics["value_p95"]
        assert metrics["value_p5"] > 0.9 * result.value
        assert metrics["value_p95"] < 1.1 * result.value
        assert result.metrics() == metrics  # seeded
        frame = cs.registry.family(inst.family).compare(inst, ["sequential"])
        assert frame.value_p5[0] == metrics["value_p5"]


def test_one_task_varies_as_it_was_measured():
    """One placement: 5% and 95% of an even draw."""
    metrics = cs.packs.solve(cs.packs.Instance([[10.0]], spread=[[0.4]]), "sequential").metrics()
    assert metrics["value_p5"] == pytest.approx(8.2, abs=0.2)
    assert metrics["value_p95"] == pytest.approx(11.8, abs=0.2)


def test_without_a_spread_nothing_is_said():
    assert "value_p5" not in cs.packs.solve(cs.packs.Instance([[1.0]]), "sequential").metrics()
    still = cs.packs.Instance([[1.0]], spread=[[0.0]])
    assert "value_p5" not in cs.packs.solve(still, "sequential").metrics()


def test_needs_of_a_plan_for_many_processors_are_one_table(tmp_path, monkeypatch):
    """A table of needs is made once for each resource, and not for each count of each task."""
    codes = tmp_path / "codes.toml"
    codes.write_text(
        "procs = 20000\n[capacity]\nmemory = 8\n"
        '[task.a]\ncommand = "true"\nmemory = 1\n[task.b]\ncommand = "true"\nmemory = 2\n'
    )
    runs = tmp_path / "runs.csv"
    runs.write_text("task,processors,seconds\na,1,4\na,4,2\nb,1,3\nb,4,2\n")
    tables = []
    zeros = np.zeros

    def counted_zeros(shape, *args, **options):
        tables.append(shape)
        return zeros(shape, *args, **options)

    monkeypatch.setattr("cosched.execution.plan_input.np.zeros", counted_zeros)
    advice = cs.execution.plan(runs, cs.execution.Codes.read(codes))
    assert advice.result.value == 2.0
    assert tables.count((2, 20000)) < 10
    assert advice.lines()[0].startswith("2 tasks on 20,000 processors end after 2 s")


@pytest.mark.parametrize("options", [{"slowdown": "mid"}, {"missing": "two"}])
def test_options_of_slowdowns_are_checked_without_slowdowns(options, tmp_path):
    runs = tmp_path / "runs.csv"
    runs.write_text("task,processors,seconds\na,1,4\n")
    with pytest.raises(InvalidInstance, match=f"{next(iter(options))} = "):
        cs.execution.plan(runs, **options)


def test_one_task_on_one_processor_is_said_in_the_singular(tmp_path):
    runs = tmp_path / "runs.csv"
    runs.write_text("task,processors,seconds\na,1,4\n")
    assert cs.execution.plan(runs).lines()[0].startswith("1 task on 1 processor ends after 4 s")
