"""Machines out of a slurm.conf as sites write it, a gres.conf beside it, and scontrol's texts."""

import gzip
import re
from pathlib import Path

import pytest

import cosched as cs
from cosched import NoteKind
from cosched.cli import main

CONF = """
ClusterName=site
SlurmctldHost=head
JobSubmitPlugins=lua
SelectType=select/cons_res
SelectTypeParameters=CR_Core_Memory
TopologyPlugin=topology/tree
PreemptType=preempt/qos
PreemptMode=REQUEUE
PriorityType=priority/multifactor
PriorityWeightQOS=1000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
Include nodes.conf
PartitionName=DEFAULT MaxTime=1-00:00:00
PartitionName=main Nodes=thin,n[9-10] Default=YES MaxNodes=4 QOS=part
PartitionName=gpu Nodes=accelerated MaxTime=2:00:00 PriorityTier=3
PartitionName=all Nodes=ALL OverSubscribe=FORCE:2
PartitionName=empty
"""
NODES = """
NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=65536
NodeName=n[1-8] Feature=thin,ib
NodeName=n9,n10 RealMemory=131072 MemSpecLimit=1024 Weight=10 State=DRAIN
NodeName=g[1-2],h1 Gres=gpu:a100:4(S:0-1),craynetwork:2 Feature=acc
NodeName=k[1-2] Gres=gpu:2 Weight=50
NodeName=later[1-99] State=FUTURE
NodeSet=thin Feature=thin
NodeSet=accelerated Nodes=k[1-2],later1 Feature=acc
"""
GRES = """
AutoDetect=off
NodeName=k1 Name=gpu Type=v100 File=/dev/nvidia[0-1]
Name=gpu Type=t4 Count=2
"""


@pytest.fixture
def conf(tmp_path):
    (tmp_path / "nodes.conf").write_text(NODES)
    (tmp_path / "gres.conf").write_text(GRES)
    (tmp_path / "slurm.conf").write_text(CONF)
    return tmp_path / "slurm.conf"


def test_what_a_site_writes(conf, tmp_path, capsys):
    machine = cs.cluster.Machine.read(conf)
    names = machine.slurm.names  # in natural order
    assert names[:3] == ("g1", "g2", "h1")
    assert (machine.node_count, machine.cores) == (15, 240)
    assert machine.gpus == 3 * 4 + 2 * 2
    kinds = {kind.gpu_type: kind for kind in machine.nodes}
    assert set(kinds) == {"a100", "v100", "t4", ""}
    assert (kinds["a100"].count, kinds["a100"].gpus, kinds["v100"].gpus) == (3, 4, 2)
    fat = next(kind for kind in machine.nodes if kind.weight == 10)
    assert (fat.count, fat.memory_gb, fat.threads) == (2, 127, 2)
    thin = next(kind for kind in machine.nodes if kind.features == ("thin", "ib"))
    assert thin.count == 8
    at = {name: k for k, name in enumerate(names)}
    partition_nodes = {
        p.name: {k for a, b in p.nodes for k in range(a, b)} for p in machine.partitions
    }
    assert partition_nodes["main"] == {at[f"n{k}"] for k in range(1, 11)}
    assert partition_nodes["gpu"] == {at[name] for name in ("g1", "g2", "h1", "k1", "k2")}
    assert partition_nodes["all"] == set(range(15))
    assert partition_nodes["empty"] == set()
    assert machine.partitions[1].max_time == 7200
    notes = " ".join(machine.notes)
    for what in ("JobSubmitPlugins=lua (it may change jobs", "not used: ", "TopologyPlugin=",
                 "PreemptType=preempt/qos", "PriorityWeightQOS=1000",
                 "limits,qos", "QOS=part", "FORCE:2",
                 "State=DRAIN (2 nodes)", "State=FUTURE (99 nodes)"):  # fmt: skip
        assert what in notes
    assert machine.slurm.bounds == {"main": (0, 4)}
    assert machine.slurm.down == ((at["n9"], at["n10"] + 1),)
    assert "CR_Core_Memory" not in notes  # only slurm-backfill does not know it
    assert "cons_res" not in notes
    assert machine.slurm.memory_counts
    log = tmp_path / "jobs.txt"
    log.write_text(
        "JobID|Partition|State|Submit|Start|Elapsed|NCPUS\n"
        "1|gpu,main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:00|01:00:00|32\n"
    )
    page = tmp_path / "audit.html"
    assert main(["audit", str(log), "--machine", str(conf), "-o", str(page)]) == 0
    assert "240 cores of 15 nodes" in page.read_text()
    command = ["solve", "cluster", str(log), "--machine", str(conf), "--algorithm"]
    capsys.readouterr()
    assert main([*command, "slurm-backfill"]) == 2
    assert "slurm-backfill does not cover" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("head", "version", "cons_tres"),
    [
        ("", None, 1),
        ("", "24.11", 1),
        ("", "24.11.5", 1),
        ("", "22.05", 0),
        ("FastSchedule=1\n", None, 0),  # gone since 20.11
        ("SelectType=select/linear\n", None, 0),
        ("SelectType=select/cons_res\n", "20.02", 1),
    ],
)
def test_the_select_plugin_by_version(tmp_path, head, version, cons_tres):
    path = tmp_path / "slurm.conf"
    path.write_text(head + "NodeName=n[1-4] CPUs=2\nPartitionName=a Nodes=ALL\n")
    machine = cs.cluster.Machine.read(path, slurm_version=version)
    assert machine.slurm.parameters["cons_tres"] == cons_tres
    assert machine.slurm.exclusive_nodes == (not cons_tres)


