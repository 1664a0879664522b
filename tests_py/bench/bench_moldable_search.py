"""moldable: local-search beside the other algorithms and CP-SAT, and the bounds before and after.

Fixed instances; local-search under time_limit=1 (5 s from 1,000 jobs on), CP-SAT for the seconds of
the first argument on two threads, if OR-tools is installed (``pip install ortools``).

    python tests_py/bench/bench_moldable_search.py 20
"""

import sys

import numpy as np

import cosched as cs
from cosched.moldable.workloads import KINDS

OTHERS = ("demt", "dual-approximation", "list-shelf", "list-lptf", "list-saf", "gang", "sequential")
RESOLUTION = 3000  # time units in the horizon of CP-SAT


def instances(sizes, releases):
    for jobs, machines in sizes:
        for kind in KINDS:
            inst = cs.workloads.moldable(kind, jobs, machines, seed=7)
            if releases:
                last = cs.moldable.list_shelf(inst).makespan
                dates = np.random.default_rng(1).uniform(0, last, jobs)
                table = [[inst.time(i, q + 1) for q in range(machines)] for i in range(jobs)]
                inst = cs.moldable.Instance(table, inst.weights, dates)
            yield inst


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
    for i in range(inst.jobs):
        start = model.new_int_var(int(np.ceil(inst.release[i] / unit)), most, "")
        end, present, least = model.new_int_var(0, most, ""), [], np.inf
        for q in range(1, inst.machines + 1):
            if not inst.time(i, q) < least:
                continue
            least = inst.time(i, q)
            present.append(model.new_bool_var(""))
            length = int(np.ceil(least / unit))
            intervals.append(model.new_optional_interval_var(start, length, end, present[-1], ""))
            demands.append(q)
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


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    print("per cent, mean (worst): above the best known; bounds below it, before -> after")
    for objective in ("makespan", "minsum"):
        for releases in (False, True):
            known = ", releases" if releases else ""
            for size in ((10, 16), (40, 32)):
                rows = [row(inst, objective, 1.0, seconds) for inst in instances([size], releases)]
                report(f"{objective}, {size[0]} x {size[1]}{known}", rows)
    for seed in (1, 2):
        report(
            f"makespan, Amdahl, 1000 x 64, 5 s ({seed})",
            [row(amdahl(1000, 64, seed), "makespan", 5.0, 0)],
        )


if __name__ == "__main__":
    main()
