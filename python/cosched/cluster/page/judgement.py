"""The judgement of a log in words: lines of the terminal, and a part of a page."""

from __future__ import annotations

from html import escape

from cosched.cluster.judgement import FitVerdict, LogJudgement
from cosched.cluster.judgement.verdict import MIN_WAITING_JOBS
from cosched.cluster.page.text import paragraph, share, span, table
from cosched.core.text import count_of

_NO_WAITS = "The log has no waits, so nothing says how near the simulator of this Slurm is to it."


def lines_of_judgement(judgement: LogJudgement) -> list[str]:
    """The verdict, the numbers that it rests on, and likely reasons, a line each.

    The same lines are printed by ``audit``, ``tune`` and ``slurm check``.
    """
    reasons = [f"likely reason: {reason.text}" for reason in judgement.reasons]
    return [f"{judgement.verdict.sentence}.", *_evidence(judgement), *reasons]


def _evidence(judgement: LogJudgement) -> list[str]:
    comparison = judgement.comparison
    log, pair = comparison.log, comparison.two_simulations
    waiting = judgement.waiting_jobs
    compared = (
        f"{waiting:,} of {count_of(judgement.jobs, 'job')} waited more than a minute in the log or "
        f"in the simulation (mean of {judgement.replications} simulations); the other "
        f"{judgement.jobs_at_once:,} started at once in both and say nothing."
    )
    if log.jobs < MIN_WAITING_JOBS:
        return [compared, "So few waiting jobs say little of the configuration."]
    return [
        compared,
        f"Mean wait of these jobs: {span(log.mean)} in the log, {span(log.other_mean)} in the "
        f"simulation; 95th percentile: {span(log.p95)} and {span(log.other_p95)}.",
        f"Starts within five minutes of the log's: {share(log.near_300)}, within one: "
        f"{share(log.near_60)}; two simulations have {share(pair.near_300)} and "
        f"{share(pair.near_60)} with each other.",
    ]


def about_judgement(
    judgement: LogJudgement | None, reference: str = "", *, is_chosen: bool = False
) -> str:
    """What a page says of the simulator and the log; `reference`: the policy of its what-ifs, and
    whether the user chose it."""
    if judgement is None:
        return paragraph(_NO_WAITS)
    first = f"{judgement.verdict.sentence}. {' '.join(_evidence(judgement))}"
    if reference:
        first += f" {_about_reference(judgement, reference, is_chosen)}"
    return paragraph(first) + _reasons(judgement) + _partitions(judgement)


def _about_reference(judgement: LogJudgement, reference: str, is_chosen: bool) -> str:
    if is_chosen:
        return f"The reference policy is {reference}, as chosen (--reference)."
    if judgement.is_explained:
        return f"The reference policy is {reference}."
    return (
        "What-ifs of the simulator would be about another cluster: the reference policy is "
        f"{reference} instead."
    )


def _reasons(judgement: LogJudgement) -> str:
    if judgement.verdict is not FitVerdict.NOT_EXPLAINED:
        return ""
    if not judgement.reasons:
        return paragraph("Log and slurm.conf show no reason.")
    items = "".join(f"<li>{escape(reason.text)}</li>" for reason in judgement.reasons)
    return f"{paragraph('Likely reasons:')}<ul>{items}</ul>"


def _partitions(judgement: LogJudgement) -> str:
    """The jobs that waited by partition, where there are several."""
    heads = ("partition", "jobs", "of them waited", "starts within five minutes")
    rows = [
        (
            row["partition"],
            f"{row['jobs']:,}",
            f"{row['waiting_jobs']:,.0f}",
            share(row["waiting_within_300"]) if row["waiting_jobs"] else "-",
        )
        for row in judgement.fit[1:].to_dict("records")
    ]
    return f"<div class=fit>{table(heads, rows)}</div>" if len(rows) > 1 else ""
