"""``cosched slurm trace``: what backfill cycles of a simulation did, and why."""

from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import MAX_SEED, Integer
from cosched.cli.shared_options import (
    analysis_option,
    drop_option,
    json_option,
    log_machine_options,
    output_file_option,
    output_option,
    recording_argument,
    replay_option,
)


@click.command("trace", cls=Command)
@recording_argument
@drop_option
@log_machine_options
@analysis_option(
    "--cycle",
    metavar="N[-M]",
    help="The backfill cycle with this number, from 1; or cycles N to M.",
)
@analysis_option(
    "--at",
    metavar="SECONDS[-SECONDS]",
    help="Cycles that begin in this second of the simulation, or in a period: 900-960.",
)
@analysis_option(
    "--job",
    metavar="ID",
    help="What each cycle did with this job; a task of an array as 7_2.",
)
@analysis_option(
    "--run",
    type=Integer(),
    default=1,
    show_default=True,
    help="Which run of the recording.",
)
@replay_option
@analysis_option(
    "--passes", is_flag=True, help="Passes of the main scheduler in the same time, too."
)
@analysis_option(
    "--seed",
    type=Integer(0, MAX_SEED),
    default=0,
    show_default=True,
    help="Random seed of the scheduler timing, which sacct does not tell.",
)
@output_option(
    "--seconds", is_flag=True, help="Times as seconds of the simulation, not as dates (UTC)."
)
@output_file_option(".json", help="The records that --json prints (.json).")
@json_option
def trace(
    recording: Path,
    drop: str | None,
    machine: Path | None,
    slurm_version: str | None,
    accounts: Path | None,
    approximate: bool,
    cycle: str | None,
    at: str | None,
    job: str | None,
    run: int,
    replay: bool,
    passes: bool,
    seed: int,
    seconds: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Show what a backfill cycle of the simulator did with each job, and why.

    It prints the queue in its order, each test of a job with its nodes and times, the reason of
    what followed, and the node space at the end of the cycle, in the words of slurmctld.log with
    DebugFlags=Backfill,BackfillMap, so that the two can be compared line by line. The simulation
    is that of slurm check: of the recorded run, or with --replay at the recorded times. Of sacct
    output it is one simulation of the log, whose scheduler timing --seed decides.

    \b
    Example: cosched slurm trace pois40.json --cycle 12
    """
    from dataclasses import replace

    from cosched import cluster
    from cosched.cli import cycle_trace
    from cosched.core.text import count_of
    from cosched.errors import InvalidInstance
    from cosched.slurm.recordings.agreement import read_recording
    from cosched.slurm.recordings.host import read_log
    from cosched.slurm.recordings.trace import selection_with_job, trace_of_run

    if cycle is None and at is None and job is None:
        raise InvalidInstance(
            "slurm trace: expected --cycle N (or N-M), --at SECONDS (or FROM-TO), or --job ID"
        )
    if passes and cycle is not None and at is None:
        raise InvalidInstance("--passes: expected --at beside --cycle: passes have no numbers")
    selection = replace(cycle_trace.selected_cycles(cycle), with_passes=passes)
    selection = cycle_trace.with_period(selection, at)
    if machine is not None:
        cluster_machine = cluster.Machine.read(
            machine, slurm_version=slurm_version, accounts=accounts
        )
        log = read_log(recording, cluster_machine, approximate=approximate, drop=drop)
        trace_made = cycle_trace.trace_of_log(
            log, selection, job, approximate=approximate, seed=seed
        )
    else:
        if drop is not None:
            raise InvalidInstance("--drop is for sacct output (with --machine) only")
        cycle_trace.refuse_log(recording)
        recording_read = read_recording(recording, version=slurm_version, approximate=approximate)
        if not 1 <= run <= len(recording_read.runs):
            n_runs = count_of(len(recording_read.runs), "run")
            raise InvalidInstance(f"--run {run}: {recording_read.name} has {n_runs}")
        selection = selection_with_job(selection, recording_read, job)
        recorded_run = recording_read.runs[run - 1]
        trace_made = trace_of_run(recording_read, recorded_run, selection, replay=replay)
    cycle_trace.require_cycles(trace_made, cycle, at)
    cycle_trace.show_trace(
        trace_made, output, as_json=as_json, in_seconds=seconds, shows_context=job is None
    )
