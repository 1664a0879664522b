"""The trace of a simulated recording."""

from dataclasses import replace

from cosched.errors import InvalidInstance
from cosched.slurm.recordings.agreement import simulated_run
from cosched.slurm.recordings.recorded_runs import RecordedRun, Recording
from cosched.slurm.trace.selection import TraceSelection
from cosched.slurm.trace.trace_records import Trace


def row_of_label(recording: Recording, label: str) -> int:
    """The row of a job as :meth:`Recording.label` names it, without the word: ``3``, ``7_2``.

    Raises
    ------
    InvalidInstance
        There is no such job, or it is an array and the task is not said.
    """
    rows = range(len(recording.jobs["runtime"]))
    row_of_name = {recording.label(row).removeprefix("job "): row for row in rows}
    if label in row_of_name:
        return row_of_name[label]
    tasks = [name for name in row_of_name if name.startswith(f"{label}_")]
    if tasks:
        raise InvalidInstance(
            f"{recording.name}: job {label} is an array: expected one of its tasks, as {tasks[0]}"
        )
    raise InvalidInstance(
        f"{recording.name}: no job {label}: expected a job of 0 to {len(recording.rows) - 1}, "
        "or a task of an array as 3_1"
    )


def trace_of_run(
    recording: Recording,
    run: RecordedRun,
    selection: TraceSelection,
    *,
    replay: bool = False,
) -> Trace:
    """Trace the simulation of a recorded run that :func:`agreement` compares.

    Parameters
    ----------
    replay : bool
        Passes, backfill cycles and limit checks at the recorded times.
    """
    twin, clocks, _ = simulated_run(recording, run, replay=replay)
    recorder = selection.recorder()
    outcome = twin.run(clocks, recorder=recorder)
    names = twin.trace_names(lambda row: recording.label(row).removeprefix("job "))
    return names.trace(recorder, len(outcome.cycle_times), float(run.epoch))


def selection_with_job(
    selection: TraceSelection, recording: Recording, label: str | None
) -> TraceSelection:
    """The selection, of one job where a label is given."""
    if label is None:
        return selection
    return replace(selection, row=row_of_label(recording, label))
