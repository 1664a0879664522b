"""dags, graph by graph: LP*, the bound windows, the best schedule, the gap before and after.

Run by ``make bench``. Reads WfCommons traces, the STG graphs of 50 tasks with their optima and the
Chameleon graphs below COSCHED_DATA; layered graphs are generated.

    bench_windows.py                # the table, the count of STG proofs, 40,000 tasks
    bench_windows.py --seconds 1    # hlp-best for as long, instead of its fixed work
    bench_windows.py --curves 0.1 1 10 30  # value against seconds
    bench_windows.py --engines      # `transfers` in the place of `windows`, data costing nothing
    bench_windows.py --seconds 60 spotri-512-10 "layered 300"  # the table of what contains these

"gap" is makespan / bound - 1: "before" of HLP-OLS against LP*, "now" of hlp-best against the better
of windows and the bound that it proves itself. Seconds are of the processor. Every certificate is
checked, every schedule validated.
"""

import argparse
import csv
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np
from archives import DATA

import cosched as cs
from cosched import _core
from cosched.dags import Instance

CHAMELEON = ("spotrf-512-5", "sposv-512-5", "spotri-960-5", "spotrf-512-10", "spotri-512-10")
LAYERED = (30, 100, 300, 1000)
ROW = "  {:30} {:>6} {:>10} {:>10} {:>10} {:>7} {:>7} {:>8} {:>8} {:>8}"


def timed(work):
    begin = time.process_time()  # other work on the machine does not count
    outcome = work()
    return time.process_time() - begin, outcome


def graphs():
    """(group, label, instance)."""
    for path in sorted((DATA / "wfcommons").glob("*.json*")):
        inst = Instance.read(path, units=(8, 2), acceleration=5)
        yield "WfCommons", path.name.split(".")[0][:30], inst
    archive = DATA / "amaris_het" / "formatedTasks_2.tar.gz"
    for name in CHAMELEON if archive.exists() else ():
        member = f"formatedTasks_2/{name.split('-')[0]}/{name}.txt"
        for units in ((16, 4), (16, 2)):
            inst = Instance.read(f"{archive}:{member}", units)
            yield "Chameleon", f"{name}, {units[0]}+{units[1]}", inst
    for n in LAYERED:
        inst = cs.workloads.layered(n, seed=1, units=(4, 2))
        yield "layered", f"layered {n}, 4+2", inst


def search(inst, limit):
    """hlp-best with its fixed work, or for so many seconds."""
    return cs.dags.solve(inst, "hlp-best", time_limit=limit)


def table(limit, wanted):
    names = ("tasks", "LP*", "windows", "hlp-best", "before", "now", "s(LP*)", "s(bound)")
    print(ROW.format("", *names, "s(best)"))
    gaps = {}
    for group, label, inst in graphs():
        if wanted and not any(text in label for text in wanted):
            continue
        lp_seconds, lp = timed(lambda inst=inst: cs.dags.hlp(inst).value)
        bound_seconds, bound = timed(lambda inst=inst: cs.dags.windows(inst))
        assert bound.certificate.bound(inst) == bound.value
        seconds, best = timed(lambda inst=inst: search(inst, limit))
        best.schedule.validate()
        before = cs.dags.solve(inst, "hlp-ols").value / lp - 1
        top = max(bound.value, best.bound.value)
        now = max(0.0, best.value / top - 1)
        gaps.setdefault(group, []).append((before, now, lp / best.value, top / best.value))
        print(
            ROW.format(
                label,
                inst.tasks,
                f"{lp:.6g}",
                f"{top:.6g}",
                f"{best.value:.6g}",
                f"{before:.1%}",
                f"{now:.2%}",
                f"{lp_seconds:.3f}",
                f"{bound_seconds:.3f}",
                f"{seconds:.2f}",
            ),
            flush=True,
        )
    for group, rows in gaps.items():
        before, now, lp, top = np.mean(rows, axis=0)
        print(
            f"  mean of {group}: gap {before:.1%} before, {now:.2%} now; "
            f"LP* / best {lp:.3f}, bound / best {top:.3f}"
        )


def stg(limit):
    """Solved graphs whose optimum is found, and proved, and the seconds."""
    archive = DATA / "stg" / "stg_50_with_optimal.tar.gz"
    if not archive.exists():
        print(f"dags: STG skipped, COSCHED_DATA lacks {archive.name}")
        return
    solved = equal_count = proved = 0
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as opened:
            opened.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4
            opened.extractall(folder)
        for path in sorted(Path(folder).glob("optimal_50_m*.csv")):
            for name, units, optimum, *interval in csv.reader(path.read_text().splitlines()):
                inst = Instance.read(Path(folder, name), units=[int(units)])
                took, best = timed(lambda inst=inst: search(inst, limit))
                best.schedule.validate()
                seconds.append(took)
                if interval:
                    continue
                solved += 1
                equal_count += best.value == float(optimum)
                proved += best.bound.value == best.value == float(optimum)
    print(
        f"dags: STG, 50 tasks on 2, 4, 8, 16 units: {solved} with a known optimum, "
        f"found {equal_count}, proved {proved}; {len(seconds)} graphs in {sum(seconds):.2f} s, "
        f"longest {max(seconds):.3f} s"
    )


