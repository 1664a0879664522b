"""Machines as PBS, Torque, Grid Engine, LSF and Flux show them, and their machine.toml."""

import json
import math
import random
from collections import Counter
from dataclasses import dataclass, field

import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.cluster.machine.node_types import natural, node_mask
from cosched.cluster.machine.parts import node_attribute
from cosched.cluster.machine.systems.reader import MachineFormat, machine_format, nearest_formats
from support import REPO, damaged_bytes

FIXTURES = REPO / "tests_py" / "fixtures" / "machines"
FILES = sorted(path.name for path in FIXTURES.iterdir() if path.suffix in (".json", ".txt"))


def read(name):
    return cs.cluster.Machine.read(FIXTURES / name)


def rows_of(machine):
    return [
        (kind.name, kind.count, kind.cores, round(kind.memory_gb, 2), kind.gpus)
        for kind in machine.nodes
    ]


def partitions_of(machine):
    return {part.name: part.nodes for part in machine.partitions}


# --- what each system shows -----------------------------------------------------------------------

EXPECTED = {
    "pbsnodes_19.json": [("g[1-2]", 2, 64, 503.0, 4), ("n[1-2],n10", 3, 32, 187.3, 0)],
    "pbsnodes_19.txt": [("g[1-2]", 2, 64, 503.0, 4), ("n[1-2],n10", 3, 32, 187.3, 0)],
    "pbsnodes_vnodes_2022.json": [("c1", 1, 64, 256.0, 4), ("c2", 1, 48, 192.0, 3)],
    "pbsnodes_torque_6.txt": [
        ("gpu01.site.org", 1, 32, 125.62, 2), ("node01.site.org,node02.site.org", 2, 20, 62.81, 0),
    ],
    "pbsnodes_torque_2.txt": [("localhost", 1, 2, 3.78, 0)],
    "qhost_6.2.txt": [("compute-0-0,compute-0-3", 2, 8, 15.7, 0)],
    "qhost_8.1.9.txt": [("gpu1", 1, 32, 125.5, 3), ("n2,n10", 2, 32, 251.63, 0)],
    "qhost_ocs_9.1.txt": [("exec", 1, 8, 31.2, 0), ("master", 1, 4, 15.62, 2)],
    "qhost_ocs_9.2.json": [("n1", 1, 32, 252.0, 0), ("n2", 1, 32, 252.0, 2)],
    "bhosts_w_10.1.txt": [("n[001-002],n005", 3, 16, 0.0, 0), ("n010", 1, 32, 0.0, 0)],
    "bhosts_and_lshosts_10.1.txt": [("gpu1", 1, 48, 500.0, 4), ("n[1-2]", 2, 64, 191.5, 0)],
    "bhosts_7.txt": [("kemeny,neumann,turingpi", 3, 4, 0.0, 0)],
    "lshosts_9.txt": [("lsfrhel01", 1, 2, 1.4, 0), ("lsfrhel02", 1, 2, 1.4, 0)],
    "flux_r.json": [("gpu[01-02]", 2, 64, 0.0, 8), ("node[186-189]", 4, 48, 0.0, 0)],
    "flux_r_queues.json": [
        ("tioga10", 1, 16, 0.0, 0), ("tioga11", 1, 16, 0.0, 4), ("tioga[12-13]", 2, 16, 0.0, 0),
    ],
}  # fmt: skip

#: What is left out or assumed in each file: how many nodes, hosts or lines by subject.
EXPECTED_COUNTS = {
    "pbsnodes_19.json": {
        "pcpus": 3, "Qlist": 8, "resources": 1, "out of service": 2, "without cores or slots": 1,
        "queues": 3,
    },
    "pbsnodes_vnodes_2022.json": {"vnodes": 10, "queues": 1},
    "pbsnodes_torque_6.txt": {"out of service": 1},
    "pbsnodes_torque_2.txt": {"np": 1},
    "qhost_6.2.txt": {"out of service": 2, "queues": 1},
    "qhost_8.1.9.txt": {"lines": 2, "GPUs": 1, "out of service": 2, "queues": 3},
    "qhost_ocs_9.1.txt": {"NCPU": 2, "GPUs": 1},
    "qhost_ocs_9.2.json": {"GPUs": 1, "queues": 1},
    "bhosts_w_10.1.txt": {"out of service": 3, "without cores or slots": 1},
    "bhosts_and_lshosts_10.1.txt": {
        "ncpus": 2, "cpuf": 2, "hosts of lshosts alone": 1, "out of service": 1,
    },
    "bhosts_7.txt": {"closed": 1},
    "lshosts_9.txt": {"slots": 3, "cpuf": 2, "without cores or slots": 1},
    "flux_r.json": {"states": 6},
    "flux_r_queues.json": {"states": 4, "scheduling": None, "queues": 2},
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_the_nodes_of_each_fixture(name):
    assert rows_of(read(name)) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED_COUNTS)
