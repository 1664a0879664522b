"""The instances of the library: our searches and the solvers of others, in the same seconds.

`python bench_library.py [SECONDS] [--only dags/layered] [--record BY]`, one core: for each the
bound, then each solver with value, processor seconds and version: the best of ours, and all others
that are installed (`pip install ortools pyjobshop anrg-saga`; GLPK is always there). With
`--record`, what is better goes into the records, whoever found it, and better bounds with their
certificates.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from typing import Any

import library_solvers

import cosched as cs
from cosched.core import Result
from cosched.errors import CoschedError
from cosched.library.records import (
    FOLDER,
    Finding,
    Record,
    entries,
    family_of,
    record_of,
    rows_without_names,
)
from cosched.library.table import proven

#: Of each family: what is tried, the quick ones first; searches get the time limit.
OWN = {
    "packs": ("pack-by-pack-9", "local-search", "optimal"),
    "dags": ("heft", "hlp-ols", "hlp-best", "optimal"),
    "moldable": ("dual-approximation", "list-lp", "local-search", "optimal"),
    "bags": ("ttb", "ttb-best", "ttb-exact"),
}
LIMITED = ("local-search", "optimal", "hlp-best", "ttb-best")
#: Bounds that are computed again to check them; the certificates of dags need no such thing.
METHODS = {
    "packs": ("columns", "area", "longest"),
    "moldable": ("configurations", "dual-approximation", "area", "longest"),
    "moldable with precedence": ("work-and-path", "longest"),
    "cluster": ("max-stretch",),
    "bags": ("profit-rate-cut", "profit-rate"),
}
#: Rows of a schedule of batch jobs; longer ones are made again by their policy.
LONGEST_KEPT = 300
SHOWN = 6  # rows of an instance; others' solvers in any case
MOST_TASKS = {"optimal": 16, "ttb-exact": 60}


def own_runs(
    name: str, instance: Any, seconds: float
) -> Iterator[tuple[str, Callable[[], Result]]]:
    """Our algorithms for an instance, by their names."""
    of = family_of(name)
    names = cs.cluster.paper_policies() if of.name == "cluster" else OWN[of.name]
    for algorithm in (*(("FCFS", "EASY", "conservative") if of.name == "cluster" else ()), *names):
        if size_of(instance) > MOST_TASKS.get(algorithm, 10**9):
            continue
        limit = {"time_limit": seconds} if algorithm in LIMITED else {}
        yield (
            algorithm,
            lambda algorithm=algorithm, limit=limit: of.solve(instance, algorithm, **limit),
        )


def size_of(instance: Any) -> int:
    """Tasks, jobs, or types of tasks."""
    for key in ("tasks", "jobs"):
        if (attribute := getattr(instance, key, None)) is not None:
            return attribute if isinstance(attribute, int) else len(attribute)
    return len(instance.times)


def tried(name: str, instance: Any, seconds: float) -> Iterator[tuple[str, str, Result, float]]:
    """Solver, its version, the result and the processor seconds, of all that run here."""
    for algorithm, run in own_runs(name, instance, seconds):
        begin = time.process_time()
        try:
            result = run()
        except CoschedError as error:
            print(f"  {algorithm}: {error}", flush=True)
            continue
        yield algorithm, f"cosched {version('cosched-hpc')}", result, time.process_time() - begin
    for solver, of_version, run in library_solvers.of(family_of(name).name):
        begin = time.process_time()
        try:
            schedule = run(instance, seconds)
        except CoschedError as error:
            print(f"  {solver}: {error}", flush=True)
            continue
        if schedule is not None:
            result = family_of(name).result_of(instance, schedule)
            yield solver, of_version, result, time.process_time() - begin


def bound_of(name: str, instance: Any, best: Result, results: list[Result]) -> tuple[Any, ...]:
    """The best bound, its name and its certificate."""
    of, bounds = family_of(name), []
    if of.name == "dags":
        make = cs.dags.windows if instance.data is None else cs.dags.transfers
        certificate = make(instance, upper=best.value).certificate
        proof = {"kind": certificate.kind, **cs.io.plain(certificate.fields)}
        bounds.append((certificate.bound(instance), proof["kind"], proof))
    has_edges = of.name == "moldable" and len(instance.edges)
    for method in METHODS.get(f"{of.name} with precedence" if has_edges else of.name, ()):
        certificate = {"kind": "bound", "method": method, "options": {}}
        bounds.append((proven(of, instance, certificate), method, certificate))
    for result in results:
        if result.stopped_by == "proved" and result.own_bound is not None:
            certificate = {"kind": "algorithm", "algorithm": result.algorithm, "options": {}}
            bounds.append((float(result.own_bound), result.algorithm, certificate | {"seed": 0}))
    # Of proofs that are as good, the one that is checked soonest.
    sign = -1 if of.maximise else 1
    top = max(sign * value for value, _, _ in bounds)
    return next(row for row in bounds if sign * row[0] >= top - 1e-7 * abs(top))


def stored_record(name: str) -> Record | None:
    return record_of(name) if (FOLDER / f"{name}.json").exists() else None


def store_record(name: str, instance: Any, best: Result, solver: str, proof: Any, by: str) -> None:
    """Writes what is better than the record."""
    of, record, today = family_of(name), stored_record(name), date.today().isoformat()
    sign = -1 if of.maximise else 1
    finding = Finding(float(best.value), solver, by, today)
    bound = Finding(float(proof[0]), proof[1], by, today)
    schedule = rows_without_names(best.schedule)
    if of.name == "cluster" and len(schedule["placements"]) > LONGEST_KEPT:
        schedule = {"algorithm": best.algorithm, "seed": 0}
    if record is None:
        record = Record(name, size_of(instance), finding, schedule, bound, proof[2])
    if sign * (record.best.value - finding.value) > 1e-9 * abs(finding.value):
        record = record.beaten_by(finding, schedule)
    if sign * (bound.value - record.bound.value) > 1e-9 * abs(bound.value):
        record = replace(record, bound=bound, certificate=proof[2])
    record.write(FOLDER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=10.0)
    parser.add_argument("--only", default="", help="names that begin so")
    parser.add_argument("--missing", action="store_true", help="instances without a record alone")
    parser.add_argument("--record", metavar="BY", help="write what is better")
    arguments = parser.parse_args()
    for name in entries():
        if not name.startswith(arguments.only) or (arguments.missing and stored_record(name)):
            continue
        instance, rows = cs.library.load(name), []
        for solver, of_version, result, seconds in tried(name, instance, arguments.seconds):
            result.schedule.validate()
            rows.append((result.value, seconds, solver, of_version, result))
        rows.sort(key=lambda row: row[:2], reverse=False)
        if family_of(name).maximise:
            rows.sort(key=lambda row: (-row[0], row[1]))
        best = rows[0]
        proof = bound_of(name, instance, best[4], [row[4] for row in rows])
        if arguments.record:
            store_record(name, instance, best[4], best[2], proof, arguments.record)
        print(f"{name}: bound {proof[0]:.9g} ({proof[1]})", flush=True)
        for place, (value, seconds, solver, of_version, _) in enumerate(rows):
            if place >= SHOWN and of_version.startswith("cosched"):
                continue
            print(f"  {value:14.9g}  {seconds:7.2f} s  {solver} ({of_version})", flush=True)


if __name__ == "__main__":
    main()
