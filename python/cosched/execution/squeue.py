"""Questions to Slurm's squeue."""

from __future__ import annotations

import subprocess


def ask_squeue(columns: str, *options: str, patience: float) -> list[list[str]] | None:
    """Ask squeue for its rows.

    Parameters
    ----------
    columns : str
        Its ``--format``, columns separated by ``|``; the last column may contain bars itself.
    options : str
        Further options, such as ``--jobs=7,8``.
    patience : float
        Seconds to wait for an answer.

    Returns
    -------
    list of list of str or None
        The cells of each row. A job that squeue does not know any more has no row. None: squeue is
        not there, does not answer in time, or fails.
    """
    command = ["squeue", "--noheader", "--states=all", f"--format={columns}", *options]
    try:
        answer = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=patience,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if answer.returncode and "Invalid job id" not in answer.stderr:
        return None
    separators = columns.count("|")
    rows = (line.split("|", separators) for line in answer.stdout.splitlines())
    return [row for row in rows if len(row) == separators + 1]
