"""The family of bags: names of algorithms and bounds, and what the command line offers."""

from collections.abc import Callable

from cosched.bags import algorithms, bounds
from cosched.bags.instance import Instance
from cosched.bags.result import Result, result_of_schedule
from cosched.bags.schedule import Schedule
from cosched.core import AlgorithmTable, Bound, Family, Presentation
from cosched.core.options import by_name

BOUNDS: dict[str, Callable[..., Bound]] = {
    "profit-rate": bounds.profit_rate_bound,
    "profit-rate-cut": bounds.cut_bound,
}

ALGORITHMS = AlgorithmTable(
    "bags",
    by_name(algorithms, "ttb ttb-exact ttb-best tms min-energy min-makespan"),
)

#: What ``compare`` runs.
DEFAULT_COMPARE = tuple(ALGORITHMS.of_family)

FAMILY = Family(
    name="bags",
    instance_type=Instance,
    schedule_type=Schedule,
    result_type=Result,
    default_bound="profit-rate-cut",
    result_of=result_of_schedule,
    algorithms=ALGORITHMS,
    bounds=BOUNDS,
)

PRESENTATION = Presentation(
    family=FAMILY,
    objective="profit rate",
    unit=" a second",
    ideal="plan",
)
