"""Every key of slurm.conf: what Slurm takes as its value, and what the simulator makes of it.

The table ``options.csv`` has one row per key of slurm.conf(5) of Slurm 22.05 and 24.11, those that
its parser knows and the manual page leaves out included, and one per word of SchedulerParameters
and PreemptParameters. Types and ranges are those of the sources: ``read_config.c``,
``parse_value.c``, ``backfill.c``, ``job_scheduler.c``, ``select_cons_tres.c``.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from io import StringIO
from pathlib import Path


class OptionClass(Enum):
    """What ``slurm-backfill`` makes of a key."""

    #: The simulated start times follow it.
    SIMULATED = "simulated"
    #: No start time depends on it, on a real Slurm or for the jobs of a log.
    NO_EFFECT = "no effect"
    #: Start times of a real Slurm may depend on it; the simulator has no rule for it.
    NOT_MODELLED = "not modelled"
    #: The key decides which jobs slurmctld refuses. The jobs of the log tell which these are, and
    #: so whether a change is simulated, has no effect or is not modelled.
    BY_LOG = "by log"


@dataclass(frozen=True)
class Option:
    """One key.

    Attributes
    ----------
    record : str
        ``NodeName``, ``PartitionName``, ``DownNodes``, ``NodeSet``, ``FrontendName``; or
        ``SchedulerParameters``, ``PreemptParameters`` of a word of these; empty for a key with a
        line of its own.
    key : str
        As Slurm spells it.
    versions : tuple of str
        Those of ``22.05`` and ``24.11`` that know the key; ``other`` for an older or newer version.
    takes : str
        The form of the values that Slurm takes, as :mod:`cosched.slurm.conf.values` lists them.
    defaults : tuple of str
        Values that mean the same as no line; empty where the default depends on other keys.
    option_class : OptionClass
    known_to_batch_policies : bool
        Whether policies such as EASY follow the key, too.
    reason : str
        Why the key has its class; empty for a simulated key.
    """

    record: str
    key: str
    versions: tuple[str, ...]
    takes: str
    defaults: tuple[str, ...]
    option_class: OptionClass
    known_to_batch_policies: bool
    reason: str


_FILE = Path(__file__).with_name("options.csv")


def _read() -> tuple[Option, ...]:
    rows = csv.DictReader(StringIO(_FILE.read_text("utf-8")))
    return tuple(
        Option(
            record=row["record"],
            key=row["key"],
            versions=tuple(row["versions"].split()),
            takes=row["takes"],
            defaults=tuple(filter(None, row["default"].split("|"))),
            option_class=OptionClass(row["class"]),
            known_to_batch_policies=row["batch"] == "yes",
            reason=row["reason"],
        )
        for row in rows
    )


#: In the order of the file.
OPTIONS: tuple[Option, ...] = _read()
_BY_NAME: Mapping[tuple[str, str], Option] = {
    (option.record.lower(), option.key.lower()): option for option in OPTIONS
}


def option_of(record: str, key: str) -> Option | None:
    """Return the row of a key, in any case; None: Slurm has no such key there."""
    return _BY_NAME.get((record.lower(), key.lower()))


def keys_of(record: str, *classes: OptionClass) -> frozenset[str]:
    """Keys in lower case, of some classes or (without any) of all."""
    return frozenset(
        option.key.lower()
        for option in OPTIONS
        if option.record == record and (not classes or option.option_class in classes)
    )