@pytest.mark.parametrize(
    ("head", "cons_tres"),
    [
        ("# Slurm 22.05.8, managed by Ansible\n", 0),
        ("#\n# slurm.conf of cluster alpha\n# SLURM_VERSION = 20.11.7\n", 0),
        ("# slurm-wlm 24.11.1-1\n", 1),
        ("# slurm.conf, last changed 21.03.2024\n", 1),  # a date
        ("ClusterName=alpha\n# Slurm 22.05\n", 1),  # of something in the file
    ],
)
def test_the_version_in_the_first_comments(tmp_path, head, cons_tres):
    path = tmp_path / "slurm.conf"
    path.write_text(head + "NodeName=n[1-4] CPUs=2\nPartitionName=a Nodes=ALL\n")
    assert cs.cluster.Machine.read(path).slurm.parameters["cons_tres"] == cons_tres
    assert cs.cluster.Machine.read(path, slurm_version="24.11").slurm.parameters["cons_tres"] == 1


def test_the_version_on_the_command_line(tmp_path, capsys):
    (tmp_path / "slurm.conf").write_text("NodeName=n[1-4] CPUs=2\nPartitionName=a Nodes=ALL\n")
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("submit,tasks,cpu,memory,runtime,estimate\n0,2,1,1,60,90\n")
    command = ["solve", "cluster", str(jobs), "--machine", str(tmp_path / "slurm.conf")]
    command += ["--algorithm", "slurm-backfill"]
    assert main([*command, "--slurm-version", "22.05"]) == 0
    capsys.readouterr()
    assert main(command) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "SelectType is not set: select/cons_tres, the default of 24.11" in output
    assert (
        "memory: " in output
    )  # it counts there, and neither log nor machine say how much there is
    assert main([*command, "--slurm-version", "new"]) == 2
    assert "--slurm-version: 'new': expected one as 22.05" in capsys.readouterr().err
    (tmp_path / "m.toml").write_text("[[nodes]]\ncount = 4\ncores = 2\n")
    with pytest.raises(cs.InvalidInstance, match=r"slurm_version is for a slurm\.conf"):
        cs.cluster.Machine.read(tmp_path / "m.toml", slurm_version="22.05")


CONFIG = """Configuration data as of 2026-11-23T01:03:50
AccountingStorageEnforce = associations,limits,qos
AccountingStorageType   = accounting_storage/slurmdbd
JobSubmitPlugins        = (null)
KillWait                = 45 sec
MessageTimeout          = 10 sec
OverTimeLimit           = 2 min
PriorityType            = priority/multifactor
PriorityWeightAge       = 2000
SchedulerParameters     = bf_interval=60,bf_resolution=300
SelectType              = select/cons_tres
SelectTypeParameters    = CR_CORE_MEMORY
SLURM_VERSION           = 22.05.8

Slurmctld(primary) at head is UP
"""
NODE = """NodeName={name} Arch=x86_64 CoresPerSocket=8
   CPUAlloc=4 CPUEfctv=32 CPUTot=32 CPULoad=2.76
   AvailableFeatures=ib,fast
   ActiveFeatures=ib
   Gres={gres}
   OS=Linux 6.18.44 #1 SMP PREEMPT_DYNAMIC @0
   RealMemory=64000 AllocMem=0 FreeMem=20512 Sockets=2 Boards=1
   State={state} ThreadsPerCore=2 TmpDisk=0 Weight=3 Owner=N/A MCS_label=N/A
   CfgTRES=cpu=32,mem=64000M,billing=32
   Comment=(null)

"""
PART = """PartitionName=main
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=YES QoS=N/A
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED
   NodeSets=x
   Nodes=n[1-2],g1
   PriorityJobFactor=1 PriorityTier=4 RootOnly=NO ReqResv=NO OverSubscribe=NO
   OverTimeLimit=NONE PreemptMode=OFF
   State=UP TotalCPUs=96 TotalNodes=3 SelectTypeParameters=NONE
   JobDefaults=(null)

PartitionName=none
   Nodes=(null) MaxTime=UNLIMITED State=UP
"""


