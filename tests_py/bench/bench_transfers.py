"""dags, transfers: bounds against the optimum of small graphs, and against the best schedule.

Run by ``make bench``.

    bench_transfers.py              # small graphs by enumeration, larger ones against hlp-best
    bench_transfers.py --graphs 40  # small graphs for each ratio
    bench_transfers.py --networks   # only many types of one unit each
    bench_transfers.py --networks --against OLD  # in turn with the package below the folder OLD

Small graphs: 7 tasks on 2 + 1 or 2 + 2 units, half with related times (p = w / speed); their
optimum by enumeration of all orders on all units. "LP*" ignores transfers, "plans" is LP* with a
transport plan an edge, "windows" the default bound without data. A CCR of c: an edge's data takes
c mean task times on average. Seconds are of the processor; every certificate is checked.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import cosched as cs
from cosched.dags import Instance

RATIOS = (0.1, 1, 5)
MEMORIES = ("host", "unit")


def timed(work):
    begin = time.process_time()
    outcome = work()
    return outcome, time.process_time() - begin


def with_data(graph, ccr, random, memories):
    times = graph.times[np.isfinite(graph.times)]
    data = random.uniform(0, 2, len(graph.edges)) * times.mean() * ccr
    data[random.random(len(data)) < 0.1] = 0
    rates = random.uniform(0.5, 2, (graph.types, graph.types))
    return Instance(
        graph.times, graph.edges, graph.units, data=data, bandwidth=rates, memories=memories
    )


def small(random, number, ccr):
    n = 7
    work = random.uniform(1, 10, n)
    if number % 2:
        times = np.column_stack([work, work / random.uniform(1, 8, n)])
    else:
        times = np.column_stack([work, work / 3])
    edges = [(i, j) for j in range(n) for i in range(j) if random.random() < 0.35]
    units = (2, 1 + number % 4 // 2)
    graph = Instance(times, edges, units)
    return with_data(graph, ccr, random, MEMORIES[number // 2 % 2])


def optimum(inst):
    """Every order of starts on every unit, each task as soon as its data is there."""
    n, places = inst.tasks, [(q, u) for q in range(inst.types) for u in range(inst.units[q])]
    before = [[] for _ in range(n)]
    after = [[] for _ in range(n)]
    for edge, (i, j) in enumerate(inst.edges):
        cost = np.array([[inst.transfer(edge, a, b) for b in places] for a in places])
        before[j].append((i, cost.tolist()))
        after[i].append(j)
    times = [[float(inst.times[j, q]) for q, _ in places] for j in range(n)]
    rank = [0.0] * n
    for j in inst.order[::-1]:
        rank[j] = min(times[j]) + max((rank[k] for k in after[j]), default=0.0)
    # Units that nothing tells apart while they are idle.
    kind = [q for q, _ in places]
    best = cs.dags.solve(inst, "heft").value
    on, ends, idle = [-1] * n, [0.0] * n, [0.0] * len(places)

    def search(placed, last, done):
        nonlocal best
        if placed == n:
            best = min(best, done)
            return
        ready = [j for j in range(n) if on[j] < 0 and all(on[i] >= 0 for i, _ in before[j])]
        if any(last + rank[j] >= best for j in ready):  # it starts no earlier than the last
            return
        for j in ready:
            fresh = set()
            for u in range(len(places)):
                if idle[u] == 0:
                    if kind[u] in fresh:
                        continue
                    fresh.add(kind[u])
                start = max([idle[u], *(ends[i] + cost[on[i]][u] for i, cost in before[j])])
                if start < last or start + rank[j] >= best:
                    continue
                saved = idle[u]
                on[j], ends[j] = u, start + times[j][u]
                idle[u] = ends[j]
                search(placed + 1, start, max(done, ends[j]))
                idle[u], on[j] = saved, -1

    search(0, 0.0, 0.0)
    return best


def small_table(count):
    print(f"dags, transfers: {count} graphs of 7 tasks for each CCR, mean of bound / optimum")
    names = ("LP*", "plans", "windows", "transfers", "least", "s")
    print(f"  {'CCR':>5}" + "".join(f" {name:>9}" for name in names))
    for ccr in RATIOS:
        random = np.random.default_rng(7)
        rows, seconds = [], 0.0
        for number in range(count):
            inst = small(random, number, ccr)
            best = optimum(inst)
            bound, took = timed(lambda inst=inst: cs.dags.transfers(inst))
            assert bound.certificate.bound(inst) == bound.value <= best * (1 + 1e-9)
            seconds += took
            plans = cs.dags.transfers_relaxation(inst).value
            values = (cs.dags.hlp(inst).value, plans, cs.dags.windows(inst).value, bound.value)
            rows.append([value / best for value in values])
        lp, plans, windows, transfers = np.mean(rows, axis=0)
        best_value = min(row[-1] for row in rows)
        print(
            f"  {ccr:>5} {lp:>9.3f} {plans:>9.3f} {windows:>9.3f} {transfers:>9.4f} "
            f"{best_value:>9.3f} {seconds / count:>9.4f}",
            flush=True,
        )


def larger():
    random = np.random.default_rng(8)
    for n in (30, 100, 300):
        graph = cs.workloads.layered(n, seed=1, units=(4, 2))
        for ccr in RATIOS:
            yield f"layered {n}, 4+2", ccr, with_data(graph, ccr, random, "host")
    for tiles, units in ((10, (16, 4)), (20, (16, 4)), (20, (4, 1))):
        graph = cs.workloads.cholesky(tiles, units=units)
        for ccr in (0.1, 1):
            label = f"Cholesky {tiles}, {units[0]}+{units[1]}"
            yield label, ccr, with_data(graph, ccr, random, "host")


def larger_table(limit):
    names = ("tasks", "CCR", "LP*", "plans", "windows", "transfers", "best", "ratio")
    print("dags, transfers: against the better of heft and hlp-best")
    print(("  {:20}" + " {:>9}" * 10).format("", *names, "s(plans)", "s(bound)"))
    for label, ccr, inst in larger():
        lp, windows = cs.dags.hlp(inst).value, cs.dags.windows(inst).value
        plans, plan_seconds = timed(lambda inst=inst: cs.dags.transfers_relaxation(inst).value)
        bound, seconds = timed(lambda inst=inst: cs.dags.transfers(inst))
        assert bound.certificate.bound(inst) == bound.value
        best = min(
            cs.dags.solve(inst, "heft").value,
            cs.dags.solve(inst, "hlp-best", time_limit=limit).value,
        )
        values = (f"{value:.5g}" for value in (lp, plans, windows, bound.value, best))
        ratio, took = f"{bound.value / best:.3f}", (f"{plan_seconds:.3f}", f"{seconds:.3f}")
        print(
            ("  {:20}" + " {:>9}" * 10).format(label, inst.tasks, ccr, *values, ratio, *took),
            flush=True,
        )


def networks():
    """Layered graphs on five and six units, each a type of its own."""
    for n, types in ((30, 5), (30, 6), (58, 6)):
        for ccr in (1, 5):
            for seed in (1, 2, 3):
                accelerations = [(0.5, 2)] * (types - 1)
                yield (
                    (n, types, ccr),
                    cs.workloads.layered(
                        n, 0.3, seed=seed, acceleration=accelerations, units=(1,) * types, ccr=ccr
                    ),
                )


def answers():
    """For another process: bound and seconds of the network whose number is asked."""
    instances = [inst for _, inst in networks()]
    for line in sys.stdin:
        inst = instances[int(line)].with_units(instances[int(line)].units)
        cs.dags.windows(inst)
        bound, seconds = timed(lambda inst=inst: cs.dags.transfers(inst))
        assert bound.certificate.bound(inst) == bound.value
        print(bound.value, seconds, flush=True)


def asker(folder):
    """Asks such a process, which has the package below `folder`."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--answers"],
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip

    def ask(number):
        print(number, file=process.stdin, flush=True)
        return [float(word) for word in process.stdout.readline().split()]

    return ask