def test_what_is_left_out_or_assumed_is_counted(name):
    notes = read(name).notes
    assert notes[0].kind is NoteKind.READING
    assert {note.subject: note.count for note in notes[1:]} == EXPECTED_COUNTS[name]


def test_both_forms_of_pbsnodes_show_the_same_machine():
    text, data = read("pbsnodes_19.txt"), read("pbsnodes_19.json")
    assert text == data
    assert text.notes[1:] == data.notes[1:]
    assert partitions_of(text) == {"gpu": ((0, 2),), "long": ((0, 2),), "normal": ((2, 5),)}
    assert [kind.features for kind in text.nodes] == [("nvlink",), ()]


def test_a_host_has_the_vnodes_that_are_in_service():
    machine = read("pbsnodes_vnodes_2022.json")
    assert {kind.gpu_type for kind in machine.nodes} == {"A100"}
    assert partitions_of(machine) == {"gpuq": ((0, 2),)}


def test_queues_of_grid_engine_without_disabled_instances():
    machine = read("qhost_8.1.9.txt")
    assert partitions_of(machine) == {
        "gpu.q": ((0, 1),), "all.q": ((1, 3),), "long.q": ((1, 3),),
    }  # fmt: skip


def test_a_status_that_was_folded_is_no_node(tmp_path):
    text = (
        "n1\n     np = 4\n     ntype = cluster\n     status = \nrectime=1,state=free,sessions=31 \n"
        "52 53,physmem=4gb,ops\nys=linux\n     gpus = 1\n"
    )
    path = tmp_path / "nodes"
    path.write_text(text)
    machine = cs.cluster.Machine.read(path)
    assert rows_of(machine) == [("n1", 1, 4, 0.0, 1)]
    assert counts(machine.notes, NoteKind.DROPPED) == {"lines": 3}


def test_what_was_copied_off_a_page_or_a_screen(tmp_path):
    path = tmp_path / "nodes"
    text = (FIXTURES / "pbsnodes_19.txt").read_text()
    path.write_text("".join(f"   {line}" for line in text.splitlines(keepends=True)))
    assert cs.cluster.Machine.read(path) == read("pbsnodes_19.txt")
    header = "HOST_NAME type model cpuf ncpus maxmem maxswp server RESOURCES\n"
    table = "HOST_NAME STATUS JL/U MAX\nn1 ok - 4\n"
    path.write_text(
        f"$ lshosts -w\n{header}n1 X86_64 Intel 12.5 4 15.4G - Yes (mg)\n\n"
        f"[ann@n1 ~]$ bhosts -w\n{table}"
    )
    machine = cs.cluster.Machine.read(path)
    assert rows_of(machine) == [("n1", 1, 4, 15.4, 0)]
    assert counts(machine.notes, NoteKind.DROPPED) == {"lines": 2}


def test_properties_and_queues_of_flux():
    machine = read("flux_r_queues.json")
    assert partitions_of(machine) == {"debug": ((0, 1),), "batch": ((1, 4),)}
    assert [kind.features for kind in machine.nodes] == [(), ("amd-mi50@gpu",), ("bigmem",)]


def test_ranks_that_come_in_another_order_than_their_names(tmp_path):
    data = {"version": 1, "execution": {
        "R_lite": [{"rank": "2", "children": {"core": "0-7"}},
                   {"rank": "0-1", "children": {"core": "0-3"}}],
        "nodelist": ["a", "c,b"]}}  # fmt: skip
    path = tmp_path / "R"
    path.write_text(json.dumps(data))
    assert rows_of(cs.cluster.Machine.read(path)) == [("a,c", 2, 4, 0, 0), ("b", 1, 8, 0, 0)]


def test_the_name_of_a_file_says_nothing(tmp_path):
    for name in FILES:
        path = tmp_path / "hosts.toml"
        path.write_bytes(b"\xef\xbb\xbf\n" + (FIXTURES / name).read_bytes())
        assert cs.cluster.Machine.read(path) == read(name)


