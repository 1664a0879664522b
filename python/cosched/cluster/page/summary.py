"""The first sentence of the page, and the box with what was ignored."""

from __future__ import annotations

from math import floor

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_waits, used_of
from cosched.cluster.page.runs import PERFECT, PLAIN, TWIN, Runs, knows_limits, why_no_dfrs
from cosched.cluster.page.text import box, number, period, share, span
from cosched.core import Bound

#: A bound below this says little: a stretch is 1 at least.
WEAK = 1.1
_IGNORED = (
    "dropped",
    "not used",
    "not followed",
    "assumed: left out",
    "assumed: the bound",
    "assumed: DFRS",
)


def lead(runs: Runs) -> str:
    """From when to when, how many jobs, how long they waited, what could have been."""
    instance = runs.instance
    ends = runs.logged.outcome["end"] if runs.logged else instance.column("submit")
    end = float(np.max(ends))
    when = period(instance, float(instance.column("submit").min()), end)
    return "; ".join([_waited(runs, when), _could(runs), _least(runs)]) + "."


def _waited(runs: Runs, when: str) -> str:
    jobs = f"{int(runs.instance.measured.sum()):,} jobs"
    if runs.logged is None:
        why = "as-logged has no result" if has_waits(runs.instance) else "the log has no waits"
        return f"{when}, {jobs} came, and {why}: nothing says how long they waited"
    metrics = runs.logged.metrics()
    return (
        f"{when}, {jobs} waited {span(metrics['mean_wait'])} on average, and one in twenty "
        f"{span(metrics['p95_wait'])} or more"
    )


def _could(runs: Runs) -> str:
    if runs.attainable is None:
        name = "EASY backfilling" if runs.counts == PLAIN else runs.counts
        return f"{name} has no result, see below"
    if runs.counts == TWIN:
        median = runs.attainable.metrics().get(
            "mean_wait_median", runs.attainable.metrics()["mean_wait"]
        )
        return f"the twin of this Slurm lets them wait {span(median)}"
    wait = runs.attainable.metrics()["mean_wait"]
    with_ = "the users' own time limits" if knows_limits(runs.instance) else "known run times"
    return f"EASY backfilling with {with_} would have let them wait {span(wait)}"


def _least(runs: Runs) -> str:
    bound = bound_of(runs)
    if bound is None or bound.value < WEAK:
        return "what no scheduler can beat is not known"
    had = {"log": runs.logged, runs.counts: runs.attainable}
    known = [
        f"{name}: {number(result.value)} times"
        for name, result in had.items()
        if result is not None and result.value >= bound.value  # a log may use more than there is
    ]
    return (
        f"no scheduler can keep the worst-hit job below {floor(10 * bound.value) / 10:.1f} times "
        f"its own run time" + (f" ({', '.join(known)})" if known else "")
    )


def used_in_words(instance: Instance) -> str:
    """How much of the time and memory that jobs asked for they used."""
    time, memory = used_of(instance)
    parts = [f"{share(part)} of the {what} they asked for"
             for part, what in ((time, "time"), (memory, "memory")) if part > 0]  # fmt: skip
    return " and ".join(parts)


def bound_of(runs: Runs) -> Bound | None:
    """On the maximum stretch; None: not reached."""
    return next((proof for run in runs.all if (proof := run.row.get("proof")) is not None), None)


def about_bound(runs: Runs) -> str:
    """What is proved of the largest stretch, else what is attainable."""
    bound = bound_of(runs)
    known = [
        (run.result.value, f"{run.name} ({run.knows})")
        for run in runs.all
        if run.result and run.name != "as-logged" and run.knows != PERFECT
    ]
    best = "" if not known else "Attainable is {:,.6g}, by {}.".format(*min(known))
    within = "" if runs.time_limit is None else f" in {runs.time_limit:g} s (--time-limit)"
    if bound is None:
        return f"{best} Whether that can be beaten is open: the bound was not reached{within}."
    so_far = "" if bound.status == "ok" else f", {bound.method}: what was proved{within}"
    if bound.value < WEAK:
        return (
            f"{best} The bound is weak here: {bound.value:.6g}{so_far}, and every stretch is 1 or "
            "more."
        )
    return f"No schedule whatsoever has a largest stretch below {bound.value:.6g}{so_far}. {best}"


def ignored(runs: Runs) -> str:
    """What was ignored, then what was assumed."""
    instance = runs.instance
    lines = [*runs.not_followed, *(line.strip() for line in instance.notes)]
    if len(instance.layout[0]):
        lines.append("assumed: the bound ignores partitions: it is valid, and can be weak")
    if why := why_no_dfrs(instance):
        lines.append(f"assumed: DFRS policies are left out: {why}")
    if has_waits(instance):
        lines.append("assumed: as-logged: the log has starts, and does not say on which nodes")
    lines.append("assumed: policies know no limits of users, accounts or QOS, and no reservations")
    of_machine = set() if instance.machine is None else {n.strip() for n in instance.machine.notes}
    first = [line for line in lines if line.startswith(_IGNORED) or line in of_machine]
    lines = [*first, *(line for line in lines if line not in first)]
    return box("What was ignored, and what was assumed", lines)
