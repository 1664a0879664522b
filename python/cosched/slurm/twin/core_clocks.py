"""The clocks and the parameters of a simulation, as the core takes them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cosched import _core
from cosched.core.arrays import real
from cosched.slurm.conf import settings as conf

#: The clocks of a run: the core's record, or its fields by name (seconds, no recorded times).
ClocksLike = _core.slurm.Clocks | Mapping[str, float]


def core_clocks(clocks: ClocksLike) -> _core.slurm.Clocks:
    """Return the core's record of these clocks."""
    if isinstance(clocks, _core.slurm.Clocks):
        return clocks
    fields: dict[str, Any] = dict(clocks)
    return _core.slurm.Clocks(**fields)


def clocks_of_replications(
    replications: Iterable[Mapping[str, float]], watched_jobs: Sequence[int] = ()
) -> list[_core.slurm.Clocks]:
    """Return the clocks of several runs; a run ends when all `watched_jobs` (rows) have started."""
    return [core_clocks(clocks).replace(watched_jobs=watched_jobs) for clocks in replications]


def parameters_in_seconds(parameters: Mapping[str, float]) -> dict[str, float]:
    """Convert a user's scheduler parameters from Slurm's units to seconds and counts.

    Raises
    ------
    TypeError
        A name that is no scheduler parameter.
    """
    in_seconds = {}
    for name, value in parameters.items():
        if name not in conf.PARAMETERS:
            options = ", ".join(sorted(conf.PARAMETERS))
            raise TypeError(f"slurm-backfill: unknown option {name!r} (options: {options})")
        in_seconds[name] = conf.in_seconds(name, real(value, name))
    return in_seconds