# --- machine.toml ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_machine_toml_has_the_same_machine(tmp_path, name, capsys):
    path = tmp_path / "machine.toml"
    assert main(["machine", str(FIXTURES / name), "-o", str(path)]) == 0
    printed = capsys.readouterr().out
    assert cs.cluster.Machine.read(path) == read(name)
    assert all(f"note: {note}" in printed for note in read(name).notes)
    assert f"{read(name).cores:,} cores".replace(",", "") in printed.replace(",", "")


def test_names_that_toml_has_to_quote(tmp_path):
    kind = cs.cluster.NodeType('a "b" \\ \x7f\u2028é', 3, 2, 0.1, 1, gpu_type="x\ty", weight=7,
                               features=("p,q"[:1], "#"), threads=2, sockets=2, cpus=4)  # fmt: skip
    part = cs.cluster.Partition("[x]", ((0, 1), (2, 3)), 90.5, -1.5)
    machine = cs.cluster.Machine((kind,), (part,))
    assert machine.write(tmp_path / "m.toml") == ()
    assert cs.cluster.Machine.read(tmp_path / "m.toml") == machine


SLURM_CONF = """\
ClusterName=a
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-4] CPUs=16 ThreadsPerCore=2 CoresPerSocket=8 RealMemory=1000
NodeName=n5 CPUs=8 State=DOWN
NodeName=g[1-2] CPUs=8 Gres=gpu:a100:4 Feature=ib
PartitionName=main Nodes=n[1-5],g[1-2] MaxTime=60 PriorityTier=2
PartitionName=old Nodes=n5
"""


def test_a_slurm_conf_becomes_nodes_and_partitions(tmp_path):
    conf, path = tmp_path / "slurm.conf", tmp_path / "machine.toml"
    conf.write_text(SLURM_CONF)
    before = cs.cluster.Machine.read(conf)
    notes = before.write(path)
    after = cs.cluster.Machine.read(path)
    assert [note.subject for note in notes] == [
        "settings of Slurm", "memory", "out of service", "partition",
    ]  # fmt: skip
    assert counts(notes, NoteKind.DROPPED) == {"out of service": 1, "partition": 1}
    assert [(kind.count, kind.cores, kind.cpus_per_core, kind.gpus) for kind in after.nodes] == [
        (2, 8, 1.0, 4), (4, 8, 2.0, 0),
    ]  # fmt: skip
    (main_partition,) = after.partitions
    assert (main_partition.nodes, main_partition.max_time) == (((0, 6),), 3600.0)


