"""``cosched tune``: better settings of a slurm.conf."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cosched.cli.command_groups import ReportCommand
from cosched.cli.families import read_instance
from cosched.cli.option_types import MAX_SEED, InputPath, Integer, NumberOrNone, Seconds, Words
from cosched.cli.shared_options import (
    analysis_option,
    execution_option,
    json_option,
    log_options,
    no_bound_option,
    output_files_option,
    require_outputs,
)

if TYPE_CHECKING:
    from cosched.slurm.tuning.run_cache import Engine


@click.command("tune", cls=ReportCommand)
@click.argument("file", type=InputPath(), help="The job log.")
@log_options()
@no_bound_option
@analysis_option(
    "--vary",
    multiple=True,
    required=True,
    metavar="KEY=VALUES",
    help="Values of a setting, as KEY=A,B,C or KEY=LOW..HIGH, with the keys of --what-if of "
    "audit; repeatable.",
)
@analysis_option(
    "--objective",
    multiple=True,
    metavar="MEASURE",
    help="What is minimized: mean_wait (the default), p95_wait, max_wait, mean_bounded_slowdown; "
    "of a group by(partition).gpu.p95_wait; repeatable.",
)
@analysis_option(
    "--constraint",
    multiple=True,
    metavar="EXPRESSION",
    help="Constraint relative to the current configuration, such as "
    '"by(account).physics.mean_wait<=1"; repeatable.',
)
@analysis_option("--subject", multiple=True, hidden=True, metavar="EXPRESSION")
@analysis_option(
    "--weeks",
    metavar="WEEKS",
    help='"train=1-3,test=4", counted from 1: one search, tested once.',
)
@analysis_option(
    "--days",
    type=NumberOrNone(),
    help="Length of a week in days; default: 7, or a quarter of the log if it has less than four "
    "weeks.",
)
@analysis_option(
    "--budget", type=Integer(), default=200, show_default=True, help="Settings that are tried."
)
@analysis_option(
    "--draws",
    type=Integer(),
    default=4,
    show_default=True,
    help="Replications with random scheduler timing, for each week.",
)
@analysis_option(
    "--seed", type=Integer(0, MAX_SEED), default=0, show_default=True, help="Random seed."
)
@analysis_option(
    "--time-limit",
    type=Seconds(allows_none=True),
    help="Time after which no further simulation begins; the best complete setting is judged.",
)
@execution_option("--resume", is_flag=True, help="Continue with the journal, if there is one.")
@execution_option(
    "--engine",
    type=Words(("local", "dask", "slurm")),
    default="local",
    show_default=True,
    help="Where simulations run: on all processors of this host, or on workers.",
)
@execution_option(
    "--dask",
    metavar="HOST:PORT|FILE",
    help="Scheduler of --engine dask: its address, or its file (.json).",
)
@execution_option(
    "--jobs",
    type=Integer(1, 10**4),
    default=4,
    show_default=True,
    help="Slurm jobs that --engine slurm submits.",
)
@output_files_option(
    ".html", ".json", help="The report (.html), or its numbers (.json); once per format."
)
@json_option
def tune(
    file: Path,
    vary: tuple[str, ...],
    objective: tuple[str, ...],
    constraint: tuple[str, ...],
    subject: tuple[str, ...],
    weeks: str | None,
    days: float | None,
    budget: int,
    draws: int,
    seed: int,
    time_limit: float | None,
    resume: bool,
    engine: str,
    dask: str | None,
    jobs: int,
    outputs: tuple[Path, ...],
    as_json: bool,
    **log_values: Any,
) -> None:
    """Search slurm.conf settings that reduce waits; verify on held-out weeks.

    \b
    Example: cosched tune sacct.txt --machine slurm.conf --vary bf_interval=30,60,120 -o tune.html
    """
    from cosched import slurm
    from cosched.cli import report
    from cosched.cli.log_judgement import judgement_with_running_jobs
    from cosched.cluster.judgement.sentences import lines_of_judgement
    from cosched.errors import printable
    from cosched.slurm.tuning.space import vary_of_texts
    from cosched.slurm.tuning.tuned import outcome_sentence

    require_outputs(outputs, "the report (.html), or its numbers (.json)")
    journal = sorted(outputs, key=lambda path: path.suffix)[0].with_suffix(".runs.jsonl")
    runs_of_engine = _engine(engine, dask, jobs, journal)
    if subject:
        report.complain("--subject is deprecated: use --constraint")
    instance = read_instance("cluster", file, log_values)
    with report.progress(counted=True) as bar, runs_of_engine as runs:
        task = bar.add_task(printable(f"tune {file.name}"), total=budget)

        def show_progress(n_done: int, n_total: int, best_trial: str) -> None:
            bar.update(task, completed=n_done, total=n_total, description=printable(best_trial))

        try:
            judgement, notes = judgement_with_running_jobs(file, log_values, instance)
            instance = instance.with_notes(notes)
            tuning = slurm.tune(
                instance,
                judgement=judgement,
                vary=vary_of_texts(vary),
                objective=objective or "mean_wait",
                constraint=(*constraint, *subject),
                weeks=weeks,
                days=days,
                budget=budget,
                draws=draws,
                seed=seed,
                time_limit=time_limit,
                resume=resume,
                engine=runs,
                journal=journal,
                progress=show_progress,
            )
        except KeyboardInterrupt as stop:
            message = f"interrupted: the runs so far are kept in {journal}; --resume goes on"
            raise type(stop)(message) from None
    for path in outputs:
        tuning.write(path)
    if as_json:
        report.print_json(tuning.to_dict())
        return
    report.show_notes(instance)
    report.say(outcome_sentence(tuning))
    for line in [] if tuning.judgement is None else lines_of_judgement(tuning.judgement):
        report.say(line)
    if tuning.stop_reason:
        report.say(f"the search stopped {tuning.stop_reason}")
    for line in (*tuning.keys_without_effect, *tuning.lines()):
        report.say(line)
    for path in outputs:
        report.hint(f"wrote {path}")


def _engine(
    name: str, dask: str | None, jobs: int, journal: Path
) -> AbstractContextManager[Engine]:
    """Return what runs the simulations; workers need the extra that studies need."""
    from cosched.errors import InvalidInstance
    from cosched.slurm.tuning.run_cache import run_in_threads

    if (dask is not None) != (name == "dask"):
        raise InvalidInstance(f"--engine {name}: expected --dask with --engine dask, and only then")
    if name == "local":
        return nullcontext(run_in_threads)
    from cosched.experiments import tuning

    return tuning.engine(journal.parent, dask, jobs)
