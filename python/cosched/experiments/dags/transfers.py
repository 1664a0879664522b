"""Where data costs time: every algorithm against the bound, over communication to computation."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from cosched import dags, workloads
from cosched.dags import Instance
from cosched.experiments.study import Task, data_path, has_data, with_registered
from cosched.lazy import pd

UNITS = (8, 2)
#: Mean transfer over mean time of a task.
RATIOS = (0.1, 0.3, 1.0, 3.0, 10.0)
#: The links of the machine: 12 GB/s and 10 microseconds for tiles, 1 GB/s for files.
MACHINE = "machine"
BOUNDS = ("transfers", "windows", "hlp")
BLIND = "heft-blind"
ALGORITHMS = (
    "hlp-best", "heft", BLIND, "peft", "cpop", "etf", "min-min", "hlp-ols", "hlp-est", "eft",
    "er-ls", "greedy",
)  # fmt: skip
#: Traces of up to some hundred tasks.
_WORKFLOWS = (
    "1000genome-chameleon-2ch-100k-001",
    "bwa-chameleon-small-001",
    "epigenomics-chameleon-hep-1seq-100k-001",
    "montage-chameleon-2mass-005d-001",
    "rnaseq-dirt02-001",
    "soykb-chameleon-10fastq-10ch-001",
    "srasearch-chameleon-10a-001",
)
_TILED = ("cholesky", "lu", "qr")
_TILE_BYTES = 2**20  # 512 x 512 numbers of four bytes
#: Schedules that the local search of hlp-best builds for each instance.
EVALUATIONS = 5000


def plan(quick: bool) -> list[Task]:
    """Graphs x ratios x memories x (bounds and algorithms)."""
    names = (*BOUNDS, *with_registered("dags", ALGORITHMS))
    return [
        {"source": source, "graph": graph, "ccr": ccr, "memories": memories, "algorithm": name}
        for source, graph in _graphs(quick)
        for ccr in ((0.1, 1.0, 10.0) if quick else (*RATIOS, *[MACHINE] * (source != "layered")))
        for memories in (("host",) if quick else ("host", "unit"))
        for name in names
    ]


def _graphs(quick: bool) -> list[tuple[str, str]]:
    """Return (source, name) of every graph; without real data those that are generated."""
    workflow_names = [name for name in _WORKFLOWS if has_data(_path(name))]
    workflows = [
        name for name in workflow_names if not quick or name.startswith(("montage", "srasearch"))
    ]
    sizes = (4,) if quick else (5, 8)
    seeds = range(2) if quick else range(5)
    return [
        *(("workflows", name) for name in workflows),
        *(("tiles", f"{name} {size}") for name in _TILED for size in sizes),
        *(("layered", f"{n} {seed}") for n in ((30,) if quick else (50, 100)) for seed in seeds),
    ]


def _path(name: str) -> str:
    return f"wfcommons/{name}.json.gz"


@lru_cache(maxsize=2)
def _graph(source: str, name: str) -> Instance:
    """Return a graph with its data, on the links of the machine."""
    if source == "workflows":
        path = data_path(*_path(name).split("/"))
        single_unit_instance = Instance.read(path, units=[1], bandwidth=1e9, latency=1e-4)
        kernels = single_unit_instance.kernels or single_unit_instance.names
        drawn_times = np.random.default_rng(0).uniform(0.5, 10, len(set(kernels)))
        factor = dict(zip(sorted(set(kernels)), drawn_times, strict=True))
        cpu = single_unit_instance.times[:, 0]
        times = np.column_stack([cpu, cpu / [factor[kernel] for kernel in kernels]])
        return Instance(
            times,
            single_unit_instance.edges,
            UNITS,
            data=single_unit_instance.data,
            bandwidth=1e9,
            latency=1e-4,
        )
    first, second = name.split(" ")
    if source == "tiles":
        make = workloads.WORKLOADS[first]
        return make(int(second), units=UNITS, spread=0.1, tile_bytes=_TILE_BYTES, seed=0)
    return workloads.layered(int(first), 0.3, units=UNITS, ccr=1.0, seed=int(second))


def instance_of(task: Task) -> Instance:
    """The graph with rates that give the ratio asked for, without latency; or its machine's."""
    graph = _graph(task["source"], task["graph"])
    links: dict[str, Any] = {"bandwidth": graph.bandwidth, "latency": graph.latency}
    if task["ccr"] != MACHINE:
        links = {"bandwidth": _mean(graph.data) / (task["ccr"] * _mean_time(graph))}
    return Instance(
        graph.times, graph.edges, UNITS, data=graph.data, memories=task["memories"], **links
    )


