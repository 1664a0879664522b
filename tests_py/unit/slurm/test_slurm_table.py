"""The table of settings in the documentation: what each row says is so, and how many files run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cosched as cs
from cosched import NoteKind
from cosched.cluster import Machine
from cosched.errors import InvalidInstance

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "slurm-settings.md"
ACCOUNTS = (
    "Account|User|Share|GrpTRES\nroot||1|\nphysics||1|node=3\nphysics|ann|1|\n"
    "Name|Priority|Preempt\nnormal|1|\nhigh|9|normal\n"
)
_DBD = "AccountingStorageType=accounting_storage/slurmdbd\n"
_FACTORS = "PriorityType=priority/multifactor\n"
_HIGH = "PartitionName=high Nodes=ALL PriorityTier=9"
#: Lines for each row of the table, by how it begins: of the whole file, and of its partition.
ROWS = {
    "memory as a resource": ("SelectTypeParameters=CR_Core_Memory\nDefMemPerCPU=500", ""),
    "`ThreadsPerCore`": ("NodeName=t[1-2] CPUs=8 CoresPerSocket=4 ThreadsPerCore=2", ""),
    "`select/cons_res`": ("SelectType=select/cons_res\nSelectTypeParameters=CR_CPU_Memory", ""),
    "`PriorityWeightFairshare`": (f"{_DBD}{_FACTORS}PriorityWeightFairshare=9", ""),
    "`AccountingStorageEnforce`": (f"{_DBD}AccountingStorageEnforce=limits,safe", ""),
    "`NodeSet`": ("NodeSet=all Nodes=n[1-2]\nPartitionName=b Nodes=all", ""),
    "`PreemptMode`": (
        f"PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n{_HIGH}", "PreemptMode=REQUEUE"
    ),
    "`PreemptType`": (f"{_DBD}PreemptType=preempt/qos\nPreemptMode=REQUEUE", ""),
    "`PriorityWeightQOS`": (f"{_DBD}{_FACTORS}PriorityWeightQOS=9", ""),
    "`TopologyPlugin`": ("TopologyPlugin=topology/tree", ""),
    "`MaxNodes`": ("", "MinNodes=1 MaxNodes=2"),
    "`OverSubscribe=FORCE`": ("", "OverSubscribe=FORCE:4"),
    "partition QOS": (f"{_DBD}{_FACTORS}PriorityWeightFairshare=9",
                      "QOS=normal TRESBillingWeights=CPU=2"),
    "`Weight`": ("NodeName=w1 CPUs=4 Weight=9", ""),
    "`State`": ("DownNodes=n2 State=DOWN\nNodeName=f1 CPUs=4 State=FUTURE", ""),
    "`PriorityWeightTRES`": (f"{_FACTORS}PriorityWeightTRES=CPU=100,Mem=10", ""),
    "another `SchedulerType`": ("SchedulerType=sched/wiki", ""),
    "a `SchedulerParameters`": ("SchedulerParameters=bf_busy_nodes", ""),
}  # fmt: skip


def table():
    """(setting, files, what it says) of each row."""
    page = PAGE.read_text()
    part = page[page.index("## What a slurm.conf may hold") :]
    rows = re.findall(r"^\| (.+?) \| (\S+) \| (followed|approximated) \|", part, re.MULTILINE)
    assert len(rows) == len(ROWS)
    return rows


def machine_of(tmp_path, name):
    lines, partition = ROWS[name]
    (tmp_path / "slurm.conf").write_text(
        f"SelectType=select/cons_tres\n{lines}\nNodeName=n[1-3] CPUs=4 RealMemory=8000\n"
        f"PartitionName=main Nodes=n[1-3] Default=YES {partition}\n"
    )
    (tmp_path / "accounts.txt").write_text(ACCOUNTS)
    return Machine.read(tmp_path / "slurm.conf", accounts=tmp_path / "accounts.txt")


@pytest.mark.parametrize(("setting", "says"), [(row[0], row[2]) for row in table()])
def test_each_row_is_so(tmp_path, setting, says):
    (name,) = [row_name for row_name in ROWS if setting.startswith(row_name)]
    machine = machine_of(tmp_path, name)
    jobs = {
        "submit": [0, 1], "tasks": [4, 4], "cpu": [1, 1], "memory": [1, 1], "runtime": [60, 60],
        "estimate": [300, 300], "user": ["ann", "ann"], "memory_gb": [1, 1],
        "partition": ["main", "main"],
    }  # fmt: skip
    inst = cs.cluster.Instance(jobs, machine.cores, machine=machine)
    if says == "approximated":
        with pytest.raises(InvalidInstance, match="does not cover"):
            cs.slurm.backfill(inst)
    res = cs.slurm.backfill(inst, approximate=says == "approximated")
    assert res.jobs.start.notna().all()
    not_followed = [note for note in res.instance.notes if note.kind is NoteKind.NOT_FOLLOWED]
    assert bool(not_followed) == (says == "approximated")
    assert all(
        ": starts may differ" not in note for note in not_followed
    )  # what it may do, in words


def test_how_many_run():
    """By the steps that the page tells, and its rows: the files that need `approximate` alone."""
    page = PAGE.read_text()
    match = re.search(r"55 with preemption, ([0-9]+) with the other rows", page)
    every = int(match[1])
    lost = sum(
        int(files) for _, files, says in table() if says == "approximated" and files != "some"
    )
    assert f"With `--approximate`, {every} files run." in page
    assert f"Without it, {every - lost} run: the *approximated* rows" in page
    assert f"add up to {lost} files" in page
    assert every >= 68
    assert every - lost >= 60
