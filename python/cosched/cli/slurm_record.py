"""``cosched slurm record``: recordings of a real Slurm on this host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cosched import io, slurm_lab
from cosched.cli import report
from cosched.cli.values import check_files
from cosched.core.arrays import integer, positive
from cosched.errors import InvalidInstance
from cosched.slurm.conf.lines import read_lines

_NODES, _MOST_RUNS = 16, 1000


def record_trace(
    trace: Annotated[
        Path, typer.Argument(help="Jobs: .csv or .json, a column for what each asks for.")
    ],
    nodes: Annotated[
        int | None, typer.Option(help="Nodes, all on this host; default 16, or as --conf has.")
    ] = None,
    speed: Annotated[float, typer.Option(help="Of its clock: times as fast as life.")] = 20.0,
    runs: Annotated[int, typer.Option(help="So often, one after another.")] = 1,
    conf: Annotated[
        Path | None,
        typer.Option(help="Lines of slurm.conf: Key=Value, PartitionName=..., NodeName=..."),
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(help="An unpacked Debian whose Slurm is recorded, as mmdebstrap makes it."),
    ] = None,
    dbd: Annotated[
        Path | None,
        typer.Option(help="With a slurmdbd: lines of sacctmgr (add account physics Fairshare=3)."),
    ] = None,
    every: Annotated[
        float, typer.Option(help="With --dbd: squeue, sprio and sshare every so many seconds.")
    ] = 150.0,
    output: Annotated[Path, typer.Option("-o", "--output", help="The recording: .json.")] = Path(
        "recording.json"
    ),
) -> None:
    """Run jobs on a real Slurm of your own on this host, and record what it does.

    Needs slurm-wlm, and faketime where the clock is not life's. The recording has the
    configuration, jobs, starts, ends, nodes, every cycle's time and its plans; `cosched slurm
    check` reads it.

    Columns: submit, runtime, limit (or estimate): seconds; nodes (or tasks) are whole ones, cores
    share them; mem, mem_per_cpu (MB, 4G), gres, gpus, constraint, licenses, partition, array,
    name, dependency (afterok:JOB), begin and hold (seconds), exclusive, no_requeue, fail (yes),
    user, account, qos, nice.

    Example: cosched slurm record jobs.csv --nodes 16 --speed 20 -o mine.json
    """
    check_files((output, (".json",)))
    positive(speed, "--speed")
    integer(runs, "--runs", 1, _MOST_RUNS)
    positive(every, "--every")
    settings, partitions, machine = _lines(conf)
    count = len(slurm_lab.node_names(machine)) if machine else nodes or _NODES
    if machine and nodes not in (None, count):
        raise InvalidInstance(f"--nodes {nodes}: {conf} has {count}")
    jobs = slurm_lab.read_trace(trace, count)
    accounts = slurm_lab.read_accounts(dbd) if dbd is not None else None
    with report.working(f"a Slurm of {count} nodes, {len(jobs)} jobs"):
        data = slurm_lab.record(
            jobs, machine or count, speed=speed, runs=runs, settings=settings,
            partitions=partitions, root=root, accounts=accounts, every=every,
        )  # fmt: skip
    io.write_json(data, output)
    report.say(f"wrote {output}")


def _lines(conf: Path | None) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Single keys, and whole PartitionName and NodeName lines."""
    lines = read_lines(conf) if conf is not None else []
    if any(line.record not in ("", "partitionname", "nodename") for line in lines):
        raise InvalidInstance(f"{conf}: expected Key=Value, PartitionName and NodeName lines only")

    def whole(record: str) -> tuple[str, ...]:
        return tuple(
            " ".join(f"{line.spelled[key]}={value}" for key, value in line.keys.items())
            for line in lines if line.record == record
        )  # fmt: skip

    single = {
        line.spelled[key]: value
        for line in lines if not line.record
        for key, value in line.keys.items()
    }  # fmt: skip
    return single, whole("partitionname"), whole("nodename")


def add(to: typer.Typer) -> None:
    """The command of this file."""
    to.command("record")(record_trace)
