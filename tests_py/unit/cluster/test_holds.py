"""What jobs and machines hold beside cores: memory, GPUs, threads; and the use of each."""

import numpy as np
import pytest
from note_facts import places

import cosched as cs
from cosched import NoteKind

COLUMNS = "JobID|State|Submit|Start|Elapsed|NNodes|NCPUS|"
MACHINE = """
[[nodes]]
count = 4
cores = 16
memory_gb = 64
[[nodes]]
count = 2
cores = 16
memory_gb = 128
gpus = 4
gpu_type = "a100"
[[nodes]]
count = 1
cores = 16
memory_gb = 128
gpus = 8
gpu_type = "v100"
"""


@pytest.fixture
def read(tmp_path):
    (tmp_path / "m.toml").write_text(MACHINE)

    def reads(columns, *cells, nodes=2, cpus=8):
        begin = "COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:00|01:00:00"
        rows = [f"{k}|{begin}|{nodes}|{cpus}|{cell}" for k, cell in enumerate(cells)]
        (tmp_path / "jobs.txt").write_text("\n".join([COLUMNS + columns, *rows]) + "\n")
        return cs.cluster.from_sacct(tmp_path / "jobs.txt", tmp_path / "m.toml")

    return reads


def test_memory_asked_for(read):
    cells = {"4000Mn": 2 * 4000 / 1024, "2Gc": 16, "512Mc": 4, "8G": 8, "2000M": 2000 / 1024,
             "1.50T": 1536, "1048576K": 1, "500": 500 / 1024, "0n": np.nan, "": np.nan,
             "lots": np.nan}  # fmt: skip
    memory = read("ReqMem", *cells).jobs.memory_gb
    np.testing.assert_allclose(memory, list(cells.values()))
    assert "memory_gb" not in read("ReqMem", "", "").jobs
    assert "gpus" not in read("ReqMem", "1G").jobs


@pytest.mark.parametrize(
    ("column", "bad", "good"),
    [
        ("ReqMem", ("-4G", "nan", "inf", "1e3M", "4 G", "?", "9" * 20, "9" * 400 + "Gc", "9E"),
         ("4Gn", "1.5G", "0", "", "7E")),
        ("AllocNodes", ("nan", "-2", "10000000000", "1.5", "\uff12"), ("2", "")),
        ("Timelimit", ("60", "-1", "1-00", "INVALID", "9" * 5000 + ":00", "9" * 400 + "-00:00:00"),
         ("10:00", "1-00:00:00", "UNLIMITED", "")),
        ("AllocTRES",
         ("cpu=4,mem=nan", "gres/gpu=-1", "node=x", "mem=" + "9" * 40, "gres/gpu=" + "9" * 30),
         ("billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=7.50G,node=2", "energy=1.5K", "")),
    ],
)  # fmt: skip
def test_cells_that_cannot_be_read_are_counted(read, column, bad, good):
    inst = read(column, *bad, *good)
    lines = [str(2 + k) for k in range(len(bad))]
    line_list = ", ".join(lines[:5]) + ", ..." * (len(bad) > 5)
    repaired = places(inst.notes, NoteKind.REPAIRED)
    assert repaired[column] == (len(bad), f"lines {line_list}")
    assert repaired.keys() <= {column, "NCPUS"}
    assert len(inst) == len(bad) + len(good)
    assert inst.jobs.nodes.tolist() == [2] * len(inst)


def test_names_of_columns_in_any_case_and_jobs_without_a_number(tmp_path, read):
    read("ReqMem", "4G", "2G")
    path = tmp_path / "jobs.txt"
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header.lower(), rows[0].lstrip("0"), rows[1]]) + "\n")
    inst = cs.cluster.from_sacct(path, tmp_path / "m.toml")
    assert inst.jobs.memory_gb.tolist() == [2]
    assert places(inst.notes, NoteKind.DROPPED)["no JobID"] == (1, "line 2")
    path.write_text(path.read_text(), encoding="utf-16")
    with pytest.raises(cs.InvalidInstance, match=r"jobs\.txt: not UTF-8 text"):
        cs.cluster.from_sacct(path, tmp_path / "m.toml")


