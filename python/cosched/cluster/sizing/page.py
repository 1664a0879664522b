"""Write advice for workflow systems and batch scripts, and the page of `rightsize`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.cluster.instance.job_names import names_a_kind
from cosched.cluster.page.text import (
    number,
    paragraph,
    period,
    render_aside,
    render_page,
    share,
    table,
    used_in_words,
)
from cosched.core.text import count_of, percent
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.units import format_duration, format_gigabytes, format_time_limit, megabytes_rounded_up
from cosched.version import installed_version

if TYPE_CHECKING:
    #: Its class is a floor above, and writes pages.
    RightSize = Any

FORMS = ("snakemake", "nextflow", "sbatch")
_NO_ADVICE = (
    "no named step has enough past jobs for advice: a larger --risk needs fewer, and --by name "
    "takes all jobs of a name together"
)
_NO_ADVICE_FOR_GROUPS = "no group has enough past jobs for advice: a larger --risk needs fewer"
_ENOUGH_FOR = "enough for the jobs of"
_NO_DEFAULT = (
    "a group has too few past jobs for advice, so no default is enough for all: a larger --risk "
    "needs fewer"
)
_WORDS_OF_YAML = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
#: Columns of groups that distinguish the steps of a workflow; the first that exists counts.
_STEP_COLUMNS = ("name", "comment")
#: Columns of groups that the line above some options of sbatch lists.
_GROUP_COLUMNS = ("user", "account", "partition", "group", "qos", "comment", "cores")
#: What means something else in a withName of Nextflow, which takes a regular expression.
_PATTERN = re.compile(r"[\\^$.|?*+()\[\]{}!]")
#: What workflow systems put around the names of their steps.
_STEP_NAME_DECORATION = re.compile(r"^(?:snakejob\.|nf-|smk-)|\.sh$|[^A-Za-z0-9]*#.*$")


def export(advice: pd.DataFrame, form: str, risk: float) -> str:
    """The advice as text.

    Steps of a workflow are called after the column ``name`` of the advice, or after ``comment``.
    Where the groups have neither (``--by account``), nothing tells steps apart: a workflow gets
    one default for all of them, which is enough for the jobs of each group.

    Parameters
    ----------
    advice : pandas.DataFrame
        Of :class:`RightSize`.
    form : {"snakemake", "nextflow", "sbatch"}
        A profile's ``set-resources``, ``withName`` blocks, or lines by group.
    risk : float
        What is promised.
    """
    if form not in FORMS:
        raise InvalidInstance(f"export {shorten(form)}: expected {', '.join(FORMS)}")
    about = f"killed at most {100 * risk:g}% of the jobs"
    column = _step_column(advice)
    if column is not None:
        has_name = names_a_kind(advice[column].astype(str))
        nameless_jobs = int(advice["jobs"][~has_name].sum())
        if nameless_jobs:
            about += f"; {_left_out_clause(nameless_jobs, column)}"
        advice = advice[has_name]
    writers = {"snakemake": _snakemake, "nextflow": _nextflow, "sbatch": _sbatch}
    lines = writers[form](advice, about)
    return "".join(f"{line}\n" for line in lines)


def _step_column(advice: pd.DataFrame) -> str | None:
    """Return the column that distinguishes the steps of a workflow, or None."""
    return next((column for column in _STEP_COLUMNS if column in advice), None)


def _left_out_clause(jobs: int, column: str) -> str:
    """Return the clause that says why an export lacks jobs."""
    if column == "comment":
        return (
            f"{count_of(jobs, 'job')} left out, whose Comment is empty or differs in every run "
            "(UUIDs or numbers)"
        )
    return f"{jobs:,} jobs left out, whose names differ in every run (UUIDs or numbers)"


def _group_text(row: Any, step_column: str | None) -> str:
    """Return the group of a row of advice, as in ``user ada, partition long``."""
    columns = [column for column in _GROUP_COLUMNS if column in row and column != step_column]
    return _on_a_line(", ".join(f"{column} {row[column]}" for column in columns))


def options_of(row: Any) -> Iterator[str]:
    """Yield the options of sbatch for a row of advice; ``--mem`` is per node."""
    if row["limit"] > 0:
        yield f"--time={format_time_limit(row['limit'])}"
    if row["memory_gb"] > 0:
        gigabytes_of_node, megabytes_left = divmod(
            megabytes_rounded_up(row["node_memory_gb"]), 1024
        )
        yield (
            f"--mem={1024 * gigabytes_of_node + megabytes_left}M"
            if megabytes_left
            else f"--mem={gigabytes_of_node}G"
        )


def _sbatch(advice: pd.DataFrame, about: str) -> Iterator[str]:
    advised_groups = advice[(advice["limit"] > 0) | (advice["memory_gb"] > 0)]
    column = _step_column(advice)
    yield f"# {about}"
    if not len(advised_groups):
        yield f"# {_NO_ADVICE_FOR_GROUPS if column is None else _NO_ADVICE}"
    for _, row in advised_groups.iterrows():
        group = _group_text(row, column)
        step = "" if column is None else _on_a_line(str(row[column]))
        heading = ": ".join(text for text in (step, group) if text) or "all jobs"
        yield f"# {heading}; {row['jobs']} jobs"
        yield from (f"#SBATCH {option}" for option in options_of(row))


def _steps(advice: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Yield each step of a workflow and what suffices for all its jobs.

    A measure is 0 where one of the groups of the step has no advice for it.
    """
    names = advice[_step_column(advice)].astype(str)
    # Names may be decorated twice, as in snakejob.STEP.sh.
    step_names = [
        _STEP_NAME_DECORATION.sub("", _STEP_NAME_DECORATION.sub("", name)) for name in names
    ]
    steps = _whole_units(advice).assign(name=step_names)
    aggregations = {"minutes": "max", "mb": "max", "jobs": "sum"}
    steps = (
        steps[steps["name"] != ""]
        .groupby("name")[[*aggregations]]
        .agg(aggregations)
        .replace(np.inf, 0)
    )
    for name, row in steps[(steps["mb"] > 0) | (steps["minutes"] > 0)].iterrows():
        yield str(name), row


