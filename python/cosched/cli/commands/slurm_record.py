"""``cosched slurm record``: recordings of a real Slurm on this host."""

from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import click

from cosched.cli.command_groups import Command
from cosched.cli.option_types import InputPath, Integer, Number, OutputFile, OutputFolder, Seconds
from cosched.cli.shared_options import cluster_option, execution_option, output_option
from cosched.errors import InvalidInstance, require, shorten

#: Nodes of a recording without --nodes and --conf.
_N_NODES = 16
_MAX_RUNS = 1000
#: Years in which a recording can begin.
_YEARS = (2001, 2037)


@click.command("record", cls=Command)
@click.argument("trace", type=InputPath(), help="Jobs: .csv or .json, one column per request.")
@cluster_option(
    "--nodes", type=Integer(), help="Nodes, all on this host; default: 16, or those of --conf."
)
@cluster_option(
    "--conf",
    type=InputPath(),
    help="Lines of slurm.conf: Key=Value, PartitionName=..., NodeName=...",
)
@cluster_option(
    "--root",
    type=InputPath("folder"),
    help="An unpacked Debian whose Slurm is recorded, as mmdebstrap makes it.",
)
@cluster_option(
    "--dbd",
    type=InputPath(),
    help="With a slurmdbd: lines of sacctmgr (add account physics Fairshare=3).",
)
@execution_option(
    "--speed",
    type=Number(0),
    default=20.0,
    show_default=True,
    help="Speed-up factor of the simulated clock.",
)
@execution_option(
    "--runs",
    type=Integer(1, _MAX_RUNS),
    default=1,
    show_default=True,
    help="Number of repetitions.",
)
@execution_option(
    "--every",
    type=Seconds(),
    default="150",
    show_default=True,
    help="With --dbd: time between two calls of squeue, sprio and sshare.",
)
@execution_option(
    "--begin",
    metavar="DATE",
    help="First date of Slurm's clock (UTC), such as 2026-11-23T06:00:00; default: now.",
)
@output_option(
    "--export",
    type=OutputFolder(),
    help="With --dbd: folder for the final output of sacct -P and sacctmgr -P, and for slurm.conf.",
)
@output_option(
    "-o",
    "--output",
    type=OutputFile(".json"),
    default="recording.json",
    show_default=True,
    help="The recording (.json).",
)
def record(
    trace: Path,
    nodes: int | None,
    conf: Path | None,
    root: Path | None,
    dbd: Path | None,
    speed: float,
    runs: int,
    every: float,
    begin: str | None,
    export: Path | None,
    output: Path,
) -> None:
    """Run jobs on a real Slurm of your own on this host, and record what it does.

    Needs slurm-wlm, and faketime where the clock is accelerated. The recording has the
    configuration, jobs, starts, ends, nodes, every cycle's time and its plans; slurm check reads
    it.

    Columns: submit, runtime, limit (or estimate): seconds; nodes (or tasks) are whole ones, cores
    share them; mem, mem_per_cpu (MB, 4G), rss (memory that a job really holds), gres, gpus,
    constraint, licenses, partition, array, name, dependency (afterok:JOB), begin and hold
    (seconds), exclusive, no_requeue, fail (yes), user, account, qos, nice.

    \b
    Example: cosched slurm record jobs.csv --nodes 16 --speed 20 -o mine.json
    """
    from cosched import io, slurm_lab
    from cosched.cli import report

    require("psutil", extra="slurm-lab")
    begin_date = _date(begin) if begin is not None else None
    if export is not None:
        _check_export(export, dbd, runs)
    settings, partitions, machine = _lines(conf)
    n_nodes = len(slurm_lab.node_names(machine)) if machine else nodes or _N_NODES
    if machine and nodes not in (None, n_nodes):
        raise InvalidInstance(f"--nodes {nodes}: {conf} has {n_nodes}")
    jobs = slurm_lab.read_trace(trace, n_nodes)
    accounts = slurm_lab.read_accounts(dbd) if dbd is not None else None
    failure: slurm_lab.ExportError | None = None
    with report.working(f"a Slurm of {n_nodes} nodes, {len(jobs)} jobs"):
        try:
            recording = slurm_lab.record(
                jobs,
                machine or n_nodes,
                speed=speed,
                runs=runs,
                settings=settings,
                partitions=partitions,
                root=root,
                accounts=accounts,
                every=every,
                begin=begin_date,
                export=export,
            )
        except slurm_lab.ExportError as error:
            recording, failure = error.recording, error
    io.write_json(recording, output)
    report.say(f"wrote {output}")
    if failure is not None:
        raise failure
    if export is not None:
        report.say(f"wrote {', '.join(str(export / name) for name in slurm_lab.EXPORTED)}")


def _check_export(folder: Path, dbd: Path | None, runs: int) -> None:
    """Refuse before the recording what would fail behind it."""
    if dbd is None:
        raise InvalidInstance("--export: expected --dbd with it: sacct asks a slurmdbd")
    if runs > 1:
        raise InvalidInstance(f"--export with --runs {runs}: expected one run")
    if folder.exists() and not folder.is_dir():
        raise InvalidInstance(f"--export {folder}: expected a folder")


def _date(text: str) -> datetime:
    """Return a date in the years that Slurm's 32-bit times and sacct's ``-S 2000-01-01`` leave."""
    date: datetime | None = None
    with suppress(ValueError):
        date = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    if date is None or not _YEARS[0] <= date.year <= _YEARS[1]:
        raise InvalidInstance(
            f"--begin {shorten(text)}: expected a date such as 2026-11-23T06:00:00, of the years "
            f"{_YEARS[0]} to {_YEARS[1]}"
        )
    return date


def _lines(conf: Path | None) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Return single keys, and whole PartitionName and NodeName lines."""
    from cosched.slurm.conf.lines import read_lines

    lines = read_lines(conf) if conf is not None else []
    if any(line.record not in ("", "partitionname", "nodename") for line in lines):
        raise InvalidInstance(f"{conf}: expected Key=Value, PartitionName and NodeName lines only")

    def whole(record: str) -> tuple[str, ...]:
        return tuple(
            " ".join(f"{line.spellings[key]}={value}" for key, value in line.keys.items())
            for line in lines
            if line.record == record
        )

    single = {
        line.spellings[key]: value
        for line in lines
        if not line.record
        for key, value in line.keys.items()
    }
    return single, whole("partitionname"), whole("nodename")
