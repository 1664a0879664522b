"""Waits by partition, account, user, size and other groups, in the log and under a policy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from cosched.cluster.analysis.audit_runs import AuditRuns
from cosched.cluster.analysis.replications import waits_by
from cosched.cluster.result import Result

#: Groupings, in the order of a report.
GROUPINGS = ("partition", "account", "qos", "group", "size", "gpu", "user")
#: Groupings whose groups have an order of their own; the others come by core hours.
_ORDERED_GROUPINGS = ("size", "gpu")
#: Groupings whose column of a log is called otherwise.
_COLUMNS = {"gpu": "gpus", "size": "tasks"}


@dataclass(frozen=True)
class GroupWaits:
    """The waits of one group of jobs (s), in the log and under the reference policy.

    Attributes
    ----------
    name : object
        As the log has it.
    jobs : int
    core_hours : float
        Hours of cores that the jobs ran; of nodes on a machine without cores.
    waits : dict
        ``"log"`` and the name of the reference policy -> (mean wait, 95th percentile).
    """

    name: Any
    jobs: int
    core_hours: float
    waits: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Grouping:
    """All groups of one kind, in the order of a report."""

    #: One of :data:`GROUPINGS`.
    by: str
    #: The groups, one row of a table each.
    groups: tuple[GroupWaits, ...]


@dataclass(frozen=True)
class Groupings:
    """The groupings of a log.

    Attributes
    ----------
    several : tuple of Grouping
        Those with two groups or more.
    uniform : dict
        Grouping -> the only group of all jobs.
    unknown : tuple of str
        Groupings that the log does not have.
    """

    several: tuple[Grouping, ...]
    uniform: dict[str, Any]
    unknown: tuple[str, ...]


def groupings_of(runs: AuditRuns) -> Groupings | None:
    """Return the waits by group; None where neither the log nor the reference policy has any."""
    results = results_by_name(runs)
    if not results:
        return None
    known_columns = runs.instance.column_names
    several, uniform, unknown = [], {}, []
    for grouping in GROUPINGS:
        if _COLUMNS.get(grouping, grouping) not in known_columns:
            unknown.append(grouping)
            continue
        tables = {name: waits_by(result, grouping) for name, result in results.items()}
        first_table: Any = next(iter(tables.values()))
        if len(first_table) == 1:
            uniform[grouping] = first_table[grouping][0]
        elif len(first_table):
            several.append(Grouping(grouping, _groups(grouping, tables)))
    return Groupings(tuple(several), uniform, tuple(unknown))


def results_by_name(runs: AuditRuns) -> dict[str, Result]:
    """Return the log's result, and that of the reference policy, as far as they exist."""
    results = {"log": runs.logged, runs.reference_policy: runs.reference_result}
    return {name: result for name, result in results.items() if result is not None}


def _groups(grouping: str, tables: dict[str, Any]) -> tuple[GroupWaits, ...]:
    first_table: Any = next(iter(tables.values()))
    if grouping in _ORDERED_GROUPINGS:
        order = first_table.index
    else:
        order = first_table["cpu_hours"].sort_values(ascending=False, kind="stable").index
    # A simulation that leaves jobs out may have fewer groups: rows are paired by name.
    aligned_tables = {
        name: table.set_index(grouping).reindex(first_table[grouping])
        for name, table in tables.items()
    }
    return tuple(
        GroupWaits(
            name=first_table[grouping][k],
            jobs=int(first_table["jobs"][k]),
            core_hours=float(first_table["cpu_hours"][k]),
            waits={
                name: (float(table["mean_wait"].iloc[k]), float(table["p95_wait"].iloc[k]))
                for name, table in aligned_tables.items()
            },
        )
        for k in order
    )


@dataclass(frozen=True)
class ResourceRow:
    """How much of one resource was in use, and how much of all waiting it caused.

    Attributes
    ----------
    name : str
        As :meth:`Result.by` has it.
    capacity : float
    in_use, waited_for : dict
        ``"log"`` and the name of the reference policy -> share.
    """

    name: str
    capacity: float
    in_use: dict[str, float]
    waited_for: dict[str, float]


def resource_rows(runs: AuditRuns) -> tuple[ResourceRow, ...]:
    """Return a row for cores, memory and GPUs; empty where the machine has only one of them."""
    results = results_by_name(runs)
    tables = {name: _with_one_gpu_row(result.by("resource")) for name, result in results.items()}
    if not tables:
        return ()
    first_table: Any = next(iter(tables.values()))
    first_table = first_table[first_table["capacity"].notna()]
    if len(first_table) < 2:
        return ()
    in_use = {
        name: runs.window.utilization_of_resources(result) for name, result in results.items()
    }
    # Two results may have different rows: they are paired by name.
    waited_for = {
        name: table.set_index("resource")["waited"].reindex(first_table["resource"])
        for name, table in tables.items()
    }
    return tuple(
        ResourceRow(
            name=resource,
            capacity=float(capacity),
            in_use={name: in_use[name].get(resource, math.nan) for name in tables},
            waited_for={name: float(waited_for[name][resource]) for name in tables},
        )
        for resource, capacity in first_table[["resource", "capacity"]].itertuples(index=False)
    )


def _with_one_gpu_row(table: Any) -> Any:
    """Return the table without the row of a GPU type if all GPUs are of that type."""
    gpu_row = table.index[table["resource"] == "gpus"]
    is_only_type = table["resource"].str.startswith("gpus:") & (
        table["capacity"] == table["capacity"].reindex(gpu_row).sum()
    )
    if not is_only_type.any():
        return table
    table.loc[gpu_row, "waited"] += table["waited"][is_only_type].sum()
    return table[~is_only_type]
