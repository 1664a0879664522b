"""Why the simulator and batch policies refuse a job: features, cores, nodes, memory, GPUs, limits
of partitions, each with the number of jobs."""

import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind

EVENT = "-dt {} -e submit_batch_job | -jid {} -sim-walltime 60 --uid=u -t 10 {} job.sh\n"
CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
NodeName=a[1-2] CPUs=8 RealMemory=16384 Feature=old
NodeName=b[1-2] CPUs=4 RealMemory=65536 Feature=new Gres=gpu:v:2
NodeName=d1 CPUs=64 RealMemory=65536 State=DOWN
PartitionName=main Nodes=ALL Default=YES DefMemPerCPU=1000
PartitionName=small Nodes=a[1-2],b1 MaxNodes=1 DefMemPerCPU=1000
PartitionName=wide Nodes=a[1-2],b1 MinNodes=2 DefMemPerCPU=1000
PartitionName=shut Nodes=ALL State=INACTIVE
PartitionName=dynamic
"""
IN_ALL = "the machine (all partitions) has 5 nodes, 4 neither DOWN nor DRAIN"
IN_MAIN = "partition main has 5 nodes, 4 neither DOWN nor DRAIN"


@pytest.fixture
def read(tmp_path):
    """Reads submissions, each with these options, on a machine."""

    def reading(*options, conf=CONF):
        (tmp_path / "slurm.conf").write_text(conf)
        lines = [EVENT.format(k, k + 1, each) for k, each in enumerate(options)]
        (tmp_path / "week.events").write_text("".join(lines))
        return cs.cluster.Instance.read(tmp_path / "week.events", machine=tmp_path / "slurm.conf")

    return reading


def refusal(inst, name="slurm-backfill"):
    with pytest.raises(cs.InfeasibleError) as caught:
        cs.cluster.solve(inst, name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("-N 1 -n 9", f"wants 9 cores on 1 node: {IN_MAIN}, none of these with 9 cores"),
        ("-N 1 -n 8 --mem=20G",
         f"{IN_MAIN}, 2 of these with 8 cores, none of these with 20 GB of memory"),
        ("-N 1 -n 1 -C new --mem=70G",
         f"{IN_MAIN}, 2 of these with new, none of these with 70 GB of memory"),
        ("-N 3 -n 3 -C new", f"wants 3 cores on 3 nodes: {IN_MAIN}, 2 of these with new"),
        ("-N 1 -n 1 --gres=gpu:3", f"{IN_MAIN}, none of these with 3 GPUs"),
        ("-N 1 -n 5 --gres=gpu:v:1", f"{IN_MAIN}, 2 of these with 5 cores, none of these with 1 v"),
        ("-N 1 -n 1 -w a1 -C new", "2 of these with new, none of these of its nodelist"),
        ("-n 32", "wants 32 cores: the 4 nodes that it may have have 24 cores"),
        ("-n 20 --mem-per-cpu=8G",
         "wants 20 cores with 8 GB of memory each: the 4 nodes that it may have have 12 cores"),
        ("-n 2 --gpus=5", "wants 5 GPUs: the 2 nodes that it may have have 4 GPUs"),
        ("-N 2 -n 16 --mem=20G", ", 2 of these with 20 GB of memory"),
        ("-p small -N 2 -n 2", "wants 2 nodes: partition small has MaxNodes=1"),
        ("-p wide -N 1 -n 1", "wants 1 node: partition wide has MinNodes=2"),
        ("-p wide -n 2 --gpus=1",
         "wants 2 cores on 2 nodes: partition wide has 3 nodes, 1 with 1 GPU"),
        ("-p small -n 12", "wants 12 cores: the 1 node that it may have have 8 cores"),
        ("-p shut -n 1", "wants 1 node: the State of partition shut lets no job start"),
        ("-p dynamic -n 1", "wants 1 core: partition dynamic has no nodes"),
    ],
)  # fmt: skip
def test_the_reason_is_what_lacks(read, options, reason):
    refused = refusal(read("-n 1", options))
    assert "job 2" in refused
    assert "memory and GPUs" not in refused
    if "-N 2 -n 16 --mem=20G" not in options:
        assert reason in refused


def test_one_message_counts_all_jobs(read):
    refused = refusal(read(*["-N 1 -n 9"] * 9))
    assert "(and 8 other jobs that cannot start: 2, 3, 4, 5, 6, ...)" in refused
    refused = refusal(read("-n 1", *["-p small -N 2 -n 2"] * 3))
    assert refused == (
        "week.events: job 2 (line 2) wants 2 nodes: partition small has MaxNodes=1 (and 2 other "
        "jobs that cannot start: 3, 4); take them out of the log, or give the machine that it is of"
    )
    refused = refusal(read("-n 1", "-N 1 -n 90 --mem=1M", "-N 1 -n 99"), "EASY")
    assert "job 2 (line 2): needs 90 cores" in refused
    assert "(and 1 other job that cannot start: 3)" in refused


@pytest.mark.parametrize("name", ["EASY", "conservative", "FCFS"])
def test_batch_policies_name_what_lacks(read, name):
    assert "partition dynamic has no nodes" in refusal(read("-p dynamic -n 1"), name)
    # A job that names no partition may use the nodes of all of them, which the message says.
    for partition, place in (("", IN_ALL), ("-p main", IN_MAIN), ("-p other", IN_ALL)):
        jobs = read("-n 1 --mem=1G", f"{partition} -N 1 -n 1 -C new --mem=70G")
        refused = refusal(jobs, name)
        assert f"{place}, 2 of these with new, none of these with 70 GB of memory" in refused


def test_nodes_of_partitions_that_are_named_alone_count_as_the_partition(read):
    refused = refusal(read("-n 1 --mem=1G", "-p small,wide -N 1 -n 1 --mem=70G"), "EASY")
    assert "partition small,wide has 3 nodes, none with 70 GB of memory" in refused
    conf = CONF[: CONF.index("PartitionName=small")].replace("Nodes=ALL", "Nodes=a[1-2],b1,d1")
    refused = refusal(read("-n 1 --mem=1G", "-N 1 -n 1 --mem=70G", conf=conf), "EASY")
    assert "partition main has 4 nodes, 3 neither DOWN nor DRAIN, none of these" in refused


@pytest.mark.parametrize("name", ["EASY"])
def test_batch_policies_count_nodes_out_of_service(read, name):
    refused = refusal(read("-n 1 --mem=1G", "-N 1 -n 1 -C new --mem=70G"), name)
    assert f"{IN_ALL}, 2 of these with new, none of these with 70 GB of memory" in refused


def test_a_partition_without_nodes_is_named(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "NodeName=n[1-2] CPUs=2\nNodeset=later Feature=dyn\nPartitionName=dynamic Nodes=later\n"
        "PartitionName=main Nodes=n[1-2] Default=YES\n"
    )
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    assert has_note(machine.notes, NoteKind.ASSUMED, "partition dynamic")


def test_without_a_machine_nobody_names_a_partition():
    jobs = {"submit": [0, 0], "tasks": [5, 6], "cpu": [1, 1], "memory": [1, 1], "runtime": [9, 9]}
    refused = refusal(cs.cluster.Instance(jobs, 4))
    assert refused == (
        "job 0 wants 5 nodes: the machine has 4 (and 1 other job that cannot start: 1); drop them "
        "with --drop too-wide"
    )


@pytest.mark.parametrize("select", ["select/linear", "select/cons_tres"])
def test_hosts_with_too_few_cores_are_no_whole_request(read, select):
    """Slurm adds other nodes to those of ``-w``, which the simulator does not follow."""
    conf = f"SelectType={select}\nNodeName=n[1-3] CPUs=8\nPartitionName=main Nodes=ALL\n"
    inst = read("-n 19 -w n1", "-n 8 -w n2", conf=conf)
    result = cs.cluster.solve(inst, "slurm-backfill", seed=1)
    result.schedule.validate()
    subject = "nodelist n1, beside which there are other nodes,"
    assert counts(result.instance.notes, NoteKind.NOT_FOLLOWED)[subject] == 1
    names = result.schedule.to_frame().set_index("task").sort_index().hosts.tolist()
    assert names[1] == ("n2",)
