"""A small valid file of each format of each reader, for the tests of the border."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import cosched as cs
from cosched.slurm.recordings.agreement import read_recording


class Format(NamedTuple):
    """A file that `read(path)` takes."""

    name: str
    text: str
    read: Callable[[Path], object]


def _packs(path):
    return cs.packs.Instance.read(path)


def _moldable(path):
    return cs.moldable.Instance.read(path)


def _bags(path):
    return cs.bags.Instance.read(path, price=1e6)


def _benchmark(path):
    return cs.bags.Instance.read(path, price=1e9, counts=100, machines=2)


def _cluster(path):
    return cs.cluster.Instance.read(path, nodes=4)


def _dags(path):
    return cs.dags.Instance.read(path, units=(2, 1), acceleration=2.0)


def _own_dags(path):
    return cs.dags.Instance.read(path, units=(2, 1))


def _moved(path):
    return cs.dags.Instance.read(path, units=(2, 1), acceleration=2.0, bandwidth=1e6, latency=1e-3)


def _machine(path):
    return cs.cluster.Machine.read(path)


def _sacct(path):
    return cs.cluster.from_sacct(path, cs.cluster.Machine([cs.cluster.NodeType("a", 4, 2, 8.0, 0)]))


def _codes(path):
    return cs.execution.Codes.read(path)


def _recording(path):
    recording = read_recording(path)
    return (
        recording.machine,
        {name: list(of) for name, of in recording.jobs.items()},
        str(recording.runs),
    )


def _swf(path):
    return cs.workloads.read_swf(path)


_LINE = "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n"

FORMATS = {
    "packs csv": Format("times.csv", "task,1,2,4\na,8,5,3\nb,6,4,3\n", _packs),
    "packs runs": Format(
        "runs.csv", "task,processors,seconds\na,1,8\na,4,3\nb,1,6\nb,4,3.5\n", _packs
    ),
    "packs benchmark": Format(
        "bench.csv",
        "app,benchmark,system,nodes,time_s\nx,y,s,1,8\nx,y,s,2,5\nz,y,s,1,7\nz,y,s,2,4\n",
        _packs,
    ),
    "packs json": Format(
        "times.json", '{"times": [[8, 5], [6, 4]], "names": ["a", "b"], "max_tasks": 2}', _packs
    ),
    "moldable csv": Format(
        "jobs.csv", "task,weight,release,1,2\na,1,0,8,5\nb,2,3,6,4\n", _moldable
    ),
    "moldable json": Format(
        "jobs.json",
        '{"machines": 4, "jobs": [{"id": "a", "processingTimes": [8, 5]}, '
        '{"id": "b", "weight": 2, "release": 3, "processingTimes": [6]}]}',
        _moldable,
    ),
    "moldable downey": Format(
        "downey.json",
        '{"machines": 4, "jobs": [{"downey": {"t1": 8, "A": 3, "sigma": 1}}]}',
        _moldable,
    ),
    "bags json": Format(
        "bag.json",
        '{"counts": [4, 3], "machines": [2, 1], "etc": [[10, 5], [8, null]], '
        '"apc": [[90, 200], [80, null]], "names": ["a", "b"]}',
        _bags,
    ),
    "bags benchmark": Format(
        "export.csv",
        ",,S1,S2\nx - T (sec),,10,20\nx - P (Watts),,90,80\n"
        "y - T (sec),,5,7\ny - P (Watts),,50,60\n",
        _benchmark,
    ),
    "cluster csv": Format(
        "jobs.csv",
        "submit,tasks,cpu,memory,runtime,estimate\n0,2,1,0.3,60,90\n5,1,0.5,0.1,30,\n",
        _cluster,
    ),
    "cluster json": Format(
        "jobs.json",
        '{"nodes": 4, "jobs": {"submit": [0, 5], "tasks": [2, 1], "cpu": [1, 0.5], '
        '"memory": [0.3, 0.1], "runtime": [60, 30]}}',
        _cluster,
    ),
    "swf": Format(
        "log.swf", "; MaxProcs: 8\n" + _LINE + _LINE.replace("1 0 5", "2 30 0"), _swf
    ),
    "swf instance": Format(
        "log.swf",
        "; MaxProcs: 8\n; MaxMemory: 1024\n" + _LINE + _LINE.replace("1 0 5", "2 30 0"),
        _cluster,
    ),
    "amaris_het": Format(
        "graph.txt", "7 3.5 -1\n9 2 1 7\nx 1 0 7,9\ny 4 2 7 9,x\n", _own_dags
    ),
    "stg": Format(
        "graph.stg", "3\n 0 0 0\n 1 5 1 0\n 2 0 1 0\n 3 4 2 1 2\n 4 0 1 3\n# end\n", _dags
    ),
    "wfformat": Format(
        "workflow.json",
        '{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [{"id": "a", '
        '"name": "a", "children": ["b"], "parents": [], "outputFiles": ["f"]}, {"id": "b", '
        '"name": "b", "children": [], "parents": ["a"], "inputFiles": ["f"]}], "files": '
        '[{"id": "f", "sizeInBytes": 1000}]}, "execution": {"tasks": [{"id": "a", '
        '"runtimeInSeconds": 1.5, "coreCount": 2, "command": {"program": "p"}}, {"id": "b", '
        '"runtimeInSeconds": 2}]}}}',
        _dags,
    ),
    "dot": Format(
        "graph.dot",
        'strict digraph "g" { node [time=2] a [time=1.5]; b; /* c */ subgraph s { c -> d:n }\n'
        'a -> { b c } -> "e f" [data=1000, weight=2]; // end\n}\n',
        _dags,
    ),
    "graphml": Format(
        "graph.graphml",
        '<graphml><key id="k" for="node" attr.name="time" attr.type="double"/>'
        '<graph edgedefault="directed"><node id="a"><data key="k">1.5</data></node>'
        '<node id="b"><data key="k">2</data></node><edge source="a" target="b"/></graph></graphml>',
        _dags,
    ),
    "dot with data": Format(
        "graph.dot", "digraph { a [time=1.5]; b [time=2]; a -> b [data=1000] }\n", _moved
    ),
    "own json with data": Format(
        "own.json",
        '{"names": ["a", "b"], "times": [[1, 2], [3, null]], "edges": [[0, 1]], "units": [2, 1], '
        '"data": [1000], "bandwidth": [[null, 10], [20, 5]], "latency": [[0, 1], [2, 0]], '
        '"memories": [0, 0, 1]}',
        _own_dags,
    ),
    "machine toml": Format(
        "machine.toml",
        '[[nodes]]\ncount = 4\ncores = 2\nmemory_gb = 8\ngpus = 1\n[[partitions]]\nname = "main"\n'
        'nodes = ["nodes-1"]\nmax_time = 3600\npriority = 2\n',
        _machine,
    ),
    "slurm.conf": Format(
        "slurm.conf",
        "SchedulerParameters=bf_interval=30,bf_resolution=60,defer\nSelectType=select/linear\n"
        "PriorityType=priority/multifactor\nPriorityWeightJobSize=100\nOverTimeLimit=1\n"
        "NodeName=n[1-3,5] CPUs=2 RealMemory=1000 \\\n  Weight=2\n# a remark\n"
        "PartitionName=main Nodes=n[1-3] Default=YES MaxTime=1-00:00:00 PriorityTier=2\n",
        _machine,
    ),
    "recording": Format(
        "one.json",
        '{"config": {"SelectType": "select/linear", "NodeLines": "one", "speed": 20, '
        '"Partitions": ["PartitionName=main Nodes=ALL"]}, "nodes": 2, "jobs": [{"submit": 0, '
        '"nodes": 1, "limit": 60, "runtime": 30}], "runs": [[{"submit": 0, "start": 1, "end": 32, '
        '"nodelist": "n1"}]], "phases": [{"epoch": 1000, "controller_start": -20.0}]}',
        _recording,
    ),
    "sacct": Format(
        "sacct.txt",
        "JobID|JobName|User|Partition|State|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|ReqMem\n"
        "1|a|u|main|COMPLETED|2026-01-02T08:46:13|2026-01-02T08:46:14|2026-01-02T08:46:18|00:00:04|"
        "00:05:00|1|2|2000M\n"
        "2_[4-9]|b|u|main|CANCELLED by 7|2026-01-02T08:46:15|Unknown|2026-01-02T08:50:00|00:00:00|"
        "UNLIMITED|2|4|1Gn\n",
        _sacct,
    ),
    "codes": Format(
        "codes.toml",
        'procs = 4\n[task.a]\ncommand = "true {procs}"\ncounts = [1, 2]\ntimeout = 9\nweight = 2\n'
        'environment = {A = "1"}\n[task.b]\ncommand = ["true", "{task}"]\n',
        _codes,
    ),
    "own json": Format(
        "own.json",
        '{"names": ["a", "b"], "times": [[1, 2], [3, null]], "edges": [[0, 1]], "units": [2, 1]}',
        _own_dags,
    ),
}  # fmt: skip
