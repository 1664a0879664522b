"""Later submissions: batches whose rate has levels that last."""

from __future__ import annotations

import numpy as np
import pytest

from cosched.slurm.live.arrivals import DAY, HOUR, ArrivalModel, batch_size_of

BEGIN = 1_800_000_000.0


def model(times, span, *, draws=400, sustainable=10 / HOUR, seed=0):
    times = BEGIN + np.asarray(times, dtype=float)
    return ArrivalModel(
        times, BEGIN, BEGIN + span, sustainable_rate=sustainable, draws=draws, seed=seed
    )


def counts(arrivals, span, hours, draws=400):
    drawn = arrivals.draw(BEGIN + span, hours * HOUR, 10**9)
    return np.bincount(drawn.future, minlength=draws)


def test_a_longer_time_begins_with_the_same_submissions():
    arrivals = model(np.arange(0, 7200, 90), 7200)
    short, long = (arrivals.draw(BEGIN + 7200, hours * HOUR, 10**9) for hours in (1, 5))
    # A batch that begins in the first hour may have later members.
    inside = long.time < BEGIN + 7200 + HOUR
    for name in short._fields:
        assert getattr(short, name).tolist() == getattr(long, name)[inside].tolist()


def test_drawing_ends_once_so_many_submissions_are_expected():
    """The mean over futures is bounded, and single futures have more or fewer."""
    arrivals = model(np.arange(0, DAY, 90), DAY, sustainable=1.0)
    every = arrivals.draw(BEGIN + DAY, 2 * DAY, 10**9)
    arrival_draw = arrivals.draw(BEGIN + DAY, 2 * DAY, 200)
    expected_per_step = 900 * 40 / HOUR  # about 40 submissions an hour
    assert arrival_draw.time.max() - (BEGIN + DAY) < 200 / (40 / HOUR) * 2
    by_future = np.bincount(arrival_draw.future, minlength=400)
    assert by_future.mean() < 2 * (200 + expected_per_step)
    assert by_future.max() > 200 > by_future.min()
    inside = every.time <= arrival_draw.time.max()
    assert len(arrival_draw.time) <= inside.sum() < len(every.time)


def test_submissions_are_sorted_and_resemble_jobs_of_the_past():
    drawn = model(np.arange(0, 7200, 90), 7200).draw(BEGIN + 7200, 6 * HOUR, 10**9)
    assert (np.lexsort((drawn.time, drawn.future)) == np.arange(len(drawn.time))).all()
    assert drawn.time.min() >= BEGIN + 7200
    assert drawn.time.max() < BEGIN + 7200 + 6 * HOUR
    assert set(drawn.template.tolist()) <= set(range(80))


@pytest.mark.parametrize(("size", "low", "high"), [(1, 1.0, 1.3), (8, 5.0, 11.0)])
def test_the_batch_size_is_the_ratio_of_variance_to_mean(size, low, high):
    rng = np.random.default_rng(4)
    starts = rng.uniform(0, 2 * DAY, 4000 // size)
    times = np.sort(np.repeat(starts, size) + rng.uniform(0, 2.0, size * len(starts)))
    assert low <= batch_size_of(times, 0.0, 2 * DAY) <= high


def test_a_batch_resembles_consecutive_submissions():
    times = np.concatenate([k * 1800 + np.arange(6) for k in range(48)])
    drawn = model(times, 48 * 1800).draw(BEGIN + 48 * 1800, 6 * HOUR, 10**9)
    steps = np.diff(drawn.template)[np.diff(drawn.future) == 0]
    assert np.mean(steps == 1) > 0.3


def test_quiet_times_go_on_for_a_while():
    """Eighty jobs in an hour, then either more of them, or nobody for an hour."""
    busy = model(np.arange(0, 7200, 45), 7200)
    quiet = model(np.arange(0, 3600, 45), 7200)
    assert np.median(counts(busy, 7200, 1)) > 25
    assert np.median(counts(quiet, 7200, 1)) < 10


def test_a_short_burst_does_not_last_for_ever():
    """In the long run no more comes than the machine can do."""
    burst = model(np.arange(0, 1800, 10), 1800, sustainable=6 / HOUR)
    by_hours = [np.mean(counts(burst, 1800, hours)) for hours in (24, 48)]
    assert by_hours[1] - by_hours[0] < 24 * 60


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_the_next_hours_are_inside_their_interval(seed):
    """Four weeks with a working day: 90% of the counts of later hours are inside 90% intervals."""
    rng = np.random.default_rng(seed)
    time = np.arange(0, 35 * DAY, HOUR)
    rate = 4 + 20 * np.maximum(np.sin((time % DAY) / DAY * 2 * np.pi), 0)
    true = rng.poisson(rate)
    times = np.repeat(time, true) + rng.uniform(0, HOUR, true.sum())
    inside = []
    for hour in range(28 * 24, 35 * 24, 7):
        now = hour * HOUR
        arrivals = model(np.sort(times[times < now]), now, draws=200, seed=seed)
        low, high = np.quantile(counts(arrivals, now, 1, 200), [0.05, 0.95])
        inside.append(low <= true[hour] <= high)
    assert np.mean(inside) >= 0.8


def test_nothing_is_drawn_where_nothing_may_come():
    arrivals = model([0, 10, 20, 30, 40], 3600, sustainable=1 / HOUR)
    drawn = arrivals.draw(BEGIN + 3600, 0.0, 100)
    assert len(drawn.time) == len(drawn.future) == len(drawn.template) == 0
