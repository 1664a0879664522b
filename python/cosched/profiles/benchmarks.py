"""Public tables of benchmark runs: applications on nodes of several systems."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from cosched import io
from cosched.core.arrays import INT_MAX
from cosched.errors import InvalidInstance
from cosched.profiles.completion import Runs, list_of

COLUMNS = ("app", "benchmark", "system", "nodes", "time_s")
#: Columns that tell how a benchmark run divided its nodes.
WAYS = ("cores_or_ranks", "threads")


def benchmark_runs(table: io.CsvTable, procs: int | None) -> tuple[Mapping[str, Runs], list[str]]:
    """One task per (app, benchmark), from the system with the most node counts in 1..procs.

    Runs of one system that report different metrics (other iteration counts, say) are not
    comparable: they are told apart. Ties go to the first name. Runs that divide their nodes in
    different ways (``cores_or_ranks``, ``threads``) are no repetitions of each other: on each
    count those of the way with the least median are taken.
    """
    app, benchmark, system, nodes, time = table.columns(*COLUMNS)
    metric = table.header.index("metric") if "metric" in table.header else None
    ways = [table.header.index(name) for name in WAYS if name in table.header]
    most = procs if procs is not None else INT_MAX
    runs: dict[str, dict[tuple[str, str], dict[int, dict[tuple[str, ...], list[float]]]]]
    runs = defaultdict(dict)
    incomplete = []
    for line, cells in io.polled(table.rows):
        where = f"{table.path}: line {line}"
        if not cells[nodes].strip() or not cells[time].strip():
            incomplete.append(line)  # logs of aborted or unlabelled runs
            continue
        q = io.parse_integer(cells[nodes], f"{where}, column 'nodes'", 1, INT_MAX)
        t = io.parse_positive(cells[time], f"{where}, column 'time_s'")
        series = (cells[system], "" if metric is None else cells[metric])
        found = runs[f"{cells[app]}/{cells[benchmark]}"].setdefault(series, {})
        if q <= most:
            way = tuple(cells[column] for column in ways)
            found.setdefault(q, {}).setdefault(way, []).append(t)
    measured, skipped, taken = {}, [], []
    for name in sorted(runs):
        series = min(runs[name], key=lambda key: (-len(runs[name][key]), key))
        counts = runs[name][series]
        if len(counts) < 2:
            skipped.append(f"{name} ({len(counts)} count{'s' * (len(counts) != 1)})")
        else:
            measured[name] = {q: min(of.values(), key=np.median) for q, of in counts.items()}
            taken.append(f"{name} on {series[0]}")
    notes = [f"measured: {'; '.join(taken)}"]
    if incomplete:
        notes.append(
            f"skipped {len(incomplete)} runs without nodes or time (lines {list_of(incomplete)})"
        )
    if skipped:
        within = f"1..{procs}" if procs is not None else "the file"
        notes.append(f"skipped, fewer than two measured counts in {within}: {', '.join(skipped)}")
    if not measured:
        raise InvalidInstance(f"{table.path}: no application has two measured counts")
    return measured, notes