def _whole_units(advice: pd.DataFrame) -> pd.DataFrame:
    """Return the advice with whole ``minutes`` and ``mb``; infinite where there is none."""
    return advice.assign(
        mb=[megabytes_rounded_up(x) if x > 0 else np.inf for x in advice["node_memory_gb"]],
        minutes=np.ceil(advice["limit"] / 60).fillna(np.inf),
    )


def _default_of_all_steps(advice: pd.DataFrame) -> tuple[list[str], int, int]:
    """Return comments that list the groups, and the MB and minutes that suffice for all of them.

    A number is 0 where a group has no advice.
    """
    comments = [
        f"{_group_text(row, None) or 'all jobs'}; {row['jobs']} jobs"
        for _, row in advice.iterrows()
    ]
    largest = _whole_units(advice)[["mb", "minutes"]].max().replace([np.inf, np.nan], 0)
    return comments, int(largest["mb"]), int(largest["minutes"])


def _snakemake(advice: pd.DataFrame, about: str) -> Iterator[str]:
    yield f"# {about}"
    if _step_column(advice) is None:
        comments, mb, minutes = _default_of_all_steps(advice)
        yield from (f"# {_ENOUGH_FOR} {comment}" for comment in comments)
        if not mb and not minutes:
            yield f"# {_NO_DEFAULT}"
            yield "default-resources: {}"
            return
        yield "default-resources:"
        if mb:
            yield f"  mem_mb: {mb}"
        if minutes:
            yield f"  runtime: {minutes}"
        return
    steps = list(_steps(advice))
    if steps:
        yield "set-resources:"
    else:
        yield f"# {_NO_ADVICE}"
        yield "set-resources: {}"
    for name, row in steps:
        is_plain_yaml_key = (
            re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in _WORDS_OF_YAML
        )
        key = name if is_plain_yaml_key else json.dumps(_on_a_line(name), ensure_ascii=False)
        yield f"  {key}:  # {row['jobs']:.0f} jobs"
        if row["mb"] > 0:
            yield f"    mem_mb: {row['mb']:.0f}"
        if row["minutes"] > 0:
            yield f"    runtime: {row['minutes']:.0f}"


