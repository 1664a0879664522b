"""How accurate predicted starts were, by how long the jobs then waited.

The measures are those of a study of ARCHER2 and Cirrus (Brown, Gibb, Belikov and Nash 2022,
"Predicting batch queue job wait times for informed scheduling of urgent HPC workloads", arXiv
2204.13543): the shares of starts that were predicted within 1 and within 10 minutes, compared with
the estimate of Slurm. The limits of the wait classes are those two and further ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosched.lazy import pd
from cosched.slurm.live.starts import finite
from cosched.slurm.live.time_texts import duration

#: The errors (s) whose shares the study tells.
MINUTE, TEN_MINUTES = 60.0, 600.0
#: Classes by the true wait from the prediction to the start: upper limit (s), and name.
WAIT_CLASSES = (
    (MINUTE, "up to 1 min"),
    (TEN_MINUTES, "1 to 10 min"),
    (3_600.0, "10 min to 1 h"),
    (4 * 3_600.0, "1 to 4 h"),
    (86_400.0, "4 to 24 h"),
    (math.inf, "above 24 h"),
)
#: The class of all waits.
ALL_WAITS = "all"
#: A start is a whole second of the controller: so much earlier or later (s) it is still inside an
#: interval.
_ROUNDING = 1.0


@dataclass(frozen=True)
class ErrorSummary:
    """Absolute errors of predicted starts."""

    #: How many predictions there are.
    jobs: int
    #: Share of them that are within 1 minute of the true start.
    within_1_minute: float
    #: Share of them that are within 10 minutes of the true start.
    within_10_minutes: float
    #: Mean absolute error (s), of those that predict a start at all.
    mean_error: float
    #: Median absolute error (s).
    median_error: float
    #: How many say that the job never starts.
    never: int


@dataclass(frozen=True)
class StartAccuracy:
    """How accurate the predicted starts of one wait class were."""

    #: Name of a class of :data:`WAIT_CLASSES`, or :data:`ALL_WAITS`.
    wait_class: str
    #: Errors of the predicted medians.
    predicted: ErrorSummary
    #: Share of true starts in the 50% intervals.
    coverage50: float
    #: Share of true starts in the 90% intervals.
    coverage90: float
    #: Errors of the starts that the backfill scheduler plans with time limits; None: it plans none.
    plan: ErrorSummary | None
    #: Errors of the predicted medians for the jobs that have such a plan.
    predicted_with_plan: ErrorSummary | None

    @property
    def improvement(self) -> float:
        """Median error of the plan over that of the prediction, for the same jobs; nan: no plan."""
        if self.plan is None or self.predicted_with_plan is None:
            return math.nan
        return self.plan.median_error / max(self.predicted_with_plan.median_error, _ROUNDING)

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as JSON has them, with ``improvement``; None: no plan, and of an
        error: most of the jobs should never start."""
        record = {**asdict(self), "improvement": self.improvement}
        return {name: _json_value(value) for name, value in record.items()}


def _json_value(value: object) -> object:
    """Return a value as JSON has it: None for a number that is not finite, also inside a
    mapping."""
    if isinstance(value, dict):
        return {name: _json_value(part) for name, part in value.items()}
    return finite(value) if isinstance(value, float) else value


def start_accuracy(predictions: pd.DataFrame | Mapping[str, ArrayLike]) -> list[StartAccuracy]:
    """Return the accuracy of predictions by wait class, then that of all.

    Parameters
    ----------
    predictions : pandas.DataFrame or mapping of array-like
        One row per job and moment, in seconds after the moment: ``true`` (the start), ``p05, p25,
        p50, p75, p95`` (infinite: never), and ``plan`` (what ``squeue --start`` shows or would
        show; nan: nothing). A plan in the past counts as one of the moment.

    Returns
    -------
    list of StartAccuracy
        One per class that has jobs. The classes are those of the true waits, which nobody knows
        when a start is predicted: coverage by class tells where intervals fail, and only that of
        all jobs can be compared with 50% and 90%.

    Examples
    --------
    >>> waits = {"true": [30, 7200], "p05": [0, 600], "p25": [10, 3000], "p50": [20, 5400],
    ...          "p75": [40, 9000], "p95": [90, 18000], "plan": [40, 86400]}
    >>> short, long, both = start_accuracy(waits)
    >>> short.wait_class, short.predicted.within_1_minute, long.predicted.median_error
    ('up to 1 min', 1.0, 1800.0)
    >>> long.plan.median_error, long.improvement, both.coverage90
    (79200.0, 44.0, 1.0)
    """
    names = ("true", "p05", "p25", "p50", "p75", "p95", "plan")
    columns = {name: np.asarray(predictions[name], dtype=float) for name in names}
    true_waits = columns["true"]
    accuracies = []
    low = -math.inf
    for high, name in WAIT_CLASSES:
        in_class = (true_waits > low) & (true_waits <= high)
        if in_class.any():
            accuracies.append(_accuracy(name, columns, in_class))
        low = high
    if len(true_waits):
        everything = np.ones(len(true_waits), dtype=bool)
        accuracies.append(_accuracy(ALL_WAITS, columns, everything))
    return accuracies


