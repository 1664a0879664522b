"""The twin beside a real Slurm with a thousand jobs waiting: cycles that rest or give up."""

import math

import numpy as np
import pytest

from cosched.slurm.recordings.agreement import agreement, read_recording, samples_off
from support import FIXTURES

DEEP = FIXTURES / "slurm" / "deep"


@pytest.mark.parametrize("name", ["deep_continue", "deep_stop"])
def test_a_thousand_jobs_wait(name):
    recording = read_recording(DEEP / f"{name}.json.gz")
    run = recording.runs[0]
    waiting = [((run.submit <= time) & ~(run.start <= time)).sum() for time in run.cycles]
    assert max(waiting) > 1000
    run_agreement = agreement(recording, run, replay=True)
    assert run_agreement.good >= 0.9 * len(run.start)
    planned, equal = run_agreement.planned
    assert equal >= 0.95 * planned > 0


def test_arrays_where_cycles_end_by_bf_max_time():
    recording = read_recording(DEEP / "deep_arrays.json.gz")
    for run in recording.runs:
        run_agreement = agreement(recording, run, replay=True)
        assert run_agreement.good >= 0.9 * len(run.start)
        planned, equal = run_agreement.planned
        assert equal >= 0.95 * planned > 0


def test_what_cycles_did_between_two_rests():
    run = read_recording(DEEP / "deep_stop.json.gz").runs[0]
    slices = run.cycle_slices(30.0, {})
    assert len(slices) == len(run.cycles)
    given_up = [
        of_cycle for of_cycle in slices if any(math.isinf(cycle.resume_time) for cycle in of_cycle)
    ]
    assert 0 < len(given_up) < len(slices)
    assert sum(len(of_cycle[:-1]) for of_cycle in slices) == len(run.yields)
    for of_cycle in slices:
        assert np.diff([cycle.jobs_examined for cycle in of_cycle]).min(initial=0) >= 0


def test_a_cycle_of_bf_max_time_goes_no_further_than_it_did():
    run = read_recording(DEEP / "deep_arrays.json.gz").runs[0]
    resumptions = [slices[-1].resume_time for slices in run.cycle_slices(3.0, {}) if slices]
    assert any(map(math.isinf, resumptions))
    assert any(map(math.isnan, resumptions))


def test_a_job_is_not_done_where_the_time_of_the_cycle_is_over():
    """Unless it started then, and no task waits behind it, or all that were looked at started."""
    run = read_recording(DEEP / "deep_arrays.json.gz").runs[1]
    arrays = dict.fromkeys(run.begins, 64)  # as if all were tasks
    looked, of_tasks = (
        [
            slices[-1].jobs_examined
            for slices in run.cycle_slices(3.0, numbers)
            if slices and math.isinf(slices[-1].resume_time)
        ]
        for numbers in ({}, arrays)
    )
    ends_of_cycles = [jobs for end_time, jobs in run.ends if jobs in looked or jobs - 1 in looked]
    assert sum(of_tasks) < sum(looked) < sum(ends_of_cycles)


def test_who_starts_was_submitted_before():
    """The controller's log tells of a submission when it gets to it."""
    for run in read_recording(DEEP / "deep_site.json.gz").runs:
        for row, begin in run.begins.items():
            assert run.submit[row] < run.decision_before(begin)


def test_priorities_of_arrays_that_wait():
    recording = read_recording(DEEP / "deep_arrays.json.gz")
    factors, other_factors, priorities, other_priorities = samples_off(recording, recording.runs[0])
    assert factors > 0 < priorities
    assert (other_factors, other_priorities) == (0, 0)
