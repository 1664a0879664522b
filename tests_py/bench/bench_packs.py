"""packs from Python: 1-pack beside the plain dynamic programme; gaps and seconds of the rest.

Fixed instances, fixed seeds; processor seconds.
"""

import resource
import time

import numpy as np

import cosched as cs


def seconds(function, *arguments, runs=3, **options):
    """Least processor time of several calls, and the result."""
    fastest, result = np.inf, None
    for _ in range(runs):
        begin = time.process_time()
        result = function(*arguments, **options)
        fastest = min(fastest, time.process_time() - begin)
    return fastest, result


def plain_one_pack(times, p):
    """The paper's dynamic programme, c(i, q) = min over q' of max(c(i-1, q-q'), t_i(q'))."""
    c = [0.0] * (p + 1)
    for row in times.tolist():
        following = [float("inf")] * (p + 1)
        for q in range(1, p + 1):
            for last_procs in range(1, q + 1):
                longest = max(c[q - last_procs], row[last_procs - 1])
                if longest < following[q]:
                    following[q] = longest
        c = following
    return c[p]


def numpy_one_pack(times, p):
    """The same with numpy for the inner loop."""
    c = np.zeros(p + 1)
    for row in times:
        following = np.full(p + 1, np.inf)
        for q in range(1, p + 1):
            following[q] = np.maximum(c[q - 1 :: -1], row[:q]).min()
        c = following
    return float(c[p])


def bench_one_pack():
    """One pack of n tasks on p processors."""
    print("1-pack (heap in C++ = 1), with the conversion of the table")
    for n, p in ((20, 200), (50, 500), (100, 2000)):
        times = cs.workloads.packs_ii(tasks=n, nodes=p, seed=1).times
        ours, counts = seconds(cs.packs.one_pack, times, p, runs=9)
        cost = times[np.arange(n), counts - 1].max()
        compiled, _ = seconds(cs.packs.one_pack_dynamic_programme, times, p)
        peers = [("in numpy", numpy_one_pack)]
        if n * p * p < 20_000_000:
            peers.append(("in Python", plain_one_pack))
        print(
            f"  n = {n:3}, p = {p:4}  {1e3 * ours:7.3f} ms; in C++ {compiled / ours:.0f}x", end=""
        )
        for name, plain in peers:
            elapsed, schedule_cost = seconds(plain, times, p, runs=1)
            print(
                f"; {name} {elapsed / ours:,.0f}x{'' if schedule_cost == cost else ' OTHER COST'}",
                end="",
            )
        print()


def bench_gaps():
    """Column bound, the paper's best heuristic, and local search."""
    print("Workload-II and III of the package (seed 1), by the package's calls")
    for workload, k in (("packs_ii", 4), ("packs_ii", 16), ("packs_iii", 8), ("packs_iii", 32)):
        inst = getattr(cs.workloads, workload)(seed=1, max_tasks=k)
        bounding, bound = seconds(cs.packs.bound, inst, runs=1)
        drafting, paper = seconds(cs.packs.solve, inst, "pack-by-pack-9")
        searching, ours = seconds(cs.packs.solve, inst, "local-search", runs=1)
        print(
            f"  n = {inst.tasks:3}, p = {inst.procs}, k = {k:2}: column bound {bounding:.2f} s; "
            f"pack-by-pack-9 {100 * (paper.value / bound.value - 1):.2f}% above it in "
            f"{1e3 * drafting:.2f} ms; local-search {100 * (ours.value / bound.value - 1):.2f}% "
            f"in {searching:.2f} s"
        )


def bench_large():
    """Many tasks: the column bound and local search, ten seconds each."""
    print("Workload-II of the package with many tasks (seed 1), time_limit=10 each")
    for n, p, k in ((1_000, 64, 8), (3_000, 64, 8), (10_000, 32, 4)):
        inst = cs.workloads.packs_ii(tasks=n, nodes=p, max_tasks=k, seed=1)
        bounding, bound = seconds(cs.packs.bound, inst, runs=1, time_limit=10.0)
        searching, result = seconds(cs.packs.solve, inst, "local-search", runs=1, time_limit=10.0)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"  n = {n:6,}, p = {p}, k = {k}: column bound in {bounding:5.2f} s; local-search "
            f"{100 * (result.value / bound.value - 1):.2f}% above it in {searching:5.2f} s; "
            f"peak memory {memory:.0f} MB"
        )


if __name__ == "__main__":
    bench_large()
    bench_one_pack()
    bench_gaps()
