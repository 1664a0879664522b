"""What the pages of the studies of whole logs say beside their tables; numbers are of the rows."""

from __future__ import annotations

from cosched.experiments.cluster import archive, slurm
from cosched.lazy import pd

_LOGGED = "as-logged"


def of_archive(frame: pd.DataFrame) -> list[str]:
    """Waits of the policies against the log's own, where it has any; what sharing does."""
    return [
        *(
            _log(str(log), rows.set_index("policy"))
            for log, rows in frame.groupby("log", sort=False)
        ),
        "That a policy waits less than the log is no praise of it: a scheduler may have had limits "
        "a user, reservations and nodes that were down, which a log does not say, and users with "
        "shorter queues would have done other things. Value is the maximum bounded stretch, waits "
        "are in seconds, calibration is how far a policy's starts are from the log's. Nodes of the "
        "DFRS policies have the cores and the memory of the log's machine; where a log says "
        "neither the memory of a node nor what jobs need, a task takes 10%, whatever the option. "
        "DFRS policies start nearly every job at once and let them share: compare their mean "
        "bounded slowdown, on the days that the table names.",
    ]


def _log(log: str, rows: pd.DataFrame) -> str:
    said = f"**{log}**, {rows.jobs[_LOGGED]:,.0f} jobs: "
    batch = rows[[archive.POLICIES[name][2] == "rigid" and name != _LOGGED for name in rows.index]]
    waits = ", ".join(f"{name} {wait:,.0f}" for name, wait in batch.mean_wait.items())
    if rows.mean_wait.isna()[_LOGGED]:
        reason = rows.says[_LOGGED] or "no waits in the log"
        return said + f"{reason}; mean waits in seconds: {waits}. " + _shared(rows)
    own = rows.mean_wait[_LOGGED]
    said += f"the log's own mean wait is {own:,.0f} s; {waits}. "
    hours = rows.overcommitted_hours[_LOGGED]
    if hours > 1:
        said += f"The log uses more processors than the machine has in {hours:.0f} of its hours. "
    near = batch.within_minute
    said += f"Starts within a minute of the log's: {near.min():.1%} to {near.max():.1%}. "
    return said + _shared(rows)


def _shared(rows: pd.DataFrame) -> str:
    shares = [archive.POLICIES[name][2] == "dfrs" for name in rows.index]
    some = rows[shares].mean_bounded_slowdown
    return (
        "Mean bounded slowdown of the DFRS policies: "
        + ", ".join(f"`{name}` {value:.4g}" for name, value in some.items())
        + "."
    )


def of_slurm(frame: pd.DataFrame) -> list[str]:
    """Whether a choice of parameters can be told from noise, and Slurm beside EASY."""
    said = []
    for log, table in slurm.tables(frame).items():
        changes = table["against 60, 30"]
        told = [change for change in changes if change and "noise" not in change]
        rows = frame[frame["log"] == log]
        own = rows[rows.policy == "slurm-backfill"]
        spread = (own.mean_wait_p95 - own.mean_wait_p05).mean()
        easy = rows[rows.policy == "EASY requested"].iloc[0]
        said.append(
            f"**{log}**, {easy.jobs:,.0f} jobs: draws of the hidden clocks alone move the mean "
            f"wait by {spread:.3g} s (5% to 95% quantile, mean over the choices of parameters). "
            + (f"{len(told)} of the choices" if told else "No choice of the two parameters")
            + " can be told from `bf_resolution=60, bf_interval=30`"
            + (f": {', '.join(told)}. " if told else ". ")
            + f"Slurm's mean wait is {own.mean_wait_median.median():,.0f} s, EASY's with the same "
            f"limits {easy.mean_wait:,.0f} s; their greatest stretches are "
            f"{own.value_median.median():,.0f} and {easy.value:,.0f}."
        )
    said.append(
        "Slurm's backfilling is not EASY: every job of the queue has a reservation in each plan, "
        "on fixed nodes. EASY and conservative backfilling plan with the users' limits and end "
        "jobs there, as Slurm does; `as-logged` is what the log records, where no job ends early, "
        "so its bound is another."
    )
    return said
