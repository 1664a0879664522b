"""Graphs of moldable jobs: local-search beside CP-SAT in the same seconds.

`python bench_graphs.py [SECONDS]`: 12 WfCommons workflows (their runtimes as one-processor times of
Amdahl's law with drawn serial parts, 8 processors) and 18 random graphs (4 to 16 processors). A row
an instance: gaps to the bound of list-lp, local-search, and CP-SAT (OR-tools, one worker, the
schedule of list-lp as its hint) where it is installed; then the means. COSCHED_DATA: the
workflows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from archives import DATA

import cosched as cs

GRID = 20_000  # units of time in the makespan of list-lp


def amdahl(
    random: np.random.Generator, alone: np.ndarray, machines: int, largest_serial: float
) -> np.ndarray:
    serial = random.uniform(0.02, largest_serial, len(alone))[:, None]
    return alone[:, None] * (serial + (1 - serial) / np.arange(1, machines + 1)[None, :])


def instances() -> Iterator[tuple[str, cs.moldable.Instance]]:
    for path in sorted((DATA / "wfcommons").glob("*.json.gz")):
        read = cs.moldable.Instance.read(path, machines=8)
        alone = np.where(np.isfinite(read.times), read.times, 0).sum(axis=1)
        times = amdahl(np.random.default_rng(1), alone, 8, 0.5)
        yield path.name.split(".")[0], cs.moldable.Instance(times, edges=read.edges)
    for seed in range(18):
        random = np.random.default_rng(seed)
        jobs, machines = int(random.integers(20, 120)), int(random.choice([4, 8, 16]))
        times = amdahl(random, random.uniform(1, 50, jobs), machines, 0.4)
        width = int(random.integers(3, 12))
        edges = [
            (i, j)
            for j in range(jobs)
            for i in range(max(0, j - 3 * width), j - width + 1)
            if random.random() < 0.2
        ]
        yield f"random {seed}", cs.moldable.Instance(times, edges=edges)


def by_cp_sat(instance: cs.moldable.Instance, start: cs.moldable.Result, seconds: float) -> float:
    """The makespan found, in the instance's seconds: times are rounded up to the grid."""
    from ortools.sat.python import cp_model

    unit = start.value / GRID
    model = cp_model.CpModel()
    begins, ends, intervals, demands = [], [], [], []
    for job in range(instance.jobs):
        begin, end = model.NewIntVar(0, GRID, ""), model.NewIntVar(0, 2 * GRID, "")
        presence_flags = []
        for count in range(1, instance.machines + 1):
            length = int(np.ceil(instance.time(job, count) / unit))
            presence = model.NewBoolVar("")
            intervals.append(model.NewOptionalIntervalVar(begin, length, end, presence, ""))
            demands.append(count)
            model.AddHint(presence, count == start.procs[job])
            presence_flags.append(presence)
        model.AddExactlyOne(presence_flags)
        model.AddHint(begin, int(start.start[job] / unit))
        begins.append(begin)
        ends.append(end)
    for before, after in instance.edges.tolist():
        model.Add(begins[after] >= ends[before])
    model.AddCumulative(intervals, demands, instance.machines)
    makespan = model.NewIntVar(0, 2 * GRID, "")
    model.AddMaxEquality(makespan, ends)
    model.Minimize(makespan)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    status = solver.Solve(model)
    has_schedule = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return min(start.value, solver.ObjectiveValue() * unit) if has_schedule else start.value


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    try:
        import ortools  # noqa: F401

        peers = True
    except ImportError:
        peers = False
    rows = []
    for name, instance in instances():
        bound = float(cs.moldable.bound(instance))
        lists = cs.moldable.list_lp(instance)
        result = cs.moldable.local_search(instance, time_limit=seconds)
        result.schedule.validate()
        other = by_cp_sat(instance, lists, seconds) if peers else float("nan")
        gaps = [value / bound - 1 for value in (lists.value, result.value, other)]
        rows.append(gaps)
        gap_cells = "  ".join(f"{gap:6.1%}" for gap in gaps)
        print(f"{name:40s} n={instance.jobs:4d} m={instance.machines:3d}  {gap_cells}", flush=True)
    means = "  ".join(f"{gap:6.1%}" for gap in np.mean(rows, axis=0))
    print(f"mean of {len(rows)}: list-lp, local-search, CP-SAT  {means}")


if __name__ == "__main__":
    main()
