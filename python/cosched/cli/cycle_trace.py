"""Traces of backfill cycles: which are asked for, and how they are printed."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from cosched import cluster, io
from cosched.cli import report
from cosched.cluster.judgement.log_start import start_of_log
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.trace.selection import MAX_CYCLES, TraceSelection
from cosched.slurm.trace.trace_records import Trace
from cosched.slurm.trace.trace_text import lines_of_trace
from cosched.slurm.twin.backfill import backfill

#: Two numbers with a dash between them, as 3-7.
_INTERVAL = re.compile(r"([^-]+)-([^-]+)")


def refuse_log(recording: Path) -> None:
    """Refuse what looks like output of sacct where a recording is expected."""
    with io.open_text(recording) as file:
        first_line = file.readline(10_000)
    if first_line.count("|") > 2 and not first_line.lstrip().startswith("{"):
        raise InvalidInstance(f"{recording}: looks like sacct output: add --machine slurm.conf")


def selected_cycles(text: str | None) -> TraceSelection:
    if text is None:
        return TraceSelection()
    interval = _INTERVAL.fullmatch(text)
    first_text, last_text = interval.groups() if interval else (text, text)
    first = io.parse_integer(first_text, "--cycle", 1, MAX_CYCLES)
    last = io.parse_integer(last_text, "--cycle", 1, MAX_CYCLES)
    if last < first:
        raise InvalidInstance(f"--cycle {shorten(text)}: expected the smaller number first")
    return TraceSelection(first_cycle=first, last_cycle=last)


def with_period(selection: TraceSelection, text: str | None) -> TraceSelection:
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


def trace_of_log(
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
    result = backfill(
        start.instance.without_bound(),
        seed=seed,
        approximate=approximate,
        trace=selection,
        **options,
    )
    for note in start.notes:
        report.complain(f"note: {note}")
    traced = result.trace
    assert isinstance(traced, Trace)
    return traced


def require_cycles(trace: Trace, cycle: str | None, at: str | None) -> None:
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


def show_trace(
    trace: Trace, output: Path | None, *, as_json: bool, in_seconds: bool, shows_context: bool
) -> None:
    if output is not None:
        io.write_json(trace.to_dict(), output)
    if as_json:
        report.print_json(trace.to_dict())
        return
    for line in lines_of_trace(trace, in_seconds=in_seconds, shows_context=shows_context):
        report.say(line)
