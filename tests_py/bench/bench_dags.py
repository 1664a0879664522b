"""Ratios of dags: LP* against HiGHS and GLPK, HEFT against plain Python. Fixed work.

Run by ``make bench``. Real Chameleon graphs where COSCHED_DATA has them, else generated ones.
"""

import os
import time
from pathlib import Path

import numpy as np

import cosched as cs
from cosched.dags import Instance

DATA = Path(os.environ.get("COSCHED_DATA", Path("..", "shared", "data"))) / "amaris_het"


def graphs():
    archive = DATA / "formatedTasks_2.tar.gz"
    if archive.exists():
        for name in ("spotri-512-10", "sgetrf_nopiv-960-10", "spotri-512-20", "forkJoin-10-500"):
            folder = name.split("-")[0]
            yield name, Instance.read(f"{archive}:formatedTasks_2/{folder}/{name}.txt", (1, 1))
    else:
        yield "cholesky 16", cs.workloads.cholesky(tiles=16, units=(1, 1), seed=1)
        yield "fork-join 5 x 200", cs.workloads.fork_join(phases=5, width=200, units=(1, 1), seed=1)


def seconds(work, *arguments, **options):
    begin = time.process_time()  # other work on the machine does not count
    work(*arguments, **options)
    return time.process_time() - begin


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


def main():
    print("dags: LP* (structured = 1): time of HiGHS (simplex), GLPK (dual simplex, presolve)")
    total = {"structured": 0.0, "highs": 0.0, "glpk": 0.0}
    for name, graph in graphs():
        for units in ((16, 2), (64, 4), (128, 16)):
            instance = graph.with_units(units)
            time_of = {}
            for method in ("structured", "highs", "glpk"):
                if method == "glpk" and graph.tasks > 3000:
                    continue  # minutes
                time_of[method] = seconds(cs.dags.hlp, graph.with_units(units), method=method)
                total[method] += time_of[method]
            one = time_of["structured"]
            others = "  ".join(
                f"{method} {time_of[method] / one:7.1f}x"
                for method in time_of
                if method != "structured"
            )
            label = f"{name}, {units[0]}+{units[1]}"
            print(f"  {label:28} {instance.tasks:6} tasks {one:8.4f} s  {others}")
    print(f"  all: HiGHS {total['highs'] / total['structured']:.1f}x")

    print("dags: HEFT (C++ = 1): time of the same algorithm in plain Python")
    for name, graph in graphs():
        instance = graph.with_units((16, 4))
        successors = [[] for _ in range(instance.tasks)]
        predecessors = [[] for _ in range(instance.tasks)]
        for i, j in instance.edges.tolist():
            successors[i].append(j)
            predecessors[j].append(i)
        order = instance.order.tolist()
        found = []
        plain = seconds(
            lambda inst=instance, s=successors, p=predecessors, o=order, out=found: out.append(
                plain_heft(inst.times, s, p, inst.units, o)
            )
        )
        ours = min(seconds(cs.dags.heft, instance) for _ in range(5))
        same = np.isclose(found[0], cs.dags.heft(instance).value, rtol=1e-9)
        print(f"  {name:28} {plain / ours:7.0f}x  same makespan: {'yes' if same else 'NO'}")


if __name__ == "__main__":
    main()
