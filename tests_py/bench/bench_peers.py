"""Other packages on the same work: HEFT and CPOP of anrg-saga, EASY of the simulator AccaSim.

Run by ``make bench``; a package takes part where it is installed:
``pip install anrg-saga accasim``.
"""

import collections.abc
import json
import logging
import tempfile
import time
from pathlib import Path

import numpy as np
from archives import DATA

import cosched as cs
from cosched import workloads

LOGS = DATA / "pwa"
HPC2N = LOGS / "HPC2N-2002-2.1-cln.swf.gz"
#: Of a unit of speed 1.
KERNELS = {"potrf": 30.0, "trsm": 50.0, "syrk": 55.0, "gemm": 90.0}


def seconds(work, repetitions=1):
    """Least processor seconds of some calls, and the last call's answer."""
    best = float("inf")
    for _ in range(repetitions):
        begin = time.process_time()
        answer = work()
        best = min(best, time.process_time() - begin)
    return best, answer


def saga_heft(tiles=10, slow=16, fast=4, speed=8.0):
    """saga's machines differ by a speed only, so all GPU times are CPU times over `speed`."""
    from saga import Network, TaskGraph
    from saga.schedulers import HeftScheduler

    times = {kernel: (p, p / speed) for kernel, p in KERNELS.items()}
    inst = workloads.cholesky(tiles, times=times, units=(slow, fast))
    units = [f"unit {k}" for k in range(slow + fast)]
    network = Network.create(
        nodes=[(name, 1.0 if k < slow else speed) for k, name in enumerate(units)],
        edges=[(a, b, float("inf")) for k, a in enumerate(units) for b in units[k:]],
    )
    graph = TaskGraph.create(
        tasks=[(str(j), float(p)) for j, p in enumerate(inst.times[:, 0])],
        dependencies=[(str(i), str(j), 0.0) for i, j in inst.edges.tolist()],
    )
    slower, theirs = seconds(lambda: HeftScheduler().schedule(network, graph))
    many = range(100)  # a call is shorter than the clock's tick
    ours, _ = seconds(lambda: [cs.dags.heft(inst) for _ in many], 5)
    makespan = cs.dags.heft(inst).value
    ours /= len(many)
    print(
        f"HEFT, Cholesky {tiles} x {tiles}, {inst.tasks} tasks, {slow}+{fast} units: "
        f"{1e3 * ours:.3f} ms, anrg-saga {1e3 * slower:.0f} ms: ratio {slower / ours:.0f}; "
        f"makespans {makespan:.1f} and {theirs.makespan:.1f}"
    )


def saga_of(inst):
    """What saga makes of types that differ by a speed only, each unit in its own memory."""
    from saga import Network, TaskGraph

    speed = inst.times[0, 0] / inst.times[0]
    units = [(q, f"{q}.{k}") for q, count in enumerate(inst.units) for k in range(count)]
    # An edge from a unit to itself is free; saga asks for it all the same.
    links = [
        (one, other, float("inf") if one == other else float(inst.bandwidth[q, r]))
        for k, (q, one) in enumerate(units)
        for r, other in units[k:]
    ]
    network = Network.create(nodes=[(name, float(speed[q])) for q, name in units], edges=links)
    data = zip(inst.edges.tolist(), inst.data.tolist(), strict=True)
    graph = TaskGraph.create(
        tasks=[(f"{j:05d}", float(p)) for j, p in enumerate(inst.times[:, 0])],
        dependencies=[(f"{i:05d}", f"{j:05d}", size) for (i, j), size in data],
    )
    return network, graph


def related(tasks, ccr, seed, units=(3, 2), speeds=(1.0, 4.0)):
    """A layered graph on units of two speeds, the same link between any two."""
    one = workloads.layered(tasks, 0.3, ccr=ccr, bandwidth=1.0, units=units, seed=seed)
    times = one.times[:, :1] / speeds
    return cs.dags.Instance(
        times, one.edges, units, data=one.data, bandwidth=one.bandwidth, memories="unit"
    )