def write_output(folder, *, packed=False):
    nodes = NODE.format(name="n1", gres="(null)", state="IDLE")
    nodes += NODE.format(name="n2", gres="(null)", state="IDLE+DRAIN")
    nodes += NODE.format(name="g1", gres="gpu:a100:4(S:0-1)", state="MIXED+POWERED_DOWN")
    for name, text in (("config", CONFIG), ("node", nodes), ("partition", PART)):
        path = folder / f"scontrol_{name}.txt"
        if packed:
            Path(f"{path}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_what_scontrol_shows(tmp_path, packed):
    machine = cs.cluster.Machine.read(write_output(tmp_path, packed=packed))
    assert (machine.node_count, machine.cores, machine.gpus) == (3, 48, 4)
    gpu = machine.nodes[0]
    assert gpu == cs.cluster.NodeType("nodes-1", 1, 16, 62.5, 4, 2, 2, "a100", 3, ("ib", "fast"), 0)
    main_, none = machine.partitions
    assert (main_.nodes, main_.max_time, main_.priority) == (((0, 3),), 86400, 4)
    assert none.nodes == ()
    assert machine.slurm.parameters["KillWait"] == 45
    assert machine.slurm.parameters["OverTimeLimit"] == 120
    assert machine.slurm.parameters["bf_resolution"] == 300
    assert machine.slurm.down == ((2, 3),)
    assert [(note.kind, note.subject, note.count) for note in machine.notes] == [
        (NoteKind.ASSUMED, "partition none", None),
        (NoteKind.ASSUMED, "State=IDLE+DRAIN", 1),
        (NoteKind.NOT_USED, "AccountingStorageEnforce=associations,limits,qos", None),
    ]


def test_the_same_machine_in_both_forms(tmp_path):
    for name in ("shown", "conf"):
        (tmp_path / name).mkdir()
    from_text = cs.cluster.Machine.read(write_output(tmp_path / "shown"))
    (tmp_path / "conf" / "slurm.conf").write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_CORE_MEMORY\nKillWait=45\n"
        "AccountingStorageType=accounting_storage/slurmdbd\n"
        "OverTimeLimit=2\nPriorityType=priority/multifactor\nPriorityWeightAge=2000\n"
        "SchedulerParameters=bf_interval=60,bf_resolution=300\n"
        "NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000 Weight=3 "
        "Feature=ib,fast\nNodeName=n[1-2]\nNodeName=g1 Gres=gpu:a100:4\n"
        "PartitionName=main Nodes=n[1-2],g1 MaxTime=1-0 PriorityTier=4 Default=YES\n"
        "PartitionName=none\n"
    )
    other = cs.cluster.Machine.read(tmp_path / "conf" / "slurm.conf")
    assert (from_text.nodes, from_text.partitions) == (other.nodes, other.partitions)
    assert dict(from_text.slurm.parameters) == dict(other.slurm.parameters)


def test_what_cannot_be_read_says_why(tmp_path):
    with pytest.raises(cs.InvalidInstance, match=r"no scontrol_config.txt: expected scontrol_"):
        cs.cluster.Machine.read(tmp_path)
    write_output(tmp_path)
    (tmp_path / "scontrol_node.txt").write_text("")
    with pytest.raises(cs.InvalidInstance, match="no NodeName: expected one at least"):
        cs.cluster.Machine.read(tmp_path)
    path = tmp_path / "slurm.conf"
    for text, message in (
        ("NodeName=n1\nPartitionName=a Nodes=n[1-2]\n", "slurm.conf:2: node 'n2' has no NodeName"),
        ("NodeName=n1\nPartitionName=a Nodes=s\nNodeSet=s Nodes=n7\n", "node 'n7' has no NodeName"),
        ("NodeName=n1 CPUs=many\nPartitionName=a Nodes=n1\n", "slurm.conf:1: cpus = 'many'"),
    ):
        path.write_text(text)
        with pytest.raises(cs.InvalidInstance, match=message):
            cs.cluster.Machine.read(path)
    path.write_text("Include there.conf\n")
    with pytest.raises((cs.CoschedError, OSError), match=r"there\.conf"):
        cs.cluster.Machine.read(path)


@pytest.mark.parametrize("moment", range(5))
@pytest.mark.parametrize("series", ["live_burst", "live_fs", "live_qos"])
def test_a_live_slurm(snapshots, series, moment):
    """Machine and log of one Slurm, as a reader on its login node gets them."""
    folder = sorted((snapshots / series).glob("t[0-9]*"))[moment]
    machine = cs.cluster.Machine.read(folder)
    inst = cs.cluster.from_sacct(folder / "sacct.txt", machine, include_running=True)
    result = cs.cluster.solve(inst, "as-logged")
    assert result.metrics()["overcommitted_hours"] == 0
    use = result.by("resource").set_index("resource").utilisation
    assert use["cores"] == pytest.approx(result.utilisation)
    nodes = (folder / "scontrol_node.txt").read_text()
    busy = sum(int(count) for count in re.findall(r"CPUAlloc=([0-9]+)", nodes))
    assert inst.jobs.tasks[inst.jobs.status == "running"].sum() == busy
    for name in ("FCFS", "EASY", "conservative"):
        cs.cluster.solve(inst, name).schedule.validate()