def network_table(against):
    folders = [Path(cs.__file__).parents[1], *([] if against is None else [against.resolve()])]
    asked = [asker(folder) for folder in folders]
    print("dags, transfers: units that are each a type, mean of three; least seconds of three")
    head = f"  {'tasks':>5} {'types':>5} {'CCR':>3} {'bound':>8} {'/ plans':>8} {'s':>7}"
    print(
        head
        + ("" if against is None else f" {'before':>7} {'ratio':>6} {'least bound / before':>20}")
    )
    rows = {}
    for number, (key, inst) in enumerate(networks()):
        answers = [min((ask(number) for _ in range(3)), key=lambda row: row[1]) for ask in asked]
        plans = cs.dags.transfers_relaxation(inst).value
        rows.setdefault(key, []).append([answers[0][0] / plans, *answers[0], *answers[-1]])
    for key, group_rows in rows.items():
        bound_to_plan, bound, seconds, _, before = np.mean(group_rows, axis=0)
        smallest_ratio = min(row[1] / row[3] for row in group_rows)
        text = (
            f"  {key[0]:>5} {key[1]:>5} {key[2]:>3} {bound:>8.2f} {bound_to_plan:>8.3f} "
            f"{seconds:>7.3f}"
        )
        print(
            text
            + (
                ""
                if against is None
                else f" {before:>7.3f} {before / seconds:>5.1f}x {smallest_ratio:>20.6f}"
            ),
            flush=True,
        )


def schedulers(tasks=4000):
    """Seconds of heuristics with transfers over those without, on the same graph."""
    print(f"dags: {tasks} tasks, layered, ccr 1: ms with transfers (x = ratio to without)")
    for units in ((16, 4), (128, 16)):
        for memories in MEMORIES:
            inst = cs.workloads.layered(tasks, 0.3, ccr=1.0, units=units, memories=memories, seed=1)
            plain = Instance(inst.times, inst.edges, inst.units)
            row = [f"{units[0]}+{units[1]} {memories:4}"]
            for name in ("heft", "cpop", "peft", "etf", "min-min", "eft"):
                both = [
                    min(timed(lambda i=i, n=name: cs.dags.solve(i, n))[1] for _ in range(9))
                    for i in (inst, plain)
                ]
                row.append(f"{name} {1e3 * both[0]:.1f} ({both[0] / both[1]:.2f}x)")
            print("  " + "  ".join(row))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=60, help="small ones for each CCR")
    parser.add_argument("--seconds", type=float, default=2.0, help="time limit of hlp-best")
    parser.add_argument("--networks", action="store_true", help="only the table of networks")
    parser.add_argument("--against", type=Path, help="folder with another cosched, for that table")
    parser.add_argument("--answers", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answers:
        return answers()
    if options.networks or options.against is not None:
        return network_table(options.against)
    small_table(options.graphs)
    larger_table(options.seconds)
    network_table(None)
    schedulers()
    return None


if __name__ == "__main__":
    main()