def _nextflow(advice: pd.DataFrame, about: str) -> Iterator[str]:
    yield f"// {about}"
    if _step_column(advice) is None:
        comments, mb, minutes = _default_of_all_steps(advice)
        yield from (f"// {_ENOUGH_FOR} {comment}" for comment in comments)
        if not mb and not minutes:
            yield f"// {_NO_DEFAULT}"
        yield "process {"
        if mb:
            yield f"  memory = '{mb} MB'"
        if minutes:
            yield f"  time = '{minutes} min'"
        yield "}"
        return
    steps = list(_steps(advice))
    if not steps:
        yield f"// {_NO_ADVICE}"
    yield "process {"
    for name, row in steps:
        quoted = (
            _PATTERN.sub(r"\\\g<0>", _on_a_line(name)).replace("\\", "\\\\").replace("'", "\\'")
        )
        yield f"  withName: '{quoted}' {{  // {row['jobs']:.0f} jobs"
        if row["mb"] > 0:
            yield f"    memory = '{row['mb']:.0f} MB'"
        if row["minutes"] > 0:
            yield f"    time = '{row['minutes']:.0f} min'"
        yield "  }"
    yield "}"


def _on_a_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


_MAX_ROWS = 20
#: Heads of columns -> those of the advice.
_TIMES = {"time asked": "asked_limit", "95% ran at most": "used_limit_p95", "limit": "limit"}
_MEMORY = {"memory asked": "asked_memory_gb", "95% used at most": "used_memory_p95",
           "memory": "memory_gb", "first": "first_memory_gb"}  # fmt: skip
#: Heads of the table of the backtest -> its columns.
_BACKTEST_SHARES = {
    "promised": "promised",
    "killed for time": "killed_time",
    "killed for memory": "killed_memory",
    "not known": "unknown",
}
_BACKTEST_HOURS = {
    "GB hours saved": "saved_memory_hours",
    "core hours reserved less": "saved_core_hours",
    "core hours lost": "lost_core_hours",
}
_PROMISE = (
    "Promised: a job like those of the past is killed with at most this chance, for its time or "
    "its memory, whatever their distribution is. Jobs that were ended before their time wanted "
    "more than they got. Groups with too little past are judged together, by the part of what they "
    "ask for that they use (like: what makes those alike); where that is too little, too, there "
    "is no advice (-). First: the memory that wastes least where killed jobs are sent again with "
    "that beside it (Tovar et al. 2018)."
)
_ABOUT_REPLAY = (
    "The latest jobs of the log, at the same times, under other requests. Waits count from when a "
    "job could start; killed jobs come again as they had asked, and what they lost counts as "
    "waiting. Users would change what they send: take a row as a direction, not a forecast."
)


def page(right_size: RightSize, replayed: pd.DataFrame, user: str | None) -> str:
    """Return the HTML page, of all jobs or of those of one user."""
    title = f"{right_size.instance.source or 'jobs'}: right sizes" + (
        f" for {user}" if user else ""
    )
    advice = right_size.advice_for(user)
    gains = ("What it gives", _gains_section(replayed))
    advice_section = ("Advice", _advice_section(right_size, advice))
    backtest = ("Would it have held?", _backtest_section(right_size))
    if user is not None:
        lead = " ".join(for_user(right_size, replayed, user, 0))
        parts = [advice_section, gains, backtest]
    else:
        lead = lead_of(right_size, replayed)
        parts = [gains, advice_section, backtest]
    notes = render_aside(
        "Of the log", (note.strip() for note in (*right_size.notes, *right_size.instance.notes))
    )
    head = f"{paragraph(lead, 'lead')}\n{paragraph(f'cosched {installed_version()}', 'small')}"
    return render_page(title, head, parts, notes)


