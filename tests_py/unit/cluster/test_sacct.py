"""What ``sacct -P`` prints, from a real slurmdbd and by hand."""

from pathlib import Path

import numpy as np
import pytest
from note_facts import counts, has_note, places

import cosched as cs
from cosched import NoteKind
from cosched.cli import main

SAMPLE = Path(__file__).parents[2] / "fixtures" / "sacct.txt"
MACHINE = """
[[nodes]]
count = 4
cores = 2
[[partitions]]
name = "main"
[[partitions]]
name = "short"
nodes = 2
max_time = "00:02:00"
"""
HEADER = "JobID|User|Partition|State|Submit|Start|Elapsed|Timelimit|NCPUS"


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "machine.toml"
    path.write_text(MACHINE)
    return path


def read(tmp_path, machine, *rows, header=HEADER, **options):
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join([header, *rows]) + "\n")
    return cs.cluster.from_sacct(path, machine, **options)


def test_a_real_slurmdbd(machine, capsys):
    inst = cs.cluster.from_sacct(SAMPLE, machine)
    jobs = inst.jobs.set_index("id")
    assert len(jobs) == 15  # of 32 rows: the others are steps
    assert jobs.loc["2", ["tasks", "runtime", "estimate", "wait"]].tolist() == [4, 9, 300, 1]
    assert jobs.loc["6", "estimate"] == 10 * 86400
    assert jobs.loc["7", "estimate"] == float("inf")  # UNLIMITED
    assert jobs.loc["5", "status"] == "timeout"
    assert jobs.loc["12", "status"] == "cancelled"
    assert jobs.loc["8"].status.tolist() == ["requeued", "completed"]
    assert {f"3_{k}" for k in range(1, 6)} <= set(jobs.index)
    assert jobs.user.unique().tolist() == ["root"]
    assert counts(inst.notes, NoteKind.UNUSUAL)["requeued jobs"] == 1
    res = cs.cluster.solve(inst, "as-logged")
    res.schedule.validate()
    for name in ("FCFS", "EASY", "conservative"):
        cs.cluster.solve(inst, name, estimates="requested").schedule.validate()
    command = ["compare", "cluster", str(SAMPLE), "--machine", str(machine)]
    assert main([*command, "--policies", "as-logged", "EASY"]) == 0
    assert "8 cores of 4 nodes" in capsys.readouterr().out


def test_swf_and_sacct_of_one_workload(tmp_path, machine):
    inst = read(
        tmp_path,
        machine,
        "1|ada|main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:05|00:01:00|00:05:00|4",
        "2|bob|main|FAILED|2026-03-01T10:00:09|2026-03-01T10:01:05|00:02:01|00:03:00|2",
    )
    swf = tmp_path / "jobs.swf"
    swf.write_text(
        "; MaxProcs: 8\n"
        "1 0 5 60 4 -1 -1 4 300 -1 1 1 1 1 1 1 -1 -1\n"
        "2 9 56 121 2 -1 -1 2 180 -1 0 2 1 1 1 1 -1 -1\n"
    )
    assert cs.cluster.from_swf(swf, convention="rigid") == inst
    assert inst.jobs.wait.tolist() == [5, 56]


def test_rows_that_are_no_ended_job(tmp_path, machine):
    inst = read(
        tmp_path,
        machine,
        "1|ada|main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:05|1-00:01:00|UNLIMITED|4",
        "1.batch|||COMPLETED|2026-03-01T10:00:05|2026-03-01T10:00:05|00:01:00||4",
        "2_[4-9]|ada|main|CANCELLED by 5|2026-03-01T10:00:05|Unknown|00:00:00|00:05:00|0",
        "3|ada|main|PENDING|2026-03-01T10:00:05|Unknown|00:00:00|00:05:00|1",
        "4|ada|main|RUNNING|2026-03-01T10:00:05|2026-03-01T10:00:05|00:09:00|00:05:00|1",
        "5|a|b|main|COMPLETED|2026-03-01T10:00:05|2026-03-01T10:00:05|00:09:00|00:05:00|1",
        "6|ada|main|COMPLETED|yesterday|2026-03-01T10:00:05|00:09:00|00:05:00|1",
        "7|ada|main|COMPLETED|2026-03-01T10:00:05|2026-03-01T10:00:06|long|00:05:00|1",
        "8|ada|main|COMPLETED|2026-03-01T10:00:05|2026-03-01T10:00:06|00:01|00:05:00|0",
        "9|ada|short|COMPLETED|2026-03-01T10:00:05|2026-03-01T10:00:04|00:30|Partition_Limit|1",
    )
    assert inst.jobs.id.tolist() == [1, 9]
    assert inst.jobs.runtime.tolist() == [86460, 30]
    assert inst.jobs.estimate.tolist() == [float("inf"), 120]
    assert inst.jobs.wait.tolist() == [5, 0]
    texts = "\n".join(inst.notes)
    for what in ("never started (line 4)", "not ended yet (lines 5, 6)", "Submit is no time (line",
                 "fields are not those of the first line (line 7)", "Elapsed is no time (line 9)",
                 "no number of CPUs (line 10)", "wait 0 (line 11)"):  # fmt: skip
        assert what in texts
    with pytest.raises(cs.InvalidInstance, match=r"no usable job: 1: not ended yet \(line 2\)"):
        read(
            tmp_path, machine, "4|ada|main|RUNNING|2026-03-01T10:00:05|2026-03-01T10:00:05|1:0|1|1"
        )
    with pytest.raises(cs.InvalidInstance, match="no column 'State': expected sacct -P output"):
        read(tmp_path, machine, header="JobID|User")
    row = "1|a|night|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:05|00:01:00|00:05:00|4"
    night = read(tmp_path, machine, row)
    with pytest.raises(cs.InvalidInstance, match="job 1: partition 'night'"):
        cs.cluster.solve(night, "EASY")


