"""The week of a university cluster that the University at Buffalo publishes for its simulator.

A slurm.conf of 217 nodes, a script of sacctmgr and 19,579 submissions with run times:
`ubccr-slurm-simulator/slurm_sim_tools`, folder `tutorials/medium_cluster`. It is read from
`ubhpc/medium_cluster.tar.xz` of the folder that COSCHED_DATA names. What the peer's simulator did
with them is not in its repositories.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from pathlib import Path

from cosched.cluster import Instance, Machine


def archive() -> Path | None:
    """Where the week is; none: COSCHED_DATA is not set, or the folder has no such file."""
    path = Path(os.environ.get("COSCHED_DATA", ""), "ubhpc", "medium_cluster.tar.xz")
    return path if path.is_file() else None


def read_week(path: Path) -> Instance:
    """Its jobs on its machine, under the rules of Slurm 22.05."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(path) as packed:
            packed.extractall(folder, filter="data")
        machine = Machine.read(
            Path(folder, "etc", "slurm.conf"),
            slurm_version="22.05",
            accounts=Path(folder, "etc", "sacctmgr.script"),
        )
        events = Path(folder, "job_traces", "workload_week.events")
        return Instance.read(events, machine=machine, no_bound=True)