def saga_transfers(tasks=40, seeds=10):
    """HEFT and CPOP where data costs time: makespans and seconds side by side.

    "its rules": plain ones with the three of :func:`saga_ranks`, in which saga differs.
    """
    from saga.schedulers import CpopScheduler, HeftScheduler

    logging.disable(logging.WARNING)
    print(f"transfers: layered graphs of {tasks} tasks on 3 + 2 units of speeds 1 and 4, memories")
    print("'unit': mean of anrg-saga's makespan over ours (least, greatest), how many are equal")
    for ccr in (0.1, 1.0, 5.0):
        for name, theirs in (("heft", HeftScheduler), ("cpop", CpopScheduler)):
            rows = [side_by_side(related(tasks, ccr, seed), name, theirs) for seed in range(seeds)]
            ratios, same_rules, ours_s, theirs_s = zip(*rows, strict=True)
            ours_ms, theirs_ms = 1e3 * sum(ours_s) / seeds, 1e3 * sum(theirs_s) / seeds
            print(
                f"  {name}, ccr {ccr:3}: {told(ratios)}; its rules: {told(same_rules)}; "
                f"{ours_ms:.2f} ms, anrg-saga {theirs_ms:.0f} ms: ratio {theirs_ms / ours_ms:.0f}"
            )


def told(ratios):
    equal = sum(abs(ratio - 1) < 1e-9 for ratio in ratios)
    mean = sum(ratios) / len(ratios)
    return f"{mean:.3f} ({min(ratios):.3f}, {max(ratios):.3f}), {equal} of {len(ratios)}"


def side_by_side(inst, name, theirs):
    """saga's makespan over ours and over a plain one by its rules, and the seconds of both."""
    network, graph = saga_of(inst)
    spent, plan = seconds(lambda: theirs().schedule(network, graph))
    fast, ours = seconds(lambda: [cs.dags.solve(inst, name) for _ in range(100)])
    check_of(inst, plan)
    return (
        plan.makespan / ours[0].value,
        plan.makespan / plain(inst, saga_ranks(inst, name)),
        fast / 100,
        spent,
    )


def saga_ranks(inst, name):
    """Priorities as saga counts them.

    Its mean transfer counts the free one from a unit to itself, which makes it (N - 1)/(N + 1) of
    the mean over pairs of different units. CPOP's rank from the begin adds a task's own time, at
    the mean speed, and not its predecessor's; so no task of a path has the rank of its entry, and
    as saga calls critical what has, its CPOP ties no task to the unit of a path.
    """
    places = [(q, k) for q, count in enumerate(inst.units) for k in range(count)]
    n, edges = len(places), list(enumerate(inst.edges.tolist()))
    total = [sum(inst.transfer(e, a, b) for a in places for b in places) for e, _ in edges]
    moved = np.array(total) / (n * (n + 1))
    times = np.repeat(inst.times, inst.units, axis=1)
    upward, downward = times.mean(axis=1), np.zeros(inst.tasks)
    for j in inst.order[::-1]:
        upward[j] += max((moved[e] + upward[k] for e, (i, k) in edges if i == j), default=0.0)
    if name == "heft":
        return upward
    own_times = inst.times[:, 0] / np.mean(times[0, 0] / times[0])
    for j in inst.order:
        before = (moved[e] + downward[i] for e, (i, k) in edges if k == j)
        downward[j] = own_times[j] + max(before, default=0.0)
    return upward + downward


