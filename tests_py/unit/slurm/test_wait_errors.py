"""Errors of mean waits and makespans, in the terms of other simulators of Slurm."""

import json

import numpy as np
import pytest

from cosched.cli import main
from cosched.slurm.recordings.agreement import (
    agreement,
    makespans_of,
    read_recording,
    waits_by_window,
)
from cosched.slurm.recordings.wait_errors import DAY, TEN_MINUTES, makespans, windowed_waits
from support import FIXTURES

#: A recording with recorded cycles, on which replay and recording agree job by job.
RECORDING = FIXTURES / "slurm" / "unlimited_a.json.gz"


def moving_average(submit, wait, begins, window):
    """The plain loop: the mean wait of the jobs of each window."""
    means = []
    for begin in begins:
        inside = [w for s, w in zip(submit, wait, strict=True) if begin <= s < begin + window]
        means.append(sum(inside) / len(inside) if inside else np.nan)
    return np.array(means)


@pytest.mark.parametrize(("window", "step"), [(DAY, None), (14 * DAY, 3600.0), (5000.0, 700.0)])
def test_windows_are_those_of_a_plain_loop(window, step):
    rng = np.random.default_rng(3)
    submit = rng.uniform(0, 40 * DAY, 300)
    recorded, simulated = rng.exponential(1000, (2, 300))
    waits = windowed_waits(submit, submit + recorded, submit + simulated, window, step)
    begins = submit.min() + (step or window) * np.arange(len(waits.jobs))
    if step is None:
        assert begins[-1] <= submit.max() < begins[-1] + window
    else:
        assert begins[-1] + window <= submit.max() < begins[-1] + window + step
    np.testing.assert_allclose(waits.recorded, moving_average(submit, recorded, begins, window))
    np.testing.assert_allclose(waits.simulated, moving_average(submit, simulated, begins, window))
    errors = np.abs(waits.simulated - waits.recorded) / waits.recorded
    assert waits.mean_absolute_percentage_error == pytest.approx(np.nanmean(errors))


def test_a_job_counts_where_it_started_in_both():
    submit = [0, 10, 20, 30]
    waits = windowed_waits(submit, [100, np.nan, 120, 130], [150, 30, np.nan, 130])
    assert waits.jobs.tolist() == [2]
    assert waits.mean_absolute_percentage_error == pytest.approx(0.25)
    ends = makespans(submit, [500, np.nan, 900, 600], [550, 700, np.nan, 570])
    assert (ends.recorded, ends.simulated) == (600, 570)
    assert ends.deviation == pytest.approx(-0.05)


def test_errors_of_windows_do_not_cancel_out():
    submit = [0, 2 * DAY]
    waits = windowed_waits(submit, [100, 2 * DAY + 100], [110, 2 * DAY + 90])
    assert waits.jobs.tolist() == [1, 0, 1]
    assert waits.compared_windows == 2
    assert waits.mean_absolute_percentage_error == pytest.approx(0.1)


def test_nothing_to_compare_is_no_number():
    for waits in (windowed_waits([], [], []), windowed_waits([0], [0], [50])):
        assert np.isnan(waits.mean_absolute_percentage_error)
        assert waits.compared_windows == 0
    assert np.isnan(makespans([0], [np.nan], [10]).deviation)


@pytest.mark.parametrize(("window", "step"), [(0, None), (-1, None), (60, 0), (60, 61)])
def test_windows_have_a_length_and_leave_no_gap(window, step):
    with pytest.raises(ValueError, match="a window above 0 s"):
        windowed_waits([0], [1], [1], window, step)


def test_check_prints_the_errors_of_a_recording(capsys):
    recording = read_recording(RECORDING)
    (run,) = recording.runs
    simulated = agreement(recording, run, replay=True)
    daily = waits_by_window(run, simulated)
    frequent = waits_by_window(run, simulated, TEN_MINUTES)
    assert daily.jobs.tolist() == [len(run.start)]
    assert frequent.jobs.sum() == len(run.start)
    assert len(frequent.jobs) > 1
    real_wait = (run.start - run.submit).mean()
    assert daily.mean_absolute_percentage_error == pytest.approx(
        abs((simulated.start - run.submit).mean() / real_wait - 1)
    )
    ends = makespans_of(run, simulated)
    assert ends.recorded == run.end.max() - run.submit.min()

    assert main(["slurm", "check", str(RECORDING), "--replay", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["runs"]
    assert record["mape_daily_wait"] == daily.mean_absolute_percentage_error < 0.03
    assert record["mape_10min_wait"] == frequent.mean_absolute_percentage_error
    assert record["makespan"] == ends.recorded
    assert record["simulated_makespan"] == ends.simulated
    assert record["makespan_deviation"] == ends.deviation

    assert main(["slurm", "check", str(RECORDING), "--replay"]) == 0
    text = capsys.readouterr().out
    assert f"{daily.mean_absolute_percentage_error:.2%} by day (1 day of submissions)" in text
    assert f"deviation {ends.deviation:+.2%}" in text
