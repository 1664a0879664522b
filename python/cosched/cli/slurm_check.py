"""``cosched slurm check``: the twin of Slurm's scheduler beside recordings of real ones."""

import json
import math
from pathlib import Path
from typing import Any

import typer

from cosched import cluster, io
from cosched.cli import report
from cosched.cli.values import check_files
from cosched.cluster.judgement.judge import SEED, replications_of_log, simulate_log
from cosched.cluster.judgement.log_start import start_of_log
from cosched.cluster.page.judgement import lines_of_judgement
from cosched.errors import InvalidInstance
from cosched.slurm.recordings.agreement import (
    FAR,
    Agreement,
    RecordedRun,
    Recording,
    agreement,
    read_recording,
    samples_off,
)
from cosched.slurm.recordings.host import DRAWS, read_log


def check(
    recording: Path,
    as_json: bool = False,
    replay: bool = False,
    machine: Path | None = None,
    slurm_version: str | None = None,
    accounts: Path | None = None,
    approximate: bool = False,
    drop: str | None = None,
    seed: int = 0,
    draws: int | None = None,
    output: Path | None = None,
) -> None:
    check_files((output, (".json",)))
    if machine is not None:
        given = {"path": machine, "slurm_version": slurm_version, "accounts": accounts}
        return _check_log(recording, given, approximate, drop, (draws, seed), as_json, output)
    if drop is not None:
        raise InvalidInstance("--drop is for sacct output (with --machine) only")
    found = read_recording(recording, version=slurm_version, approximate=approximate)
    pairs = [(run, agreement(found, run, replay=replay)) for run in found.runs]
    data = {"runs": [_plain(found, run, mine) for run, mine in pairs]}
    if output is not None:
        io.write_json(data, output)
    if as_json:
        typer.echo(json.dumps(data))
        return
    for number, (run, mine) in enumerate(pairs, 1):
        _show(found, number, run, mine, replay)


def _check_log(
    log: Path, given: dict[str, Any], approximate: bool, drop: str | None,
    drawn: tuple[int | None, int], as_json: bool, output: Path | None,
) -> None:  # fmt: skip
    instance = read_log(log, cluster.Machine.read(**given), approximate=approximate, drop=drop)
    count, seed = drawn
    draws = replications_of_log(instance) if count is None else count
    start, result = simulate_log(instance, draws, seed=seed)
    table = cluster.fit(result)
    is_usual_start = start.begin == start_of_log(instance).begin
    is_judged = seed == SEED and is_usual_start
    judgement = cluster.judge_log(instance, simulated=result if is_judged else None)
    said = (
        f"means of {draws} replications: other starts of the controller, other delays of its host"
    )
    notes = [*start.notes, *([said] if draws > 1 else [])]
    data = {
        "notes": [*notes, *result.instance.notes],
        "fit": table.to_dict("records"),
        "judgement": None if judgement is None else judgement.to_dict(),
    }
    if output is not None:
        io.write_json(data, output)
    if as_json:
        typer.echo(json.dumps(data))
        return
    for line in [] if judgement is None else lines_of_judgement(judgement):
        report.say(line)
    for note in notes:
        report.say(f"note: {note}")
    report.show_notes(result.instance)
    report.show_frame("starts near the log's", table.round(3))


def _plain(found: Recording, run: RecordedRun, mine: Agreement) -> dict[str, Any]:
    """By job of the recording, a list of its tasks where it is an array; null: did not start."""
    # What sshare and sprio showed, and how much of it the twin has otherwise.
    names = ("factors", "factors_off", "priorities", "priorities_off") if run.samples else ()
    start = [None if math.isnan(one) else int(one) for one in mine.start.tolist()]
    planned, alike = mine.planned
    return {
        "starts": _by_job(found, start),
        "nodes": _by_job(found, [list(nodes) for nodes in mine.nodes]),
        "off_60": mine.off_by_60,
        "off_by_60": mine.off_by_60,
        "same_nodes_5s": mine.good / len(start),
        "plans": alike / planned if planned else None,
        **dict(zip(names, samples_off(found, run) if names else (), strict=True)),
    }


def _by_job(found: Recording, values: list[Any]) -> list[Any]:
    if not found.rows:
        return values
    return [
        values[own[0]] if number not in found.arrays else [values[row] for row in own]
        for number, own in enumerate(found.rows)
    ]


def _show(found: Recording, number: int, run: RecordedRun, mine: Agreement, replay: bool) -> None:
    clocks = "as recorded" if replay else "with two numbers"
    report.say(f"{found.name} run {number} (Slurm {found.slurm}), {clocks}:")
    for note in found.notes:
        report.say(f"note: {note}")
    for row, (start, apart, same) in enumerate(
        zip(run.start, mine.apart, mine.same_nodes, strict=True)
    ):
        begin = "never" if math.isnan(start) else f"{start:.0f}"
        far = "other" if math.isinf(apart) else f"{apart:+.0f}"
        said = "" if same else f"  on {_short(mine.nodes[row])}, not {_short(run.nodes[row])}"
        mark = "  <-- " if abs(apart) > FAR or not same else ""
        report.say(f"  {found.label(row):>10}  start {begin:>7}  simulated {far:>5} s{mark}{said}")
    for when, planned, equal in mine.plans:
        report.say(f"  cycle at {when:9.3f}: {equal} of {planned} planned reservations equal")
    report.say(
        f"  {mine.good} of {len(run.start)} jobs on the same nodes within 5 s, "
        f"{mine.off_by_60} off by more than 60 s, median {mine.median:g} s"
    )
    if not math.isnan(mine.alike):
        report.say(
            f"  of {DRAWS} runs that differ within a second, the one that most are like; two of "
            f"them agree in {mine.alike:.0%} of the jobs"
        )
    if mine.plans:
        planned, alike = mine.planned
        whole = sum(plan[1] == plan[2] for plan in mine.plans)
        report.say(
            f"  {alike} of {planned} planned reservations and {whole} of {len(mine.plans)} whole "
            "plans equal"
        )
    if run.samples:
        factors, other, priorities, others = samples_off(found, run)
        report.say(
            f"  {factors - other} of {factors} fair-share factors and {priorities - others} of "
            f"{priorities} priorities as sshare and sprio showed them"
        )


def _short(names: tuple[str, ...]) -> str:
    return ",".join(names) or "no node"