def test_a_row_twice_a_column_twice_and_limits_in_minutes(tmp_path, machine):
    row = "7|ada|short|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:05|00:01:00|{}|2"
    requeued_row = row.replace("10:00:05", "10:30:05")  # requeued: another run
    inst = read(tmp_path, machine, *(line.format("00:02:00") for line in (row, row, requeued_row)))
    assert inst.jobs.line.tolist() == [2, 4]
    assert places(inst.notes, NoteKind.DROPPED)["the same row once more"] == (1, "line 3")
    raw = HEADER.replace("Timelimit", "TimelimitRaw")
    minutes = [row.format(limit) for limit in ("Partition_Limit", "1", "UNLIMITED")]
    inst = read(tmp_path, machine, *minutes, header=raw)
    assert inst.column("estimate").tolist() == [120, 60, 120]  # UNLIMITED: MaxTime of short
    with pytest.raises(
        cs.InvalidInstance, match="line 2: 2 columns 'State' with 'COMPLETED' and 'x'"
    ):
        read(tmp_path, machine, row.format(1) + "|x", header=HEADER + "|State")
    with pytest.raises(cs.InvalidInstance, match="line 2: 2 columns 'NCPUS' with '2' and '3'"):
        read(tmp_path, machine, row.format(1) + "|3", header=HEADER + "|NCPUS")
    inst = read(tmp_path, machine, row.format(1) + "|COMPLETED", header=HEADER + "|state")
    assert inst.column("status").tolist() == ["completed"]
    assert has_note(inst.notes, NoteKind.READING, "State")
    assert len(read(tmp_path, machine, row.format(1) + "|a|b", header=HEADER + "|My|My")) == 1


def test_clocks_that_change(tmp_path, machine):
    rows = (
        "1|a|main|COMPLETED|2025-10-26T01:50:00|2025-10-26T02:30:00|00:01:00|00:05:00|4",
        "2|a|main|COMPLETED|2025-10-26T02:40:00|2025-10-26T02:10:00|00:01:00|00:05:00|4",
        "3|a|main|COMPLETED|2025-10-26T04:00:00|2025-10-26T04:00:00|00:01:00|00:05:00|4",
    )
    inst = read(tmp_path, machine, *rows, timezone="Europe/Stockholm")
    assert inst.jobs.wait.tolist() == [2400, 1800, 0]
    assert places(inst.notes, NoteKind.REPAIRED)["hour that comes twice"] == (2, "lines 2, 3")
    assert inst.jobs.submit.tolist() == [0, 3000, 3 * 3600 + 600]
    assert read(tmp_path, machine, *rows).jobs.submit.tolist() == [0, 3000, 2 * 3600 + 600]
    with pytest.raises(cs.InvalidInstance, match="timezone = 'Middle/Earth'"):
        read(tmp_path, machine, *rows, timezone="Middle/Earth")


def test_many_rows(tmp_path, machine):
    row = "{0}|u{1}|main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:05|00:01:00|00:05:00|4"
    step = "{0}.batch|||COMPLETED|2026-03-01T10:00:05|2026-03-01T10:00:05|00:01:00||4"
    rows = [line.format(k, k % 50) for k in range(20_000) for line in (row, step)]
    inst = read(tmp_path, machine, *rows)
    assert len(inst) == 20_000
    assert np.array_equal(inst.ids, np.arange(20_000))


def test_a_part_of_the_output(tmp_path, machine, capsys):
    row = "{}|ada|main|COMPLETED|2026-03-01T{}|2026-03-01T{}|00:10:00|00:20:00|2"
    rows = [row.format(1, "10:00:00", "10:00:00"), row.format(2, "10:01:00", "10:08:00"),
            row.format(3, "10:30:00", "10:30:00")]  # fmt: skip
    inst = read(tmp_path, machine, *rows, begin=300.0, until=1000.0)
    columns = inst.jobs[["id", "submit", "runtime", "wait", "running"]]
    assert columns.to_numpy().tolist() == [[1, 0, 300, 0, True], [2, 0, 600, 180, False]]
    command = ["compare", "cluster", str(tmp_path / "jobs.txt"), "--machine", str(machine)]
    part = ["--from", "300", "--until", "1000", "--timezone", "Europe/Stockholm"]
    assert main([*command, "--policies", "EASY", *part]) == 0
    printed = capsys.readouterr().out
    assert "2 jobs, 1 of them running and 1 waiting at the begin" in printed
    assert "change of clocks" not in printed
    assert main([*command, "--cores-per-node", "3"]) == 2
    assert "cores_per_node: the machine says it" in capsys.readouterr().err
    with pytest.raises(cs.InvalidInstance, match="week 3 has no job: the last week is 0"):
        read(tmp_path, machine, *rows, week=3)
    (tmp_path / "x.swf").write_text("1 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.raises(cs.InvalidInstance, match="timezone = 'UTC' is for sacct output only"):
        cs.cluster.Instance.read(tmp_path / "x.swf", 4, convention="rigid", timezone="UTC")


@pytest.mark.parametrize("year", ["0016", "-016", "1677", "9999"])
def test_a_year_that_no_clock_says_is_no_time(tmp_path, machine, year):
    good = "1|u|main|COMPLETED|2026-03-01T00:00:00|2026-03-01T00:00:05|00:01:00|00:02:00|1"
    bad = good.replace("1|u", "2|u").replace("2026", year, 1)
    inst = read(tmp_path, machine, good, bad, timezone="Europe/Stockholm")
    assert inst.ids.tolist() == [1]
    assert places(inst.notes, NoteKind.DROPPED)["Submit is no time"] == (1, "line 3")
