"""How often does ``tune`` prove a gain that is there, and how often one that is not?

``python tests_py/bench/bench_tune_power.py [tune|tests|gains] [SCALE]``: logs of four weeks and 400
jobs whose truth is known (``planted_slurm_logs.py``), all with fixed seeds; SCALE 1 is 24 logs with
a gain of 20% or more and 200 without one.

* ``tune``: proofs and false claims of the command as it is (4 min of a processor).
* ``tests``: the same of candidate tests, on the waits of all settings in all weeks (4 min).
* ``gains``: the gain of each setting on average over 100 logs of its family (4 min).
"""

import sys
import time
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import t as student

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from planted_slurm_logs import FAMILIES, WITH_GAIN, WITHOUT_GAIN

import cosched as cs
from cosched.slurm.tuning.setting_simulation import SimulationContext
from cosched.slurm.tuning.space import BASELINE, TuningMeasure
from cosched.slurm.tuning.weeks import weeks_of

DRAWS = 4
WEEKS = 4
PARTS = 168  # of a week: hours
#: Logs of each family at scale 1.
COUNTS = dict.fromkeys(WITH_GAIN, 8) | {
    "equal kinds exchanged, by day": 50,
    "equal kinds exchanged, at any hour": 50,
    "random timing": 50,
    "no effect": 20,
    "all worse": 30,
}
#: Seeds of the logs that measure the gains of settings are others.
GAIN_SEED = 10_000


@dataclass(frozen=True)
class WaitTable:
    """Waits of the jobs of a log in all its weeks, under all settings; setting 0 is today's.

    `waits`: one array per week, of shape (settings, draws, jobs); `parts`: the part of its week
    that each job came in, of 168; `response_time`: mean time from submission to end, in weeks.
    """

    waits: list
    parts: list
    response_time: float

    def means(self, weeks):
        """Mean waits, shape (settings, weeks x draws)."""
        return np.concatenate([self.waits[week].mean(axis=2) for week in weeks], axis=1)

    def sums(self, week, setting, count):
        """Waits under a setting, on average over draws, summed over each of `count` parts."""
        part = self.parts[week] * count // PARTS
        return np.bincount(part, self.waits[week][setting].mean(axis=0), count)

    def pairs(self, weeks, setting, count):
        """Sums today and under a setting, part by part, over weeks."""
        today = np.concatenate([self.sums(week, 0, count) for week in weeks])
        then = np.concatenate([self.sums(week, setting, count) for week in weeks])
        return today, then


def wait_table(family, seed):
    """The waits of a log of a family under all settings."""
    instance = family.instance(seed)
    weeks = weeks_of(instance, None, None)
    world = SimulationContext(
        tuple(family.vary), weeks.train, (TuningMeasure("mean_wait"),), DRAWS, seed
    )
    settings = [BASELINE, *product(*family.vary.values())]
    waits, parts, response_times = [], [], []
    for number, block in enumerate(weeks.train):
        runs = [world.simulate(setting, number, 0, DRAWS) for setting in settings]
        waits.append(np.array([run.waits for run in runs]))
        begin, end = block.spans[0]
        share = (runs[0].jobs.column("submit") - begin) / (end - begin)
        parts.append(np.minimum((share * PARTS).astype(int), PARTS - 1))
        response_times.append((runs[0].waits + runs[0].jobs.column("runtime")).mean())
    return WaitTable(waits, parts, np.mean(response_times) / (end - begin))


def choose(table, weeks, *, needs_proof=False):
    """The setting with the smallest mean wait in some weeks; None: none is better than today's.

    `needs_proof`: only of settings that a paired t test over weeks and draws finds better.
    """
    means = table.means(weeks)
    differences = means[0] - means[1:]
    error = differences.std(axis=1, ddof=1) / np.sqrt(differences.shape[1])
    quantile = student.ppf(0.95, differences.shape[1] - 1) if needs_proof else 0
    is_better = (differences.mean(axis=1) > 0) & (differences.mean(axis=1) > quantile * error)
    if not is_better.any():
        return None
    return 1 + int(np.where(is_better, means[1:].mean(axis=1), np.inf).argmin())


def is_positive(differences, *, neighbours=False):
    """A one-sided t test at 5%; with neighbours, the variance has their covariance."""
    count = len(differences)
    centred = differences - differences.mean()
    variance = centred @ centred
    if neighbours:
        variance += 2 * max(centred[1:] @ centred[:-1], 0)
    error = np.sqrt(variance / (count * (count - 1)))
    return bool(differences.mean() > student.ppf(0.95, count - 1) * error)


def one_search(train, test, count):
    """One search in weeks, and a test in other weeks, of so many parts a week."""

    def proves(table):
        setting = choose(table, train)
        if setting is None:
            return False
        today, then = table.pairs(test, setting, count)
        return is_positive(today - then)

    return proves


def cross_fitted(count, *, neighbours=False, relative=False, least_gain=0.0):
    """Four folds; the setting that most of them choose is tested in the weeks of these.

    `count`: parts of a week; None: at most 14, none shorter than the mean response time. `least`:
    the smallest share that counts as a gain.
    """

    def proves(table):
        weeks = range(WEEKS)
        chosen = [choose(table, [week for week in weeks if week != test]) for test in weeks]
        votes = Counter(setting for setting in chosen if setting is not None)
        if not votes:
            return False
        winner = max(votes, key=lambda setting: (votes[setting], -setting))
        parts = count or int(np.clip(1 / table.response_time, 2, 14))
        own_weeks = [week for week in weeks if chosen[week] == winner]
        today, then = table.pairs(own_weeks, winner, parts)
        if not then.sum() <= (1 - least_gain) * today.sum():
            return False
        differences = relative_pseudo_values(today, then) if relative else today - then
        return len(differences) > 1 and is_positive(differences, neighbours=neighbours)

    return proves


