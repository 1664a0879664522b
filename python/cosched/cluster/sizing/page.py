"""Advice as workflow systems and batch scripts read it, and the page about right sizes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.cluster.instance.job_names import names_a_kind
from cosched.cluster.page.text import (
    box,
    document,
    number,
    paragraph,
    period,
    share,
    span,
    table,
    used_in_words,
)
from cosched.core.text import count_of, percent
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
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
#: Columns of groups that tell the steps of a workflow apart, the first that is there counts.
_STEP_COLUMNS = ("name", "comment")
#: Columns of groups that the line above some options of sbatch lists.
_GROUP_COLUMNS = ("user", "account", "partition", "group", "qos", "comment", "cores")
#: What means something else in a withName of Nextflow, which takes a regular expression.
_PATTERN = re.compile(r"[\\^$.|?*+()\[\]{}!]")
#: What workflow systems put around the names of their steps.
_AROUND = re.compile(r"^(?:snakejob\.|nf-|smk-)|\.sh$|[^A-Za-z0-9]*#.*$")


def limit_as_typed(seconds: float) -> str:
    """A limit as sbatch takes it.

    >>> limit_as_typed(4500.0)
    '1:15:00'
    """
    minutes, rest = divmod(math.ceil(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def megabytes(gigabytes: float) -> int:
    """Of a node, as Slurm counts them; of a partition's largest node not one more than it has.

    >>> megabytes(1.5)
    1536
    """
    return math.ceil(round(gigabytes * 1024, 6))


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
            about += f"; {_left_out(nameless_jobs, column)}"
        advice = advice[has_name]
    writers = {"snakemake": _snakemake, "nextflow": _nextflow, "sbatch": _sbatch}
    lines = writers[form](advice, about)
    return "".join(f"{line}\n" for line in lines)


def _step_column(advice: pd.DataFrame) -> str | None:
    """The column that tells the steps of a workflow apart; None: the groups have none."""
    return next((column for column in _STEP_COLUMNS if column in advice), None)


def _left_out(jobs: int, column: str) -> str:
    """Why an export lacks jobs."""
    if column == "comment":
        return (
            f"{count_of(jobs, 'job')} left out, whose Comment is empty or differs in every run "
            "(UUIDs or numbers)"
        )
    return f"{jobs:,} jobs left out, whose names differ in every run (UUIDs or numbers)"


def _group_text(row: Any, step_column: str | None) -> str:
    """The group of a row of advice, as in ``user ada, partition long``."""
    columns = [column for column in _GROUP_COLUMNS if column in row and column != step_column]
    return _on_a_line(", ".join(f"{column} {row[column]}" for column in columns))


def options_of(row: Any) -> Iterator[str]:
    """Options of sbatch; ``--mem`` is that of a node."""
    if row["limit"] > 0:
        yield f"--time={limit_as_typed(row['limit'])}"
    if row["memory_gb"] > 0:
        whole, rest = divmod(megabytes(row["node_memory_gb"]), 1024)
        yield f"--mem={1024 * whole + rest}M" if rest else f"--mem={whole}G"


def _sbatch(advice: pd.DataFrame, about: str) -> Iterator[str]:
    said = advice[(advice["limit"] > 0) | (advice["memory_gb"] > 0)]
    column = _step_column(advice)
    yield f"# {about}"
    if not len(said):
        yield f"# {_NO_ADVICE_FOR_GROUPS if column is None else _NO_ADVICE}"
    for _, row in said.iterrows():
        group = _group_text(row, column)
        step = "" if column is None else _on_a_line(str(row[column]))
        heading = ": ".join(text for text in (step, group) if text) or "all jobs"
        yield f"# {heading}; {row['jobs']} jobs"
        yield from (f"#SBATCH {option}" for option in options_of(row))


def _steps(advice: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """What is enough for all jobs of a step of a workflow: nothing of what one of its groups has
    no advice for, 0."""
    names = advice[_step_column(advice)].astype(str)
    steps = _whole_units(advice).assign(name=[_AROUND.sub("", _AROUND.sub("", n)) for n in names])
    each = {"minutes": "max", "mb": "max", "jobs": "sum"}
    steps = steps[steps["name"] != ""].groupby("name")[[*each]].agg(each).replace(np.inf, 0)
    for name, row in steps[(steps["mb"] > 0) | (steps["minutes"] > 0)].iterrows():
        yield str(name), row


def _whole_units(advice: pd.DataFrame) -> pd.DataFrame:
    """The advice with whole ``minutes`` and ``mb``; infinite: there is none."""
    return advice.assign(
        mb=[megabytes(x) if x > 0 else np.inf for x in advice["node_memory_gb"]],
        minutes=np.ceil(advice["limit"] / 60).fillna(np.inf),
    )


def _default_of_all_steps(advice: pd.DataFrame) -> tuple[list[str], int, int]:
    """Comments that list the groups, and the MB and minutes that are enough for each of them; 0:
    a group has no advice."""
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
        plain = re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in _WORDS_OF_YAML
        key = name if plain else json.dumps(_on_a_line(name), ensure_ascii=False)
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


_MOST_ROWS = 20
#: Heads of columns -> those of the advice.
_TIMES = {"time asked": "asked_limit", "95% ran at most": "used_limit_p95", "limit": "limit"}
_MEMORY = {"memory asked": "asked_memory_gb", "95% used at most": "used_memory_p95",
           "memory": "memory_gb", "first": "first_memory_gb"}  # fmt: skip
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


def page(found: RightSize, replayed: pd.DataFrame, user: str | None) -> str:
    """Of all jobs, or with the advice for those of one user."""
    title = f"{found.instance.source or 'jobs'}: right sizes" + (f" for {user}" if user else "")
    advice = found.advice_for(user)
    parts = [("What it gives", _gains(replayed)), ("Advice", _advice(found, advice)),
             ("Would it have held?", _held(found))]  # fmt: skip
    if user is not None:
        lead = " ".join(for_user(found, replayed, user, 0))
        parts = [parts[1], parts[0], parts[2]]
    else:
        lead = lead_of(found, replayed)
    notes = box("Of the log", (note.strip() for note in (*found.notes, *found.instance.notes)))
    head = f"{paragraph(lead, 'lead')}\n{paragraph(f'cosched {installed_version()}', 'small')}"
    return document(title, head, parts, notes)


def lead_of(found: RightSize, replayed: pd.DataFrame) -> str:
    """From when to when, how much of what was asked for was used, what would change."""
    instance, use = found.instance, found.use
    when = period(instance, float(use.submit.min()), float(use.end.max()))
    said = [f"{when}, {len(instance):,} jobs used {used_in_words(instance)}"]
    now, then = (_row(replayed, "EASY", k) for k in (0, 1))
    if not np.isnan(now["mean_wait"]):
        said.append(
            f"had all asked for what is advised here, they would have waited "
            f"{span(then['mean_wait'])} on average instead of {span(now['mean_wait'])} (under EASY)"
        )
    covered = found.advice["jobs"][found.advice["enough"]].sum() / len(instance)
    said.append(f"there is advice for {share(covered)} of them, each killed with a chance of "
                f"{100 * found.risk:g}% at most")  # fmt: skip
    return "; ".join(said) + "."


def for_user(found: RightSize, replayed: pd.DataFrame, user: str, most: int) -> list[str]:
    """Sentences for a mail; `most` groups have a line each."""
    mine = found.advice_for(user)
    said = [f"Hello {user}: of your jobs, {mine['jobs'].sum():,} are in this log."]
    told = mine[(mine["limit"] > 0) | (mine["memory_gb"] > 0)]
    if not len(told):
        return [*said, "They are too few, or too different, for advice that holds."]
    said += [_line(row) for _, row in told.head(most).iterrows()]
    now, all_, alone = (_row(replayed, "EASY", k) for k in (0, 1, -1))
    if not np.isnan(now["user_wait"]):
        said.append(
            f"Had you alone asked for what is advised, your jobs would have waited "
            f"{span(alone['user_wait'])} on average instead of {span(now['user_wait'])}; had all, "
            f"{span(all_['user_wait'])}."
        )
        if alone["user_wait"] < now["user_wait"]:
            said[-1] += " Smaller and shorter jobs find a hole sooner."
    return said


def _line(row: Any) -> str:
    name = row.get("name", "") or row.get("comment", "") or "jobs"
    asked = [span(row["asked_limit"])] if row["asked_limit"] > 0 else []
    used = [span(row["used_limit_p95"])]
    if row["memory_gb"] > 0:
        asked.append(_gb(row["asked_memory_gb"]))
        used.append(_gb(row["used_memory_p95"]))
    return (
        f"  {name} ({row['jobs']:,} jobs): they asked for {' and '.join(asked)}; 95% of them "
        f"needed {' and '.join(used)} at most. sbatch {' '.join(options_of(row))} ends at most "
        f"{100 * row['risk']:g}% of such jobs (by {row['past']:,} of the past)."
    )


def _row(replayed: pd.DataFrame, policy: str, number: int) -> Any:
    return replayed[replayed["policy"] == policy].iloc[number]


def _gains(replayed: pd.DataFrame) -> str:
    one = replayed["user_wait"].notna().any()
    heads = ["policy", "(who follows the advice)", "mean wait", "95% wait at most",
             *(["mean wait of the one"] if one else []), "killed jobs", "core hours lost",
             "core hours reserved"]  # fmt: skip
    rows = []
    for _, row in replayed.iterrows():
        waits = [span(row[name]) for name in ("mean_wait", "p95_wait", "user_wait")[: 2 + one]]
        who = f"{row['who']}{': ' * bool(row['message'])}{row['message']}"
        hours = (number(row[f"{name}_core_hours"]) for name in ("lost", "reserved"))
        rows.append([row["policy"], who, *waits, f"{row['killed']:,}", *hours])
    return table(heads, rows, marked_row=1) + paragraph(_ABOUT_REPLAY, "small")


def _advice(found: RightSize, advice: pd.DataFrame) -> str:
    names = [name for name in found.use.names if name in advice]
    own, shown = found.use.levels[0][0], advice.head(_MOST_ROWS)
    columns: dict[str, list[Any]] = {name: list(shown[name]) for name in names}
    columns["jobs"] = [f"{count:,}" for count in shown["jobs"]]
    columns |= {head: [span(one) for one in shown[name]] for head, name in _TIMES.items()}
    columns |= {head: [_gb(one) for one in shown[name]] for head, name in _MEMORY.items()}
    columns["jobs of the past"] = [f"{count:,}" for count in shown["past"]]
    columns["like"] = [
        ("these" if like == own else like or "all") if past else "-"
        for like, past in zip(shown["like"], shown["past"], strict=True)
    ]
    columns = {head: cells for head, cells in columns.items() if set(cells) != {"-"}}
    more = len(advice) - len(shown)
    said = f"Those first that leave most unused; {more:,} more groups. " if more else ""
    rows = zip(*columns.values(), strict=True)
    return table(list(columns), rows) + paragraph(said + _PROMISE, "small")


def _gb(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:,.3g} GB"


def _held(found: RightSize) -> str:
    held = found.backtest()
    if not len(held):
        return paragraph(
            "No backtest: it needs jobs that ended on one day and like jobs on a later one."
        )
    period = held.columns[0]
    heads = [period, "jobs with advice", "promised", "killed for time", "killed for memory",
             "not known", "GB hours saved", "core hours reserved less",
             "core hours lost"]  # fmt: skip
    rows = [
        [row[period], f"{row['jobs']:,}",
         *(f"{100 * row[name]:.2f}%" for name in ("promised", "killed_time", "killed_memory",
                                                  "unknown")),
         *(number(row[f"{name}_hours"]) for name in ("saved_memory", "saved_core", "lost_core"))]
        for _, row in held.iterrows()
    ]  # fmt: skip
    killed = held["killed_time"] + held["killed_memory"]
    mean, promised = (np.average(one, weights=held["jobs"]) for one in (killed, held["promised"]))
    about = (
        f"Advice of each {period} from what had ended before it: {percent(mean)} killed, "
        f"{percent(promised)} promised. Not known: the log's own request ended the job below the "
        "advice."
    )
    return table(heads, rows) + paragraph(f"{about} {above_the_promise(found)}", "small")


def above_the_promise(found: RightSize) -> str:
    """In how many groups the backtest killed more than was promised."""
    groups = found.backtest("group")
    worse = groups["killed_time"] + groups["killed_memory"] > groups["promised"]
    return (
        f"By group: above the promise in {int(worse.sum()):,} of {len(groups):,}, with "
        f"{share(groups['jobs'][worse].sum() / max(groups['jobs'].sum(), 1))} of the jobs: the "
        "promise is of the mean, and a group of few jobs is above it with its first killed one."
    )
