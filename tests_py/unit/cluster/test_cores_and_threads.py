"""CPUs are not cores: what sacct counts, what a machine hands out, and a log that does not fit."""

import re

import numpy as np
import pytest
from note_facts import has_note

import cosched as cs
from cosched import NoteKind

HEADER = "JobID|Partition|State|Submit|Start|Elapsed|Timelimit|NNodes|NCPUS|NodeList"
CONS = "SelectType=select/cons_tres\nSelectTypeParameters={}\n"
#: 4 nodes of 2 x 8 cores and 32 threads.
THREADS = "NodeName=n[1-4] CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2\n"
ALL = "PartitionName=main Nodes=ALL\n"


def machine_of(tmp_path, text, name="slurm.conf"):
    (tmp_path / name).write_text(text)
    return cs.cluster.Machine.read(tmp_path / name)


def read(tmp_path, machine, *rows, header=HEADER, **options):
    (tmp_path / "jobs.txt").write_text("\n".join([header, *rows]) + "\n")
    return cs.cluster.from_sacct(tmp_path / "jobs.txt", machine, **options)


def row(job, cpus, nodes=1, hour=10, elapsed="01:00:00", where="n1", partition="main"):
    begin = f"2026-03-01T{hour:02}:00:00"
    return f"{job}|{partition}|COMPLETED|{begin}|{begin}|{elapsed}|02:00:00|{nodes}|{cpus}|{where}"


@pytest.mark.parametrize(
    ("node", "expected"),  # sockets, cores, threads, CPUs that Slurm counts for a core
    [
        ("CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", (2, 16, 2, 2)),
        ("Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", (2, 16, 2, 2)),
        ("Boards=1 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=2", (2, 16, 2, 2)),
        ("CPUs=32 CoresPerSocket=8 ThreadsPerCore=2", (2, 16, 2, 2)),
        ("CPUs=32 ThreadsPerCore=2", (16, 16, 2, 2)),
        ("CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", (2, 16, 2, 1)),  # only its cores
        ("CPUs=2 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", (2, 16, 2, 0.125)),  # its sockets
        ("CPUs=20 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", (2, 16, 2, 2)),  # Slurm resets it
        ("CPUs=16", (16, 16, 1, 1)),
        ("Procs=16 Sockets=2", (2, 16, 1, 1)),
    ],
)
def test_what_a_node_is(tmp_path, node, expected):
    machine = machine_of(tmp_path, f"NodeName=n[1-4] {node}\n{ALL}")
    (kind,) = machine.nodes
    assert (kind.sockets, kind.cores, kind.threads, kind.cpus_per_core) == expected
    assert machine.cores == 4 * expected[1]


def test_machine_toml_knows_threads(tmp_path):
    machine = machine_of(
        tmp_path,
        "[[nodes]]\ncount = 4\nsockets = 2\ncores = 16\nthreads = 2\nmemory_gb = 64\ngpus = 4\n"
        'gpu_type = "a100"\nweight = 5\nfeatures = ["fast", "ib"]\n',
        "m.toml",
    )
    assert machine.nodes[0] == cs.cluster.NodeType(
        "nodes-1", 4, 16, 64.0, 4, 2, 2, "a100", 5, ("fast", "ib")
    )
    assert (machine.cores, machine.memory_gb, machine.gpus) == (64, 256, 16)
    assert read(tmp_path, machine, row(1, 32), row(2, 3)).jobs.tasks.tolist() == [16, 2]
    with pytest.raises(cs.InvalidInstance, match=r"threads \(of a core\) = 32"):
        machine_of(tmp_path, "[[nodes]]\ncount = 1\ncores = 16\nthreads = 32\n", "m.toml")
    with pytest.raises(cs.InvalidInstance, match="features = 3"):
        machine_of(tmp_path, "[[nodes]]\ncount = 1\ncores = 16\nfeatures = 3\n", "m.toml")


@pytest.mark.parametrize(
    "select",
    [
        CONS.format("CR_Core"),
        CONS.format("CR_CPU"),  # a core runs one job there too, where the cores are configured
        CONS.format("CR_Core_Memory,CR_ONE_TASK_PER_CORE"),
        "SelectType=select/linear\n",
        "SelectType=select/cons_res\nSelectTypeParameters=CR_Socket\n",
        "",
    ],
)
def test_jobs_are_whole_cores(tmp_path, select):
    machine = machine_of(tmp_path, select + THREADS + ALL)
    rows = [row(1, 32, where="n1"), row(2, 64, 2, where="n[2-3]"), row(3, 3, where="n4"),
            row(4, 3, 3, where="n[1-3]", hour=12)]  # fmt: skip
    inst = read(tmp_path, machine, *rows)
    assert inst.nodes == 64
    assert inst.jobs.tasks.tolist() == [16, 32, 2, 3]  # on each of three nodes a core at least
    assert inst.jobs.threads.tolist() == [32, 64, 3, 3]
    assert has_note(inst.notes, NoteKind.ASSUMED, "CPUs")
    logged = cs.cluster.solve(inst, "as-logged").metrics()
    assert logged["overcommitted_hours"] == 0
    assert logged["utilisation"] == pytest.approx((16 + 32 + 2 + 3) / (64 * 3))


