"""What squeue, sprio and sshare show of a run while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from cosched.slurm_lab.daemons import RealSlurm

#: What a recording says of the columns.
COLUMNS = {
    "squeue_columns": "job|state|priority|reason|start (estimate or true)",
    "sprio_columns": "job|priority|age|fairshare|jobsize|partition|qos|nice|site|tres",
    "sshare_columns": "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|"
    "FairShare|LevelFS|GrpTRESMins|TRESRunMins",
}


@dataclass(frozen=True)
class Sample:
    """Rows as printed, with Slurm's own numbers of jobs."""

    time: float  # Unix, of the Slurm's clock
    squeue: list[list[str]]
    sprio: list[list[str]]
    sshare: list[list[str]]

    def since(self, epoch: int, places: Mapping[int, int]) -> dict[str, Any]:
        """As a recording has it: s from its second 0, jobs by their place."""
        return {
            "t": round(self.time - epoch, 1),
            "squeue": [
                [places[int(job)], state, int(priority), reason, _second(start, epoch)]
                for job, state, priority, reason, start in self.squeue if int(job) in places
            ],
            "sprio": [
                [places[int(job)], *map(int, numbers), tres]
                for job, *numbers, tres in self.sprio if int(job) in places
            ],
            "sshare": self.sshare,
        }  # fmt: skip


def sample(slurm: RealSlurm) -> Sample:
    """One after another, so that they are some moments apart."""
    now = slurm.now()
    queue = slurm.run("squeue", "-h", "-t", "PD,R", "-o", "%F|%t|%Q|%r|%S", check=False)
    priorities = slurm.run("sprio", "-h", "-o", "%i|%Y|%A|%F|%J|%P|%Q|%N|%S|%T", check=False)
    shares = slurm.run("sshare", "-a", "-l", "-P", "-n", check=False)
    rows = [[cell.strip() for cell in line.split("|")] for line in shares.splitlines()]
    return Sample(now, _cells(queue), _cells(priorities), rows)


def _cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]


def _second(stamp: str, epoch: int) -> int | None:
    if not stamp[:1].isdigit():
        return None
    return int(datetime.fromisoformat(stamp).replace(tzinfo=timezone.utc).timestamp()) - epoch
