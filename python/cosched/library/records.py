"""A record: the best schedule and the best bound of an instance, who found them, and when."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cosched import io
from cosched.errors import InvalidSchedule
from cosched.library.entries import entry_of

FORMAT, VERSION = "cosched-library", 1
#: Where records are kept: beside this file, one a name.
FOLDER = Path(__file__).with_name("records")


@dataclass(frozen=True)
class Finding:
    """A value, or a bound, and where it comes from.

    Attributes
    ----------
    value : float
        In the unit of the family's objective.
    algorithm : str
        What found it: an algorithm or a bound of the family, or another solver's name.
    by : str
        Who ran it.
    since : str
        The day, as ``2026-11-26``.
    """

    value: float
    algorithm: str
    by: str
    since: str


@dataclass(frozen=True)
class Record:
    """What is known of an instance.

    Attributes
    ----------
    name : str
    size : int
        Tasks, jobs or types of tasks.
    best : Finding
        The best value.
    schedule : dict
        The schedule that has it, as ``Schedule.to_dict`` writes it; of a long one that an algorithm
        makes again ``algorithm`` and ``seed``.
    bound : Finding
        The best bound.
    certificate : dict
        Its proof: see :mod:`cosched.library.certificates`.
    history : tuple of Finding
        The values before, the oldest first.
    """

    name: str
    size: int
    best: Finding
    schedule: dict[str, Any]
    bound: Finding
    certificate: dict[str, Any]
    history: tuple[Finding, ...] = ()

    def beaten_by(self, best: Finding, schedule: dict[str, Any]) -> Record:
        """The record after a better schedule."""
        return replace(self, best=best, schedule=schedule, history=(*self.history, self.best))

    def write(self, folder: Path) -> Path:
        """Writes ``FOLDER/FAMILY/NAME.json``, whole or not at all."""
        path = folder / f"{self.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = {"format": FORMAT, "version": VERSION, **io.plain(asdict(self))}
        # A line a key, so that a change of a record can be read.
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in data.items())
        io.write_text("{\n" + ",\n".join(lines) + "\n}\n", path)
        return path


def record_of(name: str, folder: Path = FOLDER) -> Record:
    """The record of a name."""
    entry_of(name)
    path = folder / f"{name}.json"
    data = io.read_json(path)
    try:
        if (data.pop("format"), data.pop("version")) != (FORMAT, VERSION):
            raise ValueError(f"expected format {FORMAT!r}, version {VERSION}")
        best, bound = Finding(**data.pop("best")), Finding(**data.pop("bound"))
        history = tuple(Finding(**found) for found in data.pop("history"))
        return Record(**data, best=best, bound=bound, history=history)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidSchedule(f"{path.name}: not a record of the library: {error}") from None
