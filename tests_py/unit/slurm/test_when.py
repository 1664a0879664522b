"""Snapshots of a Slurm, in each form of its outputs, and when its jobs will start."""

from __future__ import annotations

import copy
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from note_facts import has_note

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.slurm.live import clocks, simulated_machine
from cosched.slurm.live.backtesting import is_covered, widening_of_bands
from cosched.slurm.live.job_records import number, parse_history
from cosched.slurm.live.model import Allocated, FinishedJob, SnapshotJob
from cosched.slurm.live.new_jobs import copy_of_job

NOW = 1_800_000_000  # 2027-01-15T08:00:00 UTC
CONFIG = """Configuration data as of 2027-01-15T08:00:00
AccountingStorageEnforce = associations,limits
AccountingStorageType = accounting_storage/slurmdbd
BOOT_TIME = 2027-01-15T07:00:00
PriorityCalcPeriod = 00:05:00
PriorityDecayHalfLife = 7-00:00:00
PriorityFlags =
PriorityMaxAge = 1-00:00:00
PriorityType = priority/multifactor
PriorityWeightAge = 1000
PriorityWeightFairShare = 10000
SchedulerType = sched/backfill
SelectType = select/cons_tres
SelectTypeParameters = CR_CORE
SLURM_VERSION = 22.05.8
"""
NODES = "\n".join(
    f"NodeName=n{k} CPUTot=4 CPUAlloc={4 * (k < 4)} RealMemory=4000 Sockets=1 CoresPerSocket=4 "
    f"ThreadsPerCore=1\n   State={'ALLOCATED' if k < 4 else 'IDLE'} Partitions=main"
    for k in range(1, 5)
)
PARTITION = (
    "PartitionName=main\n   Default=YES QoS=N/A\n   Nodes=n[1-4]\n"
    "   OverSubscribe=EXCLUSIVE PriorityTier=1\n   State=UP MaxTime=UNLIMITED\n"
)
# job 1 has three nodes for an hour and has run for 10 minutes; the others wait
JOBS = [
    {"id": 1, "user": "ann", "state": "RUNNING", "start": NOW - 600, "limit": 3600, "nodes": 3},
    {"id": 2, "user": "bob", "state": "PENDING", "start": NOW + 3000, "limit": 1800, "nodes": 2},
    {"id": 3, "user": "ann", "state": "PENDING", "start": 0, "limit": 600, "nodes": 4},
]


def text_of(job: dict) -> str:
    start = (
        f"2027-01-15T0{8 + (job['start'] - NOW) // 3600}:{(job['start'] - NOW) // 60 % 60:02d}:00"
    )
    runs = job["state"] == "RUNNING"
    return (
        f"JobId={job['id']} JobName=j\n   UserId={job['user']}(1) GroupId=g(1)\n"
        f"   Priority={1000 - job['id']} Nice=0 Account=a QOS=normal\n"
        f"   JobState={job['state']} Reason=None Dependency=(null)\n"
        f"   TimeLimit={job['limit'] // 3600:02d}:{job['limit'] // 60 % 60:02d}:00\n"
        "   SubmitTime=2027-01-15T07:40:00 EligibleTime=2027-01-15T07:40:00\n"
        f"   StartTime={start if job['start'] else 'Unknown'}\n   Partition=main\n"
        f"   NodeList={'n[1-3]' if runs else '(null)'}\n"
        f"   NumNodes={job['nodes']} NumCPUs={4 * job['nodes']} OverSubscribe=NO\n"
        + ("     Nodes=n[1-3] CPU_IDs=0-3 Mem=0 GRES=\n" if runs else "")
    )


def json_22_05(job: dict) -> dict:
    fields = {
        "job_id": job["id"], "user_name": job["user"], "account": "a", "qos": "normal",
        "partition": "main", "job_state": job["state"], "submit_time": NOW - 1200,
        "eligible_time": NOW - 1200, "accrue_time": NOW - 1200, "start_time": job["start"],
        "time_limit": job["limit"] // 60, "node_count": job["nodes"], "max_nodes": job["nodes"],
        "cpus": 4 * job["nodes"], "priority": 1000 - job["id"], "state_reason": "None",
        "shared": "none", "memory_per_node": None, "nodes": "", "job_resources": {},
    }  # fmt: skip
    if job["state"] == "RUNNING":
        cores = {str(k): "allocated" for k in range(4)}
        fields["nodes"] = "n[1-3]"
        fields["job_resources"] = {
            "nodes": "n[1-3]",
            "allocated_nodes": [
                {"nodename": f"n{k}", "sockets": {"0": {"cores": cores}}, "memory_allocated": 0}
                for k in (1, 2, 3)
            ],
        }
    return fields


