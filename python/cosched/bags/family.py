"""The family of bags: names of algorithms and bounds, and what the command line offers."""

from __future__ import annotations

from collections.abc import Callable

from cosched import core
from cosched.bags.algorithms import min_energy, min_makespan, tms, ttb, ttb_best, ttb_exact
from cosched.bags.arguments import parse_watts
from cosched.bags.bounds import cut_bound, profit_rate_bound
from cosched.bags.instance import Instance
from cosched.bags.result import Result, result_of_schedule
from cosched.bags.schedule import Schedule
from cosched.core import Argument, Bound, Family, Presentation

BOUNDS: dict[str, Callable[..., Bound]] = {
    "profit-rate": profit_rate_bound,
    "profit-rate-cut": cut_bound,
}

ALGORITHMS: dict[str, core.Algorithm] = {
    "ttb": ttb,
    "ttb-exact": ttb_exact,
    "ttb-best": ttb_best,
    "tms": tms,
    "min-energy": min_energy,
    "min-makespan": min_makespan,
}

#: What ``compare`` runs.
DEFAULT_COMPARE = tuple(ALGORITHMS)

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
    arguments=(
        Argument(
            "--price",
            "price",
            "What the bag earns (1e6,2e6 compares several).",
            parse=float,
            vary=True,
        ),
        Argument("--energy-cost", "energy_cost", "Price of a joule; 1 by default.", parse=float),
        Argument(
            "--gamma",
            "gamma",
            "Instead of the price: its multiple of the least energy "
            "cost (1.1,1.2 compares several).",
            parse=float,
            vary=True,
        ),
        Argument(
            "--idle-power",
            "idle_power",
            "Watts of a machine that runs nothing: of all, or a number a machine type (60,45).",
            parse=parse_watts,
        ),
        Argument(
            "--power-cap", "power_cap", "Most watts of all machines, on average.", parse=float
        ),
        Argument(
            "--missing",
            "missing",
            "Missing times: refuse, drop (the pair), drop-tasks or drop-machines.",
            parse=str,
        ),
    ),
    example=("FOLDER", "--gamma 1.2", "ttb-best"),
)