def relative_pseudo_values(today, then):
    """Pseudo-values of the jackknife for the share that is gained."""
    count = len(today)
    gain = 1 - then.sum() / today.sum()
    rest = 1 - (then.sum() - then) / (today.sum() - today)
    return count * gain - (count - 1) * rest


def version_before(table):
    """What tune did: weeks 1-3 choose, the fourth tests, a jackknife over eighths foretells."""
    setting = choose(table, [0, 1, 2], needs_proof=True)
    if setting is None:
        return False
    today, then = table.pairs([3], setting, 7)
    gain = 1 - then.sum() / today.sum()
    values = relative_pseudo_values(today, then)
    pairs = np.array([pair.mean() for pair in np.array_split(values, len(values) // 2)])
    half_width = max(
        student.ppf(0.95, len(v) - 1) * v.std(ddof=1) / np.sqrt(len(v)) for v in (values, pairs)
    )
    return bool(gain > np.sqrt(2) * half_width)


def largest_of_all(table):
    """All weeks choose and test: the largest t of all settings, against random signs of parts."""
    settings = range(1, len(table.waits[0]))
    differences = np.array(
        [np.subtract(*table.pairs(range(WEEKS), setting, 14)) for setting in settings]
    )
    differences = differences[np.abs(differences).max(axis=1) > 1]
    if not len(differences):
        return False

    def largest(values):
        return (values.mean(axis=1) / values.std(axis=1)).max()

    random = np.random.default_rng(1)
    signs = random.choice([-1, 1], (999, differences.shape[1]))
    exceeding = sum(largest(differences * sign) >= largest(differences) for sign in signs)
    return (1 + exceeding) / 1000 <= 0.05


CANDIDATES = {
    "before: week 4, sevenths, prediction interval": version_before,
    "weeks 1-3 choose, week 4 tests by half days": one_search([0, 1, 2], [3], 14),
    "weeks 1, 3 choose, 2, 4 test by half days": one_search([0, 2], [1, 3], 14),
    "four folds, weeks": cross_fitted(1),
    "four folds, days": cross_fitted(7),
    "four folds, days and neighbours": cross_fitted(7, neighbours=True),
    "four folds, half days": cross_fitted(14),
    "four folds, half days and neighbours": cross_fitted(14, neighbours=True),
    "four folds, response times and neighbours": cross_fitted(None, neighbours=True),
    "the same, of gains of 1% or more (tune)": cross_fitted(None, neighbours=True, least_gain=0.01),
    "four folds, half days and neighbours, shares": cross_fitted(
        14, neighbours=True, relative=True
    ),
    "all weeks choose and test, random signs": largest_of_all,
}


def seeds_of(name, scale):
    """The seeds of a family's logs."""
    return range(max(round(COUNTS[name] * scale), 1))


def show(title, proofs):
    """Proofs of the logs with a gain, false claims of those without, and both by family."""
    totals = []
    for names in (WITH_GAIN, WITHOUT_GAIN):
        outcomes = [outcome for name in names for outcome in proofs[name]]
        totals.append(f"{sum(outcomes):3} of {len(outcomes):3}")
    families = " ".join(f"{sum(proofs[name])}/{len(proofs[name])}" for name in FAMILIES)
    print(f"{title:48} {'  '.join(totals)}   {families}", flush=True)


def show_heads():
    """The heads of the columns."""
    print(f"{'':48} {'proofs':9}  {'false':9}   by family: {', '.join(FAMILIES)}")


def show_tune(scale):
    """Proofs and false claims of the command."""
    proofs = {}
    for name, family in FAMILIES.items():
        proofs[name] = [
            cs.slurm.tune(family.instance(seed), vary=family.vary, draws=DRAWS, seed=seed).better
            for seed in seeds_of(name, scale)
        ]
    show_heads()
    show("tune", proofs)


def show_tests(scale):
    """Proofs and false claims of candidate tests."""
    tables = {
        name: [wait_table(family, seed) for seed in seeds_of(name, scale)]
        for name, family in FAMILIES.items()
    }
    show_heads()
    for title, proves in CANDIDATES.items():
        show(title, {name: [bool(proves(t)) for t in tables[name]] for name in FAMILIES})


def show_gains(scale):
    """The gain of each setting on average over logs."""
    for name, family in FAMILIES.items():
        totals = 0
        for seed in range(GAIN_SEED, GAIN_SEED + max(round(100 * scale), 1)):
            table = wait_table(family, seed)
            totals = totals + sum(waits.mean(axis=1).sum(axis=1) for waits in table.waits)
        settings = [",".join(setting) for setting in product(*family.vary.values())]
        gains = 1 - totals[1:] / totals[0]
        print(f"{name} ({', '.join(family.vary)}):")
        for setting, gain in zip(settings, gains, strict=True):
            print(f"  {setting:16} {gain:+.1%}", flush=True)


if __name__ == "__main__":
    np.seterr(invalid="ignore", divide="ignore")
    begin = time.process_time()
    parts = {"tune": show_tune, "tests": show_tests, "gains": show_gains}
    scale = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    for name in sys.argv[1:2] or list(parts):
        parts[name](scale)
        print(f"{name}: {time.process_time() - begin:.0f} s of a processor so far")
