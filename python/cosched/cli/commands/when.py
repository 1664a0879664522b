"""``cosched when``: start times of pending jobs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import (
    MAX_SEED,
    AnyInteger,
    CommaList,
    InputPath,
    Integer,
    OutputFile,
    Seconds,
    check_output,
)
from cosched.cli.shared_options import (
    analysis_option,
    execution_option,
    input_option,
    job_option,
    json_option,
    output_files_option,
    output_option,
    plot_option,
    require_outputs,
)

if TYPE_CHECKING:
    import pandas as pd

    from cosched import slurm

#: Job history that this host's Slurm is asked for.
_HISTORY = "14days"


@click.command("when", cls=Command)
@click.argument(
    "snapshot",
    type=InputPath(),
    required=False,
    help="What snapshot wrote, or a folder of Slurm's outputs; default: this host's Slurm.",
)
@click.argument("jobs", nargs=-1, metavar="[JOB]...", help="Pending jobs; default: all.")
@input_option(
    "--timezone",
    metavar="ZONE",
    help="Time zone of the dates of a folder, such as Europe/Stockholm.",
)
@input_option(
    "--run-times",
    type=InputPath(),
    help="Seconds from start to end by job (CSV job,seconds), instead of random ones; then only "
    "scheduler timing is random, and no further job is submitted.",
)
@job_option(
    "--nodes",
    type=CommaList(Integer(1, 10**7)),
    help="Predict a job that is not submitted yet, on so many nodes: 1,2,4,8.",
)
@job_option(
    "--time",
    "limit",
    metavar="TIME,...|auto",
    help="Time limit of this job, as 4h, or as sbatch takes it; or auto, with --runs.",
)
@job_option("--cpus-per-task", type=AnyInteger(), help="CPUs of this job on each node.")
@job_option("--mem", metavar="SIZE", help="Memory of this job on each node, such as 4G.")
@job_option("--gpus", type=AnyInteger(), help="GPUs of this job on each node.")
@job_option(
    "--constraint",
    metavar="EXPRESSION",
    help="Node features that this job needs, as sbatch takes them.",
)
@job_option(
    "--licenses", metavar="NAME,...", help="Licenses that this job needs, as sbatch takes them."
)
@job_option("--partition", metavar="NAME,...", help="Partition of this job.")
@job_option("--account", metavar="NAME", help="Account of this job.")
@job_option("--user", metavar="NAME", help="User of this job.")
@job_option("--qos", metavar="NAME", help="QOS of this job.")
@job_option("--runs", type=InputPath(), help="Run times of this job, as profile wrote them.")
@job_option("--task", metavar="NAME", help="Name of the code in these runs.")
@analysis_option(
    "--draws",
    type=Integer(),
    default=200,
    show_default=True,
    help="Simulated scenarios.",
)
@analysis_option(
    "--seed", type=Integer(0, MAX_SEED), default=0, show_default=True, help="Random seed."
)
@analysis_option(
    "--calibration",
    type=InputPath(),
    help="What --backtest -o wrote: its errors on past jobs scale the widths of the intervals.",
)
@analysis_option(
    "--backtest",
    type=InputPath(),
    help="Predict past start times instead: what sacct -P printed.",
)
@analysis_option(
    "--moments",
    type=Integer(),
    default=20,
    show_default=True,
    help="With --backtest: number of past moments at which start times are predicted.",
)
@analysis_option(
    "--machine",
    type=InputPath("path"),
    help="With --backtest: slurm.conf, or a folder of outputs of scontrol show.",
)
@analysis_option(
    "--accounts",
    type=InputPath(),
    help="With --backtest: output of sacctmgr -P show assoc and show qos.",
)
@analysis_option(
    "--approximate",
    is_flag=True,
    help="With --backtest: ignore unsupported settings of slurm.conf.",
)
@execution_option(
    "-w",
    "--watch",
    type=Seconds(),
    help="Predict again after so many seconds, until Ctrl-C.",
)
@plot_option("Figure of the start times: .png, .svg or .pdf.")
@output_option(
    "--prometheus",
    "metrics",
    type=OutputFile(".prom"),
    help="Quantiles for node_exporter (.prom).",
)
@output_files_option(
    ".html",
    ".json",
    help="The report (.html), or what --json prints (.json); once per format. With --backtest the "
    "numbers for --calibration (.json).",
)
@json_option
def when(
    snapshot: Path | None,
    jobs: tuple[str, ...],
    timezone: str | None,
    run_times: Path | None,
    nodes: list[int] | None,
    limit: str | None,
    cpus_per_task: int | None,
    mem: str | None,
    gpus: int | None,
    constraint: str | None,
    licenses: str | None,
    partition: str | None,
    account: str | None,
    user: str | None,
    qos: str | None,
    runs: Path | None,
    task: str | None,
    draws: int,
    seed: int,
    calibration: Path | None,
    backtest: Path | None,
    moments: int,
    machine: Path | None,
    accounts: Path | None,
    approximate: bool,
    watch: float | None,
    picture: Path | None,
    metrics: Path | None,
    outputs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Predict start times of pending jobs, with prediction intervals.

    With --nodes and --time it predicts a job that is not submitted yet, and compares sizes.

    \b
    Example: cosched when now.json 4711
    """
    from cosched import slurm
    from cosched.cli import report
    from cosched.cli.start_time_outputs import (
        Outputs,
        keep_watching,
        read_calibration,
        scenario_progress,
        show_backtest,
    )
    from cosched.cli.start_time_requests import (
        megabytes_of_option,
        read_requests,
        requests_by_nodes,
    )
    from cosched.errors import InvalidInstance

    require_outputs(outputs, "the report (.html)", is_optional=True)
    for path in outputs if backtest is not None else ():
        check_output(path, (".json",), "--output")
    job_options: dict[str, Any] = {
        "cpus_per_task": cpus_per_task,
        "mem": mem,
        "gpus": gpus,
        "constraint": constraint,
        "licenses": licenses,
        "partition": partition,
        "account": account,
        "user": user,
        "qos": qos,
    }
    if nodes is None:
        refuse_job_options({**job_options, "time": limit, "runs": runs, "task": task})
    if backtest is not None:
        if machine is None:
            raise InvalidInstance("missing --machine: slurm.conf or scontrol folder (--backtest)")
        if nodes is not None:
            raise InvalidInstance("--nodes: expected no request with --backtest")
        show_backtest(
            {
                "history": backtest,
                "machine": machine,
                "accounts": accounts,
                "approximate": approximate,
                "moments": moments,
                "draws": draws,
                "seed": seed,
            },
            outputs[0] if outputs else None,
            as_json=as_json,
        )
        return
    for option, value in (("--machine", machine), ("--accounts", accounts)):
        if value is not None:
            raise InvalidInstance(f"{option}: used with --backtest only: a snapshot has its own")
    job_ids = list(jobs)
    if snapshot is not None and snapshot.name.isdigit() and not snapshot.exists():
        job_ids.insert(0, str(snapshot))
        snapshot = None
    known_errors = read_calibration(calibration)
    job_options["mem"] = megabytes_of_option(mem)
    requests = [{**job_options, **request} for request in read_requests(nodes, limit, runs, task)]
    paths = {path.suffix: path for path in outputs}
    answer_outputs = Outputs(as_json, paths.get(".html"), paths.get(".json"), metrics, picture)

    def read_snapshot() -> slurm.Snapshot:
        if snapshot is not None:
            return slurm.Snapshot.read(snapshot, timezone=timezone)  # as the file is by now
        with report.working("asking Slurm"):
            return slurm.Snapshot.ask(_HISTORY)

    def predict(state: slurm.Snapshot, chosen_jobs: list[str] | None) -> pd.DataFrame:
        with (
            requests_by_nodes(requests),
            scenario_progress("scenarios", is_hidden=as_json) as progress,
        ):
            return slurm.when(
                state,
                chosen_jobs,
                requests,
                draws=draws,
                seed=seed,
                run_times=run_times,
                calibration=known_errors,
                progress=progress,
            )

    if watch is None:
        answer_outputs.write(predict(read_snapshot(), job_ids or None))
    else:
        keep_watching(
            read_snapshot, predict, answer_outputs, job_ids, watch, of_requests=bool(requests)
        )


def refuse_job_options(options: dict[str, Any]) -> None:
    """Refuse options of a job that is not submitted yet, which say nothing without ``--nodes``."""
    from cosched.errors import InvalidInstance

    names = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if names:
        verb = "applies" if len(names) == 1 else "apply"
        raise InvalidInstance(
            f"{', '.join(names)} {verb} to a job that is not submitted yet: add --nodes"
        )
