"""Other packages on the same work: HEFT of anrg-saga, EASY of the simulator AccaSim.

Run by ``make bench``; a package takes part where it is installed:
``pip install anrg-saga accasim``.
"""

import collections.abc
import json
import logging
import os
import tempfile
import time
from pathlib import Path

import cosched as cs
from cosched import workloads

DATA = Path(os.environ.get("COSCHED_DATA", Path("..", "shared", "data"))) / "pwa"
HPC2N = DATA / "HPC2N-2002-2.1-cln.swf.gz"
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
    fast, _ = seconds(lambda: cs.cluster.solve(inst, "EASY").jobs, 5)
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
    for compare in (saga_heft, accasim_easy):
        try:
            compare()
        except ModuleNotFoundError as error:
            print(f"{compare.__name__}: skipped, {error.name} is not installed")
        except FileNotFoundError as error:
            print(f"{compare.__name__}: skipped, {error.filename} is not there")


if __name__ == "__main__":
    main()
