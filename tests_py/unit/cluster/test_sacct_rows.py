"""What real sacct output holds: any text in names, arrays, components, clocks, jobs that run."""

import numpy as np
import pytest
from note_facts import counts, places

import cosched as cs
from cosched import NoteKind
from cosched.cli import main

HEADER = "JobID|JobName|User|Partition|State|Submit|Eligible|Start|Elapsed|Timelimit|NCPUS"
MACHINE = """
[[nodes]]
count = 4
cores = 2
[[partitions]]
name = "main"
[[partitions]]
name = "gpu"
nodes = 1
max_time = "00:10:00"
priority = 3
[[partitions]]
name = "short"
nodes = "1-2"
max_time = "00:05:00"
"""


@pytest.fixture
def read(tmp_path):
    (tmp_path / "m.toml").write_text(MACHINE)

    def reads(*rows, header=HEADER, **options):
        (tmp_path / "jobs.txt").write_text("\n".join([header, *rows]) + "\n")
        return cs.cluster.from_sacct(tmp_path / "jobs.txt", tmp_path / "m.toml", **options)

    return reads


def row(job, name="a", state="COMPLETED", submit="2026-03-01T10:00:00", start=None,
        elapsed="00:01:00", partition="main", cpus=2, limit="00:05:00"):  # fmt: skip
    start = submit if start is None else start
    return (
        f"{job}|{name}|ada|{partition}|{state}|{submit}|{submit}|{start}|{elapsed}|{limit}|{cpus}"
    )


@pytest.mark.parametrize("name", ["a|b", "|", "x|COMPLETED|y", "", "run || true"])
def test_job_names_with_bars(read, name):
    inst = read(row(1), row(2, name), row(3), row("2.batch", name))
    assert inst.jobs.id.tolist() == [1, 2, 3]
    assert inst.jobs.runtime.tolist() == [60, 60, 60]
    assert inst.jobs.line.tolist() == [2, 3, 4]
    trailing = read(row(1) + "|", row(2, name) + "|", header=HEADER + "|")  # sacct -p
    assert trailing.jobs.user.tolist() == ["ada", "ada"]


def test_two_columns_of_free_text(read):
    header = HEADER + "|Comment"
    rows = [row(1, "a|b") + "|c", row(2, "a") + "|c|d", row(3) + "|", row(4)]
    inst = read(*rows, header=header)
    assert inst.jobs.id.tolist() == [1, 2, 3]
    assert places(inst.notes, NoteKind.DROPPED)["fields are not those of the first line"] == (
        1,
        "line 5",
    )


@pytest.mark.parametrize("mark", ["^", "@@", ";", "\t", "%~%"])
def test_another_delimiter(read, mark, tmp_path, capsys):
    rows = [row(1, "x"), row(2, "y")]
    inst = read(*(r.replace("|", mark).replace("x", "a|b") for r in rows), delimiter=mark,
                header=HEADER.replace("|", mark))  # fmt: skip
    assert inst == read(*rows)
    with pytest.raises(cs.InvalidInstance, match=r"no column 'JobID': .* --delimiter '!'"):
        read(*rows, delimiter="!")
    with pytest.raises(cs.InvalidInstance, match="delimiter = "):
        read(*rows, delimiter="\n")
    (tmp_path / "jobs.txt").write_text("\n".join([HEADER, *rows]).replace("|", mark) + "\n")
    command = [
        "compare",
        "cluster",
        str(tmp_path / "jobs.txt"),
        "--machine",
        str(tmp_path / "m.toml"),
    ]
    assert main([*command, "--policies", "EASY", "--delimiter", mark]) == 0
    assert main([*command, "--policies", "EASY"]) == 2
    assert "jobs.txt: line 1: no column 'JobID'" in capsys.readouterr().err


def test_one_bad_cell_costs_its_row(read):
    for good, bad in (
        ("1772359200", "17723592000000"),
        ("2026-03-01T10:00:00", "yesterday"),
        ("2026-03-01T11:00:00+0100", "2026-03-01T11:00:00+9999"),
        ("2026-03-01T10:00:00Z", "2026-13-01T10:00:00Z"),
    ):
        inst = read(row(1, submit=good), row(2, submit=bad), row(3, submit=good))
        assert inst.jobs.id.tolist() == [1, 3]
        assert places(inst.notes, NoteKind.DROPPED)["Submit is no time"] == (1, "line 3")


def test_times_of_all_kinds_are_one_clock(read):
    submits = ("1772359200", "2026-03-01T10:00:05", "2026-03-01T11:00:10+0100",
               "2026-03-01T05:00:15-05:00")  # fmt: skip
    inst = read(*(row(k, submit=text) for k, text in enumerate(submits)))
    assert inst.jobs.submit.tolist() == [0, 5, 10, 15]
    zoned = read(*(row(k, submit=text) for k, text in enumerate(submits)), timezone="Asia/Tokyo")
    assert sorted(zoned.jobs.submit) == [0, 9 * 3600 - 5, 9 * 3600 + 5, 9 * 3600 + 10]


