"""How much of a recorded run, or of a log, the simulator of Slurm reproduces."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from cosched import cluster, io
from cosched.cli import report
from cosched.cluster.judgement.judge import SEED, replications_of_log, simulate_log
from cosched.cluster.judgement.log_start import start_of_log
from cosched.cluster.judgement.sentences import lines_of_judgement
from cosched.core.text import count_of
from cosched.notes import Note, NoteKind, note_records
from cosched.slurm.recordings.agreement import (
    FAR,
    Agreement,
    RecordedRun,
    Recording,
    makespans_of,
    samples_off,
    waits_by_window,
)
from cosched.slurm.recordings.host import DRAWS
from cosched.slurm.recordings.wait_errors import DAY, TEN_MINUTES


def check_log(
    instance: cluster.Instance,
    draws: int | None,
    seed: int,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    """Simulate a log, and print how many of its start times the simulator reproduces."""
    draws = replications_of_log(instance) if draws is None else draws
    start, result = simulate_log(instance, draws, seed=seed)
    table = cluster.fit(result)
    is_usual_start = start.begin == start_of_log(instance).begin
    is_judged = seed == SEED and is_usual_start
    judgement = cluster.judge_log(instance, simulated=result if is_judged else None)
    notes = list(start.notes)
    if draws > 1:
        text = (
            f"means of {draws} replications: other starts of the controller, other delays of its "
            "host"
        )
        notes.append(Note(NoteKind.PRECISION, text, subject="replications", count=draws))
    all_notes = [*notes, *result.instance.notes]
    data = {
        "notes": all_notes,
        "note_records": note_records(all_notes),
        "fit": table.to_dict("records"),
        "judgement": None if judgement is None else judgement.to_dict(),
    }
    if output is not None:
        io.write_json(data, output)
    if as_json:
        report.print_json(data)
        return
    for line in [] if judgement is None else lines_of_judgement(judgement):
        report.say(line)
    for text in notes:
        report.note(text)
    report.show_notes(result.instance)
    report.show_frame("starts near the log's", table.round(3))


def agreement_record(
    recording: Recording, run: RecordedRun, agreement: Agreement
) -> dict[str, Any]:
    """By job of the recording, a list of its tasks where it is an array; null: did not start."""
    # What sshare and sprio showed, and how much of it the twin has otherwise.
    names = ("factors", "factors_off", "priorities", "priorities_off") if run.samples else ()
    start = [
        None if math.isnan(start_time) else int(start_time)
        for start_time in agreement.start.tolist()
    ]
    planned, same_plans = agreement.planned
    return {
        "starts": _by_job(recording, start),
        "nodes": _by_job(recording, [list(nodes) for nodes in agreement.nodes]),
        "off_60": agreement.off_by_60,
        "off_by_60": agreement.off_by_60,
        "same_nodes_5s": agreement.good / len(start),
        "plans": same_plans / planned if planned else None,
        **_error_record(run, agreement),
        **dict(zip(names, samples_off(recording, run) if names else (), strict=True)),
    }


def _error_record(run: RecordedRun, agreement: Agreement) -> dict[str, Any]:
    """Errors as shares (0.03 is 3%), and makespans (s); null where nothing can be compared."""
    makespans = makespans_of(run, agreement)
    numbers = {
        "mape_daily_wait": waits_by_window(run, agreement, DAY).mean_absolute_percentage_error,
        "mape_10min_wait": waits_by_window(
            run, agreement, TEN_MINUTES
        ).mean_absolute_percentage_error,
        "makespan": makespans.recorded,
        "simulated_makespan": makespans.simulated,
        "makespan_deviation": makespans.deviation,
    }
    return {name: None if math.isnan(number) else number for name, number in numbers.items()}


def _lines_of_errors(run: RecordedRun, agreement: Agreement) -> list[str]:
    """The errors of mean waits and makespan, as other simulators of Slurm publish them."""
    daily = waits_by_window(run, agreement, DAY)
    frequent = waits_by_window(run, agreement, TEN_MINUTES)
    makespans = makespans_of(run, agreement)
    lines = []
    if daily.compared_windows:
        lines.append(
            "mean absolute percentage error of the mean wait: "
            f"{daily.mean_absolute_percentage_error:.2%} by day "
            f"({count_of(daily.compared_windows, 'day')} of submissions), "
            f"{frequent.mean_absolute_percentage_error:.2%} by ten minutes "
            f"({count_of(frequent.compared_windows, 'window')})"
        )
    if not math.isnan(makespans.deviation):
        lines.append(
            f"makespan {makespans.recorded:.0f} s, simulated {makespans.simulated:.0f} s: "
            f"deviation {makespans.deviation:+.2%}"
        )
    return lines


def _by_job(recording: Recording, values: list[Any]) -> list[Any]:
    if not recording.rows:
        return values
    return [
        values[jobs_of_row[0]]
        if number not in recording.arrays
        else [values[row] for row in jobs_of_row]
        for number, jobs_of_row in enumerate(recording.rows)
    ]


def show_agreement(
    recording: Recording, number: int, run: RecordedRun, agreement: Agreement, replay: bool
) -> None:
    clocks = "as recorded" if replay else "with two numbers"
    report.say(f"{recording.name} run {number} (Slurm {recording.slurm}), {clocks}:")
    for text in recording.notes:
        report.note(text)
    for row, (start, start_error, has_same_nodes) in enumerate(
        zip(run.start, agreement.apart, agreement.same_nodes, strict=True)
    ):
        begin = "never" if math.isnan(start) else f"{start:.0f}"
        error_text = "other" if math.isinf(start_error) else f"{start_error:+.0f}"
        nodes_note = (
            ""
            if has_same_nodes
            else f"  on {_short(agreement.nodes[row])}, not {_short(run.nodes[row])}"
        )
        mark = "  <-- " if abs(start_error) > FAR or not has_same_nodes else ""
        report.say(
            f"  {recording.label(row):>10}  start {begin:>7}  simulated {error_text:>5} s"
            f"{mark}{nodes_note}"
        )
    for when, planned, equal in agreement.plans:
        report.say(f"  cycle at {when:9.3f}: {equal} of {planned} planned reservations equal")
    report.say(
        f"  {agreement.good} of {len(run.start)} jobs on the same nodes within 5 s, "
        f"{agreement.off_by_60} off by more than 60 s, median {agreement.median:g} s"
    )
    for line in _lines_of_errors(run, agreement):
        report.say(f"  {line}")
    if not math.isnan(agreement.alike):
        report.say(
            f"  of {DRAWS} runs that differ within a second, the one that most are like; two of "
            f"them agree in {agreement.alike:.0%} of the jobs"
        )
    if agreement.plans:
        planned, same_plans = agreement.planned
        n_identical_plans = sum(plan[1] == plan[2] for plan in agreement.plans)
        report.say(
            f"  {same_plans} of {planned} planned reservations and {n_identical_plans} of "
            f"{len(agreement.plans)} whole "
            "plans equal"
        )
    if run.samples:
        factors, other, priorities, others = samples_off(recording, run)
        report.say(
            f"  {factors - other} of {factors} fair-share factors and {priorities - others} of "
            f"{priorities} priorities as sshare and sprio showed them"
        )


def _short(names: tuple[str, ...]) -> str:
    return ",".join(names) or "no node"
