"""Pictures. Every function takes an optional matplotlib axes and returns it."""

from cosched.bags.plots import (
    advantage,
    energy_front,
    gap_against_gamma,
    profit_against_gamma,
    profit_rates,
)
from cosched.cluster.plots import (
    degradation_against_load,
    occupation,
    queue_length,
    utilisation,
)
from cosched.dags.plots import competitive, ratios
from cosched.described import described
from cosched.moldable.plots import moldable_quality, moldable_run_time, pareto
from cosched.packs.plots import pack_quality
from cosched.plot.charts import gantt, save
from cosched.plot.runs import execution
from cosched.slurm.live.plots import starts

__all__ = [
    "advantage",
    "competitive",
    "degradation_against_load",
    "energy_front",
    "execution",
    "gantt",
    "gap_against_gamma",
    "moldable_quality",
    "moldable_run_time",
    "occupation",
    "pack_quality",
    "pareto",
    "profit_against_gamma",
    "profit_rates",
    "queue_length",
    "ratios",
    "save",
    "starts",
    "utilisation",
]

described(globals())