def test_cpus_without_cores_are_what_is_handed_out(tmp_path):
    machine = machine_of(tmp_path, CONS.format("CR_CPU") + "NodeName=n[1-4] CPUs=32\n" + ALL)
    inst = read(tmp_path, machine, row(1, 33, 2))
    assert (inst.nodes, inst.jobs.tasks.tolist()) == (128, [33])


def test_what_was_only_asked_for_under_one_task_per_core(tmp_path):
    header = HEADER.replace("NCPUS", "AllocCPUS|ReqCPUS")
    rows = [row(1, "0|8"), row(2, "16|8")]
    for select, tasks in (("CR_Core,CR_ONE_TASK_PER_CORE", [8, 8]), ("CR_Core", [4, 8])):
        machine = machine_of(tmp_path, CONS.format(select) + THREADS + ALL)
        assert read(tmp_path, machine, *rows, header=header).jobs.tasks.tolist() == tasks


def test_nodes_of_both_kinds(tmp_path):
    machine = machine_of(
        tmp_path,
        CONS.format("CR_Core") + THREADS + "NodeName=m[1-2] CPUs=16\nPartitionName=main Nodes=ALL\n"
        "PartitionName=old Nodes=m[1-2]\n",
    )
    rows = [row(1, 16, where="m2"), row(2, 16, where="n[2,4]"), row(3, 16, where="n3,m1")]
    assert read(tmp_path, machine, *rows).jobs.tasks.tolist() == [16, 8, 8]
    rows = [line.rpartition("|")[0] for line in (*rows, row(4, 16, partition="old"))]
    header = HEADER.removesuffix("|NodeList")
    inst = read(tmp_path, machine, *rows, header=header)
    assert inst.jobs.tasks.tolist() == [8, 8, 8, 16]  # as most nodes of the partition


#: A day on which every core of 4 nodes of 32 threads is in use, as sacct prints it.
BUSY = [row(f"{hour}{node}", 32, hour=hour, where=f"n{node}") for hour in range(24) for node in
        range(1, 5)]  # fmt: skip


def test_a_log_that_uses_more_than_the_machine_has(tmp_path):
    fits = read(tmp_path, machine_of(tmp_path, THREADS + ALL), *BUSY)
    assert cs.cluster.solve(fits, "as-logged").metrics()["utilisation"] == 1
    assert not has_note(fits.notes, NoteKind.OVERUSE, "machine")
    for text, cause in (
        ("NodeName=n[1-4] CPUs=16\n", "sacct counts threads, the machine cores: jobs have 32 CPUs"),
        ("NodeName=n[1-2] CPUs=32\n", r"its node list misses nodes: n3, n4 \(2 in all\)"),
    ):
        inst = read(tmp_path, machine_of(tmp_path, text + ALL), *BUSY)
        (note,) = (note for note in inst.notes if note.kind is NoteKind.OVERUSE)
        assert "200% of it on average and up to 200%" in note
        assert re.search(cause, note)
        result = cs.cluster.solve(inst, "as-logged")
        assert np.isnan(result.metrics()["utilisation"])
        assert result.metrics()["overcommitted_hours"] == 24
    (tmp_path / "m.toml").write_text("[[nodes]]\ncount = 3\ncores = 32\n")
    inst = read(tmp_path, tmp_path / "m.toml", *BUSY)
    assert has_note(inst.notes, NoteKind.OVERUSE, "machine")


def test_a_second_too_much_is_no_other_machine(tmp_path):
    machine = machine_of(tmp_path, THREADS + ALL)
    late_rows = [line.replace("01:00:00", "01:00:01", 1) for line in BUSY]  # clocks are rough
    inst = read(tmp_path, machine, *late_rows)
    result = cs.cluster.solve(inst, "as-logged")
    assert result.metrics()["overcommitted_hours"] > 0
    assert result.metrics()["utilisation"] == pytest.approx(1, abs=1e-3)
    assert not has_note(inst.notes, NoteKind.OVERUSE, "machine")


def test_an_archive_log_on_too_few_nodes(tmp_path):
    (tmp_path / "log.swf").write_text(
        "".join(f"{k} {60 * k} 0 60 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n" for k in range(50))
    )
    inst = cs.cluster.from_swf(tmp_path / "log.swf", 3, "rigid")
    assert has_note(inst.notes, NoteKind.OVERUSE, "machine")
    assert np.isnan(cs.cluster.solve(inst, "as-logged").utilisation)
    fits = cs.cluster.from_swf(tmp_path / "log.swf", 4, "rigid")
    assert cs.cluster.solve(fits, "as-logged").utilisation == 1
    assert not has_note(fits.notes, NoteKind.OVERUSE, "machine")
