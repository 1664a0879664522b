"""What the five families share: instances, schedules, results, the shape of a family."""

from cosched.core.family import Algorithm, Family
from cosched.core.instance import Instance
from cosched.core.limits import time_limit
from cosched.core.options import Argument, Output
from cosched.core.overview import Overview
from cosched.core.presentation import Presentation
from cosched.core.result import Bound, Result
from cosched.core.schedule import Schedule
from cosched.described import described

__all__ = [
    "Algorithm",
    "Argument",
    "Bound",
    "Family",
    "Instance",
    "Output",
    "Overview",
    "Presentation",
    "Result",
    "Schedule",
    "time_limit",
]

described(globals())
