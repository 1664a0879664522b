"""Run times of jobs that wait or run, drawn from a past: calibrated where the past is short."""

from __future__ import annotations

import numpy as np
import pytest

from cosched.slurm.live.model import FinishedJob, SnapshotJob
from cosched.slurm.live.run_times import RunTimes

LIMIT = 3600.0


def past(ratios, user="ann"):
    return [
        FinishedJob(
            id=number, user=user, partition="main", start=0.0, end=LIMIT * ratio, limit=LIMIT
        )
        for number, ratio in enumerate(ratios, 1)
    ]


def drawn(model, job=None, elapsed=0.0, seed=1):
    job = job or SnapshotJob(id=99, user="ann", partition="main")
    return model.draw(job, LIMIT, elapsed, np.random.default_rng(seed))


@pytest.mark.parametrize("elapsed", [0.0, 1.0, 1800.0, 3599.0, 3600.0, 9000.0])
def test_a_run_time_is_between_what_has_passed_and_the_limit(elapsed):
    seconds = drawn(RunTimes(past([0.1, 0.4, 1.0]), 500, 0), elapsed=elapsed)
    assert (seconds >= elapsed + 1).all()
    assert (seconds <= max(LIMIT, elapsed + 1)).all()


def test_the_prior_is_that_of_public_logs():
    """Without a past: means by future as the means by user of the logs named in the module."""
    model = RunTimes([], 4000, 0)
    jobs = [SnapshotJob(id=number, user=str(number), partition="main") for number in range(40)]
    ratios = np.array([drawn(model, job, seed=job.id) for job in jobs]) / LIMIT
    assert np.mean(ratios) == pytest.approx(model.mean_ratio, abs=0.03)
    assert 0.3 <= model.mean_ratio <= 0.42
    assert np.mean(ratios >= 1) == pytest.approx(0.1, abs=0.01)
    low, middle, high = np.quantile(ratios.mean(axis=0), [0.05, 0.5, 0.95])
    assert 0.1 < low < 0.2
    assert 0.3 < middle < 0.4
    assert 0.55 < high < 0.7


def test_alike_jobs_of_a_user_outweigh_the_prior_and_others():
    history = [*past([0.25] * 30), *past([0.9] * 30, user="bob")]
    model = RunTimes(history, 400, 0)
    assert np.median(drawn(model)) == pytest.approx(0.25 * LIMIT, rel=0.1)
    bob = SnapshotJob(id=1, user="bob", partition="main")
    assert np.median(drawn(model, bob)) == pytest.approx(0.9 * LIMIT, rel=0.1)
    assert model.model_of(bob) == "30 jobs of user bob"


def test_jobs_that_run_long_say_that_others_do_too():
    running = [
        SnapshotJob(
            id=50 + k, user="ann", partition="main", state="RUNNING", start=1.0, limit=LIMIT
        )
        for k in range(10)
    ]
    alone = RunTimes(past([0.1] * 5), 400, 0)
    with_long_jobs = RunTimes(past([0.1] * 5), 400, 0, running, 0.8 * LIMIT)
    assert np.mean(drawn(with_long_jobs)) > np.mean(drawn(alone)) + 0.2 * LIMIT


@pytest.mark.parametrize("count", [5, 20])
@pytest.mark.parametrize("kind", ["waits", "runs"])
def test_intervals_hold_what_they_say_on_short_pasts(count, kind):
    """Simulated queues of four servers whose jobs run beta-distributed parts of their limits."""
    places = []
    for seed in range(120):
        rng = np.random.default_rng([seed, count])
        ratios = rng.beta(0.8, 1.6, count + 20)
        start, end, free = np.zeros(len(ratios)), np.zeros(len(ratios)), np.zeros(4)
        for job, ratio in enumerate(ratios):
            server = int(free.argmin())
            start[job], end[job] = free[server], free[server] + ratio * LIMIT
            free[server] = end[job]
        now = np.sort(end)[count - 1] + 0.5
        history = [
            FinishedJob(id=k + 1, user="u", partition="p", start=start[k], end=end[k], limit=LIMIT)
            for k in np.flatnonzero(end <= now)
        ]
        running = [
            SnapshotJob(
                id=int(k) + 1,
                user="u",
                partition="p",
                state="RUNNING",
                start=max(start[k], 1e-3),
                limit=LIMIT,
            )
            for k in np.flatnonzero((start < now) & (end > now))
        ]  # fmt: skip
        model = RunTimes(history, 100, seed, running, now)
        if kind == "waits":
            job = SnapshotJob(id=9999, user="u", partition="p")
            places.append(np.mean(drawn(model, job, seed=seed) < rng.beta(0.8, 1.6) * LIMIT))
        for job in running if kind == "runs" else ():
            elapsed = now - start[job.id - 1]
            true = end[job.id - 1] - start[job.id - 1]
            places.append(np.mean(drawn(model, job, elapsed, seed) < true))
    places = np.array(places)
    assert 0.84 <= np.mean((places >= 0.05) & (places <= 0.95)) <= 0.98
    assert 0.4 <= np.mean((places >= 0.25) & (places <= 0.75)) <= 0.66
