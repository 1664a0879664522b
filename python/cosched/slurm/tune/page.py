"""The page of a search: what to write, what it gives, whom it costs."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.cluster.page.picture import COLOURS, INK, drawing, picture
from cosched.cluster.page.runs import TWIN
from cosched.cluster.page.tables import about_fit, gains_of
from cosched.cluster.page.text import box, clock, document, number, paragraph, span, table
from cosched.slurm.tune.race import order
from cosched.slurm.tune.space import change_of
from cosched.slurm.tune.trials import who_pays
from cosched.version import installed_version

if TYPE_CHECKING:
    #: Its class is beside this, and writes pages.
    Tuned = Any

_MOST_ROWS = 10
_HOW = (
    "All settings have the same jobs and the same draws of the clocks that nobody sees. "
    "Losers were given up early; the winner alone was measured on the other weeks, once, so "
    "that luck in the search is not in its numbers. The intervals are of 90%, for as many weeks to "
    "come. Users would change what they send and ask for: take it as a direction, not a forecast."
)


def page(found: Tuned) -> str:
    """As one file."""
    title = f"{found.instance.source or 'jobs'}: tune"
    parts = [
        ("What to write", _lines(found)),
        (f"Weeks {_numbers(found.weeks.test.numbers)}, which the search did not see",
         _verdicts(found)),
        ("Whom it costs, and who gains", _groups(found)),
        ("The search", _picture(found) + _trials(found)),
    ]  # fmt: skip
    gone = f"left out, since they never start as it is: {found.left_out:,} jobs"
    notes = (
        *[gone] * bool(found.left_out),
        *found.idle,
        *found.today.notes,
        *(note.strip() for note in found.instance.notes),
    )
    beside = box("What was ignored, and what was assumed", dict.fromkeys(notes))
    lead = paragraph(said(found), "lead")
    small = paragraph(_size(found), "small") + about_fit(found.fit)
    return document(title, f"{lead}\n{small}", parts, beside)


def said(found: Tuned) -> str:
    """The answer in a sentence."""
    weeks = _numbers(found.weeks.test.numbers)
    name = str(found.objectives[0])
    gain = f"{found.gain:.1%} ({_between(found.gain_p05, found.gain_p95)})"
    if found.better:
        what = change_of(found.keys, found.setting)
        return f"{what}: {name} falls by {gain} in weeks {weeks}, which the search did not see."
    tried = f"Nothing here is better than what you have: of {found.tried} settings"
    if found.why:
        return f"{tried} the best cannot be had: {found.why}."
    if not found.setting:
        none = f"{tried} none was better beyond chance in the weeks of the search"
        return f"{none}. {_failed(found)}".strip()
    what = change_of(found.keys, found.setting)
    return f"{tried} the best of the search, {what}, changes {name} by {gain} in weeks {weeks}."


def _between(low: float, high: float) -> str:
    return f"{low:.1%} to {high:.1%}" if np.isfinite([low, high]).all() else "unknown"


def _numbers(numbers: tuple[int, ...]) -> str:
    if len(numbers) > 1 and numbers == tuple(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ", ".join(map(str, numbers))


def _size(found: Tuned) -> str:
    weeks = found.weeks
    train = _numbers(tuple(one.numbers[0] for one in weeks.train))
    judged = weeks.test.spans
    stopped = f" The search stopped {found.stopped}." if found.stopped else ""
    return (
        f"A week is {weeks.width / 86400:.3g} days. Searched in weeks {train} of {weeks.count}, "
        f"judged by {len(found.today.jobs):,} jobs from {clock(found.instance, judged[0][0])} to "
        f"{clock(found.instance, judged[-1][1])}; {found.draws} draws of the clocks, seed "
        f"{found.seed}, {found.runs:,} weeks simulated; cosched {installed_version()}.{stopped}"
    )


def _lines(found: Tuned) -> str:
    lines = found.lines()
    if not lines:
        return ""
    return f"<pre>{escape(chr(10).join(lines))}</pre>" + paragraph(found.then.said, "small")


def _verdicts(found: Tuned) -> str:
    rows = []
    limits = [""] * len(found.objectives) + [f"{s.sign} {s.limit:g}" for s in found.subjects]
    for one, limit in zip(found.verdicts, limits, strict=True):
        shown = number if one.measure.statistic == "mean_bounded_slowdown" else span
        ratio = one.then / one.today if one.today > 0 else np.nan
        rows.append(
            [str(one.measure), shown(one.today), shown(one.then), f"{one.gain:.1%}",
             _between(one.low, one.high), number(ratio), limit]
        )  # fmt: skip
    heads = ["measure", "today", "then", "less by", "(90% interval)", "times today's", "has to be"]
    return table(heads, rows) + paragraph(_HOW, "small")


def _groups(found: Tuned) -> str:
    if not found.setting:
        return ""
    about = f"The groups that change most; in brackets what 90% of {found.draws} draws lie between."
    return gains_of(who_pays(found.today, found.then)) + paragraph(about, "small")


def _trials(found: Tuned) -> str:
    names = [str(one) for one in found.objectives]
    others = [str(one.measure) for one in found.subjects]
    heads = [*found.keys, *(f"{name}, times today's" for name in (*names, *others)), "runs"]
    front = found.front if len(names) > 1 else []
    able = [one for one in found.found if one.whole]
    ranked = [*front, *(one for one in order(able) if one not in front)]
    rows = [
        [
            *(value or "as today" for value in one.setting),
            *map(number, (*one.ratios, *one.subjects)),
            f"{one.runs}",
        ]
        for one in ranked[: max(_MOST_ROWS, len(front))]
    ]
    about = "The best of the search, in the weeks of the search."
    if front:
        about = f"The first {len(front)} are the Pareto front, in the weeks of the search."
    return table(heads, rows) + paragraph(f"{about} {_failed(found)}".strip(), "small")


def _failed(found: Tuned) -> str:
    failed = [one for one in found.found if one.why]
    if not failed:
        return ""
    first = change_of(found.keys, failed[0].setting)
    return f"{len(failed)} settings are no candidates, the first, {first}: {failed[0].why}."


def _picture(found: Tuned) -> str:
    """Ratios as they were tried; of two objectives the one over the other."""
    known = [(k, one) for k, one in enumerate(found.found, 1) if np.isfinite(one.ratios).all()]
    if not known:
        return ""
    both = len(found.objectives) > 1
    with drawing(3.2) as (figure, ax):
        for whole, size, colour in ((False, 9, "#999999"), (True, 22, COLOURS[TWIN])):
            chosen = [(k, one) for k, one in known if one.whole is whole]
            x = [100 * one.ratios[0] if both else k for k, one in chosen]
            y = [100 * one.ratios[-1] for _, one in chosen]
            ax.scatter(x, y, s=size, color=colour, label="all runs" if whole else "given up")
        if both:
            front = np.array(sorted(one.ratios for one in found.front)).reshape(-1, 2).T
            ax.plot(*(100 * front), color=COLOURS["log"], label="Pareto front")
            ax.axvline(100, color=INK, linewidth=0.8, linestyle=":")
        ax.axhline(100, color=INK, linewidth=0.8, linestyle=":")
        ax.set_xlabel(f"{found.objectives[0]}, % of today's" if both else "setting")
        ax.set_ylabel(f"{found.objectives[-1]}, % of today's", fontsize=9)
        ax.legend(frameon=False, ncols=3, loc="lower right", bbox_to_anchor=(1, 1))
    return picture(figure, "settings that were tried, against today's")
