"""What a recorded Slurm's own tools print of its jobs, accounts and QOS, as files."""

from pathlib import Path
from typing import Any

from cosched.errors import SolverError
from cosched.slurm.accounts.accounting_dump import COLUMN_TABLE
from cosched.slurm_lab.daemons import RealSlurm

#: Columns of sacct that a log has, where the version of Slurm has them. TotalCPU is none of them:
#: jobs of a recording sleep.
_COLUMNS = (
    "JobID", "JobName", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible",
    "Start", "End", "Elapsed", "Suspended", "Restarts", "Timelimit", "NNodes", "NCPUS", "ReqTRES",
    "AllocTRES", "NodeList", "Constraints", "Priority", "MaxRSS", "SubmitLine",
)  # fmt: skip
#: Files of an export.
EXPORTED = ("sacct.txt", "sacctmgr_assoc.txt", "sacctmgr_qos.txt", "slurm.conf")
#: Before any job. For 1970-01-01 sacct takes the last midnight, as where no time is given.
_EARLIEST = "2000-01-01"
#: Until slurmdbd has been told the ends of all jobs (s of life).
_PATIENCE = 60.0


class ExportError(SolverError):
    """A recording was made, but what sacct and sacctmgr print of it could not be written.

    Parameters
    ----------
    message : str
        Why not.
    recording : dict
        The recording, which is complete.
    """

    def __init__(self, message: str, recording: dict[str, Any]) -> None:
        super().__init__(message)
        self.recording = recording


def export_tables(slurm: RealSlurm, folder: Path) -> None:
    """Write what sacct, sacctmgr show assoc and show qos print, and the slurm.conf of the run.

    The controller tells slurmdbd of a job's end a little later: so sacct is asked when it shows no
    running job any more.
    """
    slurm.until(lambda: not _shows_running_jobs(slurm), "its slurmdbd knows all ends", _PATIENCE)
    printable = set(slurm.run("sacct", "--helpformat").split())
    columns = ",".join(name for name in _COLUMNS if name in printable)
    folder.mkdir(parents=True, exist_ok=True)
    log = slurm.run("sacct", "-a", "-P", "-D", "-S", _EARLIEST, "-o", columns)
    (folder / "sacct.txt").write_text(log)
    for kind, name in (("associations", "sacctmgr_assoc.txt"), ("qos", "sacctmgr_qos.txt")):
        column_list = ",".join(COLUMN_TABLE["recorded"][kind])
        text = slurm.run("sacctmgr", "-P", "show", kind, f"format={column_list}")
        (folder / name).write_text(text)
    (folder / "slurm.conf").write_text((slurm.folder / "slurm.conf").read_text())


def _shows_running_jobs(slurm: RealSlurm) -> bool:
    states = slurm.run("sacct", "-a", "-X", "-n", "-P", "-S", _EARLIEST, "-o", "State")
    return "RUNNING" in states.split()
