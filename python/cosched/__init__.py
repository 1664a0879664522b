"""Published schedulers for parallel machines, with a proven bound beside every result.

>>> import cosched as cs
>>> inst = cs.packs.Instance([[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]], max_tasks=2)
>>> cs.packs.solve(inst, "pack-by-pack-9").gap < 0.25
True

Problem classes: :mod:`cosched.packs`, :mod:`cosched.dags`, :mod:`cosched.cluster`,
:mod:`cosched.moldable`, :mod:`cosched.bags`. A production Slurm: :mod:`cosched.slurm`. Figures:
:mod:`cosched.plot`. Generators: :mod:`cosched.workloads`. From plan to run:
:mod:`cosched.execution`. The papers' tables and figures: :mod:`cosched.experiments`. Instances with
best-known solutions: :mod:`cosched.library`. Workflow managers: :mod:`cosched.workflows`. On the
command line: ``cosched --help``.

The examples of all docstrings know ``cs``, as above, and
``pathlib``, ``tempfile``, ``pd`` (pandas) and matplotlib's ``Figure``.
"""

from cosched.interrupt import end_command_at_interrupt

end_command_at_interrupt()

from importlib import import_module  # noqa: E402  an interrupt of these imports, too
from typing import TYPE_CHECKING, Any  # noqa: E402

from cosched.errors import (  # noqa: E402
    CoschedError,
    InfeasibleError,
    InvalidBound,
    InvalidInstance,
    InvalidSchedule,
    MissingExtra,
    SolverError,
    StudyError,
    TimeLimit,
)
from cosched.notes import Note, NoteKind  # noqa: E402
from cosched.version import installed_version  # noqa: E402

if TYPE_CHECKING:
    from cosched.core import Bound, Result, Schedule, time_limit
    from cosched.registry import register

# Loaded on first use, so that ``import cosched`` and a command's own start stay quick.
_MODULES = (
    *("packs", "dags", "cluster", "moldable", "bags", "slurm"),
    *("execution", "experiments", "io", "library", "plot", "profiles", "workflows", "workloads"),
)
_PLACES = dict.fromkeys(("Bound", "Result", "Schedule", "time_limit"), "core") | {
    "FAMILIES": "registry",
    "register": "registry",
}

__all__ = [
    "Bound",
    "CoschedError",
    "InfeasibleError",
    "InvalidBound",
    "InvalidInstance",
    "InvalidSchedule",
    "MissingExtra",
    "Note",
    "NoteKind",
    "Result",
    "Schedule",
    "SolverError",
    "StudyError",
    "TimeLimit",
    "__version__",
    "register",
    "time_limit",
    *_MODULES,
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"cosched.{name}")
    if name in _PLACES:
        return getattr(import_module(f"cosched.{_PLACES[name]}"), name)
    if name == "__version__":
        return installed_version()
    raise AttributeError(f"module 'cosched' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | {*_MODULES, *_PLACES})
