"""Ratios of dags: LP* against GLPK, CLP and HiGHS, HEFT against plain Python. Fixed work.

Run by ``make bench``. Needs the benchmark of Amaris et al. below COSCHED_DATA.

    bench_dags.py                # 30 of the 420 LPs, HEFT
    bench_dags.py --full         # all 420 LPs: most of an hour, nearly all of it GLPK's
    bench_dags.py --large        # 37,820 and 50,011 tasks: minutes, nearly all of them the others'
    ... --only HiGHS --only CLP  # without the other solvers

The 420 LPs: 105 two-type files x 4 machines, the fewest and the most CPUs with the fewest and the
most GPUs of the paper. Times are processor seconds of the solving alone: the other solvers get a
model that is already built, ours starts from the graph. CLP needs ``pip install cylp``.
"""

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

import highspy
import numpy as np
from archives import DATA

import cosched as cs
from cosched import _core
from cosched.dags import Instance
from cosched.dags.bounds.highs import lp_of
from cosched.io import archive_members

try:
    from cylp.cy import CyClpSimplex
except ImportError:
    CyClpSimplex = None

ARCHIVE = DATA / "amaris_het" / "formatedTasks_2.tar.gz"
MACHINES = ((16, 2), (16, 16), (128, 2), (128, 16))
STRIDE = 13  # all machines have their turn


def timed(work):
    begin = time.process_time()  # other work on the machine does not count
    outcome = work()
    return time.process_time() - begin, outcome


def best_time(prepare, work):
    """Least time of `work` on what `prepare` gives: of one call where it takes 0.1 s, of three,
    of ten below a millisecond.
    """
    fastest, outcome = timed(partial(work, prepare()))
    for _ in range(0 if fastest >= 0.1 else 2 if fastest >= 1e-3 else 9):
        seconds, outcome = timed(partial(work, prepare()))
        fastest = min(fastest, seconds)
    return fastest, outcome


# --- LP* ------------------------------------------------------------------------------------


def structured(instance):
    """The public call, on an instance that remembers nothing."""
    seconds, relaxation = best_time(
        lambda: instance.with_units(instance.units),
        lambda fresh: cs.dags.hlp(fresh, method="structured"),
    )
    assert relaxation.certificate.bound(instance) >= relaxation.value * (1 - 1e-9)
    return seconds, relaxation.value


def glpk(instance, method):
    method_value = _core.dags.Method[method]
    return best_time(
        lambda: instance._core, lambda core: _core.dags.hlp(core, method_value)["value"]
    )


def highs_model(instance, method="simplex"):
    """HiGHS with the model in it."""
    solver = highspy.Highs()
    options = {"output_flag": False, "threads": 1, "parallel": "off", "solver": method}
    for option, value in options.items():
        solver.setOptionValue(option, value)
    solver.passModel(lp_of(_core.dags.hlp_model(instance._core)))
    return solver


def highs(instance, method):
    def solve(solver):
        solver.run()
        return solver.getInfo().objective_function_value

    return best_time(lambda: highs_model(instance, method), solve)


def clp(instance):
    def solve(solver):
        solver.initialDualSolve()
        return solver.objectiveValue

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model.mps"))
        highs_model(instance).writeModel(path)

        def prepare():
            solver = CyClpSimplex()
            solver.logLevel = 0
            solver.readMps(path)
            return solver

        return best_time(prepare, solve)


SOLVERS = {
    "GLPK, primal simplex (as glpsol)": lambda instance: glpk(instance, "glpk_primal"),
    "GLPK, dual simplex": lambda instance: glpk(instance, "glpk"),
    "CLP, dual simplex": clp,
    "HiGHS, dual simplex": lambda instance: highs(instance, "simplex"),
    "HiGHS, interior point": lambda instance: highs(instance, "ipm"),
}
if CyClpSimplex is None:
    del SOLVERS["CLP, dual simplex"]


def lps(full):
    """All LPs, or every 13th with at most 3,000 tasks. Stride by stride: what is done of a long
    run is spread over all of them."""
    members = sorted(archive_members(ARCHIVE))
    every = [(member, units) for member in members for units in MACHINES]
    starts = range(STRIDE) if full else (0,)
    for member, units in (lp for start in starts for lp in every[start::STRIDE]):
        name = member.rsplit("/", 1)[-1].removesuffix(".txt")
        instance = Instance.read(f"{ARCHIVE}:{member}", units)
        if full or instance.tasks <= 3000:
            yield f"{name}, {units[0]}+{units[1]}", instance


def compare_lps(full, solvers):
    seconds = defaultdict(dict)  # solver -> LP -> seconds
    difference = dict.fromkeys(solvers, 0.0)
    for label, instance in lps(full):
        seconds["structured"][label], value = structured(instance)
        for name, solve in solvers.items():
            seconds[name][label], other = solve(instance)
            difference[name] = max(difference[name], abs(other / value - 1))
        if full:
            row = "  ".join(f"{theirs[label]:.6f}" for theirs in seconds.values())
            print(f"{label}: {row}", file=sys.stderr, flush=True)
    report(seconds, difference)


