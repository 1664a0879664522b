"""moldable: local-search beside the other algorithms and constraint solvers, and the bounds.

Generated instances with a fixed seed, and the measured speed-ups below COSCHED_DATA. A second a
method, five from 100 jobs on, all on one core: CP-SAT and PyJobShop (`pip install ortools
pyjobshop`, where they are here) with eight workers there, which is more than one finds.

    python tests_py/bench/bench_moldable_search.py
    python tests_py/bench/bench_moldable_search.py --reference 60  # CP-SAT, up to 40 jobs
    python tests_py/bench/bench_moldable_search.py makespan "10 x 16"  # what contains these
"""

import argparse
import importlib.util
import os
import time

import numpy as np
from archives import DATA
from moldable_solvers import by_cp_sat, by_pyjobshop

import cosched as cs
from cosched.moldable.bounds import minsum_bound_beside
from cosched.moldable.workloads import KINDS

OTHERS = ("demt", "dual-approximation", "list-shelf", "list-lptf", "list-saf", "gang", "sequential")
SPEEDUPS = DATA / "speedup" / "archer_benchmarks_runs.csv"
SIZES = ((10, 16), (15, 16), (40, 32), (100, 64), (200, 64), (1000, 64))
FEW = 40  # jobs up to which a second is enough, and a reference is asked for
MOST = {"ortools": 200, "pyjobshop": 200}  # jobs: beyond, the model alone takes the time
COLUMNS = ("others", "local-search", "CP-SAT", "PyJobShop", "reference", "search-ref")


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


def amdahl(jobs, machines):
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        alone, serial = rng.uniform(1, 10, (jobs, 1)), rng.uniform(0, 0.3, (jobs, 1))
        times = alone * (serial + (1 - serial) / np.arange(1, machines + 1))
        yield cs.moldable.Instance(times, rng.uniform(1, 10, jobs))


def value(result, objective):
    return result.makespan if objective == "makespan" else result.weighted_completion


def timed(work):
    begin = time.process_time()
    found = float(work())
    return found, time.process_time() - begin


def peer(package, solve, inst, objective, seconds):
    """What a package's solver finds; not a number where it does not take part."""
    if not importlib.util.find_spec(package) or inst.jobs > MOST[package]:
        return np.nan
    return solve(inst, objective, seconds)[0]


def bounds_of(inst, objective):
    """((value, seconds) before, the same now)."""
    if objective == "makespan":
        return (
            timed(lambda: cs.moldable.bound(inst)),
            timed(lambda: cs.moldable.bound(inst, "slots")),
        )
    return (
        timed(lambda: cs.moldable.bound(inst, "minsum", refine=8)),
        timed(lambda: minsum_bound_beside(inst)),
    )


def row(inst, objective, limit, reference):
    """Per cent above the best known a method, per cent of bounds below it, seconds of bounds."""
    options = {"objective": objective, "work": 2**50}
    found = cs.moldable.local_search(inst, time_limit=limit, **options)
    found.schedule.validate()
    search = value(found, objective)
    others = min(value(cs.moldable.solve(inst, name), objective) for name in OTHERS)
    cp_sat = peer("ortools", by_cp_sat, inst, objective, limit)
    jobshop = peer("pyjobshop", by_pyjobshop, inst, objective, limit)
    longer = peer("ortools", by_cp_sat, inst, objective, reference) if reference else np.nan
    again = cs.moldable.local_search(inst, time_limit=limit, seed=1, **options)
    values = np.array([others, search, cp_sat, jobshop, longer])
    best = np.nanmin([*values, value(again, objective)])
    (before, first), (after, second) = bounds_of(inst, objective)
    return np.array(
        [
            *100 * (values / best - 1),
            100 * (search / longer - 1),
            100 * (1 - before / best),
            100 * (1 - after / best),
            first,
            second,
        ]
    )


def mean_and_worst(column):
    known = column[~np.isnan(column)]
    return f"{known.mean():6.2f} ({known.max():6.2f})" if len(known) else f"{'':15}"


def report(title, rows):
    table = np.array(rows)
    cells = [mean_and_worst(table[:, k]) for k in range(8)]
    print(f"{title:31}", *cells[:6], cells[6], "->", cells[7], end=" ")
    print(
        f"{table[:, 8].mean():.2f} -> {table[:, 9].mean():.2f} ({table[:, 9].max():.2f})",
        flush=True,
    )


def cases():
    """Title, instances, criterion."""
    for objective in ("makespan", "minsum"):
        for jobs, machines in SIZES:
            yield f"{objective}, {jobs} x {machines}", list(generated(jobs, machines)), objective
        for jobs, machines in ((10, 16), (40, 32)):
            released = list(generated(jobs, machines, releases=True))
            yield f"{objective}, {jobs} x {machines}, releases", released, objective
        if SPEEDUPS.exists():
            yield f"{objective}, measured speed-ups", list(measured()), objective
    yield "makespan, Amdahl, 1000 x 64", list(amdahl(1000, 64)), "makespan"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", type=float, default=0, help="seconds of CP-SAT")
    parser.add_argument("titles", nargs="*")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print("moldable, per cent, mean (worst): above the best known; local-search above the")
    print("reference; bounds below the best known, before -> now; their processor seconds")
    print(f"{'':31}", *(f"{name:15}" for name in COLUMNS), "bounds")
    for title, instances, objective in cases():
        if all(word in title for word in options.titles):
            few = instances[0].jobs <= FEW
            rows = [
                row(inst, objective, 1.0 if few else 5.0, options.reference * (few and k % 2 == 0))
                for k, inst in enumerate(instances)
            ]
            report(title, rows)


if __name__ == "__main__":
    main()