def plain(inst, rank):
    """The ready task of greatest rank where it ends first, in gaps too; ties to the lowest unit."""
    at, end = {}, {}
    busy = {(q, k): [] for q, count in enumerate(inst.units) for k in range(count)}
    edges = list(enumerate(inst.edges.tolist()))
    while len(end) < inst.tasks:
        blocked = {k for _, (i, k) in edges if i not in end}
        j = max(set(range(inst.tasks)) - blocked - set(end), key=lambda j: (rank[j], -j))
        best = (np.inf, (0, 0), 0.0)
        for place, intervals in busy.items():
            arrivals = (end[i] + inst.transfer(e, at[i], place) for e, (i, k) in edges if k == j)
            start = max(arrivals, default=0.0)
            for begin, until in sorted(intervals):
                if start + inst.times[j, place[0]] <= begin:
                    break
                start = max(start, until)
            best = min(best, (start + inst.times[j, place[0]], place, start))
        end[j], at[j], begin = best
        busy[at[j]].append((begin, end[j]))
    return max(end.values())


def check_of(inst, plan):
    """Whether saga's schedule is one of the model here: by the validator."""
    kind, unit, start, end = (np.zeros(inst.tasks) for _ in range(4))
    for name, tasks in plan.items():
        for task in tasks:
            if task.name.startswith("__"):  # an entry and an exit of saga's own, of no length
                continue
            kind[int(task.name)], unit[int(task.name)] = map(int, name.split("."))
            start[int(task.name)], end[int(task.name)] = task.start, task.end
    rows = np.arange(inst.tasks)
    columns = (rows, kind.astype(int), np.arange(inst.tasks + 1), unit.astype(int), start, end)
    cs.core.Schedule(inst, *columns).validate()


def accasim_easy(jobs=5000, nodes=120):
    """EASY on the first jobs of HPC2N, a processor a task."""
    for old in ("Mapping", "MutableMapping", "Iterable"):  # AccaSim 1.1 is older than Python 3.10
        setattr(collections, old, getattr(collections.abc, old))
    from accasim.base.allocator_class import FirstFit
    from accasim.base.scheduler_class import EASYBackfilling
    from accasim.base.simulator_class import Simulator

    logging.disable(logging.INFO)
    table, _ = workloads.read_swf(HPC2N)
    inst = cs.cluster.from_swf(HPC2N, 2 * nodes, convention="rigid")
    fast, _ = seconds(lambda: cs.cluster.solve(inst, "EASY (perfect estimates)").jobs, 5)
    with tempfile.TemporaryDirectory() as folder:
        log, machine = Path(folder, "log.swf"), Path(folder, "machine.json")
        columns = table.head(jobs)[["submit", "run", "processors"]].astype(int)
        log.write_text(
            "".join(
                f"{job} {submit} -1 {run} {count} -1 1 {count} {run} 1 1 1 1 1 1 1 -1 -1\n"
                for job, (submit, run, count) in enumerate(columns.itertuples(index=False), 1)
            )
        )
        system = {"groups": {"node": {"core": 2, "mem": 10**6}}, "resources": {"node": nodes}}
        system |= {"equivalence": {"processor": {"core": 1}}, "start_time": 0}
        machine.write_text(json.dumps(system))
        simulator = Simulator(
            str(log),
            str(machine),
            EASYBackfilling(FirstFit()),
            scheduling_output=False,
            statistics_output=False,
            show_statistics=False,
            RESULTS_FOLDER_PATH=folder,
        )
        slow, _ = seconds(simulator.start_simulation)
    fast, slow = 1e6 * fast / len(inst), 1e6 * slow / jobs
    print(
        f"EASY on HPC2N, 240 processors: {fast:.3f} us a job; AccaSim on its first {jobs} jobs "
        f"{slow:.0f} us a job: ratio {slow / fast:.0f}"
    )


def main():
    for compare in (saga_heft, saga_transfers, accasim_easy):
        try:
            compare()
        except ModuleNotFoundError as error:
            print(f"{compare.__name__}: skipped, {error.name} is not installed")
        except FileNotFoundError as error:
            print(f"{compare.__name__}: skipped, {error.filename} is not there")


if __name__ == "__main__":
    main()
