"""``cosched slurm check``: the simulator of Slurm compared with recordings of real ones."""

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
    recording_argument,
    replay_option,
)


@click.command("check", cls=Command)
@recording_argument
@drop_option
@log_machine_options
@replay_option
@analysis_option(
    "--seed",
    type=Integer(0, MAX_SEED),
    default=0,
    show_default=True,
    help="Random seed of the scheduler timing, which sacct does not tell.",
)
@analysis_option(
    "--draws",
    type=Integer(),
    help="Replications with random scheduler timing; the means are printed.",
)
@output_file_option(".json", help="The numbers that --json prints (.json).")
@json_option
def check(
    recording: Path,
    drop: str | None,
    machine: Path | None,
    slurm_version: str | None,
    accounts: Path | None,
    approximate: bool,
    replay: bool,
    seed: int,
    draws: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compare the simulator with a recorded Slurm, job by job and plan by plan.

    Each recorded run is simulated with the start of its controller and its Unix time (or, with
    --replay, with the recorded times of passes, cycles and limit checks as well), with jobs as
    long as exact starts tell, and on a host as quick as it was. Of the simulations that differ
    within a second, the one that agrees with most others is shown. Times are seconds from the
    run's second 0; null: the job did not start.

    Of sacct output it prints how many start times the simulator reproduces within one and five
    minutes, and how alike their order is, by partition, as means of some replications: is the
    simulator valid for this cluster?

    \b
    Example: cosched slurm check pois40.json
    """
    from cosched import cluster, io
    from cosched.cli import report
    from cosched.cli.cycle_trace import refuse_log
    from cosched.cli.recording_agreement import agreement_record, check_log, show_agreement
    from cosched.errors import InvalidInstance
    from cosched.slurm.recordings.agreement import agreement, read_recording
    from cosched.slurm.recordings.host import read_log

    if machine is not None:
        cluster_machine = cluster.Machine.read(
            machine, slurm_version=slurm_version, accounts=accounts
        )
        log = read_log(recording, cluster_machine, approximate=approximate, drop=drop)
        check_log(log, draws, seed, output, as_json=as_json)
        return
    if drop is not None:
        raise InvalidInstance("--drop is for sacct output (with --machine) only")
    refuse_log(recording)
    recording_read = read_recording(recording, version=slurm_version, approximate=approximate)
    pairs = [(run, agreement(recording_read, run, replay=replay)) for run in recording_read.runs]
    numbers = {
        "runs": [
            agreement_record(recording_read, run, run_agreement) for run, run_agreement in pairs
        ]
    }
    if output is not None:
        io.write_json(numbers, output)
    if as_json:
        report.print_json(numbers)
        return
    for number, (run, run_agreement) in enumerate(pairs, 1):
        show_agreement(recording_read, number, run, run_agreement, replay)
