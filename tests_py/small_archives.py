"""The archives that COSCHED_DATA names, made up and small: the same files in the same formats, so
that what reads archives runs without them."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from pathlib import Path

import numpy as np

import cosched as cs
from support import REPO

WEEK = 604800
#: Log -> header, processors, days, jobs a day, whether it says waits.
LOGS = {
    "HPC2N-2002-2.1-cln": ("Linux cluster (Seth)", "HPC2N", 240, 182 * 7, 2, True),
    "CTC-SP2-1996-3.1-cln": ("IBM SP2", "Cornell Theory Center (CTC)", 338, 9, 30, True),
    "NASA-iPSC-1993-3.1-cln": ("Intel iPSC/860", "NASA Ames Research Center", 128, 9, 30, True),
    "LLNL-Atlas-2006-2.1-cln": (
        "Linux cluster (Atlas)", "High Performance Computing - Lawrence Livermore National "
        "Laboratory", 9216, 9, 30, False,
    ),
}  # fmt: skip
#: A row of the graphs' archives: application and numbers, as its file is named.
GRAPHS = ("spotrf-128-10", "spotrf-512-5", "sposv-512-10", "forkJoin-2-100", "forkJoin-5-100")


def make(folder: Path) -> Path:
    """All of them below a folder."""
    rng = np.random.default_rng(0)
    for name, log in LOGS.items():
        _packed(folder / "pwa" / f"{name}.swf.gz", _log(rng, *log))
    _packed(folder / "wfcommons" / "srasearch-chameleon-10a-001.json.gz", _workflow())
    for types in (2, 3):
        _graphs(folder / "amaris_het" / f"formatedTasks_{types}.tar.gz", rng, types)
    _bags(folder / "etc_apc", rng)
    (folder / "speedup").mkdir()
    measured = REPO / "notebooks" / "data" / "measured_codes.csv"
    shutil.copy(measured, folder / "speedup" / "archer_benchmarks_runs.csv")
    return folder


def _packed(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def _log(
    rng: np.random.Generator, computer: str, place: str, procs: int, days: int, daily: int,
    waits: bool,
) -> str:  # fmt: skip
    """Standard Workload Format; with waits, those of FCFS."""
    jobs = days * daily
    submit = np.sort(rng.integers(0, days * 86400, jobs))
    run = rng.integers(60, 40_000, jobs)
    size = 2 ** rng.integers(0, int(np.log2(procs)), jobs)
    frame = {"submit": submit, "tasks": size, "cpu": np.ones(jobs), "memory": np.ones(jobs)}
    inst = cs.cluster.Instance({**frame, "runtime": run}, procs)
    start = cs.cluster.solve(inst, "FCFS").jobs.start.to_numpy()
    wait = (start - submit).astype(int) if waits else np.full(jobs, -1)
    memory = 1000 * rng.integers(100, 900, jobs)  # KB a processor
    header = f"; Computer: {computer}\n; Installation: {place}\n; MaxProcs: {procs}\n"
    header += f"; MaxNodes: {procs}\n; UnixStartTime: 1027839845\n"
    return header + "".join(
        f"{k + 1} {submit[k]} {wait[k]} {run[k]} {size[k]} -1 {memory[k]} {size[k]} "
        f"{2 * run[k]} -1 1 {k % 5} 1 1 1 1 -1 -1\n"
        for k in range(jobs)
    )


def _graphs(path: Path, rng: np.random.Generator, types: int) -> None:
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name in GRAPHS:
            rows = []
            for task in range(12):
                times = " ".join(f"{time:.3f}" for time in rng.uniform(1, 20, types))
                before = (
                    sorted({int(parent) for parent in rng.integers(0, task, 2)}) if task else []
                )
                rows.append(f"{task} {times} {','.join(map(str, before))}\n")
            data = "".join(rows).encode()
            info = tarfile.TarInfo(f"formatedTasks_{types}/{name.split('-')[0]}/{name}.txt")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def _workflow() -> str:
    """A source, four tasks beside each other, a sink; each hands a file on."""
    middle = [f"m{k}" for k in range(4)]
    parents = {"first": [], **{name: ["first"] for name in middle}, "last": middle}
    tasks = [
        {"name": name, "id": name, "parents": parent_tasks,
         "children": [other for other, its in parents.items() if name in its],
         "inputFiles": [f"of_{task}" for task in parent_tasks], "outputFiles": [f"of_{name}"]}
        for name, parent_tasks in parents.items()
    ]  # fmt: skip
    files = [{"id": f"of_{name}", "sizeInBytes": 10**6} for name in parents]
    runs = [{"id": name, "runtimeInSeconds": 5.0 + k} for k, name in enumerate(parents)]
    workflow = {"specification": {"tasks": tasks, "files": files}, "execution": {"tasks": runs}}
    return json.dumps({"name": "small", "schemaVersion": "1.5", "workflow": workflow})


def _bags(folder: Path, rng: np.random.Generator) -> None:
    """A table as openbenchmarking.org exports it, with two gaps; a folder of matrices."""
    types, machines = 5, 9
    etc, watts = rng.uniform(20, 200, (types, machines)), rng.uniform(80, 300, (types, machines))
    titles = ",".join(f"Machine {k}" for k in range(machines))
    lines = ["A comparison" + "," * (machines + 1), f" ,,{titles}", f"Processor,,{titles}"]
    for row in range(types):
        times = [f"{time:.2f}" for time in etc[row]]
        if row == types - 1:
            times[5] = times[6] = ""
        power = ",".join(f"{watt:.2f}" for watt in watts[row])
        lines += [
            f"Program {row} - Total Time (sec),LIB,{','.join(times)}",
            f"Program {row} - System Power Consumption Monitor (Watts),LIB,{power}",
        ]
    table = folder / "openbenchmarking" / "1204229-SU-CPUMONITO81_resource_data.csv"
    table.parent.mkdir(parents=True)
    table.write_text("\n".join(lines) + "\n")
    large_bag = cs.bags.Instance([60] * types, [5] * machines, etc, watts, gamma=1.2)
    large_bag.write(folder / "tarplee_9machBig")
