"""Launchers: how a step of a plan becomes a process."""

from typing import Any

from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance
from cosched.execution.launchers.base import Launcher
from cosched.execution.launchers.local import Local
from cosched.execution.launchers.slurm import Slurm

LAUNCHERS: dict[str, type[Launcher]] = {"local": Local, "slurm": Slurm}


def launcher_of(launcher: str | Launcher, **options: Any) -> Launcher:
    """The launcher itself, or that of a name with these options; what cannot work is refused."""
    if isinstance(launcher, Launcher):
        if options:
            raise TypeError(
                f"{', '.join(options)}: expected as options of {launcher.name!r} itself"
            )
        return launcher
    if launcher not in LAUNCHERS:
        raise InvalidInstance(unknown_name("launcher", launcher, LAUNCHERS))
    unknown = options.keys() - {"oversubscribe", "unit", "grace"}
    if unknown:
        raise TypeError(f"unknown option {min(unknown)!r} (launchers: grace, oversubscribe, unit)")
    return LAUNCHERS[launcher](**options)