def test_json_of_the_command(capsys):
    assert main(["machine", str(FIXTURES / "pbsnodes_19.json"), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["cores"], record["gpus"], len(record["nodes"])) == (224, 8, 2)
    assert record["note_records"][0]["kind"] == "reading"


def test_jobs_of_the_same_system_run_on_the_machine(tmp_path):
    log = tmp_path / "20250627"
    log.write_text(
        "06/27/2025 01:01:15;E;1.pbs;user=vic queue=gpu ctime=10 etime=10 start=20 end=80 "
        "Resource_List.ncpus=64 Resource_List.nodect=2 Resource_List.ngpus=8 Exit_status=0\n"
        "06/27/2025 01:01:15;E;2.pbs;user=vic queue=gpu ctime=11 etime=11 start=80 end=90 "
        "Resource_List.ncpus=64 Resource_List.nodect=1 Resource_List.ngpus=4 Exit_status=0\n"
    )
    instance = cs.cluster.Instance.read(log, machine=FIXTURES / "pbsnodes_19.json")
    assert has_note(instance.notes, NoteKind.DROPPED, "out of service")
    jobs = cs.cluster.solve(instance, "FCFS").jobs
    assert jobs["start"].tolist() == [0.0, 60.0]  # the GPUs are taken


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n1\n     state = free\n     np = x\n", r"line 1: np = 'x': expected a whole number"),
        ("n1\n     state = down\n     np = 4\n", r"no node in service with cores"),
        ("n1\n     np = 4\nn1\n     np = 4\n", r"node 'n1' is there 2 times"),
        ('{"nodes": {"n1": {"resources_available": {"ncpus": 4.5}}}}', r"ncpus = '4.5'"),
        ('{"nodes": {"n1": {"resources_available": {"ncpus": 4, "mem": "8qb"}}}}', r"mem = '8qb'"),
        ('{"nodes": {"n1": {"resources_available": [4]}}}', r"resources_available: expected an"),
        ('{"nodes": {"n1": 4}, "pbs_version": "23"}', r"node 'n1': expected an object"),
        ('{"nodes": [4], "pbs_version": "23"}', r"nodes: expected an object"),
        ("HOSTNAME ARCH NCPU LOAD\nn1 lx 4\n", r"line 2: 3 fields: expected 4"),
        ("HOSTNAME ARCH NCPU LOAD\nn1 lx four 0.1\n", r"line 2: NCPU = 'four'"),
        ("HOST_NAME STATUS JL/U MAX\nn1 ok - 4\nn1 ok - 4\n", r"line 3: host 'n1' is in bhosts"),
        ("HOST_NAME STATUS JL/U MAX\nn1 ok -\n", r"line 2: 3 fields: expected 4"),
        ("HOST_NAME STATUS JL/U MAX\nn1 ok - 4G\n", r"line 2: MAX = '4G'"),
        ("HOST_NAME STATUS JL/U MAX\nn1 ok - -\n", r"no node in service with cores"),
        ('{"version": 2, "execution": {"R_lite": []}}', r"version = 2: expected 1"),
        ('{"version": 1, "execution": {"R_lite": []}}', r"R_lite: expected a list of ranks"),
        (
            '{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3"}}],'
            '"nodelist":["a"]}}',
            r"nodelist: 1 host: expected 2, one for each rank",
        ),
        (
            '{"version":1,"execution":{"R_lite":[{"rank":"3-1","children":{"core":"0-3"}}]}}',
            r"rank = '3-1': expected numbers such as 0-3,7",
        ),
        (
            '{"version":1,"execution":{"R_lite":[{"rank":"0-999999999","children":{"core":"0"}}]}}',
            r"more than 1000000 numbers",
        ),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    path = tmp_path / "hosts"
    path.write_text(text)
    with pytest.raises(cs.InvalidInstance, match=message) as error:
        cs.cluster.Machine.read(path)
    assert str(error.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("NodeName=n[1-4] CPUs=8\nPartitionName=main Nodes=ALL", "a slurm.conf"),
        ('{"execution": {"nodelist": ["n1"], "children": 1}}', "Flux's R"),
        ("HOSTNAME  NCPU\n", "what qhost -F printed"),
        ("HOST_NAME  STATUS\n", "what bhosts -w"),
        ('{"nodes": {"n1": {"Mom": "n1", "ncpus": 4}}}', "what pbsnodes -av -F json printed"),
    ],
)
def test_an_unknown_format_names_the_three_nearest(tmp_path, text, nearest):
    path = tmp_path / "hosts"
    path.write_text(text)
    assert machine_format(text) is None
    assert len(nearest_formats(text)) == 3
    with pytest.raises(cs.InvalidInstance) as error:
        cs.cluster.Machine.read(path)
    assert f"expected one such as {nearest}" in str(error.value)


def test_a_log_and_a_machine_are_not_confused(tmp_path, capsys):
    log = tmp_path / "20250627"
    log.write_text("06/27/2025 00:01:10;Q;1001.pbs;queue=workq\n")
    assert main(["machine", str(log)]) == 2
    assert "reads as a log of jobs only" in capsys.readouterr().err
    for name in FILES:
        text = (FIXTURES / name).read_text()
        assert machine_format(text) is not None
        words = ["audit", str(FIXTURES / name), "--nodes", "4", "-o", str(tmp_path / "a.html")]
        assert main(words) == 2
        error = capsys.readouterr().err
        assert "which cosched reads as a machine only: pass it to --machine" in error
    assert not (tmp_path / "a.html").exists()


def test_options_of_a_slurm_conf_are_refused_for_others():
    with pytest.raises(cs.InvalidInstance, match=r"slurm_version is for a slurm\.conf"):
        cs.cluster.Machine.read(FIXTURES / "flux_r.json", slurm_version="24.11")


# --- random machines against an oracle ------------------------------------------------------------


@dataclass
class Node:
    """A node as a random machine has it."""

    name: str
    cores: int
    memory_mb: int
    gpus: int
    queues: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    is_out: bool = False


