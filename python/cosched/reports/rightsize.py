"""The report of ``rightsize``: what jobs ask for and use, and what to request instead."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.analysis.wording import period, used_in_words
from cosched.cluster.instance.usage import used_of
from cosched.cluster.sizing.backtest_summary import groups_above_sentence, summarise_backtest
from cosched.cluster.sizing.mail import for_user, replay_row
from cosched.cluster.sizing.right_size import RightSize
from cosched.core.formats import share
from cosched.core.text import percent
from cosched.lazy import pd
from cosched.reports.document import Block, Column, KeyFigure, Paragraph, Report, Section, Table
from cosched.reports.sentences import notes_of_report, subject_of
from cosched.units import format_duration

_MAX_ROWS = 20
#: The policy of the replay that the key figures are of.
_POLICY = "EASY"
#: Heading -> column of the recommendations.
_TIMES = {
    "requested time": "asked_limit",
    "P95 of run time": "used_limit_p95",
    "recommended time": "limit",
}
_MEMORY = {
    "requested memory": "asked_memory_gb",
    "P95 of used memory": "used_memory_p95",
    "recommended memory": "memory_gb",
    "first try": "first_memory_gb",
}
#: Heading -> column of the backtest.
_BACKTEST_SHARES = {
    "guaranteed": "promised",
    "killed for time": "killed_time",
    "killed for memory": "killed_memory",
    "not known": "unknown",
}
_BACKTEST_HOURS = {
    "GB-hours saved": "saved_memory_hours",
    "reserved core-hours saved": "saved_core_hours",
    "core-hours lost": "lost_core_hours",
}
_GUARANTEE = (
    "Guarantee: a job similar to those of the job history is killed with at most this "
    "probability, for its time or its memory, whatever their distribution is. Jobs that were ended "
    "before their time wanted more than they got. Groups with too short a history are judged "
    "together, by the part of their request that they use; the last column names the columns that "
    "make jobs similar. Where that is too short, too, there is no recommendation (-)."
)
_ABOUT_FIRST_TRY = (
    " First try: the memory that wastes least where killed jobs are submitted again with the "
    "recommended memory (Tovar et al. 2018)."
)
_ABOUT_REPLAY = (
    "The latest jobs of the log, at the same times, under other requests. Waits count from the "
    "eligible time; killed jobs are submitted again with their old request, and what they lost "
    "counts as waiting. Users would change what they submit: take a row as a direction, not as a "
    "forecast."
)


def write_rightsize(
    right_size: RightSize, replayed: pd.DataFrame, path: str | PathLike[str], user: str | None
) -> None:
    """Write the report as a page."""
    io.write_text(rightsize_report(right_size, replayed, user).to_html(), path)


def rightsize_report(
    right_size: RightSize, replayed: pd.DataFrame, user: str | None = None
) -> Report:
    """Return the report of all jobs, or of those of one user."""
    instance, use = right_size.instance, right_size.use
    recommendations = right_size.advice_for(user)
    effect = Section("Effect on wait times", _replay_blocks(replayed))
    table = Section(
        "Recommended requests",
        (_recommendation_table(right_size, recommendations),),
        css_class="dense groups",
    )
    backtest = Section("Backtest", _backtest_blocks(right_size))
    title = f"Recommended requests: {subject_of(instance)}"
    if user is None:
        lead = lead_of(right_size, replayed)
    else:
        title += f", user {user}"
        lead = " ".join(for_user(right_size, replayed, user, 0))
    return Report(
        kind="rightsize",
        title=title,
        subtitle=period(instance, float(use.submit.min()), float(use.end.max())),
        lead=lead,
        key_figures=_key_figures(right_size, replayed, recommendations),
        sections=(table, effect, backtest),
        notes=notes_of_report((*right_size.notes, *instance.notes)),
        notes_heading="Data notes",
    )


def _key_figures(
    right_size: RightSize, replayed: pd.DataFrame, recommendations: pd.DataFrame
) -> tuple[KeyFigure, ...]:
    used_time, used_memory = used_of(right_size.instance)
    current, recommended = (replay_row(replayed, _POLICY, number) for number in (0, 1))
    return (
        KeyFigure("jobs", int(recommendations["jobs"].sum()), "count"),
        KeyFigure("used of requested time", used_time, "share", "all jobs"),
        KeyFigure("used of requested memory", used_memory, "share", "all jobs"),
        KeyFigure("mean wait, current requests", current["mean_wait"], "duration", _POLICY),
        KeyFigure("mean wait, recommended", recommended["mean_wait"], "duration", _POLICY),
        KeyFigure("killed at most", right_size.risk, "share", "of similar jobs"),
    )


def lead_of(right_size: RightSize, replayed: pd.DataFrame) -> str:
    """Return the answer: the used share of the requests, and what recommended requests change."""
    instance = right_size.instance
    sentences = [f"{len(instance):,} jobs used {used_in_words(instance)}."]
    current_wait, recommended_wait = (
        replay_row(replayed, _POLICY, number)["mean_wait"] for number in (0, 1)
    )
    if not np.isnan(current_wait):
        sentences.append(
            f"With the recommended requests they would wait {format_duration(recommended_wait)} "
            f"on average instead of {format_duration(current_wait)} (EASY backfilling)."
        )
    advice = right_size.advice
    covered = advice["jobs"][advice["enough"]].sum() / len(instance)
    sentences.append(
        f"There is a recommendation for {share(covered)} of them; it kills at most "
        f"{100 * right_size.risk:g}% of such jobs."
    )
    return " ".join(sentences)


def _replay_blocks(replayed: pd.DataFrame) -> tuple[Block, ...]:
    """Return the table of the policies that have a result, and why the others have none."""
    has_result = replayed["mean_wait"].notna()
    policies_with_result = set(replayed["policy"][has_result])
    is_shown = replayed["policy"].isin(policies_with_result)
    failures = replayed[~is_shown].drop_duplicates("policy")
    remarks = [
        Paragraph(f"{row['policy']} has no result: {row['message']}", is_small=True)
        for row in failures.to_dict("records")
    ]
    if not is_shown.any():
        return tuple(remarks)
    return (_replay_table(replayed[is_shown]), *remarks)


#: Who follows the recommendations, as the replay has it -> as readers see it.
_FOLLOWERS = {
    "nobody, as now": "no user (current requests)",
    "all": "all users",
    "one of them alone": "the first of these users alone",
}


def _replay_table(replayed: pd.DataFrame) -> Table:
    has_user = bool(replayed["user_wait"].notna().any())
    columns = [
        Column("policy", "name", "policy"),
        Column("who follows the recommendations", "text", "who"),
        Column("mean wait", "duration", "mean_wait"),
        Column("P95 wait", "duration", "p95_wait"),
        *([Column("mean wait of this user", "duration", "user_wait")] if has_user else []),
        Column("killed jobs", "count", "killed"),
        Column("core-hours lost", "number", "lost_core_hours"),
        Column("core-hours reserved", "number", "reserved_core_hours"),
    ]
    rows = []
    for record in replayed.to_dict("records"):
        who = _FOLLOWERS.get(record["who"], record["who"])
        if record["message"]:
            who += f": {record['message']}"
        values: dict[Any, Any] = {**record, "who": who}
        rows.append(tuple(values[column.name] for column in columns))
    return Table(tuple(columns), tuple(rows), note=_ABOUT_REPLAY, marked_row=1)


def _recommendation_table(right_size: RightSize, recommendations: pd.DataFrame) -> Table:
    """Return the table of the first groups, without columns that are empty."""
    first_groups = recommendations.head(_MAX_ROWS)
    columns = [
        *(
            Column(name, "text", name)
            for name in right_size.use.group_columns
            if name in recommendations
        ),
        Column("jobs", "count", "jobs"),
        *(Column(heading, "duration", name) for heading, name in _TIMES.items()),
        *(Column(heading, "gigabytes", name) for heading, name in _MEMORY.items()),
        Column("job history", "count", "past"),
    ]
    columns = [
        column
        for column in columns
        if column.kind in ("text", "count") or first_groups[column.name].notna().any()
    ]
    similar = [
        _similarity(right_size, label) if n_samples else "-"
        for label, n_samples in zip(first_groups["like"], first_groups["past"], strict=True)
    ]
    rows = [
        (*(_name_or_value(record[column.name], column) for column in columns), similarity)
        for record, similarity in zip(first_groups.to_dict("records"), similar, strict=True)
    ]
    n_hidden = len(recommendations) - len(first_groups)
    note = _GUARANTEE
    if "first_memory_gb" in [column.name for column in columns]:
        note += _ABOUT_FIRST_TRY
    if n_hidden:
        note = f"The groups with the most unused requests; {n_hidden:,} more. {note}"
    columns.append(Column("similar by", "name", "like"))
    return Table(tuple(columns), tuple(rows), note=note)


def _name_or_value(value: Any, column: Column) -> Any:
    return str(value) if column.kind == "text" else value


def _similarity(right_size: RightSize, label: str) -> str:
    """Return the columns by which the jobs of the history are similar."""
    label_of_all_columns = right_size.use.levels[0][0]
    return "these" if label == label_of_all_columns else label or "all"


def _backtest_blocks(right_size: RightSize) -> tuple[Block, ...]:
    backtest = right_size.backtest()
    if not len(backtest):
        text = "No backtest: it needs jobs that ended on one day and similar jobs on a later one."
        return (Paragraph(text),)
    period_name = str(backtest.columns[0])
    columns = (
        Column(period_name, "name", period_name),
        Column("jobs with a recommendation", "count", "jobs"),
        *(
            Column(heading, "share with two decimals", name)
            for heading, name in _BACKTEST_SHARES.items()
        ),
        *(Column(heading, "number", name) for heading, name in _BACKTEST_HOURS.items()),
    )
    rows = tuple(
        (str(record[period_name]), *(record[column.name] for column in columns[1:]))
        for record in backtest.to_dict("records")
    )
    summary = summarise_backtest(right_size)
    note = (
        f"Recommendations for each {period_name} from what had ended before it: "
        f"{percent(summary.killed_share)} killed, {percent(summary.guaranteed_share)} guaranteed. "
        "Not known: the log's own request ended the job below the recommendation. "
        f"{groups_above_sentence(summary)}"
    )
    return (Table(columns, rows, note=note),)
