"""Write the audit page of a log."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from html import escape
from math import floor
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from cosched import io
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_waits
from cosched.cluster.judgement import LogJudgement
from cosched.cluster.judgement.judge import SIMULATOR
from cosched.cluster.machine.parts import managed_resources
from cosched.cluster.page import tables, text as words
from cosched.cluster.page.judgement import about_judgement, lines_of_judgement
from cosched.cluster.page.replications import measures_of
from cosched.cluster.page.runs import EASY, Runs, knows_limits, run_all, why_no_dfrs
from cosched.cluster.page.text import draw, picture, what_if_bars
from cosched.cluster.page.what_if import scenario_of
from cosched.cluster.result.log_fit import to_records
from cosched.core.arrays import integer, time_limit_of
from cosched.core.text import texts
from cosched.lazy import plt
from cosched.notes import Note, NoteKind
from cosched.units import format_duration, format_exact_duration
from cosched.version import installed_version


def audit(
    instance: Instance,
    path: str | PathLike[str],
    *,
    time_limit: float | None = 15.0,
    what_if: Iterable[str] = (),
    rightsize: str | PathLike[str] | None = None,
    draws: int | None = None,
    json: str | PathLike[str] | None = None,
    reference: str | None = None,
    judgement: LogJudgement | None = None,
    say: Callable[[str], object] | None = None,
) -> plt.Figure | None:
    """Write one self-contained page about a log, for the one who decides.

    It begins with a sentence: from when to when, how many jobs, how long they waited, what EASY
    backfilling with the users' own limits would have given, and what no scheduler can beat. Then
    load, queue and waits by day; policies beside the log (``as-logged``, where it has waits) and
    the bound; the machine changed; use of cores, memory and GPUs and which of them lacked; waits by
    partition, user group, size and GPUs; the longest waits and why; what was ignored and assumed.
    It prints on two pages of A4.

    Parameters
    ----------
    path : str or path-like
        Ends in .html. Replaced as a whole or not at all.
    time_limit : float or None
        Seconds for the bound, and for each policy but ``slurm-backfill``; a policy that takes
        longer is left out, with a remark. ``slurm-backfill`` stops after the replications that the
        time has room for. However long they take, it has at least two, and those that judge a log
        with waits: 60 for up to 1,000 jobs, 20 for up to 5,000, else 8. Under a change it is left
        out where it takes four times as long as on the machine as it is, and longer for what runs
        beside it.
    what_if : iterable of str
        Changes of the machine, a row each with the same jobs: ``"nodes=+20"`` (or ``-20``, or
        ``200``; of the type with the most nodes, ``nodes.TYPE=`` of another),
        ``"partition.NAME.max_time=12:00:00"`` (longer jobs end there),
        ``"partition.NAME.priority=5"``, ``"partition.NAME.nodes=0-63"`` (also as Slurm has them);
        several changes of one row with commas between them; where the machine is a slurm.conf also
        ``"slurm.conf=new.conf"``, ``"PriorityWeightAge=5000"``, ``"bf_interval=60"``,
        ``"qos.high.MaxTRESPU=cpu=512"``, ``"account.physics.Fairshare=200"``,
        ``"partition.gpu.KEY=value"``, ``"nodes.g[1-4]=+4"``,
        ``"reservation=2026-12-01T08:00/12h/ALL"``; and ``"users.ada=-50%"``: fewer of somebody's
        jobs. Each row has a class: simulated, unchanged, no effect, or not modelled (without
        numbers), with its reason.
    draws : int, optional
        Replications of ``slurm-backfill``, each with other hidden clocks; default 20, fewer where
        `time_limit` has no room. All rows have the same ones. A difference is clear when zero lies
        outside the 95% prediction interval of one more replication.
    json : path-like, optional
        Write fit and what-ifs as numbers, too: ``{"fit": ..., "judgement": ..., "reference": ...,
        "rows": [...]}`` (s), with ``class``, ``reason`` and ``remarks``; a row without a simulation
        has null for numbers.
    reference : str, optional
        The policy of what-ifs: ``slurm-backfill``, ``EASY``, ``conservative``, ``FCFS``. Default:
        ``slurm-backfill`` where it explains the log (:func:`judge_log`), else ``EASY``.
    judgement : LogJudgement, optional
        What :func:`judge_log` said of the log; default: of `instance`.
    say : callable, optional
        Called with each line of the judgement, and with the name and remark of each row that has
        one.
    rightsize : str or path-like, optional
        The page that :meth:`RightSize.write` wrote of the log, to which this one links.

    Returns
    -------
    matplotlib.figure.Figure or None
        The page's picture of load, queue and waits, for :func:`cosched.plot.save`; None where
        neither the log nor EASY has a result.

    Raises
    ------
    InvalidInstance
        A change that is none, or asks for what the machine does not have; another suffix.

    Notes
    -----
    DFRS policies are left out where they have no meaning: tasks that need whole nodes, partitions.

    Examples
    --------
    >>> inst = cs.cluster.Instance(cs.workloads.lublin(60, 8, seed=1), nodes=8)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "audit.html"
    >>> figure = cs.cluster.audit(inst, path, what_if=["nodes=+4"])
    >>> "conservative" in path.read_text()
    True
    """
    Instance.require(instance)
    io.check_suffix(path, (".html",))
    count = None if draws is None else integer(draws, "draws", 1, 1_000_000)
    limit = time_limit_of(time_limit)
    scenario_texts = texts(what_if, "what_if")
    scenarios = [scenario_of(instance, text) for text in scenario_texts]
    runs = run_all(instance, scenarios, limit, count, reference or "", judgement)
    figure = draw(runs)
    io.write_text(_page(runs, figure, _link(rightsize, path)), path)
    if json is not None:
        io.write_json({**_plain_judgement(runs), "rows": tables.rows_of_changes(runs)}, json)
    if say is not None:
        _say(runs, say)
    return figure


def _say(runs: Runs, say: Callable[[str], object]) -> None:
    """Report the judgement of the log, the reference policy, and remarks on rows."""
    if runs.judgement is not None:
        for line in lines_of_judgement(runs.judgement):
            say(line)
        chosen = ", as chosen" if runs.chosen_reference else ""
        say(f"reference policy: {runs.reference_policy}{chosen}")
    for run in runs.rows:
        if remarks := tables.remarks_of(runs, run):
            say(f"{run.name}: {remarks}")


def _plain_judgement(runs: Runs) -> dict[str, Any]:
    """The judgement of the log as JSON has it; None where there is none."""
    judgement = runs.judgement
    if judgement is None:
        return {"fit": None, "judgement": None, "reference": runs.reference_policy}
    return {
        "fit": to_records(judgement.fit),
        "judgement": judgement.to_dict(),
        "reference": runs.reference_policy,
    }


def _link(page: str | PathLike[str] | None, path: str | PathLike[str]) -> str:
    """Return the sentence with the link to the page of `rightsize`."""
    if page is None:
        return "What they should ask for, and what that gives: cosched rightsize."
    relative_path = quote(os.path.relpath(page, Path(path).parent))
    return f'<a href="{relative_path}">What they should ask for, and what that gives.</a>'


def _page(runs: Runs, figure: plt.Figure | None, link: str) -> str:
    instance = runs.instance
    title = f"{instance.source or 'jobs'}: audit"
    under = "" if runs.logged else f" under {runs.reference_policy}"
    parts = [
        *([("", _about_reference(runs))] if runs.has_simulator else []),
        ("Load, queue and waits", picture(figure)),
        ("What happened, and what other policies would have given", tables.policies(runs)),
        *([("What if", what_if_bars(runs) + tables.changes(runs))] if runs.scenario_runs else []),
        ("", tables.groups(runs)),
        (f"The {tables.LONGEST} longest waits{under}", tables.longest(runs)),
    ]
    about = words.paragraph(f"{_size(instance)}; cosched {installed_version()}", "small")
    # How much of what jobs asked for they used, where the log says it.
    usage = words.used_in_words(instance)
    usage_paragraph = f"<p class=small>Jobs used {escape(usage)}. {link}</p>\n" if usage else ""
    head = f"{words.paragraph(lead(runs), 'lead')}\n{about}\n{usage_paragraph}"
    return words.render_page(title, head, parts, ignored(runs))


def _about_reference(runs: Runs) -> str:
    return about_judgement(
        runs.judgement, runs.reference_policy, is_chosen=bool(runs.chosen_reference)
    )


def _size(instance: Instance) -> str:
    machine = instance.machine
    if machine is None:
        return f"{instance.nodes:,} nodes"
    handed = ", ".join(
        ("cores", *map(words.display_name, managed_resources(instance.given, machine)))
    )
    return f"{machine.cores:,} cores of {machine.node_count:,} nodes (handed out: {handed})"


#: Kinds of notes that tell what has no effect on the numbers of the report.
_IGNORED_KINDS = (
    NoteKind.DROPPED,
    NoteKind.NOT_USED,
    NoteKind.NOT_FOLLOWED,
    NoteKind.REFUSED_JOBS,
)


def lead(runs: Runs) -> str:
    """Return the lead: time range, jobs, waits, the reference policy's waits, and the bound."""
    instance = runs.instance
    ends = runs.logged.outcome["end"] if runs.logged else instance.column("submit")
    end = float(np.max(ends))
    when = words.period(instance, float(instance.column("submit").min()), end)
    return (
        "; ".join([_waits_clause(runs, when), _achievable_clause(runs), _bound_clause(runs)]) + "."
    )