def test_what_was_allocated_comes_first(read):
    cells = {
        "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=7.50G,node=2|cpu=4,mem=1G,node=1|1G":
            (7.5, 2, "a100"),
        "billing=8,cpu=8,node=2|billing=4,cpu=4,gres/gpu=1,mem=2000M,node=2|4Gn":
            (2000 / 1024, 0, ""),  # no GPU was allocated; memory is not handed out
        "|cpu=8,gres/gpu:v100=3,mem=4G,node=1|": (4, 3, "v100"),
        "cpu=8,gres/gpu:a100=1,gres/gpu:v100=2,mem=1T,node=1||": (1024, 3, "a100,v100"),
        "cpu=8,gres/gpumem=4G,gres/gpuutil=30,mem=16G||": (16, 0, ""),
        "||2Gc": (16, 0, ""),
    }  # fmt: skip
    jobs = read("AllocTRES|ReqTRES|ReqMem", *cells).jobs
    assert jobs[["memory_gb", "gpus", "gpu_type"]].to_numpy().tolist() == [
        list(expected) for expected in cells.values()
    ]
    assert jobs.threads.tolist() == [8] * 6
    assert jobs.gpus.dtype.kind == "i"


def test_cpus_of_tres_alone(read, tmp_path):
    read("ReqMem", "1G")
    (tmp_path / "jobs.txt").write_text(
        "JobID|State|Submit|Start|Elapsed|AllocTRES\n"
        "1|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:00|01:00:00|cpu=6,mem=3G,node=3\n"
    )
    inst = cs.cluster.from_sacct(tmp_path / "jobs.txt", tmp_path / "m.toml")
    assert inst.jobs[["tasks", "memory_gb", "gpus"]].to_numpy().tolist() == [[6, 3, 0]]


def test_use_of_each_resource(read):
    inst = read(
        "AllocTRES",
        "cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1",
        "cpu=16,gres/gpu:v100=8,gres/gpu=8,mem=128G,node=1",
        "cpu=80,mem=320G,node=4",
    )
    result = cs.cluster.solve(inst, "as-logged")
    table = result.by("resource").set_index("resource")
    assert table.index.tolist() == ["cores", "memory_gb", "gpus", "gpus:a100", "gpus:v100"]
    assert table.capacity.tolist() == [112, 640, 16, 8, 8]
    assert table.used_hours.tolist() == [112, 512, 12, 4, 8]
    np.testing.assert_allclose(table.utilisation, [1, 0.8, 0.75, 0.5, 1])
    np.testing.assert_allclose(table.peak, table.utilisation)
    assert result.utilisation == table.utilisation["cores"]
    waited_log = inst.replace(wait=[0, 3600, 3600])
    table = cs.cluster.solve(waited_log, "as-logged").by("resource").set_index("resource")
    np.testing.assert_allclose(table.utilisation, [0.5, 0.4, 0.375, 0.25, 0.5])
    np.testing.assert_allclose(table.peak, [96 / 112, 0.7, 0.5, 0.5, 1])


CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName=a[1-2] CPUs=4 RealMemory=4000 Gres=gpu:2
NodeName=b[1-2] CPUs=4 RealMemory=4000
PartitionName=p Nodes=ALL Default=YES
"""


def without_memory(tmp_path, *cells):
    """Jobs on a Slurm that hands out no memory: nodes and CPUs of each."""
    (tmp_path / "slurm.conf").write_text(CONF)
    begin = "COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:00|01:00:00"
    rows = [f"{k}|{begin}|{n}|{c}|cpu={c},mem=8000M,node={n}" for k, (n, c) in enumerate(cells)]
    (tmp_path / "jobs.txt").write_text("\n".join([COLUMNS + "AllocTRES", *rows]) + "\n")
    return cs.cluster.from_sacct(tmp_path / "jobs.txt", tmp_path / "slurm.conf")


@pytest.mark.parametrize("policy", ["FCFS", "EASY", "conservative", "as-logged"])
def test_where_no_job_asks_for_what_counts_cores_are_handed_out(tmp_path, policy):
    result = cs.cluster.solve(without_memory(tmp_path, (2, 4)), policy)
    result.schedule.validate()
    assert result.schedule.to_frame().units[0] == (0, 1, 2, 3)


def test_nobody_waits_for_memory_that_is_not_handed_out(tmp_path):
    table = cs.cluster.solve(without_memory(tmp_path, (1, 16), (1, 16)), "EASY").by("resource")
    assert table.set_index("resource").waited_hours[["cores", "memory_gb"]].tolist() == [1, 0]


def test_use_where_little_is_known():
    jobs = {"submit": [0, 0], "tasks": [1, 2], "cpu": [1, 0.5], "memory": [1, 1],
            "runtime": [60.0, 30.0]}  # fmt: skip
    inst = cs.cluster.Instance(jobs, 4)
    table = cs.cluster.solve(inst, "FCFS").by("resource")
    assert table.resource.tolist() == ["nodes"]
    assert table.utilisation.tolist() == [pytest.approx(90 / 240)]
    inst = cs.cluster.Instance(jobs | {"memory_gb": [4.0, np.nan], "gpus": [0, 0]}, 4)
    table = cs.cluster.solve(inst, "FCFS").by("resource").set_index("resource")
    assert np.isnan(table.loc["memory_gb", "utilisation"])
    assert table.loc["memory_gb", "used_hours"] == pytest.approx(4 / 60)
    for name, bad in (("gpus", [-1, 0]), ("memory_gb", [np.inf, 0]), ("threads", [1])):
        with pytest.raises(cs.InvalidInstance, match=name):
            cs.cluster.Instance(jobs | {name: bad}, 4)


def test_they_are_kept_in_files(read, tmp_path):
    inst = read("AllocTRES", "cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1", "cpu=8,node=1")
    for name in ("jobs.csv", "jobs.json"):
        inst.write(tmp_path / name)
        reread_instance = cs.cluster.Instance.read(tmp_path / name, inst.nodes)
        assert reread_instance == inst
        for column in ("gpus", "gpu_type", "threads"):
            assert reread_instance.jobs[column].tolist() == inst.jobs[column].tolist()
        np.testing.assert_array_equal(reread_instance.jobs.memory_gb, inst.jobs.memory_gb)


@pytest.mark.parametrize(
    ("types", "rows"),
    [
        (["", ""], ["cores", "gpus"]),
        (["a100", ""], ["cores", "gpus", "gpus:a100", "gpus:v100", "gpus:not said"]),
    ],
)
def test_gpus_of_a_type_that_the_log_does_not_name(tmp_path, types, rows):
    nodes = "[[nodes]]\ncount = 1\ncores = 4\ngpus = 2\ngpu_type = "
    (tmp_path / "m.toml").write_text(f'{nodes}"a100"\n{nodes}"v100"\n')
    machine = cs.cluster.Machine.read(tmp_path / "m.toml")
    jobs = {
        "submit": [0, 0], "tasks": [4, 4], "cpu": [1, 1], "memory": [1, 1], "runtime": [60, 30],
        "gpus": [2, 2], "gpu_type": types,
    }  # fmt: skip
    inst = cs.cluster.Instance(jobs, nodes=8, machine=machine)
    table = cs.cluster.easy(inst).by("resource").set_index("resource")
    assert table.index.tolist() == rows
    assert table.utilisation["gpus"] == pytest.approx(0.75)
    assert not (table.utilisation == 0).any() or types[0]
