"""``cosched slurm trace``: what backfill cycles and main passes of a simulation did, and why."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from cosched import cluster, io
from cosched.cli import report
from cosched.cli.values import check_files
from cosched.cluster.judgement.log_start import start_of_log
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.recordings.agreement import read_recording
from cosched.slurm.recordings.host import read_log
from cosched.slurm.recordings.trace import selection_with_job, trace_of_run
from cosched.slurm.trace.records import Trace
from cosched.slurm.trace.selection import MAX_CYCLES, TraceSelection
from cosched.slurm.trace.text import lines_of_trace
from cosched.slurm.twin.backfill import slurm_backfill

#: Two numbers with a dash between them, as 3-7.
_INTERVAL = re.compile(r"([^-]+)-([^-]+)")


def trace(
    recording: Path,
    cycle: str | None = None,
    at: str | None = None,
    job: str | None = None,
    run: int = 1,
    replay: bool = False,
    passes: bool = False,
    seconds: bool = False,
    as_json: bool = False,
    machine: Path | None = None,
    slurm_version: str | None = None,
    accounts: Path | None = None,
    approximate: bool = False,
    drop: str | None = None,
    seed: int = 0,
    output: Path | None = None,
) -> None:
    check_files((output, (".json",)))
    if cycle is None and at is None and job is None:
        raise InvalidInstance(
            "slurm trace: expected --cycle N (or N-M), --at SECONDS (or FROM-TO), or --job ID"
        )
    if passes and cycle is not None and at is None:
        raise InvalidInstance("--passes: expected --at beside --cycle: passes have no numbers")
    selection = replace(_selected_cycles(cycle), with_passes=passes)
    selection = _with_period(selection, at)
    if machine is not None:
        cluster_machine = cluster.Machine.read(
            machine, slurm_version=slurm_version, accounts=accounts
        )
        log = read_log(recording, cluster_machine, approximate=approximate, drop=drop)
        made = _trace_of_log(log, selection, job, approximate=approximate, seed=seed)
    else:
        if drop is not None:
            raise InvalidInstance("--drop is for sacct output (with --machine) only")
        known = read_recording(recording, version=slurm_version, approximate=approximate)
        if not 1 <= run <= len(known.runs):
            raise InvalidInstance(
                f"--run {run}: {known.name} has {count_of(len(known.runs), 'run')}"
            )
        selection = selection_with_job(selection, known, job)
        made = trace_of_run(known, known.runs[run - 1], selection, replay=replay)
    _require_cycles(made, cycle, at)
    _show(made, as_json, output, in_seconds=seconds, shows_context=job is None)


def _selected_cycles(text: str | None) -> TraceSelection:
    if text is None:
        return TraceSelection()
    interval = _INTERVAL.fullmatch(text)
    first_text, last_text = interval.groups() if interval else (text, text)
    first = io.parse_integer(first_text, "--cycle", 1, MAX_CYCLES)
    last = io.parse_integer(last_text, "--cycle", 1, MAX_CYCLES)
    if last < first:
        raise InvalidInstance(f"--cycle {shorten(text)}: expected the smaller number first")
    return TraceSelection(first_cycle=first, last_cycle=last)


def _with_period(selection: TraceSelection, text: str | None) -> TraceSelection:
    """The selection, of cycles that begin within a period of seconds."""
    if text is None:
        return selection
    interval = _INTERVAL.fullmatch(text)
    first_text, last_text = interval.groups() if interval else (text, text)
    begin = io.parse_number(first_text, "--at")
    end = io.parse_number(last_text, "--at")
    if end < begin:
        raise InvalidInstance(f"--at {shorten(text)}: expected the earlier time first")
    # One moment is a second of the controller.
    end = end if interval else math.floor(begin) + 1
    begin = begin if interval else math.floor(begin)
    return replace(selection, begin_time=float(begin), end_time=float(end))


def _trace_of_log(
    instance: cluster.Instance,
    selection: TraceSelection,
    job: str | None,
    *,
    approximate: bool,
    seed: int,
) -> Trace:
    """The trace of one simulation of a log, from where on all its jobs are known."""
    start = start_of_log(instance)
    if job is not None:
        ids = [str(each) for each in start.instance.ids]
        if job not in ids:
            raise InvalidInstance(
                f"--job {shorten(job)}: no such job is simulated: expected an id of the log, as "
                f"{ids[0]}"
            )
        selection = replace(selection, row=ids.index(job))
    options: dict[str, Any] = {"launch": 0.0}
    if start.epilog is not None:
        options["epilog"] = start.epilog
    result = slurm_backfill(
        start.instance._without_bound(), seed=seed, approximate=approximate, trace=selection,
        **options,
    )  # fmt: skip
    for note in start.notes:
        report.complain(f"note: {note}")
    traced = result.trace
    assert isinstance(traced, Trace)
    return traced


def _require_cycles(trace: Trace, cycle: str | None, at: str | None) -> None:
    """Check that the simulation has some of the cycles that were asked for."""
    if trace.cycles or trace.passes or (cycle is None and at is None):
        return
    asked = " ".join(
        f"{option} {value}"
        for option, value in (("--cycle", cycle), ("--at", at))
        if value is not None
    )
    raise InvalidInstance(
        f"{asked}: no such cycle: the simulation has {count_of(trace.cycle_count, 'cycle')}"
    )


def _show(
    trace: Trace, as_json: bool, output: Path | None, *, in_seconds: bool, shows_context: bool
) -> None:
    if output is not None:
        io.write_json(trace.to_dict(), output)
    if as_json:
        typer.echo(json.dumps(trace.to_dict()))
        return
    for line in lines_of_trace(trace, in_seconds=in_seconds, shows_context=shows_context):
        report.say(line)
