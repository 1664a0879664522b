"""Why a log of Slurm may use more than the machine has: evidence in its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cosched.cluster.files.sacct import holds
from cosched.cluster.machine.host_lists import hosts
from cosched.errors import InvalidInstance
from cosched.lazy import pd

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine

_LISTS = 10_000  # node lists that are looked at


def cause_of(rows: pd.DataFrame, machine: Machine) -> str:
    """The likely cause, in words."""
    missing = _missing_nodes(rows, machine)
    if missing:
        return f"its node list misses nodes: {', '.join(missing[:3])} ({len(missing)} in all)"
    cpus, nodes, _ = holds.cpus_and_nodes(rows)
    most = max(kind.cpus or kind.cores * kind.threads for kind in machine.nodes)
    wide = cpus > np.where(nodes > 0, nodes, machine.node_count) * most
    if wide.any():
        a_node = float(np.nanmax(cpus / np.where(nodes > 0, nodes, machine.node_count)))
        return (
            f"sacct counts threads, the machine cores: jobs have {a_node:g} CPUs a node, nodes "
            f"{most} (threads of [[nodes]], ThreadsPerCore)"
        )
    return "it is of other months, when the machine was another one, or nodes are missing"


def _missing_nodes(rows: pd.DataFrame, machine: Machine) -> list[str]:
    if "NodeList" not in rows or machine.slurm is None or not machine.slurm.names:
        return []
    known = set(machine.slurm.names)
    missing: dict[str, bool] = {}
    for text in rows["NodeList"].drop_duplicates().head(_LISTS).tolist():
        try:
            names = hosts(text, "NodeList") if text and text[0] != "N" else []
        except InvalidInstance:
            continue
        missing |= dict.fromkeys((name for name in names if name not in known), True)
    return sorted(missing)