def json_23_02(job: dict) -> dict:
    fields = json_22_05(job)
    fields["time_limit"] = {"set": True, "infinite": False, "number": job["limit"] // 60}
    fields["job_resources"].pop("allocated_nodes", None)  # nodes alone
    return fields


def json_23_11(job: dict) -> dict:
    fields = json_23_02(job)
    for key in ("submit_time", "eligible_time", "accrue_time", "start_time", "node_count", "cpus",
                "priority", "max_nodes"):  # fmt: skip
        fields[key] = {"set": True, "infinite": False, "number": fields[key]}
    fields["job_state"] = [job["state"]]
    fields["shared"] = ["none"]
    fields["memory_per_node"] = {"set": False, "infinite": False, "number": 0}
    return fields


def json_24_11(job: dict) -> dict:
    fields = json_23_11(job)
    if job["state"] == "RUNNING":
        fields["job_resources"] = {
            "nodes": {
                "list": "n[1-3]",
                "allocation": [
                    {"name": f"n{k}", "cpus": {"count": 4}, "memory": {"allocated": 0}}
                    for k in (1, 2, 3)
                ],
            }
        }
    return fields


FORMS = {"22.05": json_22_05, "23.02": json_23_02, "23.11": json_23_11, "24.11": json_24_11}


def folder_of(path: Path, form: str = "22.05", jobs: list[dict] = JOBS, **texts: str) -> Path:
    path.mkdir(exist_ok=True)
    release = {"release": f"{form}.1"}
    meta = {"Slurm": release} if form == "22.05" else {"slurm": release}
    squeue = json.dumps({"meta": meta, "jobs": [FORMS[form](job) for job in jobs]})
    all_texts = {
        "squeue.json": squeue, "scontrol_config.txt": CONFIG, "scontrol_node.txt": NODES,
        "scontrol_partition.txt": PARTITION, **texts,
    }  # fmt: skip
    for name, text in all_texts.items():
        if text:
            (path / name).write_text(text)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_each_generation_is_read_alike(tmp_path, form):
    snapshot = cs.slurm.Snapshot.read(folder_of(tmp_path / "a", form))
    assert snapshot.time == NOW
    assert snapshot.version == f"{form}.1"
    (runs,) = snapshot.running
    assert [entry[:2] for entry in runs.holds] == [("n1", 4), ("n2", 4), ("n3", 4)]
    assert [(j["id"], j["limit"], j["nodes"], j["user"]) for j in snapshot.pending] == [
        (2, 1800, 2, "bob"), (3, 600, 4, "ann"),
    ]  # fmt: skip
    answer = cs.slurm.when(snapshot, draws=10)
    assert answer.limit_based_start.tolist() == pytest.approx([3000, 4830], abs=120)
    assert answer.slurm[0] == 3000
    assert np.isnan(answer.slurm[1])


def test_text_suffices_and_gz(tmp_path):
    snapshot_of_all = cs.slurm.Snapshot.read(folder_of(tmp_path / "a"))
    text = "\n\n".join(text_of(job) for job in JOBS)
    plain = folder_of(tmp_path / "b", **{"squeue.json": "", "scontrol_job.txt": text})
    for file in list(plain.iterdir()):
        (plain / f"900.{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    snapshot = cs.slurm.Snapshot.read(plain / "900")
    assert [job["id"] for job in snapshot.jobs] == [1, 2, 3]
    assert has_note(snapshot.missing, NoteKind.MISSING_OUTPUT, "squeue.json")
    for key in ("state", "start", "limit", "nodes", "user", "submit"):
        assert [j[key] or 0 for j in snapshot.jobs] == [
            j[key] or 0 for j in snapshot_of_all.jobs
        ], key
    assert (
        cs.slurm.when(snapshot, draws=5).p50.tolist()
        == cs.slurm.when(snapshot_of_all, draws=5).p50.tolist()
    )


def test_jobs_alone_make_a_machine(tmp_path):
    (tmp_path / "scontrol_job.txt").write_text(text_of(JOBS[0]))
    snapshot = cs.slurm.Snapshot.read(tmp_path)
    assert snapshot.machine.cores == 12
    assert has_note(snapshot.missing, NoteKind.MISSING_OUTPUT, "scontrol_node.txt")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("squeue.json", '{"jobs": [', "squeue.json"),
        ("squeue.json", '{"jobs": 3}', "expected a list"),
        ("squeue.json", '{"jobs": [{}]}', "job_id"),
        ("scontrol_node.txt", "NodeName=n1 CPUTot=x\n", "CPUs"),
        ("sshare.txt", "Account|User|RawShares\nroot\n", "line 2"),
        ("sacct.txt", "JobID|User\n1|a\n", "Submit"),
    ],
)
def test_damage_is_one_line(tmp_path, capsys, name, text, said):
    folder = folder_of(tmp_path / "a", **{name: text})
    out = tmp_path / "now.json"
    assert main(["snapshot", "--from", str(folder), "-o", str(out)]) == 2
    error = capsys.readouterr().err.strip()
    assert said.lower() in error.lower()
    assert "\n" not in error
    assert not out.exists()