def _mean(values: Any) -> float:
    return float(np.mean(values))


def _mean_time(graph: Instance) -> float:
    finite = np.isfinite(graph.times)
    return _mean(np.where(finite, graph.times, 0).sum(axis=1) / finite.sum(axis=1))


def blind(instance: Instance) -> float:
    """HEFT without regard to data: its units and order of starts, transfers paid afterwards."""
    without_transfers = dags.heft(Instance(instance.times, instance.edges, instance.units))
    seconds = instance.transfer_times(without_transfers.kind, without_transfers.unit)
    before: list[list[tuple[int, float]]] = [[] for _ in range(instance.tasks)]
    for (i, j), cost in zip(instance.edges.tolist(), seconds.tolist(), strict=True):
        before[j].append((i, cost))
    place = np.argsort(instance.order)
    idle: dict[tuple[int, int], float] = {}
    end = np.zeros(instance.tasks)
    for task in np.lexsort((place, without_transfers.start)).tolist():
        unit = int(without_transfers.kind[task]), int(without_transfers.unit[task])
        ready = max((end[i] + cost for i, cost in before[task]), default=0.0)
        end[task] = max(ready, idle.get(unit, 0.0)) + instance.times[task, unit[0]]
        idle[unit] = end[task]
    return float(end.max())


def run(task: Task) -> dict[str, Any]:
    """A bound, or the makespan of one algorithm."""
    instance, name = instance_of(task), task["algorithm"]
    moved = _mean(instance.data) / _mean(instance.bandwidth) + _mean(instance.latency)
    row = {"tasks": instance.tasks, "reached_ccr": moved / _mean_time(instance)}
    if name in BOUNDS:
        return {**row, "value": dags.bound(instance, name).value}
    if name == BLIND:
        return {**row, "value": blind(instance)}
    options = {"evaluations": EVALUATIONS} if name == "hlp-best" else {}
    result = dags.solve(instance, name, seed=0, **options)
    result.schedule.validate()
    return {**row, "status": result.status, "value": result.value, **result.metrics()}


def wide_table(frame: pd.DataFrame) -> pd.DataFrame:
    """A row an instance, a column an algorithm or bound."""
    keys = ["source", "graph", "memories", "ccr"]
    texts = frame.ccr.astype(str)
    order = sorted(
        set(texts), key=lambda ccr: (ccr == MACHINE, 0 if ccr == MACHINE else float(ccr))
    )
    rows = frame.assign(ccr=pd.Categorical(texts, order, ordered=True))
    wide = rows.pivot(index=keys, columns="algorithm", values="value").reset_index()
    return wide[[*keys, *frame.algorithm.unique()]]


def _ratios_to(wide: pd.DataFrame, names: list[str], below: str) -> pd.DataFrame:
    """Return the mean ratios by source, memories and ccr; one row over all graphs for each ccr."""
    ratio = wide[names].div(wide[below], axis=0)
    by = [wide.source, wide.memories, wide.ccr]
    means = ratio.groupby(by, observed=True).mean().reset_index()
    over_all = ratio.groupby(wide.ccr, observed=True).mean().reset_index()
    table = pd.concat([means, over_all.assign(source="all", memories="all")])
    return table[["source", "memories", "ccr", *names]].round(3)


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Makespan / bound; bounds and heuristics against the best schedule."""
    wide = wide_table(frame)
    names = [name for name in frame.algorithm.unique() if name not in BOUNDS]
    return {
        "ratio-to-bound": _ratios_to(wide, names, "transfers"),
        "bounds": _ratios_to(wide, list(BOUNDS), "hlp-best"),
        "ratio-to-best": _ratios_to(wide, names, "hlp-best"),
    }
