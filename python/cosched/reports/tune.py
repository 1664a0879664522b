"""The report of ``tune``: lines to write, what they give on held-out weeks, and the search."""

from __future__ import annotations

import math
from os import PathLike

import numpy as np

from cosched import io
from cosched.cluster.analysis.wording import clock
from cosched.core.text import count_of
from cosched.reports.charts import (
    MUTED_COLOR,
    OBSERVED_COLOR,
    SIMULATED_COLOR,
    TEXT_COLOR,
    drawing,
    svg_of,
)
from cosched.reports.document import (
    Block,
    Column,
    Figure,
    KeyFigure,
    Lines,
    Paragraph,
    Report,
    Section,
    Table,
)
from cosched.reports.formats import format_value
from cosched.reports.sentences import (
    group_changes_table,
    judgement_paragraphs,
    notes_of_report,
    subject_of,
)
from cosched.slurm.tuning.gains import HeldOutGain, largest_group_changes
from cosched.slurm.tuning.race import Trial, rank_trials
from cosched.slurm.tuning.space import TuningMeasure, what_if_text
from cosched.slurm.tuning.tuned import Tuned, failed_sentence, outcome_sentence
from cosched.slurm.tuning.verdict import percent_interval, week_numbers
from cosched.units import WEEK, format_duration

_MAX_TRIAL_ROWS = 10
_BASELINE = "current"
_METHOD_NOTE = (
    "All settings have the same jobs and the same random scheduler timing. The interval is that of "
    "the reduction in weeks like these. Users would change what they submit and request: take it "
    "as a direction, not as a forecast."
)


def write_tuning(tuned: Tuned, path: str | PathLike[str]) -> None:
    """Write the report as a page."""
    io.write_text(tuning_report(tuned).to_html(), path)


def tuning_report(tuned: Tuned) -> Report:
    """Return the report of a search."""
    sections = [
        Section("Agreement of the simulator with the log", judgement_paragraphs(tuned.judgement)),
        Section("Lines to write", _config_blocks(tuned)),
        Section(
            f"Test on {week_numbers(tuned.judged_weeks)}",
            (*_test_weeks_blocks(tuned), _gains_table(tuned)),
        ),
        Section("Groups of jobs that change most", _group_blocks(tuned)),
        Section("The search", (*_trials_figures(tuned), _trials_table(tuned))),
    ]
    return Report(
        kind="tune",
        title=f"Settings for {subject_of(tuned.instance)}",
        subtitle=_subtitle(tuned),
        lead=outcome_sentence(tuned),
        key_figures=_key_figures(tuned),
        sections=tuple(section for section in sections if section.blocks),
        notes=notes_of_report(tuned.notes),
    )


def _key_figures(tuned: Tuned) -> tuple[KeyFigure, ...]:
    gains = tuned.gains[: len(tuned.objectives)]
    figures = [
        KeyFigure("settings tried", tuned.tried, "count"),
        KeyFigure("jobs of the test", len(tuned.baseline.jobs), "count"),
    ]
    for gain in gains:
        kind, name = _kind_of(gain), measure_name(gain.measure)
        figures.append(KeyFigure(f"{name}, {_BASELINE}", gain.today, kind))
        if not any(tuned.setting):
            continue
        figures.append(KeyFigure(f"{name}, tuned", gain.then, kind))
        figures.append(
            KeyFigure(
                f"reduction of {name}",
                gain.gain,
                "share with a decimal",
                percent_interval(gain.low, gain.high),
            )
        )
    return tuple(figures)


def measure_name(measure: TuningMeasure) -> str:
    """Return the name of a measure in words."""
    return str(measure).replace("_", " ")


def _kind_of(gain: HeldOutGain) -> str:
    """Return the format of a measure."""
    return "number" if gain.measure.statistic == "mean_bounded_slowdown" else "duration"


