"""The verdict on a setting (proven, not proven, not better, no effect), and its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from cosched.core.text import count_of
from cosched.slurm.tuning.gains import HeldOutGain
from cosched.slurm.tuning.race import Trial, rank_trials
from cosched.slurm.tuning.space import MeasureConstraint, Setting, TuningMeasure, what_if_text

#: A smaller gain is no reason to change a line, and close to what random timing alone makes.
MIN_GAIN = 0.01
#: A smaller share is 0.0% as it is printed.
MIN_SHOWN_SHARE = 0.0005


class GainVerdict(str, Enum):
    """What the test weeks say of the setting that the search chose."""

    #: The interval of an objective is above zero, that of none below, and all constraints hold.
    PROVEN = "proven"
    #: The same, but no objective falls by 1%: random timing of the scheduler makes as much.
    NEGLIGIBLE = "negligible"
    #: An objective falls, and its interval has zero inside: chance may explain it.
    NOT_PROVEN = "not proven"
    #: No measure changes by a share that is shown, and neither does an end of its interval.
    NO_EFFECT = "no effect"
    #: No setting reduces the objective in the search, or the chosen one does not on the test weeks.
    NOT_BETTER = "not better"
    #: The gain is proven, and a constraint is broken.
    CONSTRAINT_BROKEN = "constraint broken"

    def __str__(self) -> str:
        return str(self.value)


def verdict_of(
    setting: Setting,
    gains: Sequence[HeldOutGain],
    constraint_gains: Sequence[HeldOutGain],
    constraints: Sequence[MeasureConstraint],
) -> GainVerdict:
    """Return the verdict on a setting: gains in the objectives, and in the measures of the
    constraints."""
    if any(setting) and gains and all(map(_has_no_effect, gains)):
        return GainVerdict.NO_EFFECT
    if not any(setting) or not any(gain.gain > 0 for gain in gains):
        return GainVerdict.NOT_BETTER
    is_proven = any(gain.is_proven for gain in gains) and not any(gain.is_loss for gain in gains)
    if not is_proven:
        return GainVerdict.NOT_PROVEN
    if not any(gain.is_proven and gain.gain >= MIN_GAIN for gain in gains):
        return GainVerdict.NEGLIGIBLE
    if broken_constraints(constraint_gains, constraints):
        return GainVerdict.CONSTRAINT_BROKEN
    return GainVerdict.PROVEN


def _has_no_effect(gain: HeldOutGain) -> bool:
    return all(abs(share) < MIN_SHOWN_SHARE for share in (gain.gain, gain.low, gain.high))


def broken_constraints(
    constraint_gains: Sequence[HeldOutGain], constraints: Sequence[MeasureConstraint]
) -> list[str]:
    """Constraints that do not hold on the test weeks, and what the measure is there."""
    pairs = zip(constraints, constraint_gains, strict=True)
    return [
        f"{constraint.measure} is {1 - gain.gain:.3g} times today's (constraint: {constraint.sign} "
        f"{constraint.limit:g})"
        for constraint, gain in pairs
        if constraint.violation(1 - gain.gain)
    ]


def held_out_sentence(
    change: str,
    gains: Sequence[HeldOutGain],
    weeks: Sequence[int],
    confidence: float,
    verdict: GainVerdict,
) -> str:
    """``X reduces the mean wait by 33% on test week 4, 90% interval -26% to 92%: not proven``."""
    if verdict is GainVerdict.NO_EFFECT:
        measures = " and ".join(gain.measure.words for gain in gains)
        return f"No effect: {change} leaves {measures} as it is on test {week_numbers(weeks)}."
    effects = []
    for gain in gains:
        low, high = sorted((_signed_share(gain, gain.low), _signed_share(gain, gain.high)))
        effects.append(
            f"{_effect_clause(gain)} on test {week_numbers(weeks)}, {confidence:.0%} interval "
            f"{percent_interval(low, high)}"
        )
    return f"{change} {' and '.join(effects)}: {verdict}."


def _effect_clause(gain: HeldOutGain) -> str:
    """Return what a setting does to a measure, as a clause."""
    if abs(gain.gain) < MIN_SHOWN_SHARE:
        return f"changes {gain.measure.words} by less than {2 * MIN_SHOWN_SHARE:.1%}"
    verb = "reduces" if gain.gain > 0 else "increases"
    return f"{verb} {gain.measure.words} by {abs(gain.gain):.1%}"


def _signed_share(gain: HeldOutGain, share: float) -> float:
    """Return an end of the interval as a share of the effect that the sentence names."""
    return share if gain.gain >= 0 else -share


def _objective_ratio(trial: Trial) -> float:
    """Return the product of the objectives over today's."""
    return float(np.prod(trial.ratios))


def no_better_setting_sentence(
    tried: int, trials: Sequence[Trial], keys: Sequence[str], objectives: Sequence[TuningMeasure]
) -> str:
    """That no setting reduces the objective in the search, and what the nearest one does."""
    words = " times ".join(measure.words for measure in objectives)
    settings = count_of(tried, "setting")
    sentence = f"Not better: of {settings} none reduces {words} in the weeks of the search"
    ranked = rank_trials([trial for trial in trials if not trial.why and any(trial.setting)])
    nearest = next((trial for trial in ranked if trial.has_all_runs), None)
    if nearest is None:
        return f"{sentence}."
    if nearest.violation:
        return f"{sentence} and keeps the constraints."
    change, ratio = what_if_text(keys, nearest.setting), _objective_ratio(nearest)
    if ratio == 1:
        sentence = f"{sentence}; {change} changes nothing"
        nearest = next(
            (trial for trial in ranked if trial.ratios and _objective_ratio(trial) > 1), None
        )
        if nearest is None:
            return f"{sentence}."
        change, ratio = what_if_text(keys, nearest.setting), _objective_ratio(nearest)
    if abs(1 - ratio) < MIN_SHOWN_SHARE:
        min_share = f"{2 * MIN_SHOWN_SHARE:.1%}"
        return f"{sentence}; the nearest, {change}, changes it by less than {min_share}."
    if ratio < 1:
        return f"{sentence} of a fold; the nearest, {change}, reduces it by {1 - ratio:.1%} in all."
    dropped = ""
    if not nearest.has_all_runs:
        dropped = f" in {count_of(nearest.runs, 'run')}, after which the search dropped it"
    return f"{sentence}; the nearest, {change}, increases it by {ratio - 1:.1%}{dropped}."


def percent_interval(low: float, high: float) -> str:
    """``-26.0% to 92.0%``; ends that the data do not bound are said."""
    if low == -float("inf"):
        return f"unbounded to {high:.1%}"
    if high == float("inf"):
        return f"{low:.1%} to unbounded"
    return f"{low:.1%} to {high:.1%}"


def week_numbers(numbers: Sequence[int]) -> str:
    """``week 4``, ``weeks 1-4`` or ``weeks 1, 3``."""
    weeks = [*numbers]
    if len(weeks) == 1:
        return f"week {weeks[0]}"
    if weeks == [*range(weeks[0], weeks[-1] + 1)]:
        return f"weeks {weeks[0]}-{weeks[-1]}"
    return f"weeks {', '.join(map(str, weeks))}"
