"""The answer of a search over settings (`Tuned`): lines to write, gains, groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.analysis.what_if import what_if
from cosched.cluster.instance import Instance
from cosched.cluster.judgement import LogJudgement
from cosched.cluster.result.log_fit import to_records
from cosched.core.installed import call_report_writer
from cosched.core.text import count_of
from cosched.deprecation import DeprecatedAttribute
from cosched.lazy import pd
from cosched.notes import Note, NoteKind, note_records
from cosched.slurm.conf.lines import Line
from cosched.slurm.tuning.gains import HeldOutGain, largest_group_changes
from cosched.slurm.tuning.race import Trial, dominates, rank_trials
from cosched.slurm.tuning.setting_simulation import BlockSimulation
from cosched.slurm.tuning.space import (
    Dimension,
    MeasureConstraint,
    Setting,
    TuningMeasure,
    changed_values,
    what_if_text,
)
from cosched.slurm.tuning.verdict import (
    GainVerdict,
    broken_constraints,
    held_out_sentence,
    no_better_setting_sentence,
    verdict_of,
)
from cosched.slurm.tuning.weeks import Weeks
from cosched.slurm.whatif.classes import reason_for_no_effect

#: Keys of a what-if that are no line of slurm.conf.
_NON_CONFIG_KEYS = ("nodes", "users", "reservation", "slurm.conf")


@dataclass(frozen=True)
class Tuned:
    """A search over settings, and the winner on weeks that it did not see.

    Attributes
    ----------
    instance : Instance
        The log on the machine with the current configuration.
    dimensions, objectives, constraints : tuple
        What was varied, what was to be small, what had to hold.
    weeks : Weeks
        In which settings were searched, and which judge.
    all_trials : tuple of Trial
        In the order in which they were tried.
    tried : int
        How many these are without those by which the winner was made simpler.
    setting : tuple of str
        The winner; empty: as it is today.
    fold_settings : tuple of tuple of str
        The setting that the search of each fold chose; all empty: none was better than today.
    judged_weeks : tuple of int
        Weeks of the folds whose search chose the winner: its gain is that of these weeks.
    gains : tuple of HeldOutGain
        Of each objective, then of each constraint, in these weeks.
    confidence : float
        Of the intervals, in 0..1.
    baseline : BlockSimulation
        The judged weeks with the current configuration.
    winner : BlockSimulation
        The judged weeks with the winner.
    runs : int
        How many draws of weeks ran in the search.
    draws : int
        Replications of each week.
    seed : int
        Of the random scheduler timing.
    judgement : LogJudgement or None
        How well the simulator explains the log; None where the log has no waits.
    stop_reason : str
        Why the search ended early; empty: it did not.
    failure : str
        Why the winner could not be judged; empty: it was, or there is none.
    left_out : int
        Jobs that never start with the current configuration.

    Examples
    --------
    >>> conf = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
    >>> _ = conf.write_text("NodeName=n[1-8] CPUs=1\\nPartitionName=p Nodes=ALL Default=YES\\n")
    >>> inst = cs.cluster.Instance(cs.workloads.lublin(400, 8, seed=1), nodes=8)
    >>> tuned = cs.slurm.tune(inst, conf, vary={"bf_interval": [30, 31]}, draws=1)
    >>> tuned.better, list(tuned.trials)
    (False, ['bf_interval', 'mean_wait', 'runs', 'whole', 'why'])
    """

    instance: Instance
    dimensions: tuple[Dimension, ...]
    objectives: tuple[TuningMeasure, ...]
    constraints: tuple[MeasureConstraint, ...]
    weeks: Weeks
    all_trials: tuple[Trial, ...]
    tried: int
    setting: Setting
    fold_settings: tuple[Setting, ...]
    judged_weeks: tuple[int, ...]
    gains: tuple[HeldOutGain, ...]
    confidence: float
    baseline: BlockSimulation
    winner: BlockSimulation
    runs: int
    draws: int
    seed: int
    judgement: LogJudgement | None
    stop_reason: str
    failure: str
    left_out: int

    found = DeprecatedAttribute("all_trials")
    chosen = DeprecatedAttribute("fold_settings")
    verdicts = DeprecatedAttribute("gains")
    today = DeprecatedAttribute("baseline")
    then = DeprecatedAttribute("winner")
    stopped = DeprecatedAttribute("stop_reason")
    why = DeprecatedAttribute("failure")
    subjects = DeprecatedAttribute("constraints")
    idle = DeprecatedAttribute("keys_without_effect")
    plain = DeprecatedAttribute("to_dict")

    @property
    def keys(self) -> tuple[str, ...]:
        """What was varied."""
        return tuple(dimension.key for dimension in self.dimensions)

    @property
    def best(self) -> dict[str, str]:
        """Key -> value of what the winner changes."""
        return changed_values(self.keys, self.setting)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the search left out and what it assumes, each once."""
        notes = []
        if self.left_out:
            text = (
                "left out, since they never start in the current configuration: "
                f"{count_of(self.left_out, 'job')}"
            )
            notes.append(Note(NoteKind.REFUSED_JOBS, text, subject="baseline", count=self.left_out))
        notes += [Note(NoteKind.NOT_USED, text, subject="key") for text in self.keys_without_effect]
        return tuple(dict.fromkeys((*notes, *self.baseline.notes, *self.instance.notes)))

    @cached_property
    def keys_without_effect(self) -> list[str]:
        """Why keys had no effect in any setting that was tried: another line of slurm.conf excludes
        it."""
        reason_by_key: dict[str, str] = dict.fromkeys(self.keys, "")
        for trial in self.all_trials:
            if reason_by_key and any(trial.setting) and not trial.why:
                changed_instance, _ = what_if(self.instance, what_if_text(self.keys, trial.setting))
                assert changed_instance.machine is not None
                reasons = {
                    key: reason_for_no_effect(changed_instance.machine, key)
                    for key in reason_by_key
                }
                reason_by_key = {
                    key: f"{key} has no effect: {reason}"
                    for key, reason in reasons.items()
                    if reason
                }
        return [why for why in reason_by_key.values() if why]

    @property
    def fit(self) -> pd.DataFrame | None:
        """What :func:`cosched.cluster.fit` says of the log; None where it has no waits."""
        return None if self.judgement is None else self.judgement.fit

    @property
    def gain(self) -> float:
        """Share of the (first) objective that the winner saves on :attr:`judged_weeks`."""
        return self.gains[0].gain

    @property
    def gain_p05(self) -> float:
        """Lower end of its 90% confidence interval (95% with two objectives)."""
        return self.gains[0].low

    @property
    def gain_p95(self) -> float:
        """Upper end of its interval."""
        return self.gains[0].high

    @property
    def verdict(self) -> GainVerdict:
        """``proven``, ``negligible``, ``not proven``, ``no effect``, ``not better`` or
        ``constraint broken``."""
        count = len(self.objectives)
        gains, constraint_gains = self.gains[:count], self.gains[count:]
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
        candidates = [
            trial for trial in self.all_trials if trial.has_all_runs and not trial.violation
        ]
        return [
            trial
            for trial in rank_trials(candidates)
            if not any(dominates(other, trial) for other in candidates)
        ]

    @property
    def trials(self) -> pd.DataFrame:
        """A row a setting, in the order in which they were tried: its values by key, each
        objective and constraint over today's (below 1 is less), ``runs``, ``whole``, ``why``."""
        rows = []
        for trial in self.all_trials:
            ratios = (*trial.ratios, *(trial.constraints or (np.nan,) * len(self.constraints)))
            names = map(
                str, (*self.objectives, *(constraint.measure for constraint in self.constraints))
            )
            row: dict[str, Any] = dict(zip(self.keys, trial.setting, strict=True))
            row |= dict(zip(names, ratios, strict=False))
            rows.append({**row, "runs": trial.runs, "whole": trial.has_all_runs, "why": trial.why})
        return pd.DataFrame(rows)

    def lines(self) -> list[str]:
        """What to put into slurm.conf, and what to tell sacctmgr, for the winner.

        Returns
        -------
        list of str
            Empty where nothing is better; what is no setting begins with ``#``.
        """
        return self._config_lines_for(self.setting) if self.better else []

    def _config_lines_for(self, setting: Setting) -> list[str]:
        """Return the lines for slurm.conf and the commands for sacctmgr that make a setting."""
        if not any(setting):
            return []
        changed_instance, _ = what_if(self.instance, what_if_text(self.keys, setting))
        machines: Any = self.instance.machine, changed_instance.machine
        current_lines = {_line_text(line) for line in machines[0].slurm.source.lines}
        texts = [
            text
            for text in map(_line_text, machines[1].slurm.source.lines)
            if text not in current_lines
        ]
        for key, value in changed_values(self.keys, setting).items():
            kind, _, rest = key.partition(".")
            name, _, option = rest.rpartition(".")
            if kind in ("qos", "account") and name:
                texts.append(f"sacctmgr -i modify {kind} {name} set {option}={value}")
            elif kind in _NON_CONFIG_KEYS or key in _NON_CONFIG_KEYS:
                texts.append(f"# {key}={value}")
        return texts

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON has it: seconds, shares."""
        names = ("measure", "today", "then", "gain", "gain_p05", "gain_p95")
        verdicts = [
            dict(zip(names, (str(v.measure), v.today, v.then, v.gain, v.low, v.high), strict=True))
            for v in self.gains
        ]
        groups = [
            {
                "group": group.what,
                "name": group.name,
                "jobs": group.jobs,
                "difference": group.difference.mean,
                "difference_p05": group.difference.low,
                "difference_p95": group.difference.high,
            }
            for group in largest_group_changes(self.baseline, self.winner)
        ]
        return {
            "best": self.best,
            "better": self.better,
            "verdict": str(self.verdict),
            "confidence": self.confidence,
            "test_weeks": [*self.judged_weeks],
            "folds": [
                {"test_weeks": [*fold.test.numbers], "setting": changed_values(self.keys, setting)}
                for fold, setting in zip(self.weeks.folds, self.fold_settings, strict=True)
            ],
            "gain": self.gain,
            "gain_p05": self.gain_p05,
            "gain_p95": self.gain_p95,
            "lines": self.lines(),
            "measures": verdicts,
            "groups": groups,
            "fit": to_records(self.fit),
            "judgement": None if self.judgement is None else self.judgement.to_dict(),
            "front": [changed_values(self.keys, group.setting) for group in self.front],
            "tried": self.tried,
            "runs": self.runs,
            "stopped": self.stop_reason,
            "trials": self.trials.to_dict("records"),
            "note_records": note_records(self.notes),
        }

    def write(self, path: str | PathLike[str]) -> None:
        """Write the page: .html, or all as data: .json.

        Parameters
        ----------
        path : str or path-like
            Replaced as a whole or not at all.
        """
        if io.check_suffix(path, (".html", ".json")) == ".json":
            io.write_json(io.plain(self.to_dict()), path)
        else:
            call_report_writer("tune", self, path)

    def __repr__(self) -> str:
        changes = ", ".join(f"{key}={value}" for key, value in self.best.items())
        if not self.better:
            has_no_gain = self.verdict in (GainVerdict.NOT_BETTER, GainVerdict.NO_EFFECT)
            proven = "" if has_no_gain else "proven "
            return f"<Tuned: nothing of {self.tried} settings is {proven}better than today>"
        return (
            f"<Tuned: {changes}: {self.gain:.1%} less ({self.gain_p05:.1%} to {self.gain_p95:.1%})>"
        )


def _line_text(line: Line) -> str:
    """Return a line of slurm.conf as the file spells it."""
    return " ".join(f"{line.spellings[key]}={value}" for key, value in line.keys.items())


def outcome_sentence(tuned: Tuned) -> str:
    """Return the answer: what the setting does on the test weeks, and whether that is proven."""
    if tuned.failure:
        return f"Not better: the best of {tuned.tried} settings cannot be had: {tuned.failure}."
    if not any(tuned.setting):
        sentence = no_better_setting_sentence(
            tuned.tried, tuned.all_trials, tuned.keys, tuned.objectives
        )
        return f"{sentence} {failed_sentence(tuned)}".strip()
    change = what_if_text(tuned.keys, tuned.setting)
    gains = tuned.gains[: len(tuned.objectives)]
    sentence = held_out_sentence(change, gains, tuned.judged_weeks, tuned.confidence, tuned.verdict)
    violations = broken_constraints(tuned.gains[len(tuned.objectives) :], tuned.constraints)
    return " ".join([sentence, *(f"{text[0].upper()}{text[1:]}." for text in violations)])


def failed_sentence(tuned: Tuned) -> str:
    """Return how many settings were no candidates, and why the first was none."""
    failed_trials = [trial for trial in tuned.all_trials if trial.why]
    if not failed_trials:
        return ""
    first = what_if_text(tuned.keys, failed_trials[0].setting)
    why = failed_trials[0].why
    return f"{len(failed_trials)} settings are no candidates, the first, {first}: {why}."
