"""How far the end of a plan may lie from what it says: the interval that a plan promises.

Two things move the end. What moves all tasks together (the load of the machine, a clock that
falls, the price of starting) does not cancel; it is seen in what the measurements of one stretch of
time have in common, and in the errors of earlier executions. Its logarithm is taken as normal with
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

#: The first guess of the common part is worth so many executions, and never surer than this.
_WORTH, _LEAST = 2.0, 0.05
_FREEDOM = 4.0
#: So many stretches make the tails of that guess as thin as one execution would, down to this.
_LIKE_ONE, _MOST_FREEDOM = 4.0, 12.0
#: Standard deviation of the first guess where nothing was measured twice.
_UNKNOWN = 0.2
#: A stretch of measurements shorter than this share of the plan says little about one so long.
_STRETCHES = 40


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

    #: Log factors of single runs within their stretch of time.
    run_factors: np.ndarray
    #: Log factors of the stretches.
    stretch_factors: np.ndarray
    #: Log factor of the fastest run.
    least: float
    #: Number of runs that waited for a processor.
    starved: int


def noise_of(runs: Sequence[MeasuredRun], length: float) -> Noise | None:
    """From runs on counts that were measured twice; None where none was.

    `runs` in the order in which they were made; starved ones are what may happen again. They are
    cut into stretches of `length`, the seconds of a plan.
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
    width = max(lasts, clock[-1] / _STRETCHES)
    place = np.minimum((clock - seconds / 2) / width, _STRETCHES).astype(int)
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
    stretch: tuple[np.ndarray, np.ndarray] | None = None,
    resource_uses: Sequence[tuple[np.ndarray, float]] = (),
    edges: Sequence[tuple[int, int]] = (),
    seed: int = 0,
) -> Interval | None:
    """The interval of a schedule's end; None where nothing is known of what may move it.

    `barriers`: packs wait for each other. `errors`: real / promised end of earlier executions.
    `stretch`: least and largest length of each placement / its planned one, by slow-downs.
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
    if stretch is not None:
        low, high = stretch
        factors *= low[:, None] + (high - low)[:, None] * random.uniform(size=size)
    times = (schedule.end - schedule.start)[:, None] * factors
    row = {task: k for k, task in enumerate(schedule.task.tolist())}
    pairs = ((row[before], row[after]) for before, after in edges)
    awaited = before_of(pairs) if stretch is None else awaited_rows(schedule)
    ends = replayed(schedule, times, barriers, resource_uses, awaited)
    log_stretch = np.log(ends / schedule.end.max()) if schedule.end.max() > 0 else np.zeros(DRAWS)
    ends = ends * np.exp(common_factors(noise, errors, log_stretch, random))
    low_end, high_end = np.percentile(ends, [5, 95])
    return Interval(float(low_end), float(high_end), _rests_on(noise, errors, stretch))


def common_factors(
    noise: Noise | None,
    errors: Sequence[float],
    log_stretch: np.ndarray,
    random: np.random.Generator,
) -> np.ndarray:
    """Log factors of all tasks together: normal-inverse-gamma, its predictive distribution.

    The errors of executions also have what `run_factors` do to the end (`log_stretch`). This part
    is taken out of them, so that it does not count twice.
    """
    stretches = np.zeros(1) if noise is None else noise.stretch_factors
    mean, variance = float(np.mean(stretches)), (_UNKNOWN if noise is None else _LEAST) ** 2
    if len(stretches) > 1:
        variance += float(np.var(stretches, ddof=1))
    elif noise is not None:
        variance += float(
            np.var(noise.run_factors)
        )  # one stretch cannot tell: as if all were common
    seen = np.log(np.asarray(errors, dtype=float)) - float(log_stretch.mean())
    worth, freedom = _WORTH + len(seen), _FREEDOM + len(seen)
    middle = (_WORTH * mean + float(seen.sum())) / worth
    squares = _FREEDOM * variance
    if len(seen):
        scatter = float(((seen - seen.mean()) ** 2).sum())
        squares += max(scatter - (len(seen) - 1) * float(log_stretch.var()), 0.0)
        squares += _WORTH * len(seen) / worth * (float(seen.mean()) - mean) ** 2
    scale = math.sqrt(squares / freedom * (1 + 1 / worth))
    # Many stretches know their variance well, but not what that of executions is.
    freedom += min((len(stretches) - 1) / _LIKE_ONE, _MOST_FREEDOM - _FREEDOM)
    # Quantiles instead of draws, in an order that is drawn: the ends of the interval do not jump.
    steps = (np.arange(DRAWS) + 0.5) / DRAWS
    from scipy.stats import t

    drawn = middle + scale * random.permutation(t.ppf(steps, freedom))
    # Load has no upper end, but nothing is faster than an idle machine.
    least = min([0.0, *seen, *([] if noise is None else [noise.least])])
    return np.maximum(drawn, least - _LEAST)


def _rests_on(
    noise: Noise | None, errors: Sequence[float], stretch: tuple[np.ndarray, np.ndarray] | None
) -> tuple[str, ...]:
    sources = []
    if noise is not None:
        sources.append("the repeats")
        if noise.starved:
            sources.append(count_of(noise.starved, "starved run"))
    if stretch is not None:
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
