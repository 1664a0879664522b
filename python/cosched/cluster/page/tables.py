"""Tables of the page: policies, groups of jobs, the machine changed, the longest waits and why."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from cosched.cluster.family import remark
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import resources
from cosched.cluster.machine.parts import managed_resources
from cosched.cluster.page.replications import (
    COMPARISON_NUMBERS,
    CommonJobs,
    Comparison,
    Spread,
    compare,
    measures_of,
    waits,
    waits_by,
    waits_of_jobs,
)
from cosched.cluster.page.runs import (
    MAX_GROUPS,
    PERFECT,
    GroupChange,
    PolicyRun,
    Run,
    Runs,
    ScenarioRun,
    groups_between,
    row_of,
)
from cosched.cluster.page.scenario import ScenarioClass
from cosched.cluster.page.text import (
    clock,
    display_name,
    number,
    paragraph,
    share,
    table,
    units,
)
from cosched.cluster.page.window import Window
from cosched.cluster.result import Result
from cosched.cluster.result.groups import Capacity
from cosched.core.arrays import step_function
from cosched.core.text import count_of
from cosched.units import format_duration, format_exact_duration, format_signed_duration

_MAX_GROUP_ROWS = 8
_GROUPS = {
    "partition": "By partition",
    "account": "By account",
    "qos": "By QOS",
    "group": "By user group",
    "size": "By size (tasks)",
    "gpu": "With GPUs or without",
    "user": "By user",
}
#: A bound below this says little: a stretch is 1 at least.
WEAK = 1.1
_ABOUT_WINDOW = "In use: from the first to the last submission."
_STRETCH = "Stretch: from when a job could start to its end, over its run time (10 s at least)."


def policies(runs: Runs) -> str:
    """What happened, and what other policies would have given."""
    logged = runs.logged is not None
    heads = ["policy", "(knows)", "mean wait", "half wait at most", "95% wait at most",
             "largest stretch", "machine in use"]  # fmt: skip
    window = runs.window
    rows = [[run.name, run.information, *_numbers(run, window)] for run in runs.policy_runs]
    if logged:
        heads.append("starts within a minute of the log's")
        for row, run in zip(rows, runs.policy_runs, strict=True):
            comparable_result = None if run.name == "as-logged" else run.result
            row.append(
                "-"
                if comparable_result is None
                else share(comparable_result.calibration()["within_minute"])
            )
    number = [run.name for run in runs.policy_runs].index(runs.reference_policy)
    information = runs.policy_runs[number].information
    about = f"The reference policy is {runs.reference_policy}, {information}. {_STRETCH}"
    return (
        table(heads, rows, marked_row=number)
        + paragraph(f"{about} {_ABOUT_WINDOW} {about_bound(runs)}", "small")
        + _messages(runs.policy_runs)
    )


def about_bound(runs: Runs) -> str:
    """What is proved of the largest stretch, else what is attainable."""
    bound = runs.bound
    attainable_values = [
        (run.result.value, f"{run.name} ({run.information})")
        for run in runs.policy_runs
        if run.result
        and run.name != "as-logged"
        and run.information != PERFECT
        and not run.lacks_jobs
    ]
    attainable_clause = (
        ""
        if not attainable_values
        else "Attainable is {:,.6g}, by {}.".format(*min(attainable_values))
    )
    within = "" if runs.time_limit is None else f" in {runs.time_limit:g} s (--time-limit)"
    if bound is None:
        return (
            f"{attainable_clause} Whether that can be beaten is open: the bound was not "
            f"reached{within}."
        )
    so_far = "" if bound.status == "ok" else f", {bound.method}: what was proved{within}"
    if bound.value < WEAK:
        return (
            f"{attainable_clause} The bound is weak here: {bound.value:.6g}{so_far}, and every "
            "stretch is 1 or "
            "more."
        )
    return (
        f"No schedule whatsoever has a largest stretch below {bound.value:.6g}{so_far}. "
        f"{attainable_clause}"
    )


def _numbers(run: Run, window: Window, jobs: np.ndarray | None = None) -> list[str]:
    """Mean, median and 95th-percentile wait of these jobs (default: the measured jobs), largest
    stretch, utilization: means over the replications."""
    if run.result is None:
        return ["-"] * 5
    measures = measures_of(run.result, jobs)
    waited = [
        format_exact_duration(measures[name]) for name in ("mean_wait", "median_wait", "p95_wait")
    ]
    in_use = share(window.utilization(run.result))
    return [*waited, number(measures["value"]), in_use]


def _messages(runs: tuple[PolicyRun, ...]) -> str:
    items = []
    for run in runs:
        name = run.name if run.name == "as-logged" else f"{run.name} ({run.information})"
        if text := run.row["message"] or remark(run.row):
            items.append(f"<li>{escape(name)}: {escape(text)}</li>")
    return f"<ul class=small>{''.join(items)}</ul>" if items else ""


def groups(runs: Runs) -> str:
    """Return the tables of resource use, and of waits by partition, user group, size, GPUs and
    user, in the log and under EASY."""
    first_result = runs.logged or runs.reference_result
    if first_result is None:
        return paragraph("Neither the log nor EASY has a result.")
    column_names = runs.instance.known
    column = {"gpu": "gpus", "size": "tasks"}
    tables_by_group = {
        what: first_result.by(what) for what in _GROUPS if column.get(what, what) in column_names
    }
    several = [what for what, group_table in tables_by_group.items() if len(group_table) > 1]
    parts = "".join(f"<div><h2>{_GROUPS[what]}</h2>{_group(what, runs)}</div>" for what in several)
    resources_table = _by_resource(runs)
    if resources_table:
        parts = f"<div><h2>Cores, memory and GPUs</h2>{resources_table}</div>" + parts
    missing_groups = ", ".join(what for what in _GROUPS if what not in tables_by_group)
    uniform_groups = ", ".join(
        f"{what} {tables_by_group[what][what][0]}"
        for what in tables_by_group
        if what not in several
    )
    sentences = []
    if missing_groups:
        sentences.append(f"The log does not say: {missing_groups}.")
    if uniform_groups:
        sentences.append(f"All jobs: {uniform_groups}.")
    remarks = " ".join(sentences)
    return f'<div class="pair">{parts}</div>{paragraph(remarks, "small")}'


def _by_resource(runs: Runs) -> str:
    """Return the table of cores, memory and GPUs in use, and of the ones that jobs waited for."""
    results = {"log": runs.logged, runs.reference_policy: runs.reference_result}
    tables_by_name = {
        name: _one_type(run.by("resource")) for name, run in results.items() if run is not None
    }
    if not tables_by_name:
        return ""
    first_table: Any = next(iter(tables_by_name.values()))
    first_table = first_table[first_table["capacity"].notna()]
    if len(first_table) < 2:
        return ""  # the table of policies says it
    heads = ["resource", "there are"]
    for name in tables_by_name:
        heads += [f"in use, {name}", f"waited for, {name}"]
    window = runs.window
    in_use = {
        name: window.utilization_of_resources(run)
        for name, run in results.items()
        if run is not None
    }
    # Two results may have different rows: they are paired by name.
    waited_for = {
        name: resource_table.set_index("resource")["waited"].reindex(first_table["resource"])
        for name, resource_table in tables_by_name.items()
    }
    rows = []
    for resource, capacity in first_table[["resource", "capacity"]].itertuples(index=False):
        unit = " GB" if resource == "memory_gb" else ""
        row = [display_name(resource), f"{capacity:,.0f}{unit}"]
        for name in tables_by_name:
            row.append(share(in_use[name].get(resource, np.nan)))
            row.append(share(waited_for[name][resource]))
        rows.append(row)
    counts = ", ".join(
        display_name(name)
        for name in ("cores", *managed_resources(runs.instance.given, runs.instance.machine))
    )
    note = (
        "Waited for: the share of all waiting in which too little of it was free for the first in "
        "the queue. The rest: no resource lacked as a whole (limits of users, reservations, free "
        f"in pieces that fit nobody). Policies hand out {counts}."
    )
    return table(heads, rows) + paragraph(note, "small")


def _one_type(table: Any) -> Any:
    """Return the table without the row of a GPU type if all GPUs are of that type."""
    gpu_row = table.index[table["resource"] == "gpus"]
    is_only_type = table["resource"].str.startswith("gpus:") & (
        table["capacity"] == table["capacity"].reindex(gpu_row).sum()
    )
    if not is_only_type.any():
        return table
    table.loc[gpu_row, "waited"] += table["waited"][is_only_type].sum()
    return table[~is_only_type]


def _group(what: str, runs: Runs) -> str:
    results = {"log": runs.logged, runs.reference_policy: runs.reference_result}
    tables_by_name = {
        name: waits_by(result, what) for name, result in results.items() if result is not None
    }
    first_table: Any = next(iter(tables_by_name.values()))
    order = (
        first_table.index
        if what in ("size", "gpu")
        else first_table["cpu_hours"].nlargest(_MAX_GROUP_ROWS).index
    )
    heads = [what, "jobs", "CPU hours"]
    for name in tables_by_name:
        heads += [f"mean wait, {name}", f"95% at most, {name}"]
    # A simulation that leaves jobs out may have fewer groups: rows are paired by name.
    aligned_tables = [
        waits_table.set_index(what).reindex(first_table[what])
        for waits_table in tables_by_name.values()
    ]
    waits_of_groups = [
        waits_table[c].to_numpy()
        for waits_table in aligned_tables
        for c in ("mean_wait", "p95_wait")
    ]
    rows = [
        [first_table[what][k], f"{first_table['jobs'][k]:,}", f"{first_table['cpu_hours'][k]:,.0f}"]
        + [format_duration(column[k]) for column in waits_of_groups]
        for k in order
    ]
    n_hidden = len(first_table) - len(rows)
    note = f"The {_MAX_GROUP_ROWS} with the most CPU hours; {n_hidden} more." if n_hidden else ""
    return table(heads, rows) + paragraph(note, "small")


def changes(runs: Runs) -> str:
    """The reference policy on the machine as it is, and on each changed one."""
    window = runs.window
    resource_names = managed_resources(runs.instance.given, runs.instance.machine)
    has_other_jobs = _has_other_jobs(runs)
    rows = []
    for run in runs.rows:
        common = common_jobs(runs, run)
        mean, *numbers = _numbers(run, window, None if common is None else common.in_other)
        row = [run.name, mean]
        if has_other_jobs:
            row.append(_mean_as_it_is(runs, common))
        row += [*numbers, *_in_use(run, resource_names, window)]
        row += [_difference(runs, run), _class_and_remarks(runs, run)]
        rows.append(row)
    heads = [
        "what if",
        "mean wait",
        *["mean wait of the same jobs as it is"] * has_other_jobs,
        "half wait at most",
        "95% wait at most",
        "largest stretch",
        "machine in use",
        *(f"{display_name(name)} in use" for name in resource_names),
        "mean wait differs by",
        "(class and remarks)",
    ]
    gains = "".join(_group_changes_section(runs, run) for run in runs.scenario_runs)
    about = paragraph(_about_changes(runs), "small")
    return f'{table(heads, rows)}{about}<div class="pair gains">{gains}</div>'


def common_jobs(runs: Runs, run: ScenarioRun) -> CommonJobs | None:
    """The jobs that a row has in common with the machine as it is: those that its waits and its
    difference are of. None: one of the two has no result."""
    base = runs.base.result
    if base is None or run.result is None:
        return None
    return CommonJobs.of(base.instance, run.result.instance)


def _has_other_jobs(runs: Runs) -> bool:
    """Whether a row has other jobs than the machine as it is."""
    all_common_jobs = (common_jobs(runs, run) for run in runs.scenario_runs)
    return any(common is not None and not common.are_all for common in all_common_jobs)


def _mean_as_it_is(runs: Runs, common: CommonJobs | None) -> str:
    """The mean wait of some jobs on the machine as it is."""
    base = runs.base.result
    if base is None or common is None:
        return "-"
    return format_exact_duration(measures_of(base, common.in_base)["mean_wait"])


def _about_common_jobs(runs: Runs, run: ScenarioRun) -> str:
    """The two means of a row that has other jobs than the machine as it is, and of which jobs they
    are; else empty."""
    common = common_jobs(runs, run)
    if common is None or common.are_all or run.result is None:
        return ""
    mean = format_exact_duration(measures_of(run.result, common.in_other)["mean_wait"])
    exclusive_jobs = [
        f"{count_of(count, 'job')} only {where}"
        for count, where in ((common.only_in_base, "as it is"), (common.only_in_other, "here"))
        if count
    ]
    return (
        f"waits are those of {count_of(common.count, 'job')} in both: mean {mean} here, "
        f"{_mean_as_it_is(runs, common)} as it is ({', '.join(exclusive_jobs)})"
    )


def remarks_of(runs: Runs, run: ScenarioRun) -> str:
    """What is to be said of a row: in the table, in the terminal and in JSON."""
    return "; ".join(filter(None, [run.remarks, _about_common_jobs(runs, run)]))


def _about_changes(runs: Runs) -> str:
    """What the table compares, and when it calls a difference clear."""
    information = next(
        run.information for run in runs.policy_runs if run.name == runs.reference_policy
    )
    about = (
        f"{runs.reference_policy} ({information}) with the same jobs at the same times, but for "
        "those that a row leaves out. Users would change what they send and ask for: take a row as "
        "a direction, not a forecast."
    )
    if _has_other_jobs(runs):
        about += (
            " Waits of a row are those of the jobs that it has in common with the first row; "
            "stretch and use of the machine are of all its jobs."
        )
    if runs.has_simulator and not runs.is_random:
        about += (
            f" {runs.reference_policy} knows nodes, partitions and limits, and no other line of "
            "slurm.conf."
        )
    if runs.base.result is None:
        return about
    if not runs.is_random:
        return (
            f"{about} {runs.reference_policy} has one schedule of a log, without replications: "
            "whether a difference is more than chance is not known."
        )
    count = compare(runs.base.result, runs.base.result, is_random=True).replications
    if count == 1:
        return (
            f"{about} Each number is of one replication: it cannot tell whether a difference is "
            f"more than run-to-run variability (--draws 20)."
        )
    return (
        f"{about} Numbers are means of the same {count} replications. In brackets: where the "
        "difference of one more replication lies with 95% probability (Student's quantile); it "
        "is clear when this excludes zero."
    )


def _class_and_remarks(runs: Runs, run: ScenarioRun) -> str:
    remarks = remarks_of(runs, run)
    if run.scenario_class is None:
        return remarks
    return ": ".join(filter(None, [run.scenario_class.value, remarks]))


def _in_use(run: Run, names: Sequence[str], window: Window) -> list[str]:
    """Shares of memory and GPUs, where they are handed out."""
    if run.result is None or not names:
        return ["-"] * len(names)
    shares = window.utilization_of_resources(run.result)
    return [share(shares.get(name, np.nan)) for name in names]


def _difference(runs: Runs, run: ScenarioRun) -> str:
    base = runs.base
    if run.scenario_class is None:
        return ""
    if run.result is None or base.result is None:
        return "-"
    return difference_in_words(compare(base.result, run.result, is_random=runs.is_random))


def difference_in_words(comparison: Comparison) -> str:
    """The difference of two means as they are shown, and whether it is clear.

    Examples
    --------
    >>> difference_in_words(Comparison(9, 100.0, 400.0, Spread(300.0, 240.0, 360.0), True, False))
    '+5 min 00 s (+4 min 00 s to +6 min 00 s)'
    """
    difference = comparison.difference
    if comparison.has_same_starts or difference == Spread(0.0, 0.0, 0.0):
        return "none"
    mean = format_signed_duration(
        _as_shown(comparison.mean_wait) - _as_shown(comparison.base_mean_wait)
    )
    if comparison.is_clear is None:
        return mean
    if comparison.replications == 1:
        return f"{mean}, one replication"
    interval = (
        f"({format_signed_duration(difference.low)} to {format_signed_duration(difference.high)})"
    )
    return f"{mean} {interval}" if comparison.is_clear else f"{mean}, not clear {interval}"


def _as_shown(seconds: float) -> float:
    """A wait rounded to what :func:`exact_span` shows of it."""
    unit = 1 if abs(seconds) < 3599.5 else 60
    return float(round(seconds / unit) * unit)


def _spread(difference: Spread) -> str:
    """A difference in words."""
    if difference.low == difference.high:
        return format_signed_duration(difference.mean) if difference.mean else "none"
    interval = (
        f"({format_signed_duration(difference.low)} to {format_signed_duration(difference.high)})"
    )
    if difference.includes_zero:
        return f"not clear {interval}"
    return f"{format_signed_duration(difference.mean)} {interval}"


def _group_changes_section(runs: Runs, run: ScenarioRun) -> str:
    """Return the table of groups that wait longer or shorter, of the jobs that both rows have."""
    base, common = runs.base.result, common_jobs(runs, run)
    is_simulated = run.scenario_class is ScenarioClass.SIMULATED
    if base is None or run.result is None or common is None or not is_simulated:
        return ""
    of_base, of_run = (
        (result.instance.take(jobs), waits(result, jobs))
        for result, jobs in ((base, common.in_base), (run.result, common.in_other))
    )
    groups_table = group_changes_table(groups_between(of_base, of_run))
    title = f"<h2>{escape(run.name)}: the {MAX_GROUPS} groups that change most</h2>"
    return f"<div>{title}{groups_table}</div>" if groups_table else ""


def group_changes_table(groups: Sequence[GroupChange]) -> str:
    """Return the table of groups whose mean wait changes; empty without any."""
    rows = [
        [f"{change.what} {change.name}", f"{change.jobs:,}", _spread(change.difference)]
        for change in groups
    ]
    return table(["group", "jobs", "mean wait differs by"], rows) if rows else ""


def rows_of_changes(runs: Runs) -> list[dict[str, Any]]:
    """The same as numbers (s), class and remarks, the machine as it is first; None where no number
    stands for the row."""
    base = runs.base.result
    window = runs.window
    rows = []
    for run in runs.rows:
        row: dict[str, Any] = dict.fromkeys(("what_if", "policy", *COMPARISON_NUMBERS))
        row |= {
            "what_if": run.name,
            "policy": runs.reference_policy,
            "class": None if run.scenario_class is None else run.scenario_class.value,
            "reason": run.reason,
            "remarks": remarks_of(runs, run),
            "utilization": None,
        }
        if base is not None and run.result is not None:
            row |= row_of(
                run.name, runs.reference_policy, base, run.result, is_random=runs.is_random
            )
            row["utilization"] = window.utilization(run.result)
        rows.append(row)
    return rows


LONGEST = 10
_ABOUT = (
    "Ahead: jobs that could start earlier, or are of a partition with a greater priority, and had "
    "not started. Room: share of the wait in which enough was free; a job that waited with "
    "room waited for something else: a limit of its user, a reservation, enough of it on one node."
)


def blocked_sentence(instance: Instance) -> str:
    """Return the sentence on time before jobs could start, which no scheduler decides."""
    blocked_times = instance.column("eligible") - instance.column("submit")
    is_blocked = blocked_times > 0
    if not is_blocked.any():
        return ""
    mean_time = format_duration(blocked_times[is_blocked].mean())
    return (
        f"Blocked before they could start, which is in no wait here (dependency, begin time, hold, "
        f"array limit): {int(is_blocked.sum()):,} jobs, on average {mean_time}, at most "
        f"{format_duration(blocked_times.max())}."
    )


def longest(runs: Runs) -> str:
    """Return the table of the jobs that waited longest in the log, or under EASY without waits."""
    result = runs.logged or runs.reference_result
    if result is None:
        return paragraph("Neither the log nor EASY has a result.")
    instance, under = result.instance, runs.reference_result if runs.logged else None
    # The simulator of Slurm may have left jobs out, and numbers of jobs may come back.
    waited = (
        dict(zip(under.instance.rows_of_log.tolist(), waits_of_jobs(under), strict=True))
        if under
        else {}
    )
    waits = np.where(instance.measured, result.waits, 0.0)
    jobs = np.argsort(-waits, kind="stable")[:LONGEST]
    jobs = jobs[waits[jobs] > 0]
    blocked_paragraph = paragraph(blocked_sentence(instance), "small")
    if not len(jobs):
        return blocked_paragraph + paragraph("No job waited.")
    who = [name for name in ("user", "partition") if name in instance.known]
    has_blocked_jobs = bool((instance.column("eligible") > instance.column("submit")).any())
    heads = ["job", *who, units(instance), "could start", "waited",
             *(["blocked before"] if has_blocked_jobs else []),
             *([f"under {runs.reference_policy}"] if under else []), "(why)"]  # fmt: skip
    rows = []
    for job in jobs.tolist():
        could = float(instance.column("eligible")[job])
        row = [instance.ids[job], *(instance.column(name)[job] for name in who)]
        row += [instance.column("tasks")[job], clock(instance, could), format_duration(waits[job])]
        if has_blocked_jobs:
            row.append(format_duration(could - float(instance.column("submit")[job])))
        if under:
            row.append(format_duration(float(waited.get(int(instance.rows_of_log[job]), np.nan))))
        rows.append([*row, explain_wait(result, job)])
    return blocked_paragraph + table(heads, rows) + paragraph(_ABOUT, "small")


def explain_wait(result: Result, job: int) -> str:
    """Return a diagnosis of a job's wait: jobs ahead, free resources, jobs that overtook it."""
    instance, starts = result.instance, np.asarray(result.outcome["start"])
    eligible_times, row = instance.column("eligible"), np.arange(len(instance))
    cells, allowed, tier = instance.layout
    rank = -tier if len(tier) else np.zeros(len(instance))
    eligible_time, start = eligible_times[job], starts[job]
    earlier = (eligible_times < eligible_time) | ((eligible_times == eligible_time) & (row < job))
    has_precedence = (rank < rank[job]) | ((rank == rank[job]) & earlier)
    ahead = int(
        ((eligible_times <= eligible_time) & (starts > eligible_time) & has_precedence).sum()
    )
    passed = int((~earlier & (row != job) & (starts < start) & (rank == rank[job])).sum())
    clauses = [
        f"{ahead:,} ahead" if ahead else "nobody ahead",
        *_free_resources_clauses(result, job, cells, allowed),
    ]
    return "; ".join([*clauses, *([f"overtaken by {passed:,}"] if passed else [])])