def accuracy_table(accuracies: Sequence[StartAccuracy]) -> pd.DataFrame:
    """Return the measures of the predictions as a table to print: one row per wait class."""
    return pd.DataFrame(
        [
            {
                **_summary_cells(accuracy.wait_class, accuracy.predicted),
                "in 50%": f"{accuracy.coverage50:.1%}",
                "in 90%": f"{accuracy.coverage90:.1%}",
            }
            for accuracy in accuracies
        ]
    )


def plan_table(accuracies: Sequence[StartAccuracy]) -> pd.DataFrame:
    """Return the measures of Slurm's plans as a table to print, with the errors of the predictions
    for the same jobs: one row per wait class with plans."""
    rows = []
    for accuracy in accuracies:
        if accuracy.plan is None or accuracy.predicted_with_plan is None:
            continue
        same_jobs = accuracy.predicted_with_plan
        rows.append(
            {
                **_summary_cells(accuracy.wait_class, accuracy.plan),
                "predicted: mean": duration(same_jobs.mean_error),
                "predicted: median": duration(same_jobs.median_error),
                "improvement": f"{accuracy.improvement:.1f}",
            }
        )
    return pd.DataFrame(rows)


def _summary_cells(wait_class: str, summary: ErrorSummary) -> dict[str, object]:
    """Return the first columns of a row of a table."""
    return {
        "wait": wait_class,
        "jobs": summary.jobs,
        "within 1 min": f"{summary.within_1_minute:.1%}",
        "within 10 min": f"{summary.within_10_minutes:.1%}",
        "mean error": duration(summary.mean_error),
        "median error": duration(summary.median_error),
    }


def _accuracy(
    name: str, columns: Mapping[str, NDArray[np.float64]], in_class: NDArray[np.bool_]
) -> StartAccuracy:
    """Return the accuracy of the predictions of one class."""
    chosen = {column: values[in_class] for column, values in columns.items()}
    true = chosen["true"]
    has_plan = ~np.isnan(chosen["plan"])
    plan = predicted_with_plan = None
    if has_plan.any():
        plan = _error_summary(np.maximum(chosen["plan"], 0.0)[has_plan], true[has_plan])
        predicted_with_plan = _error_summary(chosen["p50"][has_plan], true[has_plan])
    return StartAccuracy(
        wait_class=name,
        predicted=_error_summary(chosen["p50"], true),
        coverage50=_coverage(chosen["p25"], chosen["p75"], true),
        coverage90=_coverage(chosen["p05"], chosen["p95"], true),
        plan=plan,
        predicted_with_plan=predicted_with_plan,
    )


def _error_summary(
    predicted_starts: NDArray[np.float64], true_starts: NDArray[np.float64]
) -> ErrorSummary:
    """Return the measures of the errors of these predictions."""
    errors = np.abs(predicted_starts - true_starts)
    is_finite = np.isfinite(errors)
    return ErrorSummary(
        jobs=len(errors),
        within_1_minute=float(np.mean(errors <= MINUTE)),
        within_10_minutes=float(np.mean(errors <= TEN_MINUTES)),
        mean_error=float(np.mean(errors[is_finite])) if is_finite.any() else math.inf,
        median_error=float(np.median(errors)),
        never=int(np.sum(~is_finite)),
    )


def _coverage(
    low: NDArray[np.float64], high: NDArray[np.float64], true: NDArray[np.float64]
) -> float:
    """Return the share of true starts in their intervals."""
    return float(np.mean((low - _ROUNDING <= true) & (true <= high + _ROUNDING)))
