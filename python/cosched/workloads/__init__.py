"""Workload generators, flat: ``cosched.workloads.packs_ii(seed=1)``.

``WORKLOADS`` maps the names that ``cosched generate`` takes to functions with a ``seed``
that return an instance or a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosched.workloads.packs import packs_ii, packs_iii, three_partition

WORKLOADS: dict[str, Callable[..., Any]] = {
    "packs_ii": packs_ii,
    "packs_iii": packs_iii,
    "three_partition": three_partition,
}

__all__ = ["WORKLOADS", *WORKLOADS]
