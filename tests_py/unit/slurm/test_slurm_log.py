"""Does the twin know this cluster? ``cosched slurm check`` on sacct's output."""

import json

import numpy as np
import pytest

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.cluster.machine.node_types import hosts
from cosched.slurm.recordings.host import read_state
from recorded_sacct import COLUMNS, clock, slurm_conf, span, written
from support import RECORDINGS

CONF = "SelectType=select/linear\nNodeName=n[1-2] CPUs=1\nPartitionName=a Nodes=ALL\n"


@pytest.fixture(scope="module")
def recording():
    return cs.io.read_json(RECORDINGS["small"])


def checked(arguments, capsys, *options):
    assert main([*arguments, *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def middle(recording):
    """A moment at which jobs run and wait."""
    run = recording["runs"][0]
    return sorted(job["end"] for job in run)[len(run) // 3]


def subjects(report):
    """By subject, the counts of the notes of a report in JSON, which are its texts as well."""
    records = report["note_records"]
    assert [record["text"] for record in records] == report["notes"]
    return {record["subject"]: record["count"] for record in records}


def test_a_log_that_begins_in_the_middle_of_things(recording, tmp_path, capsys):
    arguments = written(recording, tmp_path, since=middle(recording))
    checked_log = checked(arguments, capsys)
    assert "begin" in subjects(checked_log)
    run = recording["runs"][0]
    remaining_jobs = [job for job in run if job["end"] >= middle(recording)]
    (row,) = checked_log["fit"]
    first = min(job["submit"] for job in remaining_jobs) + checked_log["judgement"]["begin"]
    assert first >= min(job["end"] for job in remaining_jobs)
    assert row["jobs"] == sum(job["start"] >= first for job in remaining_jobs)
    assert row["within_60"] >= 0.8
    assert row["rank_correlation"] > 0.9
    state = read_state(tmp_path / "jobs.txt", cs.cluster.Machine.read(tmp_path / "slurm.conf"))
    began = state.instance.jobs[state.instance.jobs.running]
    nodes = {
        k: {int(part.split(":")[0]) + 1 for part in text.split(";")}
        for k, text in zip(began.id.tolist(), began.held.tolist(), strict=True)
    }
    for number, job_nodes in nodes.items():
        listed = hosts(run[number - 1]["nodelist"], "")
        assert {f"n{k}" for k in job_nodes} == set(listed)


@pytest.mark.parametrize(("name", "share"), [("live_qos", 0.9), ("live_fs", 0.6), ("qos_a", 0.7)])
def test_logs_of_clusters_with_accounts(tmp_path, capsys, name, share):
    recording = cs.io.read_json(RECORDINGS[name])
    (row, *_) = checked(written(recording, tmp_path), capsys)["fit"]
    assert row["within_300"] >= share


def test_what_a_log_does_not_tell_is_drawn_several_times(recording, tmp_path, capsys):
    arguments = written(recording, tmp_path)
    many, single_draw = checked(arguments, capsys), checked(arguments, capsys, "--draws", "1")
    assert subjects(many)["replications"] == 60
    assert "replications" not in subjects(single_draw)
    (row,), (single,) = many["fit"], single_draw["fit"]
    assert row["within_300_p05"] <= row["within_300"] <= row["within_300_p95"]
    assert set(row) - set(single) == {"within_300_p05", "within_300_p95", "twins_60", "twins_300"}
    assert many == checked(arguments, capsys)
    arguments = written(cs.io.read_json(RECORDINGS["gpu_a"]), tmp_path)
    first, second = (checked(arguments, capsys, "--draws", "3", "--seed", k) for k in "01")
    assert first["fit"] != second["fit"]
    assert first["judgement"] == second["judgement"]


def test_a_log_from_the_begin_is_taken_whole(recording, tmp_path, capsys):
    checked_log = checked(written(recording, tmp_path), capsys)
    assert checked_log["fit"][0]["jobs"] == len(recording["jobs"])
    assert "begin" not in subjects(checked_log)


@pytest.mark.parametrize("without", ["NodeList", "Timelimit", "Partition", "Eligible", "AllocTRES"])
def test_columns_that_are_not_there(recording, tmp_path, capsys, without):
    arguments = written(recording, tmp_path, since=middle(recording))
    path = tmp_path / "jobs.txt"
    place = COLUMNS.index(without)
    rows = [line.split("|") for line in path.read_text().splitlines()]
    path.write_text("".join("|".join(row[:place] + row[place + 1 :]) + "\n" for row in rows))
    checked_log = checked(arguments, capsys)
    assert 0 <= checked_log["fit"][0]["within_300"] <= 1
    unknown = any("of them without known nodes" in note for note in checked_log["notes"])
    assert unknown == (without == "NodeList")


@pytest.mark.parametrize("without", ["JobID", "Submit", "Start", "Elapsed", "State"])
def test_columns_that_must_be_there(recording, tmp_path, capsys, without):
    arguments = written(recording, tmp_path)
    path = tmp_path / "jobs.txt"
    text = path.read_text()
    path.write_text(text.replace(without, "Other", 1))
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"no column '{without}'" in line


def log_of(path, rows):
    """Rows (submit, start, length, state, nodes) on two nodes of one core."""
    lines = ["JobID|State|Submit|Eligible|Start|End|Elapsed|Timelimit|NCPUS|Partition|NodeList"]
    for number, (submit, start, length, state, nodes) in enumerate(rows, 1):
        end = None if start is None or state == "RUNNING" else start + length
        times = "|".join(clock(t, 1_790_000_000) for t in (submit, submit, start, end))
        count = len(nodes.split(","))
        lines.append(f"{number}|{state}|{times}|{span(length)}|01:00:00|{count}|a|{nodes}")
    path.write_text("\n".join(lines) + "\n")


def test_how_soon_nodes_are_free_again(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    for after, epilog_seconds in ((20, 19.5), (0, 0.24)):
        rows, free = [], [0, 0]
        for k in range(60):
            start = free[k % 2] + after
            rows.append((0, start, 400 + 7 * (k % 5), "COMPLETED", f"n{k % 2 + 1}"))
            free[k % 2] = start + rows[-1][2]
        log_of(tmp_path / "jobs.txt", rows)
        state = read_state(tmp_path / "jobs.txt", machine)
        assert state.epilog == epilog_seconds
        assert (state.notes[-1].kind, state.notes[-1].subject) == (NoteKind.READING, "host")
    log_of(tmp_path / "jobs.txt", rows[:4])
    state = read_state(tmp_path / "jobs.txt", machine)
    assert state.epilog is None  # not told: drawn
    assert (state.notes[-1].kind, state.notes[-1].subject) == (NoteKind.ASSUMED, "host")


def test_jobs_that_never_ran_and_jobs_that_run_still(tmp_path, capsys):
    (tmp_path / "slurm.conf").write_text(CONF)
    log_of(
        tmp_path / "jobs.txt",
        [
            (0, 1, 60, "COMPLETED", "n1"),
            (2, None, 0, "CANCELLED by 7", ""),
            (5, 6, 900, "TIMEOUT", "n2"),
            (9, 62, 700, "RUNNING", "n1"),
            (12, None, 0, "PENDING", ""),
        ],
    )
    arguments = ["slurm", "check", str(tmp_path / "jobs.txt")]
    checked_log = checked([*arguments, "--machine", str(tmp_path / "slurm.conf")], capsys)
    assert checked_log["fit"][0] == {
        "partition": "all", "jobs": 3, "within_60": 1.0, "within_300": 1.0, "rank_correlation": 1.0,
        "waiting_jobs": 0.0, "waiting_within_300": 1.0,
        "within_300_p05": 1.0, "within_300_p95": 1.0, "twins_60": 1.0, "twins_300": 1.0,
    }  # fmt: skip
    assert {"never started", "pending jobs", "running jobs"} <= subjects(checked_log).keys()


def test_a_what_if_of_a_cluster_that_is_not_known(tmp_path, capsys):
    (tmp_path / "slurm.conf").write_text(CONF)
    where = [str(tmp_path / "jobs.txt"), "--machine", str(tmp_path / "slurm.conf")]
    for delay, is_known in ((0, True), (3000, False)):
        rows = [(60 * k, 60 * k + 2 + delay, 50, "COMPLETED", f"n{k % 2 + 1}") for k in range(20)]
        log_of(tmp_path / "jobs.txt", rows)
        assert main(["slurm", "check", *where]) == 0
        first = capsys.readouterr().out.splitlines()[0]
        assert first == f"The simulator {'explains' if is_known else 'does not explain'} this log."


def test_a_log_that_no_run_can_repeat_is_as_close_as_runs_are_to_each_other(tmp_path):
    """A week that is too full: two simulations agree on few starts, and the log no less."""
    (tmp_path / "slurm.conf").write_text(CONF.replace("n[1-2]", "n[1-8]"))
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    rng, n = np.random.default_rng(2), 300
    runtime = rng.integers(20, 900, n) * 1.0
    jobs = {
        "submit": np.sort(rng.integers(0, 10_000, n)), "tasks": rng.integers(1, 7, n),
        "cpu": np.ones(n), "memory": np.ones(n), "runtime": runtime,
        "estimate": runtime * rng.uniform(1, 5, n),
    }  # fmt: skip
    instance = cs.cluster.Instance(jobs, 8, machine=machine)
    simulated = cs.slurm.backfill(instance, seed=5)
    log = instance.replace(wait=simulated.waits)
    table = cs.cluster.fit(cs.slurm.backfill(log, seed=6, draws=4))
    assert table.twins_300[0] < 0.5
    assert table.within_300[0] == pytest.approx(table.twins_300[0], abs=0.2)
    judgement = cs.cluster.judge_log(log)
    assert judgement.verdict is cs.cluster.FitVerdict.AS_CLOSE_AS_VARIABILITY


def test_jobs_of_unequal_parts_have_room(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=8\n"
        "PartitionName=a Nodes=ALL\n"
    )
    lines = ["JobID|State|Submit|Eligible|Start|Elapsed|Timelimit|NCPUS|Partition|NodeList"]
    rows = [(1, 7, 0, 500, "n1"), (2, 9, 0, 520, "n[1-2]"), (3, 8, 300, 600, "n2")]
    rows.append((4, 1, 0, 400, "n1"))
    for number, cpus, start, end, nodes in rows:
        times = "|".join(clock(t, 1_790_000_000) for t in (0, 0, start))
        lines.append(f"{number}|COMPLETED|{times}|{span(end - start)}|01:00:00|{cpus}|a|{nodes}")
    (tmp_path / "jobs.txt").write_text("\n".join(lines) + "\n")
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    state = read_state(tmp_path / "jobs.txt", machine)
    jobs = state.instance.jobs
    assert jobs.held.tolist() == [
        "0:7",
        "0:1;1:8",
        "",
    ]  # more than there is: wherever there is room


def test_a_slurm_conf_of_a_recording_is_that_of_its_machine(recording, tmp_path):
    (tmp_path / "slurm.conf").write_text(slurm_conf(recording))
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    assert machine.node_count == recording["nodes"]
    assert machine.slurm.exclusive_nodes


CONF_WITH_GPUS = """\
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=10,bf_resolution=30,batch_sched_delay=20
GresTypes=gpu
NodeName=n[1-3] CPUs=1 Gres=gpu:2
NodeName=n4 CPUs=2
NodeName=n[5-6] CPUs=1 Gres=gpu:v100:4
PartitionName=p0 Nodes=n[1-6] MaxTime=0:30:00 Default=YES
PartitionName=p1 Nodes=n[4-5] MaxTime=1:00:00
"""
EVENTS_WITH_GPUS = """\
-dt 34 -e submit_batch_job | -jid 1010 -sim-walltime 46 -t 10 -n 2 -p p1 -a 1-20 x.sh
-dt 34 -e submit_batch_job | -jid 1011 -sim-walltime 1993 -t 30 -n 4 -p p0 -a 1-20 x.sh
-dt 34 -e submit_batch_job | -jid 1016 -sim-walltime -1 -t 1 -n 3 -p p0 -a 1-20 x.sh
-dt 46 -e submit_batch_job | -jid 1033 -sim-walltime 179 -t 10 -N 1 -n 1 -p p0 --gres=gpu:1 x.sh
"""


def test_who_asks_for_the_log_changes_nothing(tmp_path):
    """Cycles that repeat the last one are spared where nobody looks; what tests of jobs with GPUs
    leave for others is part of what must be as it was (RULES.md 8.7)."""
    (tmp_path / "slurm.conf").write_text(CONF_WITH_GPUS)
    (tmp_path / "j.events").write_text(EVENTS_WITH_GPUS)
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    inst = cs.cluster.Instance.read(tmp_path / "j.events", machine=machine)
    for seed in range(6):
        silent, with_log = (
            cs.slurm.backfill(inst, seed=seed, log=log, approximate=True) for log in (False, True)
        )
        assert silent.jobs.start.equals(with_log.jobs.start)