def report(seconds, difference):
    ours = seconds.pop("structured")
    total = sum(ours.values())
    print(f"dags: {len(ours)} LPs, structured {total:.3f} s, longest {max(ours.values()):.3f} s")
    others = [name for name in seconds if not name.startswith("GLPK")]
    if len(others) > 1:
        seconds["the best of these for each LP"] = {
            label: min(seconds[name][label] for name in others) for label in ours
        }
    for name, theirs in seconds.items():
        ratios = {label: theirs[label] / ours[label] for label in ours}
        smallest_ratio = min(ratios, key=ratios.get)
        used, median = sum(theirs.values()), np.median(list(ratios.values()))
        within = f"; LP* within {difference[name]:.0e}" if name in difference else ""
        print(
            f"  {name:33} {used:8.2f} s, in all {used / total:6.1f}x, median {median:6.1f}x, "
            f"least {ratios[smallest_ratio]:5.1f}x ({smallest_ratio}){within}"
        )


#: (CPU, GPU): with these times neither the loads nor the path alone decide.
BALANCED = {"potrf": (30, 10), "trsm": (55, 6), "syrk": (50, 3.5), "gemm": (90, 3.6)}


def compare_large(solvers):
    chosen = [name for name in solvers if not name.startswith("GLPK")]
    for label, instance, names in (
        (
            "Cholesky 60 x 60 tiles, 512+64",
            cs.workloads.cholesky(60, times=BALANCED, spread=0.1, seed=1, units=(512, 64)),
            [name for name in chosen if name.startswith("HiGHS")],
        ),
        (
            "fork-join 10 x 5,000, 1024+128",
            cs.workloads.fork_join(5000, 10, seed=1, units=(1024, 128)),
            chosen,
        ),
    ):
        ours, value = structured(instance)
        print(f"dags: {label}, {instance.tasks} tasks: structured {ours:.4f} s", flush=True)
        for name in names:
            theirs, other = solvers[name](instance)
            print(
                f"  {name:33} {theirs:8.2f} s  {theirs / ours:6.1f}x  "
                f"LP* within {abs(other / value - 1):.0e}",
                flush=True,
            )


# --- HEFT -----------------------------------------------------------------------------------


def plain_heft(times, successors, predecessors, units, order):
    """HEFT with insertion as one writes it in Python: what a paper's script does."""
    n, types = times.shape
    finite = np.isfinite(times)
    weight = np.where(finite, units, 0)
    mean = np.where(finite, times, 0) @ np.diag(units) / weight.sum(axis=1, keepdims=True)
    mean = mean.sum(axis=1)
    rank = np.zeros(n)
    for j in reversed(order):
        rank[j] = mean[j] + max((rank[s] for s in successors[j]), default=0.0)
    place = {j: k for k, j in enumerate(order)}
    busy = [[[] for _ in range(units[q])] for q in range(types)]
    end = np.zeros(n)
    for j in sorted(range(n), key=lambda j: (-rank[j], place[j])):
        ready = max((end[p] for p in predecessors[j]), default=0.0)
        best = (np.inf, 0, 0, 0.0)
        for q in range(types):
            p = times[j, q]
            if p == np.inf:
                continue
            for unit, slots in enumerate(busy[q]):
                start = ready
                for begin, finish in slots:
                    if start + p <= begin:
                        break
                    start = max(start, finish)
                key = (start + p, -q, unit, start)
                if key[:3] < best[:3]:
                    best = key
        finish, minus_type, unit, start = best
        busy[-minus_type][unit].append((start, finish))
        busy[-minus_type][unit].sort()
        end[j] = finish
    return float(end.max())


def compare_heft():
    print("dags: HEFT on 16+4 (C++ = 1): time of the same algorithm in plain Python")
    for name in ("spotri-512-10", "sgetrf_nopiv-960-10", "spotri-512-20", "forkJoin-10-500"):
        member = f"formatedTasks_2/{name.split('-')[0]}/{name}.txt"
        instance = Instance.read(f"{ARCHIVE}:{member}", (16, 4))
        successors = [[] for _ in range(instance.tasks)]
        predecessors = [[] for _ in range(instance.tasks)]
        for i, j in instance.edges.tolist():
            successors[i].append(j)
            predecessors[j].append(i)
        order = instance.order.tolist()
        plain, makespan = timed(
            lambda inst=instance, s=successors, p=predecessors, o=order: plain_heft(
                inst.times, s, p, inst.units, o
            )
        )
        ours = min(timed(lambda inst=instance: cs.dags.heft(inst))[0] for _ in range(5))
        same = np.isclose(makespan, cs.dags.heft(instance).value, rtol=1e-9)
        print(f"  {name:28} {plain / ours:7.0f}x  same makespan: {'yes' if same else 'NO'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="all 420 LPs")
    parser.add_argument("--large", action="store_true", help="only the two largest LPs")
    parser.add_argument("--only", action="append", help="solvers whose name has this text")
    arguments = parser.parse_args()
    wanted = arguments.only or [""]
    solvers = {k: v for k, v in SOLVERS.items() if any(text in k for text in wanted)}
    if CyClpSimplex is None:
        print("dags: without CLP: pip install cylp")
    if arguments.large:
        compare_large(solvers)
    elif not ARCHIVE.exists():
        print(f"dags: skipped, COSCHED_DATA lacks {ARCHIVE.name}")
    else:
        compare_lps(arguments.full, solvers)
        compare_heft()


if __name__ == "__main__":
    main()