def curves(seconds, wanted):
    """hlp-best: value after so many seconds (by the clock), of an instance that keeps nothing."""
    chosen = ("1000genome-chameleon-10ch", "spotri-512-10, 16+2", "layered 300", "layered 1000")
    instances = {label: inst for _, label, inst in graphs() if label.startswith(chosen)}
    for ccr in (1, 5):
        instances[f"layered 300, ccr {ccr}"] = cs.workloads.layered(
            300, seed=1, units=(4, 2), ccr=ccr
        )
    five = {"acceleration": [(0.5, 2)] * 4, "units": (1,) * 5, "ccr": 5}
    instances["layered 30, 5 types, ccr 5"] = cs.workloads.layered(30, 0.3, seed=1, **five)
    instances["layered 100,000, 3 types"] = cs.workloads.layered(
        100_000, 0.005, seed=1, units=(64, 16, 4), acceleration=[(0.5, 50)] * 2
    )
    print(
        f"  {'':30} {'heft':>9}" + "".join(f" {limit:>8g}s" for limit in seconds) + "   bound end"
    )
    for label, inst in instances.items():
        if wanted and not any(text in label for text in wanted):
            continue
        row = [f"{cs.dags.solve(inst, 'heft').value:9.6g}"]
        for limit in seconds:
            best = cs.dags.solve(inst.with_units(inst.units), "hlp-best", time_limit=limit)
            row.append(f"{best.value:9.6g}")
        bound = max(cs.dags.bound(inst, time_limit=seconds[-1]).value, float(best.own_bound or 0))
        print(f"  {label:30}", *row, f"{bound:8.6g} {best.stopped_by}", flush=True)


def engines():
    """Both engines from LP*; an edge costs a billionth of a second, nearly nothing."""
    cases = [(f"layered {n}, 4+2", cs.workloads.layered(n, seed=1, units=(4, 2))) for n in LAYERED]
    three = {"acceleration": [(0.5, 50)] * 2, "units": (4, 2, 2), "seed": 1}
    cases += [
        ("layered 100, 4+2+2", cs.workloads.layered(100, **three)),
        ("fork-join 2 x 50, 8+2", cs.workloads.fork_join(50, 2, units=(8, 2), seed=1)),
        ("LU 6, 4+1", cs.workloads.lu(6, units=(4, 1))),
        ("Cholesky 10, 16+4", cs.workloads.cholesky(10, units=(16, 4))),
    ]
    print(f"  {'from LP*':30} {'windows':>9} {'s':>8} {'transfers':>9} {'s':>8}")
    for label, inst in cases:
        cost = np.full(len(inst.edges), 1e-9)
        moved = Instance(inst.times, inst.edges, inst.units, data=cost, bandwidth=1.0)
        proof = cs.dags.hlp(inst).certificate.of_core()
        nothing = {"relaxation": proof, "makespan": 0.0, "stages": []}
        row = ""
        for engine, of, start in (
            (_core.dags.windows_bound, inst, proof),
            (_core.dags.transfers_bound, moved, nothing),
        ):
            runs = [timed(lambda e=engine, i=of, s=start: e(i._core, s, None)) for _ in range(3)]
            row += f" {runs[0][1]['value']:9.6g} {min(seconds for seconds, _ in runs):8.4f}"
        print(f"  {label:30}{row}", flush=True)


def dense():
    """1.1 million edges; the machine decides how the path and the loads share the weight."""
    for units in ((16, 4), (16, 8), (32, 4), (64, 4), (64, 6), (64, 7), (64, 8)):
        label = f"layered 40,000, {units[0]}+{units[1]}"
        yield label, cs.workloads.layered(40000, 0.29, units=units, seed=1)


def large():
    for label, inst in (
        ("fork-join 8 x 5,000, 256+32", cs.workloads.fork_join(5000, 8, units=(256, 32), seed=1)),
        ("layered 40,000, 64+16", cs.workloads.layered(40000, 0.05, units=(64, 16), seed=1)),
        *dense(),
    ):
        lp_seconds, relaxation = timed(lambda inst=inst: cs.dags.hlp(inst))
        seconds, bound = timed(lambda inst=inst: cs.dags.windows(inst))
        print(
            f"dags: {label}, {inst.tasks} tasks, {len(inst.edges)} edges: "
            f"LP* {relaxation.value:.6g} in {lp_seconds:.3f} s, "
            f"windows {bound.value:.6g} in {seconds:.3f} s more ({1 + seconds / lp_seconds:.1f}x)",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="time limit of hlp-best")
    parser.add_argument("--curves", type=float, nargs="+", help="hlp-best after so many seconds")
    parser.add_argument("--engines", action="store_true", help="transfers for windows")
    parser.add_argument("labels", nargs="*", help="graphs whose label has one of these texts")
    options = parser.parse_args()
    if options.engines:
        return engines()
    if options.curves:
        return curves(options.curves, options.labels)
    print("dags: graph by graph")
    table(options.seconds, options.labels)
    if not options.labels:
        stg(options.seconds)
        large()
    return None


if __name__ == "__main__":
    main()
