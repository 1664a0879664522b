"""What a search found, and its page: what to write, what it gives, whom it costs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.instance import Instance
from cosched.cluster.judgement import LogJudgement
from cosched.cluster.judgement.judge import SIMULATOR
from cosched.cluster.page.judgement import about_judgement
from cosched.cluster.page.tables import gains_of
from cosched.cluster.page.text import (
    COLOURS,
    INK,
    box,
    clock,
    document,
    drawing,
    number,
    paragraph,
    picture,
    span,
    table,
)
from cosched.cluster.page.what_if import what_if
from cosched.cluster.result.log_fit import plain
from cosched.lazy import pd
from cosched.slurm.conf.lines import Line
from cosched.slurm.tune.gains import HeldOutGain, who_pays
from cosched.slurm.tune.race import Trial, beats, order
from cosched.slurm.tune.space import (
    Dimension,
    Measure,
    MeasureConstraint,
    Setting,
    change_of,
    changed,
)
from cosched.slurm.tune.trials import Simulated
from cosched.slurm.tune.verdict import (
    GainVerdict,
    broken_constraints,
    held_out_sentence,
    no_better_setting_sentence,
    percent_interval,
    verdict_of,
    week_numbers,
)
from cosched.slurm.tune.weeks import Weeks
from cosched.slurm.whatif.classes import reason_for_no_effect
from cosched.version import installed_version

_MOST_ROWS = 10
_HOW = (
    "All settings have the same jobs and the same random scheduler timing. The interval is that of "
    "the gain in weeks like these. Users would change what they send and ask for: take it as a "
    "direction, not a forecast."
)


def page(found: Tuned) -> str:
    """As one file."""
    title = f"{found.instance.source or 'jobs'}: tune"
    parts = [
        ("What to write", _lines(found)),
        (f"Test {week_numbers(found.judged_weeks)}", _test_weeks(found) + _verdicts(found)),
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
    lead = paragraph(outcome_sentence(found), "lead")
    small = paragraph(_size(found), "small") + about_judgement(found.judgement)
    return document(title, f"{lead}\n{small}", parts, beside)


def outcome_sentence(found: Tuned) -> str:
    """The answer: what the setting does on the test weeks, and whether that is proven."""
    if found.why:
        return f"Not better: the best of {found.tried} settings cannot be had: {found.why}."
    if not any(found.setting):
        sentence = no_better_setting_sentence(
            found.tried, found.found, found.keys, found.objectives
        )
        return f"{sentence} {_failed(found)}".strip()
    change = change_of(found.keys, found.setting)
    gains = found.verdicts[: len(found.objectives)]
    sentence = held_out_sentence(change, gains, found.judged_weeks, found.confidence, found.verdict)
    broken = broken_constraints(found.verdicts[len(found.objectives) :], found.constraints)
    return " ".join([sentence, *(f"{text[0].upper()}{text[1:]}." for text in broken)])


def _test_weeks(found: Tuned) -> str:
    """Which search chose what it was tested on."""
    if not found.weeks.is_cross_fitted:
        return paragraph("The search did not see these weeks.", "small")
    rows = [
        [week_numbers(fold.test.numbers), change_of(found.keys, setting) or "as today"]
        for fold, setting in zip(found.weeks.folds, found.chosen, strict=True)
    ]
    about = (
        "Each row is a search that did not see the weeks of its row. The setting that most "
        "searches chose is tested on the weeks of these searches."
    )
    heads = ["weeks that the search did not see", "setting that it chose"]
    return table(heads, rows) + paragraph(about, "small")


def _size(found: Tuned) -> str:
    weeks = found.weeks
    tests = [fold.test for fold in weeks.folds if {*fold.test.numbers} <= {*found.judged_weeks}]
    spans = [span for test in tests for span in test.spans]
    if weeks.is_cross_fitted:
        searches = f"{len(weeks.folds)} searches in {weeks.count} weeks"
    else:
        train = week_numbers([number for block in weeks.train for number in block.numbers])
        searches = f"Searched in {train} of {weeks.count}"
    stopped = f" The search stopped {found.stopped}." if found.stopped else ""
    return (
        f"A week is {weeks.width / 86400:.3g} days. {searches}, "
        f"judged by {len(found.today.jobs):,} jobs from {clock(found.instance, spans[0][0])} to "
        f"{clock(found.instance, spans[-1][1])}; {found.draws} replications, seed "
        f"{found.seed}, {found.runs:,} weeks simulated; cosched {installed_version()}.{stopped}"
    )


def _lines(found: Tuned) -> str:
    lines = found.lines()
    if not lines:
        return ""
    return f"<pre>{escape(chr(10).join(lines))}</pre>" + paragraph(found.then.said, "small")


def _verdicts(found: Tuned) -> str:
    rows = []
    limits = [""] * len(found.objectives) + [f"{c.sign} {c.limit:g}" for c in found.constraints]
    for one, limit in zip(found.verdicts, limits, strict=True):
        shown = number if one.measure.statistic == "mean_bounded_slowdown" else span
        ratio = one.then / one.today if one.today > 0 else np.nan
        rows.append(
            [str(one.measure), shown(one.today), shown(one.then), f"{one.gain:.1%}",
             percent_interval(one.low, one.high), number(ratio), limit]
        )  # fmt: skip
    interval = f"({found.confidence:.0%} interval)"
    heads = ["measure", "today", "then", "less by", interval, "times today's", "has to be"]
    return table(heads, rows) + paragraph(_HOW, "small")


def _groups(found: Tuned) -> str:
    if not found.setting:
        return ""
    about = (
        "The groups that change most; in brackets where the difference of one more replication "
        f"lies with 95% probability, by {found.draws} of them."
    )
    return gains_of(who_pays(found.today, found.then)) + paragraph(about, "small")


def _trials(found: Tuned) -> str:
    names = [str(one) for one in found.objectives]
    others = [str(one.measure) for one in found.constraints]
    heads = [*found.keys, *(f"{name}, times today's" for name in (*names, *others)), "runs"]
    front = found.front if len(names) > 1 else []
    able = [one for one in found.found if one.whole]
    ranked = [*front, *(one for one in order(able) if one not in front)]
    rows = [
        [
            *(value or "as today" for value in one.setting),
            *map(number, (*one.ratios, *one.constraints)),
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
        for whole, size, colour in ((False, 9, "#999999"), (True, 22, COLOURS[SIMULATOR])):
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


#: What is no line of a file.
_OTHER = ("nodes", "users", "reservation", "slurm.conf")


@dataclass(frozen=True)
class Tuned:
    """A search over settings, and the winner on weeks that it did not see.

    Attributes
    ----------
    instance : Instance
    dimensions, objectives, constraints : tuple
        What was varied, what was to be small, what had to hold.
    weeks : Weeks
    found : tuple of Trial
        In the order in which they were tried.
    tried : int
        How many these are without those by which the winner was made simpler.
    setting : tuple of str
        The winner; empty: as it is today.
    chosen : tuple of tuple of str
        The setting that the search of each fold chose; all empty: none was better than today.
    judged_weeks : tuple of int
        Weeks of the folds whose search chose the winner: its gain is that of these weeks.
    verdicts : tuple of HeldOutGain
        Each objective, then each constraint, on these weeks.
    confidence : float
        Of the intervals.
    today, then : Simulated
        Those weeks as it is, and under the winner.
    runs : int
        How many draws of weeks ran in the search.
    draws, seed : int
    judgement : LogJudgement or None
        How well the simulator explains the log; None where the log has no waits.
    stopped, why : str
        Why the search ended early; why a winner could not be judged.
    left_out : int
        Jobs that never start as it is.

    Examples
    --------
    >>> conf = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
    >>> _ = conf.write_text("NodeName=n[1-8] CPUs=1\\nPartitionName=p Nodes=ALL Default=YES\\n")
    >>> inst = cs.cluster.Instance(cs.workloads.lublin(400, 8, seed=1), nodes=8)
    >>> found = cs.cluster.tune(inst, conf, vary={"bf_interval": [30, 31]}, draws=1)
    >>> found.better, list(found.trials)
    (False, ['bf_interval', 'mean_wait', 'runs', 'whole', 'why'])
    """

    instance: Instance
    dimensions: tuple[Dimension, ...]
    objectives: tuple[Measure, ...]
    constraints: tuple[MeasureConstraint, ...]
    weeks: Weeks
    found: tuple[Trial, ...]
    tried: int
    setting: Setting
    chosen: tuple[Setting, ...]
    judged_weeks: tuple[int, ...]
    verdicts: tuple[HeldOutGain, ...]
    confidence: float
    today: Simulated
    then: Simulated
    runs: int
    draws: int
    seed: int
    judgement: LogJudgement | None
    stopped: str
    why: str
    left_out: int

    @property
    def keys(self) -> tuple[str, ...]:
        """What was varied."""
        return tuple(one.key for one in self.dimensions)

    @property
    def subjects(self) -> tuple[MeasureConstraint, ...]:
        """Deprecated name of :attr:`constraints`."""
        warnings.warn("Tuned.subjects is now Tuned.constraints", DeprecationWarning, stacklevel=2)
        return self.constraints

    @property
    def best(self) -> dict[str, str]:
        """Key -> value of what the winner changes."""
        return changed(self.keys, self.setting)

    @cached_property
    def idle(self) -> list[str]:
        """Why keys had no effect in any setting that was tried: another line leaves them none."""
        left: dict[str, str] = dict.fromkeys(self.keys, "")
        for one in self.found:
            if left and any(one.setting) and not one.why:
                other, _ = what_if(self.instance, change_of(self.keys, one.setting))
                assert other.machine is not None
                reasons = {key: reason_for_no_effect(other.machine, key) for key in left}
                left = {
                    key: f"{key} has no effect: {reason}"
                    for key, reason in reasons.items()
                    if reason
                }
        return [why for why in left.values() if why]

    @property
    def fit(self) -> pd.DataFrame | None:
        """What :func:`cosched.cluster.fit` says of the log; None where it has no waits."""
        return None if self.judgement is None else self.judgement.fit

    @property
    def gain(self) -> float:
        """Share of the (first) objective that the winner saves on :attr:`judged_weeks`."""
        return self.verdicts[0].gain

    @property
    def gain_p05(self) -> float:
        """Lower end of its 90% confidence interval (95% with two objectives)."""
        return self.verdicts[0].low

    @property
    def gain_p95(self) -> float:
        """Upper end of its interval."""
        return self.verdicts[0].high

    @property
    def verdict(self) -> GainVerdict:
        """``proven``, ``negligible``, ``not proven``, ``no effect``, ``not better`` or
        ``constraint broken``."""
        count = len(self.objectives)
        gains, constraint_gains = self.verdicts[:count], self.verdicts[count:]
        return verdict_of(self.setting, gains, constraint_gains, self.constraints)

    @property
    def better(self) -> bool:
        """Whether the winner is proven better on weeks that did not choose it: an objective falls
        by 1% or more and its interval is above zero, that of none is below, and all constraints
        hold."""
        return self.verdict is GainVerdict.PROVEN

    @property
    def front(self) -> list[Trial]:
        """Settings with all runs that keep what they must and that no other beats."""
        able = [one for one in self.found if one.whole and not one.broken]
        return [one for one in order(able) if not any(beats(other, one) for other in able)]

    @property
    def trials(self) -> pd.DataFrame:
        """A row a setting, in the order in which they were tried: its values by key, each
        objective and constraint over today's (below 1 is less), ``runs``, ``whole``, ``why``."""
        rows = []
        for one in self.found:
            ratios = (*one.ratios, *(one.constraints or (np.nan,) * len(self.constraints)))
            names = map(
                str, (*self.objectives, *(constraint.measure for constraint in self.constraints))
            )
            row: dict[str, Any] = dict(zip(self.keys, one.setting, strict=True))
            row |= dict(zip(names, ratios, strict=False))
            rows.append({**row, "runs": one.runs, "whole": one.whole, "why": one.why})
        return pd.DataFrame(rows)

    def lines(self) -> list[str]:
        """What to put into slurm.conf, and what to tell sacctmgr, for the winner.

        Returns
        -------
        list of str
            Empty where nothing is better; what is no setting begins with ``#``.
        """
        return self._lines(self.setting) if self.better else []

    def _lines(self, setting: Setting) -> list[str]:
        if not any(setting):
            return []
        other, _ = what_if(self.instance, change_of(self.keys, setting))
        machines: Any = self.instance.machine, other.machine
        old = {_text(line) for line in machines[0].slurm.source.lines}
        texts = [text for text in map(_text, machines[1].slurm.source.lines) if text not in old]
        for key, value in changed(self.keys, setting).items():
            kind, _, rest = key.partition(".")
            name, _, of = rest.rpartition(".")
            if kind in ("qos", "account") and name:
                texts.append(f"sacctmgr -i modify {kind} {name} set {of}={value}")
            elif kind in _OTHER or key in _OTHER:
                texts.append(f"# {key}={value}")
        return texts

    def plain(self) -> dict[str, Any]:
        """As JSON has it: seconds, shares."""
        names = ("measure", "today", "then", "gain", "gain_p05", "gain_p95")
        verdicts = [
            dict(zip(names, (str(v.measure), v.today, v.then, v.gain, v.low, v.high), strict=True))
            for v in self.verdicts
        ]
        groups = [
            {"group": one.what, "name": one.name, "jobs": one.jobs,
             "difference": one.difference.mean, "difference_p05": one.difference.low,
             "difference_p95": one.difference.high}
            for one in who_pays(self.today, self.then)
        ]  # fmt: skip
        return {
            "best": self.best,
            "better": self.better,
            "verdict": str(self.verdict),
            "confidence": self.confidence,
            "test_weeks": [*self.judged_weeks],
            "folds": [
                {"test_weeks": [*fold.test.numbers], "setting": changed(self.keys, setting)}
                for fold, setting in zip(self.weeks.folds, self.chosen, strict=True)
            ],
            "gain": self.gain,
            "gain_p05": self.gain_p05,
            "gain_p95": self.gain_p95,
            "lines": self.lines(),
            "measures": verdicts,
            "groups": groups,
            "fit": plain(self.fit),
            "judgement": None if self.judgement is None else self.judgement.to_dict(),
            "front": [changed(self.keys, one.setting) for one in self.front],
            "tried": self.tried,
            "runs": self.runs,
            "stopped": self.stopped,
            "trials": self.trials.to_dict("records"),
        }

    def write(self, path: str | PathLike[str]) -> None:
        """Write the page: .html, or all as data: .json.

        Parameters
        ----------
        path : str or path-like
            Replaced as a whole or not at all.
        """
        if io.check_suffix(path, (".html", ".json")) == ".json":
            io.write_json(io.plain(self.plain()), path)
        else:
            io.write_text(page(self), path)

    def __repr__(self) -> str:
        said = ", ".join(f"{key}={value}" for key, value in self.best.items())
        if not self.better:
            has_no_gain = self.verdict in (GainVerdict.NOT_BETTER, GainVerdict.NO_EFFECT)
            proven = "" if has_no_gain else "proven "
            return f"<Tuned: nothing of {self.tried} settings is {proven}better than today>"
        return f"<Tuned: {said}: {self.gain:.1%} less ({self.gain_p05:.1%} to {self.gain_p95:.1%})>"


def _text(line: Line) -> str:
    return " ".join(f"{line.spelled[key]}={value}" for key, value in line.keys.items())
