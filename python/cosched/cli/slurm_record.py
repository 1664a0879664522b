"""``cosched slurm record``: recordings of a real Slurm on this host."""

from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from cosched import io, slurm_lab
from cosched.cli import report
from cosched.cli.values import check_files
from cosched.core.arrays import integer, positive
from cosched.errors import InvalidInstance, require, shorten
from cosched.slurm.conf.lines import read_lines

_NODES, _MOST_RUNS = 16, 1000
#: Years in which a recording can begin.
_YEARS = (2001, 2037)


def record(
    trace: Path,
    nodes: int | None = None,
    speed: float = 20.0,
    runs: int = 1,
    conf: Path | None = None,
    root: Path | None = None,
    dbd: Path | None = None,
    every: float = 150.0,
    begin: str | None = None,
    export: Path | None = None,
    output: Path = Path("recording.json"),
) -> None:
    require("psutil", extra="slurm-lab")
    check_files((output, (".json",)))
    positive(speed, "--speed")
    integer(runs, "--runs", 1, _MOST_RUNS)
    positive(every, "--every")
    first = _date(begin) if begin is not None else None
    if export is not None:
        _check_export(export, dbd, runs)
    settings, partitions, machine = _lines(conf)
    count = len(slurm_lab.node_names(machine)) if machine else nodes or _NODES
    if machine and nodes not in (None, count):
        raise InvalidInstance(f"--nodes {nodes}: {conf} has {count}")
    jobs = slurm_lab.read_trace(trace, count)
    accounts = slurm_lab.read_accounts(dbd) if dbd is not None else None
    failure: slurm_lab.ExportError | None = None
    with report.working(f"a Slurm of {count} nodes, {len(jobs)} jobs"):
        try:
            data = slurm_lab.record(
                jobs, machine or count, speed=speed, runs=runs, settings=settings,
                partitions=partitions, root=root, accounts=accounts, every=every,
                begin=first, export=export,
            )  # fmt: skip
        except slurm_lab.ExportError as error:
            data, failure = error.recording, error
    io.write_json(data, output)
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
    """A date in the years that Slurm's 32-bit times and sacct's ``-S 2000-01-01`` leave."""
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
    """Single keys, and whole PartitionName and NodeName lines."""
    lines = read_lines(conf) if conf is not None else []
    if any(line.record not in ("", "partitionname", "nodename") for line in lines):
        raise InvalidInstance(f"{conf}: expected Key=Value, PartitionName and NodeName lines only")

    def whole(record: str) -> tuple[str, ...]:
        return tuple(
            " ".join(f"{line.spellings[key]}={value}" for key, value in line.keys.items())
            for line in lines if line.record == record
        )  # fmt: skip

    single = {
        line.spellings[key]: value
        for line in lines if not line.record
        for key, value in line.keys.items()
    }  # fmt: skip
    return single, whole("partitionname"), whole("nodename")
