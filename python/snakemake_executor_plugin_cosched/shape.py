"""The allocations that the options of the command line describe, and the scripts for them."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from cosched import io
from cosched.errors import InvalidInstance
from cosched.execution.batches import runner
from cosched.execution.batches.scripts import script_of
from cosched.execution.slurm_words import amount_of, mebibytes, option_lines
from cosched.slurm.conf.lines import seconds_of_limit
from snakemake_executor_plugin_cosched.groups import NodeSize

#: Seconds that an allocation waits for further jobs: ends have to be seen, inputs to appear.
_IDLE = 4.0


class AllocationShape:
    """What is asked for with each allocation.

    Parameters
    ----------
    settings : ExecutorSettings

    Attributes
    ----------
    limit, limit_of_jobs : float
        Seconds of an allocation, and those in which jobs run: the runner ends them before Slurm
        does. At most a quarter of the limit is kept for that.
    node : NodeSize
        What a node has for jobs.
    nodes : int

    Raises
    ------
    InvalidInstance
        A number, time or name that cannot be used; no cores are named, and Slurm does not
        tell those of its nodes.
    """

    def __init__(self, settings: Any) -> None:
        _require_options(settings)
        self.nodes = settings.nodes
        self.limit = _seconds_of_time(settings.time)
        if not 0 < self.limit < math.inf:
            raise InvalidInstance(f"--cosched-time {settings.time}: expected a limit, as 4h or 90m")
        self.limit_of_jobs = self.limit - min(runner.END_MARGIN, 0.25 * self.limit)
        cores = settings.cores
        if cores is None and settings.local:
            cores = len(os.sched_getaffinity(0))
        elif cores is None:
            cores = _cores_of_smallest_node()
        self._gigabytes = None
        if settings.memory is not None:
            self._gigabytes = amount_of(settings.memory, "memory")
        memory_mb = None if self._gigabytes is None else 1000.0 * self._gigabytes
        self.node = NodeSize(int(cores), memory_mb)
        names = {"partition": settings.partition, "account": settings.account}
        named = {key: name for key, name in names.items() if name is not None}
        # Begun again it would not know of what it had taken: a lost one is noticed, and its jobs
        # go to another.
        self._options = ["--no-requeue", *option_lines(named)]
        if self._gigabytes is not None:
            self._options.append(f"--mem={mebibytes(self._gigabytes)}M")

    def write_part(self, folder: Path, part: str) -> None:
        """Write what runs an allocation, ``PART.sh`` and ``PART.json``."""
        gigabytes = 1e300 if self._gigabytes is None else self._gigabytes
        io.write_json(
            {
                "nodes": self.nodes,
                "limit": self.limit_of_jobs,
                "node": [float(self.node.cores), gigabytes, 0.0],
                "shared": [],
                "tasks": [],
                "spool": str(folder),
                "idle": _IDLE,
                "module": "snakemake_executor_plugin_cosched.call",
            },
            folder / f"{part}.json",
        )
        text = script_of(
            part, self.nodes, self.node.cores, self.limit, self._options, python=sys.executable
        )
        io.write_text(text, folder / f"{part}.sh")


#: Options of the command line with their least values.
_LEAST_VALUES = {"nodes": 1, "cores": 1, "allocations": 1, "submit_retries": 0}


def _require_options(settings: Any) -> None:
    for name, least in _LEAST_VALUES.items():
        value = getattr(settings, name)
        if value is not None and value < least:
            option = name.replace("_", "-")
            raise InvalidInstance(f"--cosched-{option} {value}: expected at least {least}")
    if not 0 < settings.grain < math.inf:
        raise InvalidInstance(f"--cosched-grain {settings.grain:g}: expected seconds above 0")


def _seconds_of_time(text: str) -> float:
    short = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if short:
        return float(short[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[short[2]]
    return seconds_of_limit(text, "--cosched-time")


def _cores_of_smallest_node() -> int:
    """The fewest cores of a node of the batch system."""
    expected = "expected --cosched-cores, or --cosched-local"
    command = ["sinfo", "-h", "-o", "%c"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise InvalidInstance(f"sinfo: {error}: {expected}") from None
    counts = [int(count.rstrip("+")) for count in answer.stdout.split()]
    if not counts:
        words = " ".join(answer.stderr.split())
        raise InvalidInstance(f"sinfo names no node{': ' + words if words else ''}: {expected}")
    return min(counts)
