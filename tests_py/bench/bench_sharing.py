"""Tasks that share the machine: exhaustive search, proofs of mid instances, gaps without packs.

    python tests_py/bench/bench_sharing.py small [CASES]   10,000 packs against exhaustive search
    python tests_py/bench/bench_sharing.py mid             15 to 40 tasks, packs of 2 to 4, 60 s
    python tests_py/bench/bench_sharing.py jobs            three plans a size without packs

Fixed instances, fixed seeds; processor seconds.
"""

import sys
import time
from pathlib import Path

import numpy as np

import cosched as cs

sys.path.insert(0, str(Path(__file__).parents[1]))
from shared_cases import brute_force, packs_case, packs_large


def small(cases):
    """Wrong answers, and how far each bound is below the optimum."""
    wrong = {"optimal": 0, "pairs": 0, "bound": 0}
    ratios = {name: [] for name in cs.packs.BOUNDS}
    for seed in range(cases):
        inst = packs_case(seed)
        optimum = brute_force(inst)
        best = cs.packs.solve(inst, "optimal")
        wrong["optimal"] += abs(best.value - optimum) > 1e-9 * optimum or best.gap > 1e-9
        if inst.max_tasks <= 2:
            pairs = cs.packs.solve(inst, "pairs").value
            wrong["pairs"] += abs(pairs - optimum) > 1e-9 * optimum
        for name, bound_ratios in ratios.items():
            bound_ratios.append(float(cs.packs.bound(inst, name)) / optimum)
            wrong["bound"] += bound_ratios[-1] > 1 + 1e-9
    print(f"{cases} instances, wrong: { {name: int(count) for name, count in wrong.items()} }")
    for name, bound_ratios in ratios.items():
        print(
            f"{name}: mean {np.mean(bound_ratios):.4f}, "
            f"worst {min(bound_ratios):.4f} of the optimum"
        )


def mid():
    """Proofs in 60 s, and what a plan costs that does not know."""
    print("tasks procs k | value gap ended s | unaware | local-search | columns")
    for n, p, k in (
        (15, 8, 2),
        (20, 16, 3),
        (25, 16, 4),
        (30, 16, 4),
        (40, 16, 2),
        (40, 16, 3),
        (40, 16, 4),
        (40, 32, 4),
    ):
        inst = packs_large(7 * n + k, n, p, k)
        begin = time.process_time()
        best = cs.packs.solve(inst, "optimal", time_limit=60)
        seconds = time.process_time() - begin
        unaware = cs.packs.solve(inst.without_slowdowns(), "optimal", time_limit=60)
        unaware_value = cs.packs.co_schedule(inst, unaware.pack_of, unaware.procs).value
        search = cs.packs.solve(inst, "local-search").value
        bound = float(cs.packs.bound(inst))
        print(
            f"{n} {p} {k} | {best.value:.3f} {best.gap:.2%} {best.stopped_by} {seconds:.1f} | "
            f"{unaware_value / best.value - 1:+.1%} "
            f"(promised {unaware.value / best.value - 1:+.1%}) | "
            f"{search / best.value - 1:+.2%} | {bound / best.value:.4f}",
            flush=True,
        )


def jobs():
    """Gaps of the search without packs, by configurations and by area alone."""
    print("jobs machines | gap, mean and range of three | s wall | bounds s | area gap | values")
    for n, m in ((15, 8), (25, 8), (40, 4), (40, 8), (40, 16)):
        rows = np.array([jobs_row(7 * n + m + shift, n, m) for shift in (0, 1000, 2000)])
        gap, spent, wall, bounding, area, _ = rows.mean(axis=0)
        smallest_gap, largest_gap = rows[:, 0].min(), rows[:, 0].max()
        values = " ".join(f"{value:.2f}" for value in rows[:, -1])
        print(
            f"{n} {m} | {gap:.2%} {smallest_gap:.2%} to {largest_gap:.2%} | "
            f"{spent:.1f} {wall:.1f} | "
            f"{bounding:.1f} | {area:.1%} | {values}",
            flush=True,
        )


def jobs_row(seed, n, m):
    packs = packs_large(seed, n, m, m)
    inst = cs.moldable.Instance(packs.times, np.ones(n), **packs.sharing.arguments())
    begin, clock = time.process_time(), time.perf_counter()
    result = cs.moldable.solve(inst, "local-search")
    middle, wall = time.process_time(), time.perf_counter() - clock
    bound = float(cs.moldable.bound(inst, "configurations"))
    end = time.process_time()
    area = float(cs.moldable.bound(inst, "area"))
    gaps = result.value / bound - 1, result.value / area - 1
    return gaps[0], middle - begin, wall, end - middle, gaps[1], result.value


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "small"
    if chosen == "small":
        small(int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
    else:
        {"mid": mid, "jobs": jobs}[chosen]()
