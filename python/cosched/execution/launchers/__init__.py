"""Launchers: how a step of a plan becomes a process."""

from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance
from cosched.execution.launchers.base import Launcher
from cosched.execution.launchers.local import Local
from cosched.execution.launchers.slurm import Slurm

LAUNCHERS: dict[str, type[Launcher]] = {"local": Local, "slurm": Slurm}

__all__ = ["LAUNCHERS", "Launcher", "Local", "Slurm", "launcher_of"]


def launcher_of(name: str, *, oversubscribe: bool = False, unit: str = "core") -> Launcher:
    """The launcher of a name.

    Raises
    ------
    InvalidInstance
        No such launcher, or it cannot work here.
    """
    if name not in LAUNCHERS:
        raise InvalidInstance(unknown_name("launcher", name, LAUNCHERS))
    if unit not in ("core", "node"):
        raise InvalidInstance(f"unit = {unit!r}: expected 'core' or 'node'")
    return LAUNCHERS[name](oversubscribe=oversubscribe, unit=unit)
