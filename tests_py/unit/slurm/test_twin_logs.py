"""The twin on logs and machines as sites have them: what strangers found."""

from __future__ import annotations

import csv

import pytest
from note_facts import counts

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.cluster.schedule.held import check_held_by_cores
from cosched.errors import InfeasibleError, InvalidSchedule
from cosched.notes import notes_of_kind

CONF = """ClusterName=t
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-10] CPUs=4 RealMemory=16000
PartitionName=normal Nodes=ALL Default=YES
"""
HEADER = (
    "JobID|JobName|User|Account|Partition|State|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|"
    "ReqMem|Constraints|NodeList\n"
)


def row(job, start, seconds, *, nodes=1, cpus=4, memory="4000M", name="a", constraint="",
        partition="normal", user="u"):  # fmt: skip
    """A line of sacct; times in seconds after midnight, submitted at midnight plus the number."""
    date = "2026-01-01T{:02d}:{:02d}:{:02d}"

    def timestamp(second):
        return date.format(second // 3600, second // 60 % 60, second % 60)

    elapsed = timestamp(seconds).partition("T")[2]
    return (
        f"{job}|{name}|{user}|x|{partition}|COMPLETED|{timestamp(job)}|{timestamp(start)}|"
        f"{timestamp(start + seconds)}|{elapsed}|01:00:00|{nodes}|{cpus}|{memory}|{constraint}|n1\n"
    )


@pytest.fixture
def read(tmp_path):
    """Reads jobs on a machine."""

    def reading(rows, conf=CONF, **options):
        (tmp_path / "slurm.conf").write_text(conf)
        (tmp_path / "sacct.txt").write_text(HEADER + "".join(rows))
        machine = cs.cluster.Machine.read(tmp_path / "slurm.conf", **options)
        return cs.cluster.Instance.read(tmp_path / "sacct.txt", machine=machine)

    return reading


def solved(instance, **options):
    result = cs.cluster.solve(instance, "slurm-backfill", **options)
    result.schedule.validate()
    return result


TIERS = """SelectType=select/linear
PriorityType=priority/multifactor
PriorityWeightPartition=100000
NodeName=n1 CPUs=1
PartitionName=low Nodes=n1 PriorityJobFactor=1 Default=YES
PartitionName=high Nodes=n1 PriorityJobFactor=10 MaxNodes=7
"""


def test_schedules_name_hosts(read, tmp_path, capsys):
    """A partition of nodes in the middle: units are numbered part by part, names are not."""
    conf = CONF + "PartitionName=debug Nodes=n[4-5]\n"
    rows = [row(1, 10, 60, nodes=2, cpus=8, partition="debug"), row(2, 10, 60), row(3, 80, 60)]
    inst = read(rows, conf)
    for name in ("slurm-backfill", "EASY"):
        schedule = cs.cluster.solve(inst, name).schedule
        frame = schedule.to_frame().set_index("id")
        assert frame.hosts[1] == ("n4", "n5")
        assert all(len(job_hosts) == 1 for job_hosts in (frame.hosts[2], frame.hosts[3]))
        placed = schedule.to_dict()["placements"]
        assert [p["hosts"] for p in placed] == [list(job_hosts) for job_hosts in frame.hosts]
        read_again = cs.cluster.Schedule.from_dict(inst, schedule.to_dict())
        read_again.validate()
        assert read_again.to_frame().equals(schedule.to_frame())
    twin = frame.hosts[2][0]
    files = [str(tmp_path / name) for name in ("log.csv", "plan.csv", "plan.json")]
    arguments = ["cluster", str(tmp_path / "sacct.txt"), "--machine", str(tmp_path / "slurm.conf")]
    asked = ["solve", *arguments, "--algorithm", "EASY", "--log", files[0]]
    for output in files[1:]:
        assert main([*asked, "-o", output]) == 0
    with open(files[0], newline="") as file:
        log = list(csv.DictReader(file))
    assert {(r["id"], r["hosts"]) for r in log if r["action"] == "start"} >= {
        ("1", "n4 n5"),
        ("2", twin),
    }
    assert {r["hosts"] for r in log if r["action"] == "finish"} == {""}
    assert "n4" in (tmp_path / "plan.csv").read_text()
    assert main(["validate", *arguments, files[2]]) == 0
    plain = cs.cluster.Instance(
        {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [9.0]}, 2
    )
    assert "hosts" not in cs.cluster.solve(plain, "FCFS").schedule.to_frame()


@pytest.mark.parametrize("approximate", [False, True])
def test_the_partition_counts_in_priorities(read, approximate):
    rows = [
        row(k, 10 * k, 60, cpus=1, partition=part, memory="")
        for k, part in enumerate(("low", "low", "high", "low", "low", "high"), 1)
    ]
    result = solved(read(rows, TIERS), approximate=approximate)
    order = result.jobs.sort_values("start").id.tolist()
    assert order == [1, 3, 6, 2, 4, 5]


@pytest.mark.parametrize("state", ["DOWN", "INACTIVE"])
def test_a_last_partition_that_lets_no_job_start(read, state):
    conf = TIERS.replace("MaxNodes=7", f"State={state}")
    result = solved(read([row(1, 10, 60, cpus=1, partition="low", memory="")], conf),
                    approximate=True)  # fmt: skip
    assert result.jobs.start.tolist() == [0.0]


def test_a_partition_within_another(read):
    conf = CONF + "PartitionName=debug Nodes=n[5-6]\n"
    rows = [row(1, 10, 60, nodes=10, cpus=40), row(2, 10, 60, cpus=8, nodes=2, partition="debug")]
    units = solved(read(rows, conf)).schedule.to_frame().units
    assert units[0] == tuple(range(40))


def test_jobs_that_end_as_they_start(read, tmp_path, capsys):
    log = [row(1, 10, 600), row(2, 20, 0), row(3, 20, 60, nodes=3, cpus=12), row(4, 20, 0)]
    frame = solved(read(log)).schedule.to_frame().set_index("task")
    assert (frame.end - frame.start).tolist() == [600.0, 0.0, 60.0, 0.0]
    assert [len(units) for units in frame.units] == [4, 4, 12, 4]
    files = [str(tmp_path / "sacct.txt"), "--machine", str(tmp_path / "slurm.conf")]
    assert main(["slurm", "check", *files]) == 0
    assert main(["compare", "cluster", *files, "--algorithms", "slurm-backfill", "EASY",
                 "--option", "bf_interval=60"]) == 0  # fmt: skip
    capsys.readouterr()


def test_a_partition_without_nodes(read):
    conf = CONF + "PartitionName=empty Nodes=(null)\n"
    assert solved(read([row(1, 10, 60)], conf)).jobs.start.tolist() == [0.0]
    with pytest.raises(InfeasibleError, match=r"job 7 .* wants 4 cores: .* has no nodes"):
        solved(read([row(7, 10, 60, partition="empty")], conf))


def test_a_carriage_return_within_a_name(read):
    inst = read([row(1, 10, 60), row(2, 20, 60, name="a\rb"), row(3, 30, 60)])
    assert inst.ids.tolist() == [1, 2, 3]


def test_weights_without_a_leading_digit(read):
    conf = CONF + "PriorityType=priority/multifactor\nPriorityWeightTRES=CPU=0,Mem=.03\n"
    assert solved(read([row(1, 10, 60)], conf)).jobs.start.tolist() == [0.0]


ASSOCIATIONS = (
    "Cluster|Account|User|Share|MaxSubmitJobs|QOS|Def QOS\nc|root||1|||\nc|x||1|||\n"
    "c|x|u|1|2|normal|normal\nc|x|w|1||normal|normal\n"
)


def test_a_job_beyond_a_limit_of_submissions_is_refused_alone(read, tmp_path):
    folder = tmp_path / "accounts"
    folder.mkdir()
    (folder / "sacctmgr_assoc.txt").write_text(ASSOCIATIONS)
    (folder / "sacctmgr_qos.txt").write_text("Name|Priority\nnormal|0\n")
    conf = CONF + (
        "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\n"
    )
    rows = [row(k, 100, 600, user="w" if k == 4 else "u") for k in range(1, 6)]
    inst = read(rows, conf, accounts=folder)
    for options in ({}, {"draws": 3}):
        result = solved(inst, **options)
        assert result.jobs.id.tolist() == [1, 2, 4]
        (note,) = notes_of_kind(result.instance.notes, NoteKind.REFUSED_JOBS)
        assert note.count == 2
        assert "MaxSubmit" in note.subject


def test_messages_of_the_core_have_the_jobs_own_numbers(read):
    conf = CONF.replace("Default=YES", "Default=YES State=DOWN")
    with pytest.raises(InfeasibleError, match=r"job 41 .* wants 1 node: the State of"):
        solved(read([row(41, 50, 60)], conf))


def test_a_job_takes_as_many_nodes_as_its_log_says(read):
    rows = [
        row(1, 10, 600, nodes=4, cpus=4),
        row(2, 10, 600, cpus=4),
        row(3, 10, 600, nodes=3, cpus=8),
    ]
    frame = solved(read(rows)).schedule.to_frame().set_index("task")
    assert [len({unit // 4 for unit in frame.units[k]}) for k in range(3)] == [4, 1, 3]


def test_memory_is_that_of_a_node(read):
    conf = CONF.replace("n[1-10] CPUs=4 RealMemory=16000", "n[1-9] CPUs=8 RealMemory=16000")
    conf += "NodeName=m1 CPUs=8 RealMemory=64000\n"
    rows = [row(1, 10, 600, memory="60000M"), row(2, 11, 600, memory="60000M"), row(3, 12, 600)]
    inst = read(rows, conf)
    result = solved(inst)
    frame = result.schedule.to_frame().set_index("task")
    assert (
        {unit // 8 for unit in frame.units[0]} == {unit // 8 for unit in frame.units[1]} == {9 - 9}
    )
    assert result.jobs.start[1] >= result.jobs.end[0]


def test_features_are_followed(read):
    conf = CONF.replace("RealMemory=16000", "RealMemory=16000 Feature=old")
    conf += "NodeName=x1 CPUs=4 RealMemory=16000 Feature=new,fast\n"
    rows = [
        row(1, 10, 600, constraint="new"),
        row(2, 10, 600, constraint="old|new"),
        row(3, 10, 600, constraint="fast&new"),
        row(4, 10, 600, constraint="gone"),
        row(5, 10, 600, constraint="[a*2&b]"),
    ]
    result = solved(read(rows, conf))
    assert result.jobs.start[2] >= result.jobs.end[0]
    not_followed = counts(result.instance.notes, NoteKind.NOT_FOLLOWED)
    assert not_followed["constraint gone"] == 1
    assert not_followed["constraint [a*2&b]"] == 1


@pytest.mark.parametrize(
    ("log", "conf", "units", "match"),
    [
        (row(1, 10, 60, cpus=4), CONF, [0, 1, 4, 5], "is on 2 nodes: expected 1"),
        (row(1, 10, 60, cpus=2, memory="40000M"), CONF + "NodeName=z1 CPUs=4 RealMemory=64000\n",
         [0, 1], "KB of memory"),
        (row(1, 10, 60, constraint="b&c"), CONF + "NodeName=z1 CPUs=4 RealMemory=16000 "
         "Feature=b,c\nNodeName=z2 CPUs=4 RealMemory=16000 Feature=b\n",
         [44, 45, 46, 47], "without its features"),
    ],
)  # fmt: skip
def test_the_validator_looks_into_the_log(read, log, conf, units, match):
    inst = read([log], conf)
    data = solved(inst).schedule.to_dict()
    (placement,) = data["placements"]
    assert placement["units"] != units
    placement["units"] = units
    wrong = cs.cluster.Schedule.from_dict(inst, data)
    with pytest.raises(InvalidSchedule, match=match):
        wrong.validate()


@pytest.mark.parametrize("cpus", [1, 4])
@pytest.mark.parametrize("select", ["linear", "cons_tres\nSelectTypeParameters=CR_Core"])
def test_a_job_gets_a_node_with_its_gpus(tmp_path, select, cpus):
    """Where nodes are whole, and where each has but one core, too."""

    def machine(first, others):
        (tmp_path / "slurm.conf").write_text(
            f"SelectType=select/{select}\nGresTypes=gpu\nNodeName=a CPUs={cpus} Gres=gpu:{first}\n"
            f"NodeName=b[1-2] CPUs={cpus} Gres=gpu:{others}\nPartitionName=p Nodes=ALL\n"
        )
        return cs.cluster.Machine.read(tmp_path / "slurm.conf")

    jobs = {"id": [1, 2, 3], "submit": [0, 10, 20], "tasks": [cpus] * 3, "cpu": [1] * 3,
            "memory": [1] * 3, "runtime": [600] * 3, "gpus": [0, 0, 2]}  # fmt: skip
    result = solved(cs.cluster.Instance(jobs, 3 * cpus, machine=machine(4, 0)), seed=1)
    assert result.schedule.to_frame().units[2] == tuple(range(cpus))
    assert not notes_of_kind(result.instance.notes, NoteKind.MEMORY_UNKNOWN)
    with pytest.raises(InvalidSchedule, match=r"(?i)gpus"):
        check_held_by_cores(result.instance, result.schedule.rows, machine(1, 4))