def _waits_clause(runs: Runs, when: str) -> str:
    jobs = f"{int(runs.instance.measured.sum()):,} jobs"
    if runs.logged is None:
        why = "as-logged has no result" if has_waits(runs.instance) else "the log has no waits"
        return f"{when}, {jobs} came, and {why}: nothing says how long they waited"
    metrics = runs.logged.metrics()
    return (
        f"{when}, {jobs} waited {format_duration(metrics['mean_wait'])} on average, and one "
        "in twenty "
        f"{format_duration(metrics['p95_wait'])} or more"
    )


def _achievable_clause(runs: Runs) -> str:
    if runs.reference_result is None:
        name = "EASY backfilling" if runs.reference_policy == EASY else runs.reference_policy
        return f"{name} has no result, see below"
    if runs.reference_policy not in (SIMULATOR, EASY):
        wait = runs.reference_result.metrics()["mean_wait"]
        return f"{runs.reference_policy} would have let them wait {format_duration(wait)}"
    if runs.reference_policy == SIMULATOR:
        mean = measures_of(runs.reference_result)["mean_wait"]
        return f"the simulator of this Slurm lets them wait {format_exact_duration(mean)}"
    wait = runs.reference_result.metrics()["mean_wait"]
    with_ = "the users' own time limits" if knows_limits(runs.instance) else "known run times"
    return f"EASY backfilling with {with_} would have let them wait {format_duration(wait)}"


