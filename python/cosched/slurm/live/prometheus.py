"""The answer of ``when`` as metrics that monitoring collects."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cosched.lazy import pd

#: Column of the answer -> quantile.
_QUANTILES = {"p05": "0.05", "p25": "0.25", "p50": "0.5", "p75": "0.75", "p95": "0.95"}


@dataclass(frozen=True)
class FailedReading:
    """A later reading of the cluster that failed, so that an answer is stale.

    Attributes
    ----------
    time : float
        When it failed (s since 1970).
    error : str
        What was wrong, in one line.
    """

    time: float
    error: str


def prometheus(
    frame: pd.DataFrame, now: float | None = None, failed: FailedReading | None = None
) -> str:
    """Return the quantiles in the text format that Prometheus' node_exporter collects from a file.

    Parameters
    ----------
    frame : pandas.DataFrame
        What :func:`when` gave. ``+Inf``: never. Without rows the family has no samples.
    now : float, optional
        Seconds since 1970: adds the age of the snapshot, and whether the last reading failed.
    failed : FailedReading, optional
        The reading that failed since.
    """
    quantiles = [
        (f'{{job="{row["job"]}",quantile="{quantile}"}}', row[column])
        for row in frame.to_dict("records")
        for column, quantile in _QUANTILES.items()
    ]
    snapshot_time = frame.attrs["taken"]
    families = [
        (
            "cosched_start_seconds",
            "Seconds from the snapshot until the job starts, by share of the futures.",
            quantiles,
        ),
        (
            "cosched_snapshot_timestamp_seconds",
            "When the snapshot was taken.",
            [("", snapshot_time)],
        ),
    ]
    if now is not None:
        families += [
            (
                "cosched_snapshot_age_seconds",
                "Seconds from the snapshot until this was written.",
                [("", now - snapshot_time)],
            ),
            (
                "cosched_reading_failed",
                "1 where the last reading of the cluster failed.",
                [("", 0.0 if failed is None else 1.0)],
            ),
        ]
    lines = []
    for name, help_text, samples in families:
        lines += [f"# HELP {name} {help_text}", f"# TYPE {name} gauge"]
        lines += [f"{name}{labels} {_sample(value)}" for labels, value in samples]
    return "\n".join(lines) + "\n"


def _sample(value: float) -> str:
    return "+Inf" if math.isinf(value) else f"{value:.10g}"