def test_jobs_that_run_still(read, tmp_path, capsys):
    rows = [row(1, elapsed="00:30:00"),
            row(2, state="RUNNING", start="2026-03-01T10:10:00", elapsed="00:25:00"),
            row("3_[1-10,12%4]", state="PENDING", start="Unknown", elapsed="00:00:00"),
            row("4_[0-6:2]", state="PENDING", start="Unknown", elapsed="00:00:00"),
            row(5, state="PENDING", start="Unknown", elapsed="00:00:00"),
            row(6, state="SUSPENDED", start="2026-03-01T10:20:00", elapsed=""),
            row(7, state="RUNNING", start="2026-03-01T10:01:00", elapsed="00:09:00"),
            row(7, state="COMPLETED", start="2026-03-01T10:01:00", elapsed="00:19:00")]  # fmt: skip
    ended = read(*rows)
    assert ended.jobs.id.tolist() == [1, 7]
    assert counts(ended.notes, NoteKind.DROPPED)["not ended yet"] == 6
    assert counts(ended.notes, NoteKind.UNKNOWN)["pending jobs"] == 3
    every = read(*rows, include_running=True)
    assert every.jobs[["id", "runtime", "status"]].to_numpy().tolist() == [
        [1, 1800, "completed"], [2, 1500, "running"], [6, 900, "suspended"], [7, 1140, "completed"],
    ]  # fmt: skip
    assert counts(every.notes, NoteKind.KEPT)["running jobs"] == 2
    assert places(every.notes, NoteKind.DROPPED)["ended in another row"] == (1, "line 8")
    command = [
        "compare",
        "cluster",
        str(tmp_path / "jobs.txt"),
        "--machine",
        str(tmp_path / "m.toml"),
    ]
    assert main([*command, "--policies", "EASY", "--include-running"]) == 0
    assert "run still: to the end of the log" in capsys.readouterr().out
    cs.workloads.lublin(5, 4, seed=1).to_csv(tmp_path / "jobs.csv")
    with pytest.raises(cs.InvalidInstance, match="include_running = True is for sacct output"):
        cs.cluster.Instance.read(tmp_path / "jobs.csv", 4, include_running=True)


def test_array_tasks_and_what_never_started(read):
    rows = [row("3_7"), row("3_[8-9]", state="CANCELLED by 5", start="Unknown", cpus=0),
            row(4, state="CANCELLED by 5", elapsed="00:00:00") + "|None assigned",
            row(5) + "|n1"]  # fmt: skip
    inst = read(*(r if "assigned" in r or "n1" in r else r + "|n2" for r in rows),
                header=HEADER + "|NodeList")  # fmt: skip
    assert inst.jobs.id.tolist() == ["3_7", "5"]
    assert places(inst.notes, NoteKind.DROPPED)["never started"] == (2, "lines 3, 4")


def test_components_are_one_job_in_reports(read):
    inst = read(row("45+0"), row("45+1", cpus=4), row("46+0"), row("47"), row("45+0.batch"))
    result = cs.cluster.solve(inst.replace(wait=[10.0, 10.0, 40.0, 70.0]), "as-logged")
    assert len(result.jobs) == 4
    table = result.by("user")
    assert table.jobs.tolist() == [3]
    assert table.mean_wait.tolist() == [40]
    assert table.cpu_hours.tolist() == [pytest.approx((2 + 4 + 2 + 2) / 60)]
    assert counts(inst.notes, NoteKind.READING)["heterogeneous jobs"] == 3
    requeued = read(row("45+0"), row("45+1"), row("45+0", start="2026-03-01T10:09:00"),
                 row("45+1", start="2026-03-01T10:09:00"))  # fmt: skip
    assert cs.cluster.solve(requeued, "as-logged").by("user").jobs.tolist() == [
        2
    ]  # requeued: twice


def test_lists_of_partitions(read):
    rows = [row(1, partition="gpu,short", cpus=6), row(2, partition="gpu", cpus=2),
            row(3, partition="main", cpus=8)]  # fmt: skip
    inst = read(*(r.replace("00:05:00", "00:20:00") for r in rows))
    assert inst.column("estimate").tolist() == [600, 600, 1200]  # the longer of both
    sizes, allowed, tier = inst.partition_layout
    assert sizes.tolist() == [2, 4, 2]
    assert allowed.tolist() == [0b011, 0b001, 0b111]
    assert tier.tolist() == [3, 3, 0]
    for name in ("FCFS", "EASY", "conservative"):
        cs.cluster.solve(inst, name).schedule.validate()
    with pytest.raises(cs.InfeasibleError, match="needs 7 cores, its partition has 6"):
        cs.cluster.solve(read(row(1, partition="gpu,short", cpus=7)), "EASY")


def test_partitions_that_the_machine_lacks(read, tmp_path):
    rows = [row(1), row(2, partition="night"), row(3, partition="gpu,night"), row(4, partition="")]
    inst = read(*rows)
    assert counts(inst.notes, NoteKind.UNKNOWN)["unknown partitions"] == 2
    with pytest.raises(cs.InvalidInstance, match="job 2: partition 'night': the machine has main"):
        cs.cluster.solve(inst, "EASY")
    remaining_log = read(*rows, drop="unknown-partition")
    assert remaining_log.jobs.id.tolist() == [1, 4]
    assert counts(remaining_log.notes, NoteKind.DROPPED)["drop"] == 2
    assert counts(remaining_log.notes, NoteKind.UNKNOWN)["unknown partitions"] == 2
    assert np.isfinite(cs.cluster.solve(remaining_log, "EASY").value)
    inst.write(tmp_path / "jobs.csv")
    command = [
        "compare",
        "cluster",
        str(tmp_path / "jobs.csv"),
        "--machine",
        str(tmp_path / "m.toml"),
    ]
    assert main([*command, "--policies", "EASY", "--drop", "unknown-partition"]) == 0
