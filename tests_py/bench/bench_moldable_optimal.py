"""What `moldable.optimal` proves of 8 to 12 jobs, beside CP-SAT where OR-tools is installed.

`python tests_py/bench/bench_moldable_optimal.py [WORK [COUNT [SECONDS]]]`: for both criteria, with
and without release dates, COUNT instances of each kind of job and range of machines; rigid jobs
run on one count. Times are whole numbers, so that both solve the same instance. SECONDS: the limit
of CP-SAT (one worker; 0: without it). Gaps are means; seconds are processor seconds, means.
"""

import sys
import time
from itertools import product

import numpy as np

import cosched as cs

KINDS = ("cirne", "highly-parallel", "mixed", "weakly-parallel", "rigid")
MACHINES = ((4, 4), (6, 16), (17, 32))
UNITS = 10_000  # of time in a second


def instance(kind, machines, releases, seed):
    rng = np.random.default_rng([KINDS.index(kind), MACHINES.index(machines), releases, seed])
    n, m = int(rng.integers(8, 13)), int(rng.integers(machines[0], machines[1] + 1))
    weights = rng.integers(1, 11, n).astype(float)
    if kind == "rigid":
        seconds, counts = np.array(
            [(rng.uniform(1, 10), rng.integers(1, m + 1)) for _ in range(n)]
        ).T
        times = np.where(np.arange(1, m + 1) >= counts[:, None], seconds[:, None], np.inf)
    else:
        base = cs.workloads.moldable(kind, n, m, seed=int(rng.integers(1 << 30)))
        times = np.array([[base.time(i, q) for q in range(1, m + 1)] for i in range(n)])
    times = np.maximum(1, np.round(times * UNITS))
    span = np.sum(np.min(times * np.arange(1, m + 1), axis=1)) / m
    release = np.round(rng.uniform(0, span, n)) if releases else None
    return cs.moldable.Instance(times, weights, release)


def by_cp_sat(inst, objective, seconds):
    """Value, bound, and whether CP-SAT calls it optimal: an optional interval a job and count."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    modes = [useful(inst, job) for job in range(inst.jobs)]
    horizon = int(max(inst.release)) + sum(job_modes[-1][1] for job_modes in modes)
    intervals, demands, ends, areas = [], [], [], []
    for job_modes, release in zip(modes, inst.release, strict=True):
        start, end = (model.new_int_var(int(release), horizon, "") for _ in range(2))
        present = [model.new_bool_var("") for _ in job_modes]
        model.add_exactly_one(present)
        for literal, (q, length) in zip(present, job_modes, strict=True):
            intervals.append(model.new_optional_interval_var(start, length, end, literal, ""))
            demands.append(q)
            areas.append(q * length * literal)
        ends.append(end)
    model.add_cumulative(intervals, demands, inst.machines)
    if objective == "makespan":
        last = model.new_int_var(0, horizon, "")
        model.add_max_equality(last, ends)
        model.add(sum(areas) <= inst.machines * last)
        model.minimize(last)
    else:
        model.minimize(sum(int(w) * end for w, end in zip(inst.weights, ends, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    has_schedule = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    value = solver.objective_value if has_schedule else np.inf
    return value, solver.best_objective_bound, status == cp_model.OPTIMAL


def useful(inst, job):
    """(count, time) where the time is less than on any fewer."""
    times = [inst.time(job, q) for q in range(1, inst.machines + 1)]
    best_times = np.minimum.accumulate(times)
    return [
        (q, int(t))
        for q, t in enumerate(times, start=1)
        if np.isfinite(t) and (q == 1 or t < best_times[q - 2])
    ]


def by_us(inst, objective, work):
    result = cs.moldable.optimal(inst, objective=objective, work=work)
    result.schedule.validate()
    if objective == "makespan":
        value, own_bound = result.makespan, result.own_bound
    else:
        value, own_bound = result.weighted_completion, result.own_minsum_bound
    return value, float(own_bound), result.stopped_by == "proved"


def row(solve, instances):
    """Proved, mean gap, mean seconds; the outcomes."""
    started, outcomes = time.process_time(), [solve(inst) for inst in instances]
    seconds = (time.process_time() - started) / len(outcomes)
    gap = np.mean([value / bound - 1 if bound > 0 else np.inf for value, bound, _ in outcomes])
    proved = sum(each[2] for each in outcomes)
    return f"{proved:2}/{len(outcomes)} {100 * gap:8.3f}% {seconds:6.2f} s", outcomes


def compared(ours, theirs):
    """A line for each instance of which the two say what cannot both be true."""
    for k, ((value, bound, proved), (other, other_bound, other_proved)) in enumerate(
        zip(ours, theirs, strict=True)
    ):
        if bound > other * (1 + 1e-9) or other_bound > value * (1 + 1e-9):
            print(f"  seed {k}: {value}, {bound}, {proved} against {other}, {other_bound}")
        elif other_proved and not proved:
            print(f"  seed {k}: proved by CP-SAT alone")


def main():
    work = int(float(sys.argv[1])) if len(sys.argv) > 1 else 400_000_000
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0
    for objective, releases, kind, machines in product(
        ("makespan", "minsum"), (0, 1), KINDS, MACHINES
    ):
        instances = [instance(kind, machines, releases, seed) for seed in range(count)]
        text, ours = row(lambda inst: by_us(inst, objective, work), instances)  # noqa: B023
        line = f"{objective:8} {'released' if releases else 'at 0':8} {kind:16}"
        line += f" {machines[0]:2}-{machines[1]:<2} {text}"
        if not seconds:
            print(line, flush=True)
            continue
        text, theirs = row(lambda inst: by_cp_sat(inst, objective, seconds), instances)  # noqa: B023
        print(f"{line}   CP-SAT {text}", flush=True)
        compared(ours, theirs)


if __name__ == "__main__":
    main()