def _bound_clause(runs: Runs) -> str:
    bound = runs.bound
    if bound is None or bound.value < tables.WEAK:
        return "what no scheduler can beat is not known"
    results = {"log": runs.logged, runs.reference_policy: runs.reference_result}
    stretches = [
        f"{name}: {words.number(measures_of(policy_result)['value'])} times"
        for name, policy_result in results.items()
        if policy_result is not None
        and policy_result.value >= bound.value  # a log may use more than there is
    ]
    return (
        f"no scheduler can keep the worst-hit job below {floor(10 * bound.value) / 10:.1f} times "
        f"its own run time" + (f" ({', '.join(stretches)})" if stretches else "")
    )


def ignored(runs: Runs) -> str:
    """Return the aside of what was ignored, then of what was assumed."""
    instance = runs.instance
    notes = [*runs.not_followed, *instance.notes]
    if len(instance.layout[0]):
        text = "assumed: the bound ignores partitions: it is valid, and can be weak"
        notes.append(Note(NoteKind.NOT_USED, text, subject="partitions"))
    if why := why_no_dfrs(instance):
        text = f"assumed: DFRS policies are left out: {why}"
        notes.append(Note(NoteKind.DROPPED, text, subject="DFRS policies"))
    if has_waits(instance):
        text = "assumed: as-logged: the log has starts, and does not say on which nodes"
        notes.append(Note(NoteKind.ASSUMED, text, subject="as-logged"))
    text = "assumed: policies know no limits of users, accounts or QOS, and no reservations"
    notes.append(Note(NoteKind.ASSUMED, text, subject="limits"))
    of_machine = () if instance.machine is None else instance.machine.notes
    ignored_notes = [note for note in notes if note.kind in _IGNORED_KINDS or note in of_machine]
    other_notes = [note for note in notes if note not in ignored_notes]
    lines = [note.strip() for note in (*ignored_notes, *other_notes)]
    return words.render_aside("What was ignored, and what was assumed", lines)
