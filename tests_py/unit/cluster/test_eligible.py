"""The time that a scheduler answers for: from when a job was eligible."""

import numpy as np
import pytest
from note_facts import counts, places

import cosched as cs
from cosched import NoteKind
from cosched.cli import main

HEADER = "JobID|User|State|Submit|Eligible|Start|Elapsed|Timelimit|NCPUS"
DAY = "2026-03-01T"


def row(job, submit, eligible, start, elapsed="00:10:00", state="COMPLETED", cpus=2):
    times = (
        text if not text or text[0] in "UN" else DAY + text for text in (submit, eligible, start)
    )
    return f"{job}|ada|{state}|{'|'.join(times)}|{elapsed}|00:20:00|{cpus}"


@pytest.fixture
def read(tmp_path):
    (tmp_path / "m.toml").write_text("[[nodes]]\ncount = 4\ncores = 2\n")

    def reads(*rows, **options):
        (tmp_path / "jobs.txt").write_text("\n".join([HEADER, *rows]) + "\n")
        return cs.cluster.from_sacct(tmp_path / "jobs.txt", tmp_path / "m.toml", **options)

    return reads


def test_waits_count_from_eligible(read, tmp_path, capsys):
    rows = [row(1, "10:00:00", "10:00:00", "10:00:05"),
            row(2, "10:00:00", "12:00:00", "12:00:03"),  # after a dependency, or --begin
            row(3, "10:30:00", "Unknown", "10:30:30")]  # fmt: skip
    inst = read(*rows)
    jobs = inst.jobs
    assert jobs.eligible.tolist() == [0, 7200, 1800]
    assert jobs.wait_blocked.tolist() == [0, 7200, 0]
    assert jobs.wait.tolist() == [5, 7203, 30]  # as the log has it
    logged = cs.cluster.solve(inst, "as-logged")
    assert logged.jobs.start.tolist() == [5, 7203, 1830]
    assert logged.waits.tolist() == [5, 3, 30]
    assert logged.metrics()["mean_wait"] == pytest.approx(38 / 3)
    assert logged.value == pytest.approx(630 / 600)
    assert logged.by("user").mean_wait.tolist() == [pytest.approx(38 / 3)]
    assert logged.calibration()["median"] == 0
    logged.schedule.validate()
    for name in ("FCFS", "EASY", "conservative"):
        result = cs.cluster.solve(inst, name)
        result.schedule.validate()
        assert result.jobs.start.tolist() == [0, 7200, 1800]  # not before
        assert result.gap >= 0
    assert counts(inst.notes, NoteKind.ASSUMED)["waits"] == 1
    submitted = read(*rows, wait_from="submit")
    assert "eligible" not in submitted.jobs
    assert cs.cluster.solve(submitted, "as-logged").waits.tolist() == [5, 7203, 30]
    assert counts(submitted.notes, NoteKind.ASSUMED)["waits"] is None
    command = [
        "compare",
        "cluster",
        str(tmp_path / "jobs.txt"),
        "--machine",
        str(tmp_path / "m.toml"),
    ]
    assert main([*command, "--policies", "as-logged", "--wait-from", "submit"]) == 0
    assert "also while a job was blocked" in capsys.readouterr().out
    assert main([*command, "--wait-from", "start"]) == 2
    assert "--wait-from 'start': expected one of eligible, submit" in capsys.readouterr().err
    page = tmp_path / "audit.html"
    assert main(["audit", *command[2:], "-o", str(page)]) == 0
    assert (
        "<li>assumed: waits count from when jobs were eligible; blocked before" in page.read_text()
    )