def test_a_file_is_no_folder(tmp_path, capsys):
    (tmp_path / "now.json").write_text("{}")
    for name, message in (("now.json", "a file, expected a folder"), ("none", "no such file")):
        assert (
            main(["snapshot", "--from", str(tmp_path / name), "-o", str(tmp_path / "o.json")]) == 2
        )
        assert f"{tmp_path / name}: {message}" in capsys.readouterr().err.replace("\n", "")


def test_partial_folders_and_bad_files(tmp_path, capsys):
    (tmp_path / "sdiag.txt").write_text("nothing")
    (tmp_path / "bad.json").write_text("[]")
    for path in (tmp_path, tmp_path / "none", tmp_path / "bad.json"):
        assert main(["when", str(path)]) == 2
        assert capsys.readouterr().err.count("\n") <= 2


def test_written_and_read_again(tmp_path):
    snapshot = cs.slurm.Snapshot.read(folder_of(tmp_path / "a", **{"sacct.txt": SACCT}))
    snapshot.write(tmp_path / "now.json")
    reread_snapshot = cs.slurm.Snapshot.read(tmp_path / "now.json")
    a, b = (cs.slurm.when(each_snapshot, draws=8) for each_snapshot in (snapshot, reread_snapshot))
    pd.testing.assert_frame_equal(a, b)


def test_names_become_numbers(tmp_path, capsys):
    folder = folder_of(tmp_path / "a", **{"sacct.txt": SACCT})
    out = tmp_path / "now.json"
    assert main(["snapshot", "--from", str(folder), "-o", str(out), "--anonymise"]) == 0
    text = out.read_text()
    assert '"ann"' not in text
    assert '"bob"' not in text
    users = [job["user"] for job in cs.slurm.Snapshot.read(out).jobs]
    assert users[0] == users[2] != users[1]
    assert cs.slurm.when(out, draws=5).p50.tolist() == cs.slurm.when(folder, draws=5).p50.tolist()


def test_numbers_of_all_generations():
    assert number({"set": True, "infinite": False, "number": 5}) == 5
    assert number({"set": False, "infinite": False, "number": 5}) is None
    assert number({"set": True, "infinite": True, "number": 0}) == np.inf
    assert number(0xFFFFFFFE) is None
    assert number(None) is None
    assert number(7) == 7


SACCT = (
    "JobID|User|Account|QOS|Partition|State|Submit|Start|End|TimelimitRaw|NNodes|NCPUS\n"
    + "".join(
        f"{k}|{'ann' if k % 2 else 'bob'}|a|normal|main|COMPLETED|2027-01-14T{k % 24:02d}:00:00|"
        f"2027-01-14T{k % 24:02d}:00:00|2027-01-14T{k % 24:02d}:15:00|60|1|4\n"
        for k in range(1, 13)
    )
)


def test_history(tmp_path):
    jobs = parse_history(SACCT)
    assert len(jobs) == 12
    assert {job["limit"] for job in jobs} == {3600}
    folder = folder_of(tmp_path / "a", **{"sacct.txt": SACCT})
    with_past, without = (
        cs.slurm.when(snapshot_folder, [2], draws=60)
        for snapshot_folder in (folder, folder_of(tmp_path / "b"))
    )
    assert with_past.has_history.all()
    assert not without.has_history.any()
    # all jobs of the past ran a quarter of their limits, and job 1 has run for a sixth of its own
    assert with_past.p50[0] < 600 < without.p95[0]
    assert "jobs of user bob" in with_past.attrs["model"][2]


def test_history_tells_memory_and_gpus():
    """In the words of sacct: memory of all nodes, GPUs in all, their type once more."""
    columns = "JobID|Submit|Start|End|NNodes|NCPUS|ReqTRES\n"
    times = "2027-01-14T01:00:00|2027-01-14T01:00:00|2027-01-14T01:15:00"
    requests = {
        1: ("2|8", "billing=8,cpu=8,mem=16000M,node=2"),
        2: ("1|4", "billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=4G,node=1"),
        3: ("1|4", "cpu=4,node=1"),
    }
    text = columns + "".join(
        f"{job}|{times}|{sizes}|{tres}\n" for job, (sizes, tres) in requests.items()
    )
    jobs = parse_history(text)
    assert [(job.memory, job.gpus) for job in jobs] == [
        (8000, ""), (4096, "gpu:a100:2"), (None, "")
    ]  # fmt: skip


