"""One page about a log: what happened, what others would have given, and why jobs waited."""

from __future__ import annotations

import base64
from html import escape
from io import BytesIO
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cosched import io
from cosched.cluster.family import FAMILY
from cosched.cluster.instance import Instance
from cosched.cluster.result import Result
from cosched.cluster.usage import has_waits
from cosched.core.arrays import time_limit_of
from cosched.core.comparison import settled
from cosched.core.text import percent
from cosched.version import installed_version

if TYPE_CHECKING:
    import pandas as pd

#: Batch policies of the page, and the two best of the paper's Table 2.
BATCH = ("FCFS", "EASY", "conservative")
DFRS = ("GreedyPM */per/opt=min/minvt=600", "MCB8 */per/opt=min/minvt=600")
_LONGEST = 10
_MOST_USERS = 20
_COLUMNS = (
    "algorithm", "status", "value", "bound", "gap", "mean_wait", "median_wait", "p95_wait",
    "mean_bounded_slowdown", "utilisation", "overcommitted_hours", "seconds",
)  # fmt: skip
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.2rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; font-size: 13px; } .scroll { overflow-x: auto; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #eee; }
th:first-child, td:first-child { text-align: left; } img { max-width: 100%; }
li { margin-bottom: .6rem; } .facts { color: #555; }
"""


def audit(
    instance: Instance, path: str | PathLike[str], *, time_limit: float | None = 15.0
) -> None:
    """Write one self-contained page about a log.

    What happened (``as-logged``, where the log has waits) beside FCFS, EASY, conservative
    backfilling, the two best DFRS policies and the bound; waits by size and user; utilisation and
    queue over time; the ten longest waits with their reasons; what was assumed; how far each
    policy's starts are from the log's.

    Parameters
    ----------
    path : str or path-like
        Ends in .html. Replaced as a whole or not at all.
    time_limit : float or None
        Seconds for the bound, and for each policy; one that takes longer is left out and said.

    Notes
    -----
    DFRS policies are left out where they have no meaning: tasks that need whole nodes, partitions.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import cosched as cs
    >>> inst = cs.cluster.Instance(cs.workloads.lublin(60, 8, seed=1), nodes=8)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "audit.html"
    >>> cs.cluster.audit(inst, path)
    >>> "conservative" in path.read_text()
    True
    """
    Instance.require(instance)
    io.check_suffix(path, (".html",))
    limit = time_limit_of(time_limit)
    rows = list(FAMILY.compare_rows(instance, _names(instance), 0, limit))
    results = {row["algorithm"]: result for row, result in rows if isinstance(result, Result)}
    sections = [
        ("What was assumed", _assumed(instance)),
        ("What happened, and what other policies would have given", _policies(settled(rows))),
        ("How like the log's own scheduler", _calibration(results)),
        ("Waits by size of the job", _groups(results, "size")),
        ("Waits by user", _groups(results, "user")),
        ("Utilisation and queue over time", _picture(instance, results)),
        (f"The {_LONGEST} longest waits under EASY, and why", _longest(results)),
    ]
    title = f"{instance.source or 'jobs'}: audit"
    body = "\n".join(f"<h2>{escape(name)}</h2>\n{text}" for name, text in sections)
    io.write_text(
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f'<p class="facts">{len(instance):,} jobs, {_size(instance)}; '
        f"cosched {installed_version()}</p>\n{body}\n</body></html>\n",
        path,
    )


def _names(instance: Instance) -> list[str]:
    return [
        *(["as-logged"] if has_waits(instance) else []),
        *BATCH,
        *(() if _why_no_dfrs(instance) else DFRS),
    ]


def _why_no_dfrs(instance: Instance) -> str:
    """Why DFRS policies have no meaning here, or an empty text."""
    if len(instance.layout()[0]):
        return "they know no partitions"
    return "" if (instance.column("memory") < 1).any() else "every task has a whole node"


def _size(instance: Instance) -> str:
    machine = instance.machine
    if machine is None:
        return f"{instance.nodes:,} nodes"
    return f"{machine.cores:,} cores of {machine.node_count:,} nodes (cores are handed out)"


# --- sections -------------------------------------------------------------------------------


def _assumed(instance: Instance) -> str:
    lines = list(instance.notes) or ["nothing: the jobs were given as they are"]
    if len(instance.layout()[0]):
        lines.append("assumed: the bound ignores partitions: it is valid, and can be weak")
    if why := _why_no_dfrs(instance):
        lines.append(f"assumed: DFRS policies are left out: {why}")
    if has_waits(instance):
        lines.append("assumed: as-logged: the log has starts, and does not say on which nodes")
    else:
        lines.append("the log has no waits: nothing says what happened, or which policy is like it")
    return "<ul>" + "".join(f"<li>{escape(line.strip())}</li>" for line in lines) + "</ul>"


def _policies(rows: list[dict[str, Any]]) -> str:
    import pandas as pd

    frame = pd.DataFrame(rows)
    if "gap" in frame:
        frame["gap"] = [percent(gap) for gap in frame["gap"]]
    table = _table(frame[[name for name in _COLUMNS if name in frame]])
    messages = [
        f"<li>{escape(row['algorithm'])}: {escape(row['message'])}</li>"
        for row in rows
        if row["message"]
    ]
    bound = next((row["bound"] for row in rows if row.get("bound", np.nan) > 0), None)
    proved = (
        "No bound in the time given."
        if bound is None
        else f"No schedule whatsoever has a maximum stretch below {bound:.6g}."
    )
    listed = f"<ul>{''.join(messages)}</ul>"
    return f"<p>value = maximum stretch; waits in seconds. {proved}</p>{table}{listed}"


def _calibration(results: dict[str, Result]) -> str:
    import pandas as pd

    if "as-logged" not in results:
        return "<p>The log has no waits.</p>"
    rows = [
        {"algorithm": name, **result.calibration()}
        for name, result in results.items()
        if name != "as-logged"
    ]
    about = "<p>Seconds between a policy's starts and the log's; share within a minute.</p>"
    return about + _table(pd.DataFrame(rows))


def _groups(results: dict[str, Result], what: str) -> str:
    first = next(iter(results.values()), None)
    if first is None or (what != "size" and what not in first.instance.known):
        return "<p>The log does not say it.</p>"
    table = first.by(what)[[what, "jobs", "cpu_hours"]]
    for name, result in results.items():
        table[f"mean wait, {name}"] = result.by(what)["mean_wait"]
    more = ""
    if what == "user" and len(table) > _MOST_USERS:
        more = f"<p>The {_MOST_USERS} of {len(table)} users with the most CPU hours.</p>"
        table = table.nlargest(_MOST_USERS, "cpu_hours")
    return more + _table(table)


def _picture(instance: Instance, results: dict[str, Result]) -> str:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(11, 6), sharex=True, layout="constrained")
    needs = instance.column("tasks") * instance.column("cpu") / instance.nodes
    for name in ("as-logged", "EASY"):
        if name not in results:
            continue
        start, end = results[name].outcome["start"], results[name].outcome["end"]
        for ax, begin, stop, amount in (
            (axes[0], start, end, needs),
            (axes[1], instance.column("eligible"), start, np.ones(len(instance))),
        ):
            days, level = _means(begin, stop, amount)
            ax.step(days, level, where="post", label=name, linewidth=1)
    axes[0].set_ylabel("share of the nodes in use")
    axes[1].set_ylabel("jobs in the queue")
    axes[1].set_xlabel("days")
    axes[0].legend()
    image = BytesIO()
    figure.savefig(image, format="png", dpi=110)
    plt.close(figure)
    data = base64.b64encode(image.getvalue()).decode("ascii")
    return f'<img alt="utilisation and queue over time" src="data:image/png;base64,{data}">'


def _means(begin: np.ndarray, end: np.ndarray, amount: np.ndarray) -> tuple[Any, Any]:
    """Mean over slices of time of the sum of `amount` on [begin, end): days, levels."""
    edges = np.linspace(begin.min(), max(end.max(), begin.min() + 1), 401)
    times = np.concatenate([begin, end])
    order = np.argsort(times, kind="stable")
    times, level = times[order], np.cumsum(np.concatenate([amount, -amount])[order])
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(times))])
    return edges[:-1] / 86400, np.diff(np.interp(edges, times, area)) / np.diff(edges)


def _longest(results: dict[str, Result]) -> str:
    if "EASY" not in results:
        return "<p>EASY has no result.</p>"
    instance = results["EASY"].instance
    easy = cast("Result", FAMILY.solve(instance, "EASY", log=True))
    starts, submit = easy.outcome["start"], instance.column("eligible")
    jobs = np.argsort(-easy.waits, kind="stable")[:_LONGEST]
    jobs = jobs[easy.waits[jobs] > 0]
    if not len(jobs):
        return "<p>Under EASY no job waits.</p>"
    lines = easy.log[easy.log.job.isin(jobs) & easy.log.action.isin(("wait", "start"))]
    items = []
    for job in jobs.tolist():
        mine = lines[lines.job == job]
        reasons = "".join(
            f"<li>{_clock(row.time)}: {row.action}: {escape(str(row.reason))}</li>"
            for row in mine.itertuples()
        )
        came = "eligible" if instance.column("submit")[job] < submit[job] else "submitted"
        what = (
            f"job {escape(str(instance.ids[job]))} waited {_span(easy.waits[job])} for "
            f"{instance.column('tasks')[job]} nodes, {came} {_clock(submit[job])}: "
            f"{_ahead(instance, starts, job)}"
        )
        items.append(f"<li>{what}<ul>{reasons}</ul></li>")
    return f"<p>Times are days and clock from the log's begin.</p><ol>{''.join(items)}</ol>"


def _ahead(instance: Instance, starts: np.ndarray, job: int) -> str:
    """Who was in the queue and on the nodes when the job came."""
    submit, tasks = instance.column("eligible"), instance.column("tasks")
    now, row = submit[job], np.arange(len(instance))
    ends = starts + instance.column("runtime")
    cells, _, tier = instance.layout()
    rank = -tier if len(tier) else np.zeros(len(instance))
    earlier = (submit < now) | ((submit == now) & (row < job))
    before = (rank < rank[job]) | ((rank == rank[job]) & earlier)
    came = (submit < now) | ((submit == now) & before)
    using = came & (starts <= now) & (ends > now)
    # Which of them are open to the job's partition, only the decision log below knows.
    parts = [] if len(cells) else [f"{instance.nodes - int(tasks[using].sum())} free"]
    ahead = np.flatnonzero((submit <= now) & (starts > now) & before)
    if len(ahead):
        first = ahead[np.lexsort((ahead, submit[ahead], rank[ahead]))[0]]
        parts.append(
            f"{len(ahead)} ahead of it, the first of them job {instance.ids[first]} "
            f"({tasks[first]} nodes), which got them at {_clock(starts[first])}"
        )
    return escape("; ".join(parts) or "nobody ahead of it")


# --- texts ----------------------------------------------------------------------------------


def _table(frame: pd.DataFrame) -> str:
    head = "".join(f"<th>{escape(str(name).replace('_', ' '))}</th>" for name in frame)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(cell))}</td>" for cell in cells) + "</tr>"
        for cells in frame.itertuples(index=False)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if np.isnan(value) else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return str(value)


def _clock(seconds: float) -> str:
    days, rest = divmod(int(seconds), 86400)
    return f"day {days} {rest // 3600:02}:{rest // 60 % 60:02}"


def _span(seconds: float) -> str:
    minutes = int(seconds) // 60
    return f"{minutes // 60} h {minutes % 60:02}" if minutes else f"{seconds:.0f} s"
