"""A real Slurm on this host for tests of what is submitted: the package's own, and its jobs."""

from __future__ import annotations

import getpass
import re
import time
from collections.abc import Callable
from pathlib import Path

from cosched.errors import SolverError
from cosched.slurm_lab import RealSlurm, plain_nodes
from support import lacking

_SETTINGS = {
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_Core",
    "SchedulerParameters": "bf_interval=2,sched_interval=5,batch_sched_delay=1",
    "TaskPlugin": "task/none",
    "KillWait": "2",
}
_OVER = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")


class Cluster(RealSlurm):
    """A running Slurm whose nodes are shared by cores; :meth:`stop` ends all of it."""

    def __init__(self, folder: Path, nodes: int = 3, cpus: int = 2, **settings: str) -> None:
        main = f"PartitionName=main Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP"
        try:
            super().__init__(folder, plain_nodes(nodes, cpus), {**_SETTINGS, **settings}, (main,))
        except SolverError as error:
            if "apt install slurm-wlm" in str(error):
                lacking(str(error))
            raise

    def submit(self, script: Path, *options: str) -> str:
        """The number of a job that runs in its script's folder; its output is beside, ``.log``."""
        where = (f"--chdir={script.parent}", f"--output={script.with_suffix('.log')}")
        return self.run("sbatch", "--parsable", *where, *options, str(script)).strip()

    def state(self, job: str) -> tuple[str, str]:
        """(state, exit code) of a job."""
        text = self.run("scontrol", "--oneliner", "show", "job", job)
        fields = dict(part.split("=", 1) for part in text.split() if "=" in part)
        return fields["JobState"], fields["ExitCode"]

    def ended(self, job: str) -> tuple[str, str]:
        """The same when the job is over."""
        self.until(lambda: self._over(job), f"job {job} ends", 120)
        return self.state(job)

    def _over(self, job: str) -> bool:
        text = self.run("scontrol", "--oneliner", "show", "job", job)
        launch_failure = re.search(r"Reason=(\S*launch_failed\S*)", text)
        if launch_failure:  # for ever
            raise SolverError(f"job {job}: {launch_failure[1]}")
        return self.state(job)[0] in _OVER

    def until(self, what: Callable[[], object], name: str, seconds: float = 60) -> None:
        """Wait until something is so."""
        super().until(what, name, seconds)

    def stop(self) -> None:
        """End jobs, wait until their steps are gone, end the daemons."""
        self.run("scancel", "--user", getpass.getuser(), check=False)
        deadline = time.monotonic() + 10
        while self.run("squeue", "-h", check=False).strip() and time.monotonic() < deadline:
            time.sleep(0.2)
        super().stop()
