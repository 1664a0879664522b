"""The wording of notes on a slurm.conf and of the simulator; other tests ask for kinds."""

import pytest

import cosched as cs
from cosched.slurm.conf.settings import SlurmSettings

NODES = "NodeName=n[1-4] CPUs=4 RealMemory=8000\nPartitionName=main Nodes=ALL Default=YES\n"
CORES = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
JOBS = {"submit": [0, 0], "tasks": [1, 1], "cpu": [1, 1], "memory": [1, 1], "runtime": [9, 9],
        "estimate": [60, 60]}  # fmt: skip


def machine_of(folder, text):
    (folder / "slurm.conf").write_text(text)
    return cs.cluster.Machine.read(folder / "slurm.conf")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Frobnicate=1", "not understood: Frobnicate"),
        ("JobSubmitPlugins=lua",
         "not understood: JobSubmitPlugins=lua (it may change jobs when they are submitted)"),
        ("PreemptMode=REQUEUE",
         "PreemptMode=REQUEUE has no effect: PreemptType is not set"),
        ("JobRequeue=0",
         "JobRequeue=0: preempted jobs and those of lost nodes run again here"),
        ("SuspendTime=300", "SuspendTime: no node sleeps here, jobs start there at once"),
        ("TopologyPlugin=topology/tree", "not used: TopologyPlugin=topology/tree"),
        ("DownNodes=n[1-2] State=DRAIN", "State=DRAIN (2 nodes): no jobs there"),
        ("PartitionName=none", "partition none has no nodes: jobs there never start"),
        ("SchedulerParameters=bf_interval=20000",
         "not understood: bf_interval=20000 (outside 1..10800: Slurm takes its default, 30)"),
    ],
)  # fmt: skip
def test_notes_on_a_slurm_conf(tmp_path, line, text):
    assert text in machine_of(tmp_path, f"{CORES}{line}\n{NODES}").notes


def test_a_select_type_that_is_not_set(tmp_path):
    text = "SelectType is not set: select/cons_tres, the default of 24.11"
    assert machine_of(tmp_path, NODES).notes == (text,)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("TopologyPlugin=topology/tree",
         "not followed: TopologyPlugin=topology/tree: places differ; jobs over several switches "
         "may start earlier here"),
        ("PriorityFlags=NO_NORMAL_TRES",
         "not followed: PriorityFlags=NO_NORMAL_TRES: priorities are computed without it"),
    ],
)  # fmt: skip
def test_notes_on_what_is_left_out(tmp_path, line, text):
    machine = machine_of(tmp_path, f"{CORES}{line}\n{NODES}").approximated()
    instance = cs.cluster.Instance(JOBS, machine.cores, machine=machine)
    result = cs.slurm.backfill(instance)
    assert [note for note in result.instance.notes if note.subject == line] == [text]


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("gpus", [1, 0], "gpus: the machine has none, so that they are not handed out"),
        ("nodelist", ["n1", "n9"], "not followed: nodelist n9 of 1 jobs: they take any nodes"),
        ("licenses", ["x", ""],
         "not followed: licenses x of 1 job: the machine has none, where Slurm refuses such jobs "
         "at submission; here they start without licences"),
        ("constraint", ["", "a*2"],
         "not followed: the number of nodes of each feature in constraint 'a*2' of 1 job: they "
         "take nodes that the constraint allows"),
    ],
)  # fmt: skip
def test_notes_on_the_jobs_of_a_log(tmp_path, column, value, text):
    nodes = NODES.replace("RealMemory", "Feature=a RealMemory")
    machine = machine_of(tmp_path, f"{CORES}{nodes}")
    jobs = JOBS | {column: value, "wait": [0.0, 0.0], "nodes": [1, 2], "tasks": [1, 2]}
    instance = cs.cluster.Instance(jobs, machine.cores, machine=machine)
    assert text in cs.slurm.backfill(instance).instance.notes


def test_notes_on_memory(tmp_path):
    memory = CORES.replace("CR_Core", "CR_Core_Memory")
    machine = machine_of(tmp_path, memory + NODES)
    instance = cs.cluster.Instance(JOBS, machine.cores, machine=machine)
    text = "memory: the log does not say it, so that it is not handed out"
    assert text in cs.slurm.backfill(instance).instance.notes


def test_a_version_that_is_not_followed(tmp_path):
    machine = machine_of(tmp_path, CORES + NODES)
    instance = cs.cluster.Instance(JOBS, machine.cores, machine=machine)
    text = "rules of Slurm 22.05, the nearest that is followed, for 23.02"
    assert text in cs.slurm.backfill(instance, version="23.02").instance.notes


def test_what_is_left_out_names_the_setting_and_what_that_does():
    settings = SlurmSettings(refused=("TopologyPlugin=topology/tree",))
    (note,) = settings.left_out
    assert note.statement == str(note).removeprefix("not followed: ")
    assert note.statement.startswith(f"{note.subject}: ")