def _subtitle(tuned: Tuned) -> str:
    """Return how many weeks were searched, and how many jobs judge the winner."""
    weeks = tuned.weeks
    tests = [fold.test for fold in weeks.folds if {*fold.test.numbers} <= {*tuned.judged_weeks}]
    spans = [span for test in tests for span in test.spans]
    if weeks.is_cross_fitted:
        searches = f"{len(weeks.folds)} searches in {weeks.count} weeks"
    else:
        train = week_numbers([number for block in weeks.train for number in block.numbers])
        searches = f"Searched in {train} of {weeks.count}"
    stopped = f" The search stopped {tuned.stop_reason}." if tuned.stop_reason else ""
    length = ""
    if abs(weeks.width - WEEK) > 60:
        duration = format_duration(weeks.width)
        length = f" The log is short: each of its parts, called weeks, is {duration} long."
    return (
        f"{searches}, judged by {len(tuned.baseline.jobs):,} jobs from "
        f"{clock(tuned.instance, spans[0][0])} to {clock(tuned.instance, spans[-1][1])}; "
        f"{count_of(tuned.draws, 'replication')}, seed {tuned.seed}, "
        f"{tuned.runs:,} weeks simulated.{length}{stopped}"
    )


def _config_blocks(tuned: Tuned) -> tuple[Block, ...]:
    """Return the lines for slurm.conf and sacctmgr, with what the change does to jobs."""
    lines = tuned.lines()
    if not lines:
        return ()
    effect = tuned.winner.change_effect
    remark = (Paragraph(effect, is_small=True),) if effect else ()
    return (Lines("\n".join(lines)), *remark)


def _test_weeks_blocks(tuned: Tuned) -> tuple[Block, ...]:
    """Return the table of folds: which setting the search of each fold chose."""
    if not tuned.weeks.is_cross_fitted:
        return (Paragraph("The search did not see these weeks.", is_small=True),)
    rows = tuple(
        (week_numbers(fold.test.numbers), what_if_text(tuned.keys, setting) or _BASELINE)
        for fold, setting in zip(tuned.weeks.folds, tuned.fold_settings, strict=True)
    )
    about = (
        "Each row is a search that did not see the weeks of its row. The setting that most "
        "searches chose is tested on the weeks of these searches."
    )
    columns = (
        Column("weeks that the search did not see", "text", "test_weeks"),
        Column("setting that it chose", "text", "setting"),
    )
    return (Table(columns, rows, note=about),)


def _gains_table(tuned: Tuned) -> Table:
    """Return the table of measures: current, tuned, and the interval of the reduction."""
    limits = [""] * len(tuned.objectives) + [f"{c.sign} {c.limit:g}" for c in tuned.constraints]
    rows = []
    for gain, limit in zip(tuned.gains, limits, strict=True):
        is_number = _kind_of(gain) == "number"
        rows.append(
            (
                str(gain.measure),
                *(
                    format_value(value, "number") if is_number else value
                    for value in (gain.today, gain.then)
                ),
                gain.gain,
                percent_interval(gain.low, gain.high),
                gain.then / gain.today if gain.today > 0 else math.nan,
                limit,
            )
        )
    columns = (
        Column("measure", "name", "measure"),
        Column(_BASELINE, "duration", "current"),
        Column("tuned", "duration", "tuned"),
        Column("reduction", "share with a decimal", "reduction"),
        Column(f"{tuned.confidence:.0%} interval", "text", "interval"),
        Column("ratio to current", "number", "ratio"),
        Column("constraint on the ratio", "text", "constraint"),
    )
    return Table(columns, tuple(rows), note=_METHOD_NOTE)


def _group_blocks(tuned: Tuned) -> tuple[Block, ...]:
    """Return the table of the groups of jobs whose waits change most."""
    if not tuned.setting:
        return ()
    changes = largest_group_changes(tuned.baseline, tuned.winner)
    if not changes:
        return ()
    about = (
        "In brackets: where the difference of one more replication lies with 95% probability, by "
        f"{count_of(tuned.draws, 'replication')}."
    )
    return (group_changes_table(changes, note=about),)


