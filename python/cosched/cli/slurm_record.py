"""``cosched slurm record``: recordings of a real Slurm on this host."""

from pathlib import Path

from cosched import io, slurm_lab
from cosched.cli import report
from cosched.cli.values import check_files
from cosched.core.arrays import integer, positive
from cosched.errors import InvalidInstance
from cosched.slurm.conf.lines import read_lines

_NODES, _MOST_RUNS = 16, 1000


def record(
    trace: Path,
    nodes: int | None = None,
    speed: float = 20.0,
    runs: int = 1,
    conf: Path | None = None,
    root: Path | None = None,
    dbd: Path | None = None,
    every: float = 150.0,
    output: Path = Path("recording.json"),
) -> None:
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
