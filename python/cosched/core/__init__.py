"""What the five families share: instances, schedules, results, the registry, ``compare``."""

from cosched.core.family import FAMILIES, Algorithm, Argument, Family, Output, family, register
from cosched.core.instance import Instance
from cosched.core.result import Bound, Result
from cosched.core.schedule import Schedule

__all__ = [
    "FAMILIES",
    "Algorithm",
    "Argument",
    "Bound",
    "Family",
    "Instance",
    "Output",
    "Result",
    "Schedule",
    "family",
    "register",
]
