"""How far the end of a plan may lie from what it says: the interval that a plan promises.

Two things move the end. What moves all tasks together (the load of the machine, a clock that
falls, the price of starting) does not cancel; it is seen in what the measurements of one period
have in common, and in the errors of earlier executions. Its logarithm is taken as normal with
unknown mean and variance; the measurements are the first guess, each execution counts as one
observation, and a new one is drawn from what is then known (Student's t). What moves each task by
itself is drawn from its repeats, and the slow-downs of tasks in company from their own intervals.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cosched.core.precedence import before_of
from cosched.core.resampling import DRAWS, awaited_rows, replayed
from cosched.core.schedule import Schedule
from cosched.core.text import count_of
from cosched.execution.measured_times import completed
from cosched.execution.runs_file import MeasuredRun

#: The prior mean of the common part counts as so many executions.
_PRIOR_EXECUTIONS = 2.0
#: Smallest standard deviation of the prior, where something was measured twice.
_MIN_DEVIATION = 0.05
#: Degrees of freedom of the prior variance, from one period.
_PRIOR_DEGREES_OF_FREEDOM = 4.0
#: So many more periods add as many degrees of freedom as one execution, up to the maximum.
_PERIODS_PER_EXECUTION = 4.0
_MAX_PRIOR_DEGREES_OF_FREEDOM = 12.0
#: Standard deviation of the prior where nothing was measured twice.
_DEVIATION_WITHOUT_REPEATS = 0.2
#: A period is no shorter than all measured seconds divided by this.
_MAX_PERIODS = 40


@dataclass(frozen=True)
class Interval:
    """5% and 95% of the end, and what they rest on."""

    #: The 5th percentile of the end (s).
    low: float
    #: The 95th percentile of the end (s).
    high: float
    #: What the percentiles follow from, in words.
    rests_on: tuple[str, ...]


@dataclass(frozen=True)
class Noise:
    """What the measurements say of their own reliability."""

    #: Log factors of single runs within their period of time.
    run_factors: np.ndarray
    #: Log factors of the periods.
    period_factors: np.ndarray
    #: Log factor of the fastest run.
    least: float
    #: Number of runs that waited for a processor.
    starved: int


def noise_of(runs: Sequence[MeasuredRun], length: float) -> Noise | None:
    """From runs on counts that were measured twice; None where none was.

    `runs` in the order in which they were made; starved ones are what may happen again. They are
    cut into periods of `length`, the seconds of a plan.
    """
    completed_runs = completed(runs)
    medians = {
        (task, q): float(np.median([run.seconds for run in runs_of_count]))
        for task, of in completed_runs.items()
        for q, runs_of_count in of.items()
        if runs_of_count
    }
    ended = [run for run in runs if not math.isnan(run.seconds)]
    times: dict[tuple[str, int], int] = {}
    for run in ended:
        pair = (run.task, run.processors)
        times[pair] = times.get(pair, 0) + 1
    repeated_runs = [run for run in ended if times[run.task, run.processors] > 1]
    if not repeated_runs:
        return None
    seconds = np.array([run.seconds for run in repeated_runs])
    logs = np.log(seconds / [medians[run.task, run.processors] for run in repeated_runs])
    # A run is part of the median that it is held against.
    count = np.array([times[run.task, run.processors] for run in repeated_runs])
    logs *= np.sqrt(count / (count - 1))
    clock = np.cumsum(seconds)
    # A plan lasts as long as its tasks do, and those were starved, too.
    lasts = length * math.exp(float(np.average(logs, weights=seconds)))
    width = max(lasts, clock[-1] / _MAX_PERIODS)
    place = np.minimum((clock - seconds / 2) / width, _MAX_PERIODS).astype(int)
    weight = np.bincount(place, seconds)
    has_weight = weight > 0
    mean = np.bincount(place, seconds * logs)[has_weight] / weight[has_weight]
    of_run = mean[np.cumsum(has_weight)[place] - 1]
    return Noise(logs - of_run, mean, float(logs.min()), sum(run.starved for run in repeated_runs))


def interval_of(
    schedule: Schedule,
    *,
    barriers: bool,
    noise: Noise | None,
    errors: Sequence[float],
    slowdown_bounds: tuple[np.ndarray, np.ndarray] | None = None,
    resource_uses: Sequence[tuple[np.ndarray, float]] = (),
    edges: Sequence[tuple[int, int]] = (),
    seed: int = 0,
) -> Interval | None:
    """The interval of a schedule's end; None where nothing is known of what may move it.

    `barriers`: packs wait for each other. `errors`: real / promised end of earlier executions.
    `slowdown_bounds`: least and largest length of each placement / its planned one, by slow-downs.
    `resource_uses`: what each placement needs of a resource, and how much of it there is. `edges`:
    of two tasks the first has to end before the second starts.
    """
    if (noise is None and not errors) or not len(schedule):
        return None
    random = np.random.default_rng(seed)
    size = (len(schedule), DRAWS)
    factors = np.ones(size)
    if noise is not None:
        factors *= np.exp(random.choice(noise.run_factors, size))
    if slowdown_bounds is not None:
        low, high = slowdown_bounds
        factors *= low[:, None] + (high - low)[:, None] * random.uniform(size=size)
    times = (schedule.end - schedule.start)[:, None] * factors
    row = {task: k for k, task in enumerate(schedule.task.tolist())}
    pairs = ((row[before], row[after]) for before, after in edges)
    awaited = before_of(pairs) if slowdown_bounds is None else awaited_rows(schedule)
    ends = replayed(schedule, times, barriers, resource_uses, awaited)
    log_end_factors = (
        np.log(ends / schedule.end.max()) if schedule.end.max() > 0 else np.zeros(DRAWS)
    )
    ends = ends * np.exp(common_factors(noise, errors, log_end_factors, random))
    low_end, high_end = np.percentile(ends, [5, 95])
    return Interval(float(low_end), float(high_end), _rests_on(noise, errors, slowdown_bounds))


def common_factors(
    noise: Noise | None,
    errors: Sequence[float],
    log_end_factors: np.ndarray,
    random: np.random.Generator,
) -> np.ndarray:
    """Log factors of all tasks together: normal-inverse-gamma, its predictive distribution.

    The errors of executions also have what `run_factors` do to the end (`log_end_factors`). This
    part is taken out of them, so that it does not count twice.
    """
    factors_of_periods = np.zeros(1) if noise is None else noise.period_factors
    mean = float(np.mean(factors_of_periods))
    variance = (_DEVIATION_WITHOUT_REPEATS if noise is None else _MIN_DEVIATION) ** 2
    if len(factors_of_periods) > 1:
        variance += float(np.var(factors_of_periods, ddof=1))
    elif noise is not None:
        variance += float(
            np.var(noise.run_factors)
        )  # one period cannot tell: as if all were common
    seen = np.log(np.asarray(errors, dtype=float)) - float(log_end_factors.mean())
    worth, freedom = _PRIOR_EXECUTIONS + len(seen), _PRIOR_DEGREES_OF_FREEDOM + len(seen)
    middle = (_PRIOR_EXECUTIONS * mean + float(seen.sum())) / worth
    squares = _PRIOR_DEGREES_OF_FREEDOM * variance
    if len(seen):
        scatter = float(((seen - seen.mean()) ** 2).sum())
        squares += max(scatter - (len(seen) - 1) * float(log_end_factors.var()), 0.0)
        squares += _PRIOR_EXECUTIONS * len(seen) / worth * (float(seen.mean()) - mean) ** 2
    scale = math.sqrt(squares / freedom * (1 + 1 / worth))
    # Many periods tell their own variance well, but not that of executions.
    freedom += min(
        (len(factors_of_periods) - 1) / _PERIODS_PER_EXECUTION,
        _MAX_PRIOR_DEGREES_OF_FREEDOM - _PRIOR_DEGREES_OF_FREEDOM,
    )
    # Quantiles instead of draws, in an order that is drawn: the ends of the interval do not jump.
    steps = (np.arange(DRAWS) + 0.5) / DRAWS
    from scipy.stats import t

    drawn = middle + scale * random.permutation(t.ppf(steps, freedom))
    # Load has no upper end, but nothing is faster than an idle machine.
    least = min([0.0, *seen, *([] if noise is None else [noise.least])])
    return np.maximum(drawn, least - _MIN_DEVIATION)


def _rests_on(
    noise: Noise | None,
    errors: Sequence[float],
    slowdown_bounds: tuple[np.ndarray, np.ndarray] | None,
) -> tuple[str, ...]:
    sources = []
    if noise is not None:
        sources.append("the repeats")
        if noise.starved:
            sources.append(count_of(noise.starved, "starved run"))
    if slowdown_bounds is not None:
        sources.append("the slow-downs")
    if errors:
        sources.append(count_of(len(errors), "earlier execution"))
    return tuple(sources)


def errors_of(
    executions: Mapping[str, Sequence[tuple[str, int, float, float, float]]],
    times: Mapping[tuple[str, int], float],
) -> list[float]:
    """Real / promised end of earlier executions, promised with what is known now of the times.

    `executions`: name -> (task, processors, planned seconds, planned end, real end) of each task.
    `times`: (task, processors) -> seconds as they are planned now.
    """
    end_ratios = []
    for rows in executions.values():
        before = sum(q * planned for _, q, planned, _, _ in rows)
        now = sum(q * times.get((task, q), planned) for task, q, planned, _, _ in rows)
        promised = max(end for *_, end, _ in rows) * (now / before if before > 0 else 1.0)
        real = max(end for *_, end in rows)
        if promised > 0 and real > 0:
            end_ratios.append(real / promised)
    return end_ratios
