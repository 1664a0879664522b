"""moldable: local-search beside the other algorithms and CP-SAT, and the bounds before and after.

Generated instances with a fixed seed, and the measured speed-ups below COSCHED_DATA; local-search
under time_limit=1 (5 s from 200 jobs on). CP-SAT, if OR-tools is here (`pip install ortools`), has
the seconds of the first argument on two threads and starts from the schedule of `list-shelf`.

    python tests_py/bench/bench_moldable_search.py 20
    python tests_py/bench/bench_moldable_search.py 60 makespan "10 x 16"  # what contains these
"""

import os
import sys
from pathlib import Path

import numpy as np

import cosched as cs
from cosched.moldable.workloads import KINDS

OTHERS = ("demt", "dual-approximation", "list-shelf", "list-lptf", "list-saf", "gang", "sequential")
RESOLUTION = 3000  # time units in the horizon of CP-SAT
DATA = Path(os.environ.get("COSCHED_DATA", Path(__file__).parents[3] / "shared" / "data"))
SPEEDUPS = DATA / "speedup" / "archer_benchmarks_runs.csv"


def generated(jobs, machines, releases=False):
    """One of each kind of workload."""
    for kind in KINDS:
        inst = cs.workloads.moldable(kind, jobs, machines, seed=7)
        if releases:
            last = cs.moldable.list_shelf(inst).makespan
            dates = np.random.default_rng(1).uniform(0, last, jobs)
            table = [[inst.time(i, q + 1) for q in range(machines)] for i in range(jobs)]
            inst = cs.moldable.Instance(table, inst.weights, dates)
        yield inst


def measured():
    """The benchmarks of ARCHER on 16 and 64 processors, between their measured counts by Amdahl."""
    for procs in (16, 64):
        packs = cs.packs.Instance.read(SPEEDUPS, procs=procs, fit="amdahl", extrapolate=True)
        yield cs.moldable.Instance(packs.times, np.ones(packs.tasks))


def amdahl(jobs, machines, seed):
    rng = np.random.default_rng(seed)
    alone, serial = rng.uniform(1, 10, (jobs, 1)), rng.uniform(0, 0.3, (jobs, 1))
    times = alone * (serial + (1 - serial) / np.arange(1, machines + 1))
    return cs.moldable.Instance(times, rng.uniform(1, 10, jobs))


def value(result, objective):
    return result.makespan if objective == "makespan" else result.weighted_completion


def by_cp_sat(inst, objective, horizon, seconds):
    """The criterion of CP-SAT's best schedule, at its resolution; infinite where it has none."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        return np.nan
    unit, most = horizon / RESOLUTION, 2 * RESOLUTION
    model = cp_model.CpModel()
    intervals, demands, ends = [], [], []
    known = cs.moldable.list_shelf(inst)
    for i in range(inst.jobs):
        start = model.new_int_var(int(np.ceil(inst.release[i] / unit)), most, "")
        end, present, least = model.new_int_var(0, most, ""), [], np.inf
        for q in range(1, inst.machines + 1):
            if not inst.time(i, q) < least:
                continue
            least = inst.time(i, q)
            present.append(model.new_bool_var(""))
            model.add_hint(present[-1], int(q == known.procs[i]))
            length = int(np.ceil(least / unit))
            intervals.append(model.new_optional_interval_var(start, length, end, present[-1], ""))
            demands.append(q)
        model.add_hint(start, int(np.ceil(known.start[i] / unit)))
        model.add_exactly_one(present)
        ends.append(end)
    model.add_cumulative(intervals, demands, inst.machines)
    if objective == "makespan":
        last = model.new_int_var(0, most, "")
        model.add_max_equality(last, ends)
        model.minimize(last)
    else:
        weights = np.round(100 * inst.weights).astype(int)
        model.minimize(sum(int(w) * end for w, end in zip(weights, ends, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 2
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return np.inf
    return solver.objective_value * unit / (1 if objective == "makespan" else 100)


def row(inst, objective, limit, seconds):
    """Per cent above the best known: others, local-search, CP-SAT; below it: bounds."""
    options = {"objective": objective, "work": 2**50}
    found = cs.moldable.local_search(inst, time_limit=limit, **options)
    found.schedule.validate()
    long = cs.moldable.local_search(inst, time_limit=2 * limit, seed=1, **options)
    others = min(value(cs.moldable.solve(inst, name), objective) for name in OTHERS)
    peer = by_cp_sat(inst, objective, 1.5 * found.makespan, seconds) if seconds else np.nan
    if objective == "makespan":
        bounds = float(cs.moldable.bound(inst)), float(cs.moldable.bound(inst, "slots"))
    else:
        bounds = float(cs.moldable.bound(inst, "minsum", refine=8)), float(found.minsum_bound)
    best = np.nanmin([value(found, objective), value(long, objective), others, peer])
    above = np.array([others, value(found, objective), peer]) / best - 1
    return 100 * np.concatenate([above, 1 - np.array(bounds) / best])


def report(title, rows):
    table = np.array(rows)
    with np.errstate(invalid="ignore"):
        mean, worst = table.mean(axis=0), table.max(axis=0)
    print(
        f"{title:34} others {mean[0]:5.2f} ({worst[0]:5.2f})  local-search {mean[1]:5.2f} "
        f"({worst[1]:5.2f})  CP-SAT {mean[2]:6.2f} ({worst[2]:6.2f})  "
        f"bound {mean[3]:5.2f} -> {mean[4]:5.2f} ({worst[4]:5.2f})",
        flush=True,
    )


def cases():
    """Title, instances, criterion, seconds of local-search, whether CP-SAT takes part."""
    for objective in ("makespan", "minsum"):
        for releases in (False, True):
            known = ", releases" if releases else ""
            for jobs, machines in ((10, 16), (40, 32)):
                yield (
                    f"{objective}, {jobs} x {machines}{known}",
                    lambda n=jobs, m=machines, r=releases: generated(n, m, r),
                    objective,
                    1.0,
                    True,
                )
        if SPEEDUPS.exists():
            yield f"{objective}, measured speed-ups", measured, objective, 1.0, True
    for objective, sizes in (
        ("makespan", ((200, 64), (1000, 64))),
        ("minsum", ((15, 16), (200, 64), (1000, 64))),
    ):
        for jobs, machines in sizes:
            yield (
                f"{objective}, {jobs} x {machines}",
                lambda n=jobs, m=machines: generated(n, m),
                objective,
                1.0 if jobs < 200 else 5.0,
                False,
            )
    for seed in (1, 2):
        title = f"makespan, Amdahl, 1000 x 64 ({seed})"
        yield title, lambda s=seed: [amdahl(1000, 64, s)], "makespan", 5.0, False


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    print("per cent, mean (worst): above the best known; bounds below it, before -> after")
    for title, instances, objective, limit, peer in cases():
        if all(word in title for word in sys.argv[2:]):
            peers = seconds if peer else 0.0
            report(title, [row(inst, objective, limit, peers) for inst in instances()])


if __name__ == "__main__":
    main()
