"""How a family looks: its words, its tables and pictures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cosched.core.family import Family
from cosched.core.limits import PATIENCE, Patience
from cosched.core.options import Output


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """What the command line shows of a family; nothing here changes a result.

    Attributes
    ----------
    family : Family
    objective : str
        What ``Result.value`` is, for texts.
    unit : str
        Of the objective, with its blank before it.
    ideal : str
        What a bound speaks of: no such thing is better.
    outputs : tuple of Output
        Files beside the schedule that ``cosched solve`` can write.
    panels : tuple of callable
        Pictures of a result, ``f(result, ax)``, that ``--plot`` draws one below the other; a Gantt
        chart of the schedule where there is none.
    screen : tuple of str
        Metrics that tables on the screen show (files have all); all of them where empty.
    recorded : str
        Algorithm that says what happened, not what to do: its row stands first in tables.
    remark : callable, optional
        What the row of a result has to say beside its numbers, one line, or an empty text.
    patience : float or None
        Seconds that ``cosched compare`` gives each algorithm unless told; None: no limit.
    spelling : str
        How names of algorithms are spelled, where there are too many to list.

    Examples
    --------
    >>> from cosched.registry import presentation
    >>> bags = presentation("bags")
    >>> bags.objective + bags.unit, bags.family.maximise
    ('profit rate a second', True)
    """

    family: Family
    objective: str
    unit: str = ""
    ideal: str = "schedule"
    outputs: tuple[Output, ...] = ()
    panels: tuple[Callable[..., Any], ...] = ()
    screen: tuple[str, ...] = ()
    recorded: str = ""
    remark: Callable[[Mapping[str, Any]], str] | None = None
    patience: Patience | None = PATIENCE
    spelling: str = ""