def random_nodes(rng):
    """Some kinds of nodes, whose hosts come in any order."""
    nodes = []
    for kind in range(rng.randint(1, 4)):
        cores, memory = rng.choice([1, 4, 16, 64, 128]), 1024 * rng.choice([2, 15, 251, 1000])
        gpus = rng.choice([0, 0, 1, 4, 8])
        queues = rng.sample(["short", "long", "gpu.q"], rng.randint(1, 3))
        features = sorted(rng.sample(["amd", "bigmem", "ib"], rng.randint(0, 2)))
        nodes += [
            Node(f"{'nxgb'[kind]}{k}", cores, memory, gpus, queues, features, rng.random() < 0.2)
            for k in range(rng.randint(1, 12))
        ]
    nodes[0].is_out = False
    rng.shuffle(nodes)
    return nodes


def pbs_json(nodes, rng):
    return json.dumps({"pbs_version": "23", "nodes": {
        node.name: {"state": rng.choice(["offline", "down", "state-unknown,down", "maintenance"])
                    if node.is_out else rng.choice(["free", "job-busy", "resv-exclusive"]),
                    "resources_available": {
                        "host": node.name, "ncpus": node.cores,
                        "mem": rng.choice([f"{node.memory_mb}mb", f"{node.memory_mb * 1024}kb",
                                           f"{node.memory_mb << 20}b"]),
                        **({"ngpus": node.gpus} if node.gpus or rng.random() < 0.5 else {}),
                        "Qlist": ",".join(node.queues),
                        **{name: rng.choice(["True", "yes"]) for name in node.features}}}
        for node in nodes}})  # fmt: skip


def torque_text(nodes, rng):
    lines = []
    for node in nodes:
        state = "down,offline" if node.is_out else rng.choice(["free", "job-exclusive", "busy"])
        lines += [node.name, f"     state = {state}", f"     np = {node.cores}"]
        lines += [f"     properties = {','.join(node.features)}"] * bool(node.features)
        status = f"rectime=1,ncpus={node.cores},physmem={node.memory_mb * 1024}kb,varattr="
        lines += ["     ntype = cluster", f"     status = {status}", f"     gpus = {node.gpus}", ""]
    return "\n".join(lines)


def qhost_text(nodes, rng):
    lines = ["HOSTNAME ARCH NCPU NSOC NCOR NTHR LOAD MEMTOT MEMUSE SWAPTO SWAPUS", "-" * 80,
             "global - - - - - - - - - -"]  # fmt: skip
    for node in nodes:
        is_silent = node.is_out and rng.random() < 0.5
        load = "-" if is_silent else "0.10"
        threads = 2 * node.cores
        lines.append(
            f"{node.name} lx-amd64 {threads} 2 {node.cores} {threads} {load} "
            f"{node.memory_mb / 1024:.1f}G 1.0G 0.0 0.0"
        )
        used = rng.randint(0, node.cores)
        lines.append(f"   hl:mem_total={node.memory_mb / 1024:.3f}G")
        lines += [f"   hc:slots={node.cores - used}.000000"]
        lines += [f"   hf:gpu={node.gpus}.000000"] * bool(node.gpus)
        state = rng.choice(["d", "au", "E"]) if node.is_out else rng.choice(["", "a", "S"])
        for number, queue in enumerate(node.queues):
            lines.append(f"   {queue} BIP 0/{used if not number else 0}/{node.cores} {state}")
    return "\n".join(lines) + "\n"


def lsf_text(nodes, rng):
    lines = ["HOST_NAME STATUS JL/U MAX NJOBS RUN SSUSP USUSP RSV"]
    for node in nodes:
        state = (
            rng.choice(["unavail", "closed_Adm", "unreach", "closed_LIM"])
            if node.is_out
            else rng.choice(["ok", "closed_Full", "closed_Excl", "closed_Busy", "closed_Wind"])
        )
        lines.append(f"{node.name} {state} - {node.cores} 0 0 0 0 0")
    lines.append("HOST_NAME type model cpuf ncpus maxmem maxswp server RESOURCES")
    for node in sorted(nodes, key=lambda node: rng.random()):
        memory = rng.choice([f"{node.memory_mb}M", f"{node.memory_mb // 1024}G"])
        names = " ".join(node.features)
        lines.append(f"{node.name} X86_64 Intel 10.0 {node.cores} {memory} - Yes ({names})")
    lines.append("HOST_NAME gpu_id gpu_model gpu_driver gpu_factor numa_id vendor")
    for node in nodes:
        lines += [
            f"{node.name if not gpu else '      '} {gpu} V100 384.10 70 0 Nvidia"
            for gpu in range(node.gpus)
        ]
    return "\n".join(lines) + "\n"


