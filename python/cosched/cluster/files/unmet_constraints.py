"""Constraints of jobs that ran, which the machine as it is given cannot satisfy."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.cluster.machine.constraints import constraint_nodes
from cosched.cluster.machine.parts import allowed, cells_of_nodes
from cosched.core.text import count_of
from cosched.errors import shorten
from cosched.lazy import pd
from cosched.notes import Note, not_followed

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine


def without_unmet_constraints(jobs: Any, machine: Machine | None) -> tuple[Any, list[Note]]:
    """The jobs without constraints that they must have had other nodes for, and notes.

    A job that ran was on nodes with its features: where the machine has none, the log is of other
    nodes. Its constraint is left out, and counted. Those of jobs that did not run stay.
    """
    if machine is None or "constraint" not in jobs:
        return jobs, []
    table = jobs if isinstance(jobs, pd.DataFrame) else pd.DataFrame(dict(jobs))
    has_run = np.zeros(len(table), dtype=bool)
    if "wait" in table:
        has_run |= pd.to_numeric(table["wait"], errors="coerce").notna().to_numpy()
    if "running" in table:
        has_run |= table["running"].isin((True, 1, "1", "True", "true")).to_numpy()
    texts = table["constraint"].fillna("").astype(str).to_numpy()
    partitions = table["partition"].astype(str).to_numpy() if "partition" in table else None
    node_counts = _node_counts(table)
    rows = np.flatnonzero(has_run & (texts != ""))
    reasons: dict[tuple[str, str, int], str] = {}
    counts = Counter[tuple[str, str]]()
    kept_texts = texts.astype(object)
    for row in rows.tolist():
        partition = "" if partitions is None else partitions[row]
        key = (texts[row], partition, int(node_counts[row]))
        if key not in reasons:
            reasons[key] = _why_unmet(machine, *key)
        if reasons[key]:
            kept_texts[row] = ""
            counts[key[0], reasons[key]] += 1
    notes = [
        not_followed(
            f"constraint {shorten(text)} of {count_of(number, 'job')}: {reason}; they ran, and "
            "may have any nodes of their partition",
            subject=f"constraint {text}",
            count=number,
        )
        for (text, reason), number in counts.items()
    ]
    if not notes:
        return jobs, []
    return table.assign(constraint=kept_texts), notes


def _node_counts(table: pd.DataFrame) -> np.ndarray:
    """Return on how many nodes each job ran; 1 where the log does not tell."""
    if "nodes" not in table:
        return np.ones(len(table), dtype=np.int64)
    counts = pd.to_numeric(table["nodes"], errors="coerce").fillna(1).to_numpy()
    return np.maximum(counts, 1).astype(np.int64)


def _why_unmet(machine: Machine, text: str, partition: str, node_count: int) -> str:
    """Return why too few nodes of the partition satisfy the constraint of a job; empty: enough
    do."""
    nodes = constraint_nodes(text, machine.nodes)
    if nodes.reason or not machine.partitions:
        return nodes.reason
    mask = int(allowed(machine, [partition])[0])
    is_inside = (mask >> cells_of_nodes(machine)[0]) & 1 == 1
    having = np.repeat(nodes.allowed, [kind.count for kind in machine.nodes])
    suitable = int((is_inside & having).sum())
    place = f"partition {partition}" if partition else "the partition of jobs that name none"
    if not suitable:
        return f"no node of {place} has it"
    if suitable < node_count:
        return f"{count_of(suitable, 'node')} of {place} with it, for jobs on {node_count}"
    return ""