def shared_nodes(tmp_path, nodes, jobs, **more):
    """A snapshot of jobs that share the nodes of a slurm.conf."""
    conf = tmp_path / "slurm.conf"
    conf.write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\n"
        f"{nodes}\nPartitionName=main Nodes=ALL Default=YES MaxTime=1-0\n"
    )
    return cs.slurm.Snapshot(
        time=NOW, jobs=jobs, scontrol_texts={"config": "", "nodes": "", "partitions": ""},
        given_machine=cs.cluster.Machine.read(conf), **more,
    )  # fmt: skip


def test_a_running_job_has_the_gpus_of_its_node(tmp_path):
    """It asks for any type: the GPU of type b is not idle while the job runs on its node."""
    nodes = (
        "NodeName=n1 CPUs=4 RealMemory=4000 Gres=gpu:a:1\n"
        "NodeName=n2 CPUs=4 RealMemory=4000 Gres=gpu:b:1"
    )
    fields = {"partition": "main", "submit": NOW - 900, "eligible": NOW - 900, "limit": 3600}
    running = SnapshotJob(
        **fields, id=1, state="RUNNING", start=NOW - 600, gres="gpu:1",
        holds=(Allocated("n2", 1, 100, 1),),
    )  # fmt: skip
    waiting = SnapshotJob(**fields, id=2, gres="gpu:b:1", memory=100)
    snapshot = shared_nodes(tmp_path, nodes, (running, waiting))
    answer = cs.slurm.when(snapshot, draws=3, run_times={1: 1800.0, 2: 60.0})
    assert answer.p50[0] == pytest.approx(1200, abs=65)


def test_later_submissions_ask_for_what_past_jobs_asked_for(tmp_path):
    snapshot = shared_nodes(tmp_path, "NodeName=n1 CPUs=8 RealMemory=8000 Gres=gpu:2", ())
    past_job = FinishedJob(id=1, cpus=2, memory=7000, gpus="gpu:2", limit=600)
    later = copy_of_job(snapshot, past_job)
    assert (later.cpus, later.memory, later.gpus) == (2, 7000, "gpu:2")
    waiting = SnapshotJob(id=2, cpus=2, memory_per_cpu=500, features="a", exclusive=True)
    later = copy_of_job(snapshot, waiting)
    assert (later.memory_per_cpu, later.features, later.exclusive) == (500, "a", True)


def test_exact_run_times(tmp_path):
    folder = folder_of(tmp_path / "a")
    exact = cs.slurm.when(folder, draws=5, run_times={1: 1000, 2: 500, 3: 60})
    assert exact.p50.tolist() == pytest.approx([400, 900], abs=65)
    path = tmp_path / "truth.csv"
    path.write_text("job,seconds\n1,1000\n2,500\n3,60\n")
    assert cs.slurm.when(folder, draws=5, run_times=path).p50.tolist() == exact.p50.tolist()
    later = [{"job": 9, "submit": NOW + 10, "user": "bob", "nodes": 1, "limit": 300, "seconds": 99}]
    assert len(cs.slurm.when(folder, draws=5, run_times={1: 1000}, arrivals=later)) == 2