def flux_text(nodes, rng):
    sizes = sorted({(node.cores, node.gpus) for node in nodes}, key=lambda _: rng.random())
    entries = []
    for cores, gpus in sizes:
        ranks = [k for k, node in enumerate(nodes) if (node.cores, node.gpus) == (cores, gpus)]
        children = {"core": f"0-{cores - 1}", **({"gpu": f"0-{gpus - 1}"} if gpus else {})}
        entries.append({"rank": ",".join(map(str, ranks)), "children": children})
    properties = {}
    for k, node in enumerate(nodes):
        for name in [*node.features, *(f"+{queue}" for queue in node.queues)]:
            properties.setdefault(name, []).append(str(k))
    return json.dumps({"version": 1, "execution": {
        "R_lite": entries, "nodelist": [node.name for node in nodes],
        "properties": {name: ",".join(ranks) for name, ranks in properties.items()}}})  # fmt: skip


#: Writer, and what of a node the format has.
WRITERS = {
    MachineFormat.PBS_JSON: (pbs_json, {"memory", "gpus", "queues", "features", "states"}),
    MachineFormat.PBS_TEXT: (torque_text, {"memory", "gpus", "features", "states"}),
    MachineFormat.QHOST_TEXT: (qhost_text, {"memory", "gpus", "queues", "states"}),
    MachineFormat.LSF: (lsf_text, {"memory", "gpus", "features", "states"}),
    MachineFormat.FLUX: (flux_text, {"gpus", "queues", "features"}),
}


def expected_nodes(nodes, fields):
    """How many nodes are alike, which the reader of a format should find."""
    return Counter(
        (
            node.cores,
            node.memory_mb / 1024 if "memory" in fields else 0.0,
            node.gpus if "gpus" in fields else 0,
            tuple(node.features) if "features" in fields else (),
            frozenset(node.queues) if "queues" in fields else frozenset(),
        )
        for node in nodes
        if not node.is_out or "states" not in fields
    )


def found_nodes(machine):
    masks = {part.name: node_mask(part.nodes, machine.node_count) for part in machine.partitions}
    columns = [node_attribute(machine, name).tolist() for name in ("cores", "memory_gb", "gpus")]
    features = [kind.features for kind in machine.nodes for _ in range(kind.count)]
    return Counter(
        (cores, memory, gpus, features[k], frozenset(name for name in masks if masks[name][k]))
        for k, (cores, memory, gpus) in enumerate(zip(*columns, strict=True))
    )


@pytest.mark.parametrize("file_format", WRITERS)
def test_random_machines_against_an_oracle(tmp_path, file_format):
    write, fields = WRITERS[file_format]
    for seed in range(40):
        rng = random.Random(seed)
        nodes = random_nodes(rng)
        path = tmp_path / f"hosts{seed}"
        path.write_text(write(nodes, rng))
        machine = cs.cluster.Machine.read(path)
        assert machine_format(path.read_text()) is file_format
        assert found_nodes(machine) == expected_nodes(nodes, fields), (seed, path.read_text())
        out_count = sum(node.is_out for node in nodes) if "states" in fields else 0
        dropped = counts(machine.notes, NoteKind.DROPPED)
        assert dropped.get("out of service", 0) == out_count
        names = sorted(
            (node.name for node in nodes if not node.is_out or not out_count), key=natural
        )
        assert machine.nodes[0].name.startswith(names[0][0])
        machine.write(tmp_path / "m.toml")
        assert cs.cluster.Machine.read(tmp_path / "m.toml") == machine


# --- damaged files --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_never_break_a_reader(tmp_path, name, capsys):
    rng = random.Random(name)
    content = (FIXTURES / name).read_bytes()
    output = tmp_path / "machine.toml"
    read_count = 0
    for number in range(30):
        path = tmp_path / f"hosts{number}"
        path.write_bytes(damaged_bytes(content, rng))
        code = main(["machine", str(path), "-o", str(output)])
        error = capsys.readouterr().err
        if code:
            assert code == 2
            assert error.startswith(f"cosched: error: {path}"), error
            assert error.count("\n") == 1
            assert not output.exists()
        else:
            read_count += 1
            machine = cs.cluster.Machine.read(output)
            assert machine == cs.cluster.Machine.read(path)
            assert math.isfinite(machine.memory_gb)
            output.unlink()
    assert read_count > 0 or name.endswith(".json")