def lead_of(right_size: RightSize, replayed: pd.DataFrame) -> str:
    """Return the lead: the time range, the used share of the requests, and what would change."""
    instance, use = right_size.instance, right_size.use
    time_range = period(instance, float(use.submit.min()), float(use.end.max()))
    clauses = [f"{time_range}, {len(instance):,} jobs used {used_in_words(instance)}"]
    current_wait, advised_wait = (
        _replay_row(replayed, "EASY", number)["mean_wait"] for number in (0, 1)
    )
    if not np.isnan(current_wait):
        clauses.append(
            f"had all asked for what is advised here, they would have waited "
            f"{format_duration(advised_wait)} on average instead of "
            f"{format_duration(current_wait)} (under EASY)"
        )
    covered = right_size.advice["jobs"][right_size.advice["enough"]].sum() / len(instance)
    clauses.append(f"there is advice for {share(covered)} of them, each killed with a chance of "
                f"{100 * right_size.risk:g}% at most")  # fmt: skip
    return "; ".join(clauses) + "."


def for_user(
    right_size: RightSize, replayed: pd.DataFrame, user: str, max_groups: int
) -> list[str]:
    """Return sentences for a mail to a user; at most `max_groups` groups have a line each."""
    user_advice = right_size.advice_for(user)
    sentences = [f"Hello {user}: of your jobs, {user_advice['jobs'].sum():,} are in this log."]
    advised_groups = user_advice[(user_advice["limit"] > 0) | (user_advice["memory_gb"] > 0)]
    if not len(advised_groups):
        return [*sentences, "They are too few, or too different, for advice that holds."]
    sentences += [_mail_line(row) for _, row in advised_groups.head(max_groups).iterrows()]
    current_wait, wait_if_all, wait_if_user_alone = (
        _replay_row(replayed, "EASY", number)["user_wait"] for number in (0, 1, -1)
    )
    if not np.isnan(current_wait):
        sentence = (
            f"Had you alone asked for what is advised, your jobs would have waited "
            f"{format_duration(wait_if_user_alone)} on average instead of "
            f"{format_duration(current_wait)}; had all, "
            f"{format_duration(wait_if_all)}."
        )
        if wait_if_user_alone < current_wait:
            sentence += " Smaller and shorter jobs find a hole sooner."
        sentences.append(sentence)
    return sentences


def _mail_line(row: Any) -> str:
    """Return the sentence of a mail about one group."""
    name = row.get("name", "") or row.get("comment", "") or "jobs"
    requests = [format_duration(row["asked_limit"])] if row["asked_limit"] > 0 else []
    usages = [format_duration(row["used_limit_p95"])]
    if row["memory_gb"] > 0:
        requests.append(format_gigabytes(row["asked_memory_gb"]))
        usages.append(format_gigabytes(row["used_memory_p95"]))
    return (
        f"  {name} ({row['jobs']:,} jobs): they asked for {' and '.join(requests)}; 95% of them "
        f"needed {' and '.join(usages)} at most. sbatch {' '.join(options_of(row))} ends at most "
        f"{100 * row['risk']:g}% of such jobs (by {row['past']:,} of the past)."
    )


def _replay_row(replayed: pd.DataFrame, policy: str, number: int) -> Any:
    return replayed[replayed["policy"] == policy].iloc[number]