def test_same_seed_same_answer(tmp_path):
    folder = folder_of(tmp_path / "a", **{"sacct.txt": SACCT})
    a, b, c = (cs.slurm.when(folder, draws=30, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(a, b)
    assert a.p95.tolist() != c.p95.tolist()
    assert (a.p05 <= a.p25).all()
    assert (a.p75 <= a.p95).all()


def test_coarser_steps_tell_their_measured_error(tmp_path, monkeypatch):
    """None where they are those of the configuration."""
    folder = folder_of(tmp_path / "a")
    monkeypatch.setattr(simulated_machine, "_LONG_QUEUE_JOBS", 1)
    errors = []
    for seldom in (1800.0, 30.0):
        monkeypatch.setattr(simulated_machine, "_COARSE_INTERVAL", seldom)
        notes = cs.slurm.when(folder, draws=5, run_times={1: 1900, 2: 1000}).attrs
        measured_error = re.search(
            r"half of the 2 jobs .* within (\S+) minutes .* 95% within (\S+)", str(notes)
        )
        assert measured_error
        errors.append((float(measured_error[1]), float(measured_error[2].strip("'],"))))
    assert 0 < errors[0][0] <= errors[0][1] <= 30
    assert errors[1] == (0, 0)


def test_coarser_steps_backfill_behind_a_long_queue(tmp_path, monkeypatch):
    """One node is idle: the job that fits there starts in the next cycle, half an hour from now."""
    monkeypatch.setattr(simulated_machine, "_LONG_QUEUE_JOBS", 1)
    wide_jobs = [{**JOBS[2], "id": number, "limit": 1800} for number in range(2, 42)]
    small_job = {**JOBS[2], "id": 99, "limit": 600, "nodes": 1}
    folder = folder_of(tmp_path / "a", jobs=[JOBS[0], *wide_jobs, small_job])
    answer = cs.slurm.when(folder, [99], draws=3, run_times={1: 3600})
    assert answer.p95[0] <= 1900


def test_held_dependent_and_limited_jobs(tmp_path):
    jobs = [*copy.deepcopy(JOBS), {**JOBS[1], "id": 4}, {**JOBS[1], "id": 5}]
    folder = folder_of(tmp_path / "a", jobs=jobs)
    data = json.loads((folder / "squeue.json").read_text())
    data["jobs"][3]["state_reason"] = "JobHeldUser"
    data["jobs"][4]["dependency"] = "afterany:3(unfulfilled)"
    (folder / "squeue.json").write_text(json.dumps(data))
    answer = cs.slurm.when(folder, draws=5, run_times=dict.fromkeys(range(1, 6), 1200)).set_index(
        "job"
    )
    assert np.isinf(answer.p05[4])
    assert "held" in answer.reason[4]
    assert answer.p05[5] > answer.p95[3]
    assert "3" in answer.reason[5]


ASSOCIATIONS = (
    "Cluster|Account|User|Partition|Share|GrpTRES|MaxJobs|QOS\nc|root||||||\nc|a|||1|node=3||\n"
    "c|a|ann||1|||normal\nc|b|||1|||\nc|b|bob||1|||normal\n"
)


def test_limits_are_tested_at_every_start(tmp_path):
    jobs = [{**JOBS[0]}, {**JOBS[1], "nodes": 1, "limit": 600}]
    free, limited = (
        cs.slurm.when(
            folder_of(tmp_path / name, jobs=jobs, **files), draws=5, run_times={1: 2000, 2: 9}
        )
        for name, files in (("a", {}), ("b", {"sacctmgr_assoc.txt": ASSOCIATIONS}))
    )
    assert free.p95[0] < 120  # on the idle node
    assert limited.p50[0] == pytest.approx(1400, abs=65)
    assert "AssocGrpNodeLimit (3 of 3 used)" in limited.reason[0]
    assert "job 1 " in limited.reason[0]


def test_tasks_of_arrays_wait_one_after_another(tmp_path):
    """Three tasks in one record; a job of lower priority is behind all of them."""
    jobs = [JOBS[0], {**JOBS[1], "nodes": 1, "limit": 600}, {**JOBS[2], "nodes": 1, "limit": 120}]
    starts = []
    for text, most_tasks in (("5", 0), ("5-9:2", 0), ("5-9:2%2", 2)):
        folder = folder_of(tmp_path / f"a{most_tasks}", jobs=jobs)
        data = json.loads((folder / "squeue.json").read_text())
        data["jobs"][1] |= {
            "array_job_id": 2,
            "array_task_string": text,
            "array_max_tasks": most_tasks,
        }
        (folder / "squeue.json").write_text(json.dumps(data))
        starts.append(cs.slurm.when(folder, draws=3).set_index("job").limit_based_start[3])
    assert starts == pytest.approx([600, 1800, 1800], abs=130)
    array_text = text_of(jobs[1]).replace("JobId=2", "JobId=2 ArrayJobId=2 ArrayTaskId=0-3%2")
    (tmp_path / "scontrol_job.txt").write_text(array_text)
    (tmp_path / "scontrol_node.txt").write_text(NODES)
    (pending_job,) = cs.slurm.Snapshot.read(tmp_path).pending
    assert (pending_job.array, pending_job.tasks) == ((2, 2), 4)


def test_a_job_that_is_larger_than_the_machine_never_starts(tmp_path):
    jobs = [*JOBS, {**JOBS[1], "id": 4, "nodes": 9}]
    folder = folder_of(tmp_path / "a", jobs=jobs)
    answer = cs.slurm.when(folder, draws=3).set_index("job")
    assert np.isinf(answer.p05[4])
    assert "no node has" in answer.reason[4]
    assert np.isfinite(answer.p95[3])


def test_licences_are_waited_for(tmp_path):
    nodes = NODES.replace("CPUAlloc=4", "CPUAlloc=0").replace("ALLOCATED", "IDLE")
    jobs = [{**JOBS[1], "nodes": 1}, {**JOBS[2], "nodes": 1}]
    starts = []
    for count in (2, 1):
        folder = folder_of(
            tmp_path / f"a{count}", jobs=jobs, **{"scontrol_node.txt": nodes},
            **{"scontrol_config.txt": CONFIG + f"Licenses = solver:{count}\n"},
        )  # fmt: skip
        data = json.loads((folder / "squeue.json").read_text())
        for job in data["jobs"]:
            job["licenses"] = "solver:1"
        (folder / "squeue.json").write_text(json.dumps(data))
        starts.append(cs.slurm.when(folder, draws=3).set_index("job").limit_based_start[3])
    assert starts[0] < 120
    assert starts[1] == pytest.approx(1800, abs=130)


SSHARE = (
    "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\nroot||||{all}|1.0|\n"
    " a||1|0.5|{ann}|0.5|\n  a|ann|1|1.0|{ann}|1.0|{of_ann}\n b||1|0.5|{bob}|0.5|\n"
    "  b|bob|1|1.0|{bob}|1.0|{of_bob}\n"
)


def test_shares_go_on(tmp_path):
    """Ann is ahead now; what job 1 of hers uses from here on puts Bob before her."""
    jobs = [JOBS[0], {**JOBS[2], "nodes": 4}, {**JOBS[1], "nodes": 4}]  # 3 of ann, 2 of bob
    folder = folder_of(tmp_path / "a", jobs=jobs)
    data = json.loads((folder / "squeue.json").read_text())
    for job, parts in zip(data["jobs"][1:], ((10020, 20), (5020, 20)), strict=True):
        job["priority"] = parts[0]
    data["jobs"][2]["account"] = "b"
    (folder / "squeue.json").write_text(json.dumps(data))
    sprio = (
        "JOBID PARTITION USER PRIORITY SITE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS NICE TRES\n"
        "3 main ann 10014 0 14 0 10000 0 0 0 0\n2 main bob 5014 0 14 0 5000 0 0 0 0\n"
    )
    (folder / "sprio.txt").write_text(sprio)
    exact = {1: 1800, 2: 60, 3: 60}
    orders = []
    for ann, bob in ((100, 200), (100, 1e9)):
        text = SSHARE.format(all=ann + bob, ann=ann, bob=bob, of_ann=1.0, of_bob=0.5)
        (folder / "sshare.txt").write_text(text)
        answer = cs.slurm.when(folder, draws=3, run_times=exact).set_index("job")
        orders.append(bool(answer.p50[2] < answer.p50[3]))
    assert orders == [True, False]


def test_later_submissions_have_the_priority_of_their_partition(tmp_path):
    """Bob has used less than Ann: what he submits later goes before her job of that partition."""
    folder = folder_of(tmp_path / "a", jobs=[JOBS[0], JOBS[2]])
    (folder / "sprio.txt").write_text(
        "JOBID PARTITION USER PRIORITY SITE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS NICE TRES\n"
        "3 main ann 13014 0 14 0 5000 0 7000 1000 0\n"
    )
    (folder / "sshare.txt").write_text(
        SSHARE.format(all=1e6 + 1, ann=1e6, bob=1, of_ann=0.5, of_bob=1.0)
    )
    exact = {1: 1800, 3: 60}
    later = {"job": 9, "submit": NOW + 10, "user": "bob", "account": "b", "nodes": 4,
             "limit": 300, "seconds": 240}  # fmt: skip
    alone, behind = (
        cs.slurm.when(folder, draws=3, run_times=exact, arrivals=arrivals).p50[0]
        for arrivals in ([], [later])
    )
    assert behind - alone == pytest.approx(240, abs=70)


def test_hidden_jobs_are_estimated(tmp_path):
    snapshot = cs.slurm.Snapshot.read(folder_of(tmp_path / "a", jobs=JOBS[1:]))
    assert len(snapshot.running) == 3
    assert all(job["id"] < 0 for job in snapshot.running)
    assert has_note(snapshot.missing, NoteKind.ASSUMED, "hidden jobs")


def test_a_missing_task_and_a_bad_size_are_named(tmp_path, capsys):
    folder = folder_of(tmp_path / "a")
    runs = tmp_path / "runs.csv"
    runs.write_text("task,processors,seconds\ncfd,1,1000\ncfd,4,400\n")
    command = ["when", str(folder), "--nodes", "1", "--time", "auto"]
    assert main([*command, "--runs", str(runs)]) == 2
    assert capsys.readouterr().err == f"cosched: error: missing --task: {runs} has cfd\n"
    assert main([*command, "--mem", "4X"]) == 2
    assert capsys.readouterr().err == "cosched: error: --mem: '4X': expected a size, as 4G\n"


def test_how_many_nodes(tmp_path, capsys):
    folder = folder_of(tmp_path / "a")
    runs = tmp_path / "runs.csv"
    runs.write_text("task,processors,seconds\ncfd,1,1000\ncfd,4,400\n")
    arguments = [
        "when",
        str(folder),
        "--nodes",
        "1,4",
        "--time",
        "auto",
        "--runs",
        str(runs),
        "--task",
    ]
    picture = tmp_path / "when.png"
    assert main([*arguments, "cfd", "--draws", "20", "--json", "--plot", str(picture)]) == 0
    captured = capsys.readouterr()
    assert "--time auto: 1 run measured, 19 are needed for a risk of 5%" in captured.err
    data = json.loads(captured.out)
    assert set(data) == {"taken", "as_of", "jobs", "not_modelled", "note_records", "coverage"}
    on_one_node, four = data["jobs"]
    assert (on_one_node["nodes"], on_one_node["time"], on_one_node["run_p50"]) == (
        1,
        1140,
        1000,
    )  # 1.1 times as long
    assert on_one_node["advised"]
    assert not four["advised"]
    assert on_one_node["end_p50"] < four["end_p50"]
    assert picture.stat().st_size > 1000
    assert main([*arguments, "other"]) == 2
    assert "cfd" in capsys.readouterr().err
    rows = "".join(f"cfd,1,{1000 + k}\n" for k in range(19))
    runs.write_text(f"task,processors,seconds\n{rows}cfd,4,400\n")
    arguments[3] = "1"
    assert main([*arguments, "cfd", "--draws", "5", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["jobs"][0]["time"] == 1020  # the longest of 19, in minutes
    assert captured.err == ""


LISTS = {
    "sacctmgr_qos.txt": "Name|Priority\nnormal|0\nhigh|1\n",
    "sacctmgr_assoc.txt": "Account|User|ParentName|Share\nroot||||\na||root|1\na|ann||1\n",
}


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--partition", "mian", "unknown partition 'mian' (near: main)"),
        ("--partition", "main,nope", "unknown partition 'nope' (known: main)"),
        ("--qos", "hihg", "unknown QOS 'hihg' (near: high)"),
        ("--account", "b", "unknown account 'b' (known: root, a)"),
        ("--user", "anna", "unknown user 'anna' (near: ann)"),
    ],
)
def test_a_request_names_what_there_is(tmp_path, capsys, option, name, said):
    folder = folder_of(tmp_path / "a", **LISTS)
    command = ["when", str(folder), "--nodes", "1", "--time", "1:00:00", "--draws", "2"]
    assert main([*command, option, name]) == 2
    assert capsys.readouterr().err == f"cosched: error: {said}\n"
    existing_names = {"--partition": "main", "--qos": "high", "--account": "a", "--user": "ann"}
    assert main([*command, option, existing_names[option]]) == 0
    if option != "--partition":  # of the others nothing tells which there are
        assert main(["when", str(folder_of(tmp_path / "b")), *command[2:], option, name]) == 0


def test_an_instance_goes_on_from_the_state(tmp_path):
    inst = cs.slurm.Snapshot.read(folder_of(tmp_path / "a")).instance()
    assert inst.column("running").tolist() == [True, False, False]
    for name in ("FCFS", "EASY", "conservative", "slurm-backfill"):
        starts = cs.cluster.solve(inst, name).jobs.start
        assert starts[0] == 0, name
        assert 3000 <= starts[1] <= starts[2], name


def test_ages_tell_the_last_calculation():
    jobs = [SnapshotJob(id=3, accrue=NOW - 8640.0, submit=NOW)]
    priority_settings = {"weight_age": 1000.0, "max_age": 86400.0, "calc_period": 300.0}
    assert clocks._last_pass(jobs, {3: {"AGE": 98.0}}, priority_settings, NOW) == pytest.approx(
        NOW - 172.8, abs=44
    )


def frame_of(rng, shift=0.0, n=400):
    low = rng.uniform(0, 1000, n)
    return pd.DataFrame(
        {"p05": low, "p95": low + 200, "true": low + 100 + shift * rng.normal(size=n)}
    )


def test_conformal_bands_hold_on_what_was_not_used():
    rng = np.random.default_rng(3)
    fit, test = frame_of(rng, 200), frame_of(rng, 200)
    assert is_covered(test, 0.0).mean() < 0.5  # too narrow as they are
    assert 0.85 <= is_covered(test, widening_of_bands(fit)).mean() <= 0.95
    assert widening_of_bands(frame_of(rng)) < 0  # far too wide


def test_calibration_widens_and_is_told(tmp_path, capsys):
    folder = folder_of(tmp_path / "a", **{"sacct.txt": SACCT})
    (tmp_path / "b.json").write_text('{"widen": 0.5, "calibrated90": 0.88}')
    plain = cs.slurm.when(folder, draws=20)
    assert main(["when", str(folder), "--calibration", str(tmp_path / "b.json"), "--draws", "20",
                 "--json"]) == 0  # fmt: skip
    data = json.loads(capsys.readouterr().out)
    assert data["coverage"] == 0.88
    assert data["jobs"][0]["p95"] > plain.p95[0]
    assert data["jobs"][0]["p25"] == plain.p25[0]


def recorded(folder):
    """Snapshots of a real Slurm, and what happened afterwards."""
    truth = cs.io.read_json(folder / "truth.json")["jobs"]
    for moment in sorted(folder.glob("t0*")):
        snapshot = cs.slurm.Snapshot.read(moment)
        if snapshot.pending:
            yield snapshot, truth


@pytest.mark.parametrize(
    "draws",
    [
        {"live_fs": 60, "live_qos": 60},
        # A burst of many short jobs: a draw of its last moment takes as long as a hundred others.
        pytest.param(
            {"live_fs": 100, "live_qos": 100, "live_burst": 20}, marks=pytest.mark.thorough
        ),
    ],
    ids=len,
)
def test_real_snapshots(draws, snapshots):
    """The 90% bands hold the true starts of a real Slurm's jobs, and errors are below its own."""
    covered_by_series = {}
    for series, count in draws.items():
        is_covered, own_errors, slurm_errors = [], [], []
        for snapshot, truth in recorded(snapshots / series):
            for row in cs.slurm.when(snapshot, draws=count).itertuples():
                true = truth[str(row.job)]["start"] - snapshot.time
                is_covered.append(row.p05 - 1 <= true <= row.p95 + 1)
                own_errors.append(abs(row.p50 - true))
                slurm_errors.append(abs(row.slurm - true))
        assert np.median(own_errors) < np.nanmedian(slurm_errors), series
        assert np.mean(is_covered) >= 0.75, series
        covered_by_series[series] = is_covered
    assert (
        0.85
        <= np.mean([covered for is_covered in covered_by_series.values() for covered in is_covered])
        <= 0.97
    )


@pytest.mark.parametrize("series", ["live_fs", "live_qos"])
def test_real_starts_where_run_times_are_known(snapshots, series):
    """Before anybody else comes, nine of ten start within a minute of the real moment."""
    near = []
    for snapshot, truth in recorded(snapshots / series):
        exact = {
            int(job): job_truth["end"] - job_truth["start"] for job, job_truth in truth.items()
        }
        coming = [
            job_truth["submit"]
            for job_truth in truth.values()
            if job_truth["submit"] > snapshot.time
        ]
        answer = cs.slurm.when(snapshot, draws=5, run_times=exact)
        for row in answer.itertuples():
            start = truth[str(row.job)]["start"]
            if start < min(coming, default=np.inf):
                near.append(abs(row.p50 - (start - snapshot.time)) <= 60)
    assert len(near) > 15
    assert np.mean(near) >= 0.9


@pytest.mark.parametrize("series", ["gpu_a", "gpu_a_24", "mem_a_24", "misc_a", "node_a", "part_a"])
def test_what_runs_holds_what_the_nodes_say(snapshots, series):
    """Outputs of 22.05 and 24.11 under prefixes: GPUs, memory, arrays, nodes that are down."""
    folder = snapshots / f"{series}.1"
    moments = {file.name.partition(".")[0] for file in folder.iterdir()}
    assert len(moments) >= 3
    for moment in moments:
        snapshot = cs.slurm.Snapshot.read(folder / moment)
        assert snapshot.version.startswith("24.11" if series.endswith("_24") else "22.05")
        held_cores = sum(int(cores) for job in snapshot.running for _, cores, *_ in job["holds"])
        nodes = (folder / f"{moment}.node.txt").read_text()
        assert held_cores == sum(map(int, re.findall(r"CPUAlloc=([0-9]+)", nodes))) > 0


@pytest.mark.parametrize("path", ["x" * 300, "x" * 300 + "/900", "a\0b"])
def test_names_that_no_file_can_have(path):
    with pytest.raises(cs.InvalidInstance):
        cs.slurm.Snapshot.read(path)
