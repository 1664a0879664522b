"""What the five families share: instances, schedules, results, the shape of a family."""

from cosched.border import guard_public
from cosched.core.algorithm_table import (
    Algorithm as Algorithm,
    AlgorithmTable as AlgorithmTable,
)
from cosched.core.family import Family as Family
from cosched.core.instance import Instance as Instance
from cosched.core.limits import time_limit as time_limit
from cosched.core.options import Output as Output
from cosched.core.presentation import Presentation as Presentation
from cosched.core.result import Bound as Bound, Overview as Overview, Result as Result
from cosched.core.schedule import Schedule as Schedule
from cosched.described import described

described(globals())
guard_public(globals())
