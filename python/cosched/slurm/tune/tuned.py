"""What a search found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.instance import Instance
from cosched.cluster.page.what_if import what_if
from cosched.cluster.result.log_fit import plain
from cosched.lazy import pd
from cosched.slurm.conf.lines import Line
from cosched.slurm.tune.measures import Measure, Subject, Weeks
from cosched.slurm.tune.page import page
from cosched.slurm.tune.race import Trial, beats, order
from cosched.slurm.tune.space import Dimension, Setting, change_of, changed
from cosched.slurm.tune.trials import Judged, Simulated, who_pays
from cosched.slurm.whatif.changes import idle

#: What is no line of a file.
_OTHER = ("nodes", "users", "reservation", "slurm.conf")


@dataclass(frozen=True)
class Tuned:
    """A search over settings, and the winner on weeks that it did not see.

    Attributes
    ----------
    instance : Instance
    dimensions, objectives, subjects : tuple
        What was varied, what was to be small, what had to hold.
    weeks : Weeks
    found : tuple of Trial
        In the order in which they were tried.
    tried : int
        How many these are without those by which the winner was made simpler.
    setting : tuple of str
        The winner; empty: as it is today.
    verdicts : tuple of Judged
        Each objective, then each subject, on the weeks that judge.
    today, then : Simulated
        Those weeks as it is, and under the winner.
    runs : int
        How many draws of weeks ran in the search.
    draws, seed : int
    fit : DataFrame or None
        How near the twin is to the log; None where the log has no waits.
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
    subjects: tuple[Subject, ...]
    weeks: Weeks
    found: tuple[Trial, ...]
    tried: int
    setting: Setting
    verdicts: tuple[Judged, ...]
    today: Simulated
    then: Simulated
    runs: int
    draws: int
    seed: int
    fit: pd.DataFrame | None
    stopped: str
    why: str
    left_out: int

    @property
    def keys(self) -> tuple[str, ...]:
        """What was varied."""
        return tuple(one.key for one in self.dimensions)

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
                said = {key: idle(other.machine, key) for key in left}
                left = {key: why for key, why in said.items() if why}
        return [why for why in left.values() if why]

    @property
    def gain(self) -> float:
        """Share of the (first) objective that the winner saves on the weeks that judge."""
        return self.verdicts[0].gain

    @property
    def gain_p05(self) -> float:
        """Lower end of its interval: 90% confidence, for as many weeks to come."""
        return self.verdicts[0].low

    @property
    def gain_p95(self) -> float:
        """Upper end of its interval."""
        return self.verdicts[0].high

    @property
    def better(self) -> bool:
        """Whether the winner is better beyond chance where nobody had looked: the interval of an
        objective is above zero, that of none below, and all subjects hold."""
        own, others = self.verdicts[: len(self.objectives)], self.verdicts[len(self.objectives) :]
        holds = all(
            not subject.broken(1 - one.gain)
            for subject, one in zip(self.subjects, others, strict=True)
        )
        gains = any(one.low > 0 for one in own) and not any(one.high < 0 for one in own)
        return bool(self.setting) and holds and gains

    @property
    def front(self) -> list[Trial]:
        """Settings with all runs that keep what they must and that no other beats."""
        able = [one for one in self.found if one.whole and not one.broken]
        return [one for one in order(able) if not any(beats(other, one) for other in able)]

    @property
    def trials(self) -> pd.DataFrame:
        """A row a setting, in the order in which they were tried: its values by key, each
        objective and subject over today's (below 1 is less), ``runs``, ``whole``, ``why``."""
        rows = []
        for one in self.found:
            ratios = (*one.ratios, *(one.subjects or (np.nan,) * len(self.subjects)))
            names = map(str, (*self.objectives, *(subject.measure for subject in self.subjects)))
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
            "gain": self.gain,
            "gain_p05": self.gain_p05,
            "gain_p95": self.gain_p95,
            "lines": self.lines(),
            "measures": verdicts,
            "groups": groups,
            "fit": plain(self.fit),
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
            return f"<Tuned: nothing of {self.tried} settings is better than today>"
        return f"<Tuned: {said}: {self.gain:.1%} less ({self.gain_p05:.1%} to {self.gain_p95:.1%})>"


def _text(line: Line) -> str:
    return " ".join(f"{line.spelled[key]}={value}" for key, value in line.keys.items())