def _trials_table(tuned: Tuned) -> Table:
    """Return the table of the best trials; of two objectives the Pareto front comes first."""
    names = [str(objective) for objective in tuned.objectives]
    constraint_names = [str(constraint.measure) for constraint in tuned.constraints]
    columns = (
        *(Column(key, "name", key) for key in tuned.keys),
        *(
            Column(f"{name}, ratio to current", "number", name)
            for name in (*names, *constraint_names)
        ),
        Column("simulated weeks", "count", "runs"),
    )
    front = tuned.front if len(names) > 1 else []
    complete_trials = [trial for trial in tuned.all_trials if trial.has_all_runs]
    ranked = [*front, *(trial for trial in rank_trials(complete_trials) if trial not in front)]
    rows = tuple(
        (
            *(value or _BASELINE for value in trial.setting),
            *trial.ratios,
            *(trial.constraints or (math.nan,) * len(constraint_names)),
            trial.runs,
        )
        for trial in ranked[: max(_MAX_TRIAL_ROWS, len(front))]
    )
    about = "The best settings of the search, in the weeks of the search."
    if front:
        about = f"The first {len(front)} are the Pareto front, in the weeks of the search."
    return Table(columns, rows, note=f"{about} {failed_sentence(tuned)}".strip())


def _trials_figures(tuned: Tuned) -> tuple[Figure, ...]:
    """Return the figure of all trials: one objective by setting, the best first, or two."""
    finite_trials = [trial for trial in tuned.all_trials if np.isfinite(trial.ratios).all()]
    if not finite_trials:
        return ()
    if len(tuned.objectives) > 1:
        return (_figure_of_two_objectives(tuned, finite_trials),)
    return (_figure_of_one_objective(tuned, finite_trials),)


def _figure_of_one_objective(tuned: Tuned, trials: list[Trial]) -> Figure:
    """Draw the ratio of the objective, one row per setting, the best on top."""
    shown_trials = sorted(trials, key=lambda trial: trial.ratios[0])[:_MAX_TRIAL_ROWS]
    with drawing(1.4 + 0.4 * len(shown_trials)) as (figure, ax):
        for has_all_runs, color, label in (
            (True, SIMULATED_COLOR, "all weeks simulated"),
            (False, MUTED_COLOR, "stopped early"),
        ):
            positions = [
                position
                for position, trial in enumerate(shown_trials)
                if trial.has_all_runs is has_all_runs
            ]
            if positions:
                changes = [100 * (shown_trials[position].ratios[0] - 1) for position in positions]
                ax.barh(positions, changes, height=0.6, color=color, label=label)
        ax.axvline(0, color=TEXT_COLOR, linewidth=0.8)
        labels = [what_if_text(tuned.keys, trial.setting) or _BASELINE for trial in shown_trials]
        ax.set_yticks(range(len(shown_trials)), labels)
        ax.set_ylim(len(shown_trials) - 0.4, -0.6)
        ax.set_xlabel(
            f"Change of {measure_name(tuned.objectives[0])} in the weeks of the search (%)"
        )
        ax.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
    title = f"The {len(shown_trials)} best settings of {tuned.tried}"
    return Figure(svg_of(figure), title)


def _figure_of_two_objectives(tuned: Tuned, trials: list[Trial]) -> Figure:
    """Draw one objective over the other, with the Pareto front."""
    with drawing(4.2) as (figure, ax):
        for has_all_runs, size, color, label in (
            (False, 12, MUTED_COLOR, "stopped early"),
            (True, 28, SIMULATED_COLOR, "all weeks simulated"),
        ):
            chosen = [trial for trial in trials if trial.has_all_runs is has_all_runs]
            x, y = ([100 * (trial.ratios[axis] - 1) for trial in chosen] for axis in (0, -1))
            ax.scatter(x, y, s=size, color=color, label=label)
        front = np.array(sorted(trial.ratios for trial in tuned.front)).reshape(-1, 2).T
        ax.plot(*(100 * (front - 1)), color=OBSERVED_COLOR, label="Pareto front")
        ax.axvline(0, color=TEXT_COLOR, linewidth=0.8, linestyle=":")
        ax.axhline(0, color=TEXT_COLOR, linewidth=0.8, linestyle=":")
        ax.set_xlabel(f"Change of {measure_name(tuned.objectives[0])} (%)")
        ax.set_ylabel(f"Change of {measure_name(tuned.objectives[-1])} (%)")
        ax.legend(frameon=False, ncols=3, loc="lower right", bbox_to_anchor=(1, 1))
    return Figure(svg_of(figure), f"Both objectives of {count_of(len(trials), 'setting')}")
