"""The judgement of a log in words, for the terminal and for reports."""

from __future__ import annotations

from cosched.cluster.judgement import FitVerdict, LogJudgement
from cosched.cluster.judgement.verdict import MIN_WAITING_JOBS
from cosched.core.formats import share
from cosched.core.text import count_of
from cosched.units import format_duration

#: So many partitions are named.
MAX_PARTITIONS = 8
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
        f"in the simulation (mean of {judgement.replications} replications); the other "
        f"{judgement.jobs_at_once:,} started at once in both and are not compared."
    )
    first = [compared, *_about_jobs_not_compared(judgement)]
    if log.jobs < MIN_WAITING_JOBS:
        return [*first, "So few waiting jobs say little of the configuration."]
    return [
        *first,
        f"Mean wait of these jobs: {format_duration(log.mean)} in the log, "
        f"{format_duration(log.other_mean)} in the "
        f"simulation; 95th percentile: {format_duration(log.p95)} and "
        f"{format_duration(log.other_p95)}.",
        f"{share(log.near_300)} of these jobs start within five minutes of the log "
        f"({share(log.near_60)} within one minute); between two replications it is "
        f"{share(pair.near_300)} ({share(pair.near_60)}).",
    ]


def _about_jobs_not_compared(judgement: LogJudgement) -> list[str]:
    """Return why the comparison has fewer jobs than the log; empty where it has all."""
    counts = judgement.jobs_not_compared
    if not counts:
        return []
    total = count_of(judgement.jobs + sum(counts.values()), "job")
    whose = ", ".join(f"{count:,} {why}" for why, count in counts.items())
    return [f"Of {total} of the log {sum(counts.values()):,} are not compared: {whose}."]


def paragraphs_about(
    judgement: LogJudgement | None, reference: str = "", *, is_chosen: bool = False
) -> list[str]:
    """What a report says of the simulator and the log, the verdict first.

    Parameters
    ----------
    judgement : LogJudgement or None
        None: the log has no waits.
    reference : str
        The policy of the report's what-ifs; empty: it has none.
    is_chosen : bool
        Whether the user chose that policy.
    """
    if judgement is None:
        return [_NO_WAITS]
    verdict = f"{judgement.verdict.sentence}."
    if reference:
        verdict += f" {_about_reference(judgement, reference, is_chosen)}"
    evidence = " ".join(_evidence(judgement)) + _partitions(judgement)
    return [verdict, evidence, *_reasons(judgement)]


def _about_reference(judgement: LogJudgement, reference: str, is_chosen: bool) -> str:
    if is_chosen:
        return f"The reference policy is {reference}, as chosen (--reference)."
    if judgement.is_explained:
        return f"The reference policy is {reference}."
    return (
        "What-ifs of the simulator would be about another cluster: the reference policy is "
        f"{reference} instead."
    )


def _reasons(judgement: LogJudgement) -> list[str]:
    if judgement.verdict is not FitVerdict.NOT_EXPLAINED:
        return []
    if not judgement.reasons:
        return ["Log and slurm.conf show no reason."]
    texts = "; ".join(reason.text for reason in judgement.reasons)
    return [f"Likely reasons: {texts}."]


def _partitions(judgement: LogJudgement) -> str:
    """Return starts within five minutes by partition, where there are several."""
    rows = judgement.fit[1:].to_dict("records")
    parts = [
        f"{row['partition']} {share(row['waiting_within_300'])} of {row['waiting_jobs']:,.0f}"
        for row in rows
        if round(row["waiting_jobs"])
    ]
    if len(rows) < 2 or not parts:
        return ""
    ellipsis = ", ..." if len(parts) > MAX_PARTITIONS else ""
    return f" By partition: {', '.join(parts[:MAX_PARTITIONS])}{ellipsis}."
