"""What jobs of a recorded run had of each node."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import hosts
from cosched.cluster.machine.parts import of_nodes
from cosched.slurm.requests.core_form import gpu_types_of

#: Of a job by name of a node: cores, MB, GPUs of each type.
Shares = dict[str, tuple[int, int, dict[str, int]]]
#: (node, cores, MB), and (node, type, GPUs).
Allocated = tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]


def shares_of(alloc: Mapping[str, Mapping[str, Any]]) -> Shares:
    """What ``scontrol show job -d`` showed while it ran.

    Examples
    --------
    >>> shares_of({"n[1,3]": {"cpus": "0-1,4", "mem": 500, "gres": "gpu:a100:2"}})["n3"]
    (3, 500, {'a100': 2})
    """
    found: Shares = {}
    for names, own in alloc.items():
        spans = re.findall(r"([0-9]+)(?:-([0-9]+))?", own.get("cpus", ""))
        cores = sum(int(last or first) - int(first) + 1 for first, last in spans)
        gpus: dict[str, int] = {}
        for kind, count in re.findall(r"gpu:(?:([^:,()]+):)?([0-9]+)", own.get("gres", "")):
            gpus[kind] = gpus.get(kind, 0) + int(count)
        if cores and names != "*":  # else a sum over nodes
            found |= dict.fromkeys(hosts(names, "alloc"), (cores, int(own.get("mem", 0)), gpus))
    return found


def allocated(
    machine: Machine, own: Shares, nodes: Sequence[str], tasks: int, names: Sequence[str]
) -> Allocated:
    """What a job had, on nodes numbered as `names`; where that was not recorded, its tasks in order
    over its nodes.
    """
    numbers = {name: k for k, name in enumerate(names)}
    if own:
        types = gpu_types_of(machine)
        gpus = [
            (numbers[name], types.index(kind or types[0]), count)
            for name, (_, _, of_node) in own.items() for kind, count in of_node.items()
        ]  # fmt: skip
        parts = [(numbers[name], cores, memory) for name, (cores, memory, _) in own.items()]
        return sorted(parts), sorted(gpus)
    each = of_nodes(machine, "cores").tolist()
    parts = []
    for rank, node in enumerate(sorted(numbers[name] for name in nodes), 1):
        cores = min(max(tasks - (len(nodes) - rank), 1), each[node])
        parts.append((node, cores, 0))
        tasks -= cores
    return parts, []
