"""What a what-if changes, and whether a simulation can tell what that does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum

from cosched.cluster.instance import Instance
from cosched.cluster.result import Result


class ScenarioClass(Enum):
    """What the numbers of a scenario mean. Every row of the what-ifs has exactly one class.

    A further possibility has no row: a value that Slurm would not take is refused
    (:class:`~cosched.errors.InvalidInstance`).
    """

    #: The simulation follows the change, and start times differ.
    SIMULATED = "simulated"
    #: The value is the current one.
    UNCHANGED = "unchanged"
    #: No start time depends on the key today; the reason says why.
    NO_EFFECT = "no effect"
    #: The reference policy does not follow the change: the row has no numbers.
    NOT_MODELLED = "not modelled"
    #: The simulation of the change has no schedule: the machine does not hold some job, or the time
    #: was over. The row has no numbers.
    NO_RESULT = "no result"


@dataclass(frozen=True)
class ChangedKey:
    """One key of a scenario, with its class.

    Attributes
    ----------
    key, value : str
        As they were typed.
    scenario_class : ScenarioClass
        Under the simulator of the machine's own scheduler, where there is one.
    reason : str
        Why; empty of a key that is simulated.
    known_to_batch_policies : bool
        Policies such as EASY follow the change, too: they know nodes, partitions and time limits.
    class_after_run : callable, optional
        Gives the key its final class once the jobs were simulated on the machine as it is.
    """

    key: str
    value: str
    scenario_class: ScenarioClass
    reason: str = ""
    known_to_batch_policies: bool = True
    class_after_run: Callable[[Result], ChangedKey] | None = None


@dataclass(frozen=True)
class Verdict:
    """The class of a whole scenario, its reason, and what else is to be said of its keys."""

    #: The class of the scenario.
    scenario_class: ScenarioClass
    #: Why; empty where it is simulated.
    reason: str = ""
    #: Sentences about single keys.
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scenario:
    """The same jobs under one changed configuration.

    Attributes
    ----------
    text : str
        The change as it was typed: ``KEY=VALUE``, several with commas between them.
    instance : Instance
        The jobs on the changed machine.
    keys : tuple of ChangedKey
    remarks : tuple of str
        What the change does to single jobs, with their number.
    """

    text: str
    instance: Instance
    keys: tuple[ChangedKey, ...]
    remarks: tuple[str, ...] = ()

    def with_final_classes(self, base: Result | None) -> Scenario:
        """With the keys whose class depends on the result of the machine as it is."""
        if base is None:
            return self
        keys = tuple(
            key if key.class_after_run is None else key.class_after_run(base) for key in self.keys
        )
        return replace(self, keys=keys)

    def verdict(self, policy: str, *, is_scheduler: bool) -> Verdict:
        """The class under a policy; `is_scheduler`: it simulates the machine's own scheduler.

        The classes of the keys decide in this order: one that is not modelled makes the whole row
        so, since its numbers would tell half of the change; then one that is simulated; then one
        without effect.
        """
        keys = [_under_policy(key, policy, is_scheduler) for key in self.keys]
        order = (
            ScenarioClass.NOT_MODELLED,
            ScenarioClass.SIMULATED,
            ScenarioClass.NO_EFFECT,
            ScenarioClass.UNCHANGED,
        )
        decided = next(
            candidate for candidate in order if any(key.scenario_class is candidate for key in keys)
        )
        deciding = _reasons(key for key in keys if key.scenario_class is decided)
        others = _reasons(key for key in keys if key.scenario_class is not decided)
        return Verdict(decided, "; ".join(deciding), (*others, *self.remarks))


def _under_policy(key: ChangedKey, policy: str, is_scheduler: bool) -> ChangedKey:
    is_followed = is_scheduler or key.known_to_batch_policies
    if key.scenario_class is not ScenarioClass.SIMULATED or is_followed:
        return key
    reason = (
        f"{policy} knows nodes, partitions and time limits; it does not follow {key.key} "
        "(slurm-backfill does)"
    )
    return replace(key, scenario_class=ScenarioClass.NOT_MODELLED, reason=reason)


def _reasons(keys: Iterable[ChangedKey]) -> list[str]:
    return list(dict.fromkeys(key.reason for key in keys if key.reason))