def test_a_second_between_submission_and_eligible_time_is_rounding(read, tmp_path):
    rows = [row(1, "10:00:00", "10:00:01", "10:00:05"), row(2, "10:00:00", "10:00:03", "10:00:09")]
    inst = read(*rows)
    assert counts(inst.notes, NoteKind.ASSUMED)["waits"] == 1
    cs.cluster.audit(inst, tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert "array limit): 1 job, on average 3 s, at most 3 s." in text
    rounded = read(rows[0])
    assert counts(rounded.notes, NoteKind.ASSUMED)["waits"] == 0


def test_a_requeued_job_counts_from_when_it_became_eligible_again(read):
    inst = read(
        row(8, "10:00:00", "10:00:00", "10:00:31", "00:00:10", "REQUEUED"),
        row(8, "10:00:41", "10:02:42", "10:02:50", "00:01:00"),
        row(9, "10:00:00", "10:00:00", "10:00:00", "00:10:00", "NODE_FAIL"),
        row(9, "10:00:00", "10:00:00", "10:15:00", "00:10:00"),  # the first Eligible, once more
    )
    by_line = inst.jobs.set_index("line")
    assert by_line.eligible.to_dict() == {2: 0, 3: 162, 4: 0, 5: 600}
    waits = dict(zip(inst.jobs.line, cs.cluster.solve(inst, "as-logged").waits, strict=True))
    assert waits == {2: 31, 3: 8, 4: 0, 5: 300}
    assert places(inst.notes, NoteKind.REPAIRED)["Eligible of a requeued job"] == (1, "line 5")


def test_times_that_cannot_be(read):
    inst = read(
        row(1, "10:00:00", "09:00:00", "10:00:05"),  # before its submission
        row(2, "10:00:00", "10:05:00", "10:01:00"),  # after its start
        row(3, "10:00:00", "soon", "10:01:00"),
    )
    assert inst.jobs.eligible.tolist() == [0, 60, 0]
    assert places(inst.notes, NoteKind.REPAIRED)["Eligible"] == (1, "line 3")
    assert cs.cluster.solve(inst, "as-logged").waits.tolist() == [5, 0, 60]


def test_a_part_of_a_log(read):
    rows = [row(1, "10:00:00", "10:20:00", "10:25:00"), row(2, "10:01:00", "10:01:00", "10:08:00"),
            row(3, "10:12:00", "10:40:00", "10:41:00")]  # fmt: skip
    part = read(*rows, begin=600.0).jobs.set_index("id")
    assert part.submit.to_dict() == {1: 0, 2: 0, 3: 120}
    assert part.eligible.to_dict() == {1: 600, 2: 0, 3: 1800}
    assert part.running.to_dict() == {1: False, 2: True, 3: False}


SWF = "{0} {1} {2} 100 2 -1 -1 2 200 -1 1 1 1 1 1 1 {3} {4}\n"


def test_a_log_with_preceding_jobs(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(
        "; MaxProcs: 4\n"
        + SWF.format(7, 0, 10, -1, -1)
        + SWF.format(8, 20, 150, 7, 30)  # eligible at 0 + 10 + 100 + 30
        + SWF.format(9, 500, 5, 7, 30)  # long after
        + SWF.format(10, 510, 5, 99, 30)  # not in the log
        + SWF.format(11, 520, -1, 8, -1)
    )
    inst = cs.cluster.from_swf(path, convention="rigid")
    assert inst.jobs.eligible.tolist() == [0, 140, 500, 510, 520]
    assert inst.jobs.wait_blocked.tolist() == [0, 120, 0, 0, 0]
    assert cs.cluster.solve(inst, "as-logged").waits.tolist() == [10, 30, 5, 5, 0]
    assert cs.cluster.solve(inst, "EASY").jobs.start.tolist() == [0, 140, 500, 510, 600]
    assert counts(inst.notes, NoteKind.READING)["preceding_job"] == 3
    plain = cs.cluster.from_swf(path, convention="rigid", wait_from="submit")
    assert cs.cluster.solve(plain, "EASY").jobs.start.tolist() == [0, 20, 500, 510, 600]
    week = cs.cluster.from_swf(path, convention="rigid", begin=30.0)
    assert week.jobs.eligible.tolist() == [0, 110, 470, 480, 490]


def test_the_column_of_an_instance(tmp_path):
    jobs = {"submit": [0, 5], "tasks": [1, 1], "cpu": [1, 1], "memory": [1, 1],
            "runtime": [60.0, 30.0], "eligible": [100, np.nan]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, 1)
    assert inst.column("eligible").tolist() == [100, 5]
    assert cs.cluster.solve(inst, "FCFS").jobs.start.tolist() == [100, 5]
    for name in ("jobs.csv", "jobs.json"):
        inst.write(tmp_path / name)
        assert cs.cluster.Instance.read(tmp_path / name, 1) == inst
        assert not cs.cluster.Instance.read(tmp_path / name, 1).notes
    plain = cs.cluster.Instance.read(tmp_path / "jobs.csv", 1, wait_from="submit")
    assert cs.cluster.solve(plain, "FCFS").jobs.start.tolist() == [0, 60]
    assert "eligible" not in cs.cluster.Instance({k: jobs[k] for k in list(jobs)[:5]}, 1).jobs
    with pytest.raises(cs.InvalidInstance, match=r"eligible'\]\[1\] = 3: expected .* on, 5"):
        inst.replace(eligible=[100, 3])
    with pytest.raises(cs.InvalidInstance, match="eligible has 1 rows, submit has 2"):
        inst.replace(eligible=[100])
    seen = []

    class Policy:
        def on_event(self, event, state):
            seen.extend((event.time, job.submit) for job in state.jobs.values())
            return dict.fromkeys(state.jobs, ((0,), 1.0))

    cs.cluster.python_policy(inst, Policy())
    assert seen[0] == (5, 5)
    assert (100, 100) in seen


def test_a_policy_that_starts_a_job_before_it_is_eligible_is_no_result():
    jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [60.0]}
    inst = cs.cluster.Instance(jobs | {"eligible": [100]}, 1)
    frame = cs.cluster.solve(inst, "FCFS").schedule.to_frame()
    early = cs.cluster.Schedule.from_frame(inst, frame.assign(start=50.0, end=110.0))
    with pytest.raises(cs.InvalidSchedule):
        early.validate()


def test_slurm_backfill_gets_a_job_when_it_is_eligible():
    rng = np.random.default_rng(0)
    n = 60
    jobs = {
        "submit": np.sort(rng.integers(0, 3000, n)), "tasks": rng.integers(1, 5, n),
        "cpu": np.ones(n), "memory": np.ones(n), "runtime": 60 * rng.integers(1, 15, n),
        "estimate": np.full(n, 1200),
    }  # fmt: skip
    eligible = jobs["submit"] + rng.integers(0, 2, n) * rng.integers(0, 600, n)
    blocked = cs.cluster.Instance({**jobs, "eligible": eligible}, 8)
    later = cs.cluster.Instance({**jobs, "submit": eligible}, 8)
    result, expected = (
        cs.cluster.solve(instance, "slurm-backfill") for instance in (blocked, later)
    )
    assert result.jobs.start.tolist() == expected.jobs.start.tolist()
    assert result.metrics()["mean_wait"] == expected.metrics()["mean_wait"]