def _free_resources_clauses(
    result: Result, job: int, cells: np.ndarray, allowed: np.ndarray
) -> list[str]:
    """Return clauses on the job's part of the machine: how much was free at its eligible time and
    during its wait, and which other resources lacked."""
    instance = result.instance
    starts, ends = (np.asarray(result.outcome[name]) for name in ("start", "end"))
    eligible_time, mask = instance.column("eligible")[job], int(allowed[job]) if len(cells) else 1
    may_share_nodes, is_exact = np.ones(len(instance), dtype=bool), True
    if len(cells):
        may_share_nodes = (allowed & ~allowed[job]) == 0  # others may have been on these nodes too
        is_exact = bool((may_share_nodes | ((allowed & allowed[job]) == 0)).all())
    during = may_share_nodes & (starts < starts[job]) & (ends > eligible_time)
    begin, end = np.maximum(starts[during], eligible_time), np.minimum(ends[during], starts[job])
    at_most, capacities = "" if is_exact else "at most ", Capacity(instance)
    lacking: dict[str, np.ndarray] = {}
    free = capacity = 0.0
    for name, _, amount in resources(instance):
        if amount[job] == 0 or capacities.of(name, mask) == 0:
            continue
        if name.startswith("gpus:"):
            del lacking["gpus"]  # the type says it
        used_amounts = np.append(amount[during], 0)
        times, level = step_function(
            np.append(begin, eligible_time), np.append(end, starts[job]), used_amounts
        )
        lacking[name] = level[:-1] + amount[job] > capacities.of(name, mask) * (1 + 1e-9)
        if not capacity:  # the first: nodes, or cores
            capacity = capacities.of(name, mask)
            free = max(0.0, capacity - float(used_amounts[:-1][begin <= eligible_time].sum()))
    span_of, wait = np.diff(times), starts[job] - eligible_time
    share_of_wait_with_room = span_of[~np.any(list(lacking.values()), axis=0)].sum() / wait
    clauses = [f"{at_most}{free:,.0f} of {capacity:,.0f} free then",
            f"room {at_most}{share(share_of_wait_with_room)} of the wait"]  # fmt: skip
    share_of_wait_lacking = {
        display_name(name): span_of[lack].sum() / wait for name, lack in [*lacking.items()][1:]
    }
    return clauses + [
        f"{name} lacked {share(part)}"
        for name, part in share_of_wait_lacking.items()
        if part >= 0.005
    ]
