"""What a Snakemake that died has left: allocations, and runners and jobs on this host."""

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from socket import gethostname

from snakemake_executor_plugin_cosched.allocations import (
    cancel_jobs,
    live_jobs,
    processes_of,
    send_signal,
)

#: Seconds that what is left has to end: Slurm kills what heeds no SIGTERM after KillWait (30 s).
_PATIENCE_LOCAL, _PATIENCE_SLURM = 15.0, 60.0


def name_of_folder() -> str:
    """The name of this Snakemake's folder of jobs; :func:`has_owner` reads it."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}@{gethostname()}"


def end_leftovers(parent: Path) -> None:
    """End what dead Snakemakes have left in their folders, and remove these.

    Their jobs are to run again, so nothing of them may be running after this.
    """
    for folder in parent.glob("*"):
        if not has_owner(folder):
            _end_processes(folder)
            shutil.rmtree(folder, ignore_errors=True)


def has_owner(folder: Path) -> bool:
    """Whether the Snakemake that made the folder is another living process of this host."""
    start, _, host = folder.name.partition("@")
    pid = start.rpartition("-")[2]
    if host != gethostname() or pid == str(os.getpid()):
        return False
    try:
        return b"snakemake" in Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return False


def _end_processes(folder: Path) -> None:
    lists = {name: folder / name for name in ("jobs", "processes")}
    numbers = {
        name: path.read_text().split() if path.exists() else [] for name, path in lists.items()
    }
    cancel_jobs(numbers["jobs"])
    for pid in numbers["processes"]:
        if _works_in(pid, folder):
            send_signal(int(pid), signal.SIGTERM)

    def runs_here() -> bool:
        has_runner = any(_works_in(pid, folder) for pid in numbers["processes"])
        return has_runner or next(processes_of(folder), None) is not None

    _wait_while(runs_here, _PATIENCE_LOCAL)
    for process in processes_of(folder):
        send_signal(process, signal.SIGKILL)
    _wait_while(lambda: bool(live_jobs(numbers["jobs"])), _PATIENCE_SLURM)


def _wait_while(condition: Callable[[], bool], patience: float) -> None:
    deadline = time.monotonic() + patience
    while condition() and time.monotonic() < deadline:
        time.sleep(0.2)


def _works_in(pid: str, folder: Path) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(folder)
    except OSError:
        return False
