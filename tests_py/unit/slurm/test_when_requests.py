"""Requests that no node can hold are refused as sbatch refuses them, in its words."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from unit.slurm.test_when import NOW, folder_of

import cosched as cs
from cosched.cli import main
from cosched.slurm.live.start_chart import starts

# As scontrol shows the cluster on which a real sbatch (22.05.8) was asked for the words below.
NODES = "\n".join(
    f"NodeName=n{k} CPUTot=4 CPUAlloc=0 RealMemory={memory} Sockets=1 CoresPerSocket=4 "
    f"ThreadsPerCore=1 AvailableFeatures={feature} Gres={gres}\n   State=IDLE Partitions=main"
    for k, memory, feature, gres in
    ((1, 8000, "big", "(null)"), (2, 8000, "big", "(null)"), (3, 16000, "ib", "gpu:a100:2"))
)  # fmt: skip
PARTITIONS = "\n".join(
    f"PartitionName={name}\n   Default={default} QoS=N/A\n   Nodes={nodes}\n"
    f"   MaxNodes={most_nodes} MaxTime={limit} PriorityTier=1 OverSubscribe=NO\n   State={state}\n"
    for name, default, nodes, most_nodes, limit, state in (
        ("main", "YES", "n[1-3]", "UNLIMITED", "01:00:00", "UP"),
        ("small", "NO", "n1", "UNLIMITED", "01:00:00", "UP"),
        ("lim", "NO", "n[1-3]", "1", "00:30:00", "UP"),
        ("inact", "NO", "n[1-3]", "UNLIMITED", "UNLIMITED", "INACTIVE"),
        ("drained", "NO", "n[1-3]", "UNLIMITED", "UNLIMITED", "DRAIN"),
        ("shut", "NO", "n[1-3]", "UNLIMITED", "UNLIMITED", "DOWN"),
    )
)  # fmt: skip
TAKEN = f'{{"squeue.json": [{NOW}, {NOW}]}}'
UNAVAILABLE = "Requested node configuration is not available"
NODE_COUNT = "Node count specification invalid"
CPUS = "More processors requested than permitted"
TIME = "Requested time limit is invalid (missing or exceeds some limit)"
FEATURE = "Invalid feature specification"
LICENCE = "Invalid license specification"
CLOSED = "Required partition not available (inactive or drain)"


def config(enforced: str) -> str:
    return (
        "Configuration data as of 2027-01-15T08:00:00\nSLURM_VERSION = 22.05.8\n"
        f"SelectType = select/cons_tres\nSelectTypeParameters = CR_CORE_MEMORY\n"
        f"GresTypes = gpu\nLicenses = solver:1\nEnforcePartLimits = {enforced}\n"
    )


@pytest.fixture
def ask(tmp_path, capsys):
    """Exit code and message of a request, with EnforcePartLimits as given."""

    def command(enforced: str, *options: str) -> tuple[int, str]:
        texts = {
            "scontrol_config.txt": config(enforced), "scontrol_node.txt": NODES,
            "scontrol_partition.txt": PARTITIONS, "times.json": TAKEN,
        }  # fmt: skip
        folder = folder_of(tmp_path / enforced, jobs=[], **texts)
        options_by_name = dict(zip(options[::2], options[1::2], strict=True))
        asked = {"--nodes": "1", "--time": "10", **options_by_name}
        parts = itertools.chain(*asked.items())
        code = main(["when", str(folder), "--draws", "2", *parts])
        return code, capsys.readouterr().err

    return command


EMPTY = (
    "PartitionName=empty\n   Default=NO QoS=N/A\n   Nodes=(null)\n   MaxNodes=UNLIMITED "
    "MaxTime=UNLIMITED PriorityTier=1 OverSubscribe=NO\n   State=UP\n"
)


@pytest.mark.parametrize("enforced", ["NO", "ALL"])
def test_partitions_without_nodes(tmp_path, capsys, enforced):
    texts = {
        "scontrol_config.txt": config(enforced), "scontrol_node.txt": NODES,
        "scontrol_partition.txt": PARTITIONS + EMPTY, "times.json": TAKEN,
    }  # fmt: skip
    waiting = {"id": 5, "user": "ann", "state": "PENDING", "start": 0, "limit": 600, "nodes": 1}
    folder = folder_of(tmp_path / "a", jobs=[waiting], **texts)
    queue = folder / "squeue.json"
    queue.write_text(queue.read_text().replace('"partition": "main"', '"partition": "empty"'))
    assert main(["when", str(folder), "--draws", "2"]) == 0
    assert "partition empty has no nodes" in " ".join(capsys.readouterr().out.split())
    command = ["when", str(folder), "--draws", "2", "--nodes", "1", "--time", "10"]
    assert main([*command, "--partition", "empty"]) == 2
    assert "partition empty has no nodes" in capsys.readouterr().err


def test_the_picture_of_jobs_and_requests_together(tmp_path, capsys):
    texts = {
        "scontrol_config.txt": config("NO"), "scontrol_node.txt": NODES,
        "scontrol_partition.txt": PARTITIONS, "times.json": TAKEN,
    }  # fmt: skip
    waiting = {"id": 5, "user": "ann", "state": "PENDING", "start": 0, "limit": 600, "nodes": 2}
    folder = folder_of(tmp_path / "a", jobs=[waiting], **texts)
    picture = tmp_path / "a.svg"
    command = ["when", str(folder), "5", "--draws", "2", "--nodes", "2", "--time", "10"]
    assert main([*command, "--plot", str(picture)]) == 0
    assert "advised: 2 nodes for" in capsys.readouterr().out
    assert picture.exists()
    frame = cs.slurm.when(
        cs.slurm.Snapshot.read(folder), jobs=[5], requests=[{"nodes": 2, "time": 600}], draws=2
    )
    labels = [label.get_text() for label in starts(frame).get_yticklabels()]
    assert labels == ["5", "2 nodes, 0.167 h"]


REFUSED = [
    # options, words with EnforcePartLimits=NO, ANY, ALL; None: accepted. All tried on a real Slurm
    # but for the first column of sizes, which Slurm accepts and never starts.
    (("--cpus-per-task", "999"), UNAVAILABLE, CPUS, CPUS),
    (("--nodes", "2", "--cpus-per-task", "5"), UNAVAILABLE, CPUS, CPUS),
    (("--nodes", "4"), UNAVAILABLE, NODE_COUNT, NODE_COUNT),
    (("--nodes", "2", "--partition", "small"), UNAVAILABLE, NODE_COUNT, NODE_COUNT),
    (("--nodes", "2", "--partition", "lim"), UNAVAILABLE, NODE_COUNT, NODE_COUNT),
    (("--mem", "900G"), UNAVAILABLE, UNAVAILABLE, UNAVAILABLE),
    (("--gpus", "4"), UNAVAILABLE, UNAVAILABLE, UNAVAILABLE),
    (("--gpus", "2", "--nodes", "2"), UNAVAILABLE, UNAVAILABLE, UNAVAILABLE),
    (("--gpus", "1", "--partition", "small"), UNAVAILABLE, UNAVAILABLE, UNAVAILABLE),
    (("--constraint", "nope"), FEATURE, FEATURE, FEATURE),
    (("--constraint", "big&ib"), UNAVAILABLE, UNAVAILABLE, UNAVAILABLE),
    (("--constraint", "ib", "--nodes", "2"), UNAVAILABLE, UNAVAILABLE, UNAVAILABLE),
    (("--gpus", "1", "--mem", "10G", "--constraint", "big"), *[UNAVAILABLE] * 3),
    (("--licenses", "nope:1"), LICENCE, LICENCE, LICENCE),
    (("--licenses", "solver:2"), LICENCE, LICENCE, LICENCE),
    (("--time", "90"), None, TIME, TIME),
    (("--time", "90", "--partition", "small,lim"), None, TIME, TIME),
    (("--time", "45", "--partition", "small,lim"), None, None, TIME),
    (("--partition", "inact"), CLOSED, CLOSED, CLOSED),
    (("--partition", "drained"), CLOSED, CLOSED, CLOSED),
    (("--partition", "shut"), None, None, None),
    (("--gpus", "2", "--mem", "10G", "--constraint", "ib", "--licenses", "solver"), *[None] * 3),
    (("--nodes", "3", "--cpus-per-task", "4", "--mem", "7G"), None, None, None),
    (("--constraint", "big|ib", "--nodes", "3"), None, None, None),
]  # fmt: skip


@pytest.mark.parametrize("mode", [0, 1, 2], ids=["NO", "ANY", "ALL"])
@pytest.mark.parametrize("case", REFUSED, ids=lambda case: " ".join(case[0]))
def test_a_request_is_refused_where_sbatch_refuses_it(ask, case, mode):
    options, *words = case
    code, error = ask(("NO", "ANY", "ALL")[mode], *options)
    if words[mode] is None:
        assert (code, error) == (0, "")
    else:
        nodes = dict(zip(options[::2], options[1::2], strict=True)).get("--nodes", "1")
        assert code == 2
        assert error.startswith(f"cosched: error: --nodes {nodes}: {words[mode]}: ")
        assert error.count("\n") == 1


def test_a_message_says_what_the_nodes_have(ask):
    assert "the largest node of partition main has 4 CPUs" in ask("ALL", "--cpus-per-task", "5")[1]
    assert "the largest node of partition main has 16000 MB" in ask("NO", "--mem", "900G")[1]
    assert "accepts such a job and never starts it" in ask("NO", "--nodes", "4")[1]
    assert "accepts such a job" not in ask("ALL", "--nodes", "4")[1]
    assert "the nodes have big, ib" in ask("NO", "--constraint", "nope")[1]
    assert "the cluster has solver:1" in ask("NO", "--licenses", "nope")[1]


def test_gpus_of_a_cluster_without_any_are_no_generic_resource(tmp_path, capsys):
    without = config("NO").replace("gpu\n", "(null)\n")
    texts = {"scontrol_config.txt": without, "times.json": TAKEN}
    folder = folder_of(tmp_path / "a", jobs=[], **texts)
    command = ["when", str(folder), "--nodes", "1", "--time", "10", "--gpus", "4"]
    assert main(command) == 2
    assert "Invalid generic resource (gres) specification: --gpus 4" in capsys.readouterr().err


def test_a_time_limit_above_the_partitions_is_accepted_and_never_starts(tmp_path, capsys):
    texts = {
        "scontrol_config.txt": config("NO"), "scontrol_node.txt": NODES,
        "scontrol_partition.txt": PARTITIONS, "times.json": TAKEN,
    }  # fmt: skip
    folder = folder_of(tmp_path / "a", jobs=[], **texts)
    command = ["when", str(folder), "--nodes", "1", "--draws", "2", "--time"]
    assert main([*command, "90"]) == 0
    output = capsys.readouterr().out
    assert "PartitionTimeLimit" in output
    assert "never" in output
    assert main([*command, "60"]) == 0
    assert "never" not in capsys.readouterr().out


@pytest.mark.parametrize("limit", ["UNLIMITED", "0"])
def test_a_request_without_a_time_limit_is_taken_as_sbatch_takes_it(ask, tmp_path, capsys, limit):
    assert ask("NO", "--time", limit)[0] == 0  # and waits with PartitionTimeLimit
    code, error = ask("ALL", "--time", limit)
    assert code == 2
    assert error.startswith(f"cosched: error: --nodes 1: {TIME}: --time UNLIMITED: ")
    texts = {
        "scontrol_config.txt": config("NO"), "scontrol_node.txt": NODES,
        "scontrol_partition.txt": PARTITIONS.replace("01:00:00", "UNLIMITED"), "times.json": TAKEN,
    }  # fmt: skip
    folder = folder_of(tmp_path / "a", jobs=[], **texts)
    picture = tmp_path / "a.svg"
    command = ["when", str(folder), "--nodes", "1", "--draws", "2", "--time", limit]
    capsys.readouterr()
    assert main([*command, "--plot", str(picture)]) == 0
    output = capsys.readouterr().out
    assert "UNLIMITED" in output
    assert "never" not in output
    assert "advised: 1 node for UNLIMITED" in output
    assert picture.exists()


def test_no_cpus_are_refused(ask):
    assert ask("NO", "--cpus-per-task", "0")[0] == 2


@pytest.mark.parametrize(
    "option",
    ["--qos", "--account", "--user", "--partition", "--cpus-per-task", "--mem", "--gpus",
     "--constraint", "--licenses", "--time", "--task"],
)  # fmt: skip
def test_options_of_a_request_without_nodes_are_refused(tmp_path, capsys, option):
    folder = folder_of(tmp_path / "a")
    assert main(["when", str(folder), "--draws", "2", option, "1"]) == 2
    said = f"{option} applies to a job that is not submitted yet: add --nodes"
    assert capsys.readouterr().err == f"cosched: error: {said}\n"


def test_a_request_waits_in_those_of_its_partitions_that_can_hold_it(ask):
    for partitions in ("small,main", "main,small"):
        assert ask("NO", "--nodes", "3", "--partition", partitions) == (0, "")
    assert ask("NO", "--nodes", "4", "--partition", "main,small")[0] == 2


def test_the_figure_has_jobs_in_the_order_of_their_median_start():
    rows = [
        {"job": job, "p05": p50 / 2, "p25": p50 * 0.9, "p50": p50, "p75": p50 * 1.1,
         "p95": p50 * 2, "slurm": float("nan")}
        for job, p50 in ((1, 36_000.0), (2, 60.0), (3, 7200.0))
    ]  # fmt: skip
    ax = starts(pd.DataFrame(rows))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["2", "3", "1"]
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        "now", "30 min", "1 h", "2 h", "6 h", "12 h",
    ]  # fmt: skip
    assert ax.get_ylabel() == "job"
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {
        "90% prediction interval", "50% prediction interval", "median", "Slurm's own estimate",
    }  # fmt: skip