def _gains_section(replayed: pd.DataFrame) -> str:
    """Return the table of a replay."""
    wait_columns = {"mean wait": "mean_wait", "95% wait at most": "p95_wait"}
    if replayed["user_wait"].notna().any():
        wait_columns["mean wait of the one"] = "user_wait"
    heads = ["policy", "(who follows the advice)", *wait_columns]
    heads += ["killed jobs", "core hours lost", "core hours reserved"]
    rows = []
    for _, row in replayed.iterrows():
        waits = [format_duration(row[name]) for name in wait_columns.values()]
        who = f"{row['who']}: {row['message']}" if row["message"] else row["who"]
        hours = (number(row[f"{name}_core_hours"]) for name in ("lost", "reserved"))
        rows.append([row["policy"], who, *waits, f"{row['killed']:,}", *hours])
    return table(heads, rows, marked_row=1) + paragraph(_ABOUT_REPLAY, "small")


def _advice_section(right_size: RightSize, advice: pd.DataFrame) -> str:
    """Return the table of the first groups of the advice, without columns that are empty."""
    names = [name for name in right_size.use.group_columns if name in advice]
    first_groups = advice.head(_MAX_ROWS)
    columns: dict[str, list[Any]] = {name: list(first_groups[name]) for name in names}
    columns["jobs"] = [f"{count:,}" for count in first_groups["jobs"]]
    for head, name in _TIMES.items():
        columns[head] = [format_duration(seconds) for seconds in first_groups[name]]
    for head, name in _MEMORY.items():
        columns[head] = [format_gigabytes(gigabytes) for gigabytes in first_groups[name]]
    columns["jobs of the past"] = [f"{count:,}" for count in first_groups["past"]]
    columns["like"] = [
        _sample_text(right_size, label) if n_samples else "-"
        for label, n_samples in zip(first_groups["like"], first_groups["past"], strict=True)
    ]
    columns = {head: cells for head, cells in columns.items() if set(cells) != {"-"}}
    n_hidden = len(advice) - len(first_groups)
    note = _PROMISE
    if n_hidden:
        note = f"Those first that leave most unused; {n_hidden:,} more groups. {_PROMISE}"
    rows = zip(*columns.values(), strict=True)
    return table(list(columns), rows) + paragraph(note, "small")


def _sample_text(right_size: RightSize, label: str) -> str:
    """Return by which columns the past jobs of an advice are alike."""
    label_of_all_columns = right_size.use.levels[0][0]
    return "these" if label == label_of_all_columns else label or "all"


def _backtest_section(right_size: RightSize) -> str:
    """Return the table of the backtest, and what it means."""
    backtest = right_size.backtest()
    if not len(backtest):
        return paragraph(
            "No backtest: it needs jobs that ended on one day and like jobs on a later one."
        )
    period = backtest.columns[0]
    heads = [period, "jobs with advice", *_BACKTEST_SHARES, *_BACKTEST_HOURS]
    rows = [
        [
            row[period],
            f"{row['jobs']:,}",
            *(f"{100 * row[name]:.2f}%" for name in _BACKTEST_SHARES.values()),
            *(number(row[name]) for name in _BACKTEST_HOURS.values()),
        ]
        for _, row in backtest.iterrows()
    ]
    killed_shares = backtest["killed_time"] + backtest["killed_memory"]
    killed_share = np.average(killed_shares, weights=backtest["jobs"])
    promised_share = np.average(backtest["promised"], weights=backtest["jobs"])
    about = (
        f"Advice of each {period} from what had ended before it: {percent(killed_share)} killed, "
        f"{percent(promised_share)} promised. Not known: the log's own request ended the job below "
        "the advice."
    )
    return table(heads, rows) + paragraph(f"{about} {above_the_promise(right_size)}", "small")


def above_the_promise(right_size: RightSize) -> str:
    """Return the sentence on groups of which the backtest killed more than was promised."""
    groups = right_size.backtest("group")
    is_above_promise = groups["killed_time"] + groups["killed_memory"] > groups["promised"]
    share_of_jobs = groups["jobs"][is_above_promise].sum() / max(groups["jobs"].sum(), 1)
    return (
        f"By group: above the promise in {int(is_above_promise.sum()):,} of {len(groups):,}, with "
        f"{share(share_of_jobs)} of the jobs: the "
        "promise is of the mean, and a group of few jobs is above it with its first killed one."
    )
