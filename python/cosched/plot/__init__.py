"""Pictures. Every function takes an optional matplotlib axes and returns it."""

from cosched.bags.plots import (
    advantage as advantage,
    energy_front as energy_front,
    gap_against_gamma as gap_against_gamma,
    profit_against_gamma as profit_against_gamma,
    profit_rates as profit_rates,
)
from cosched.cluster.plots import (
    degradation_against_load as degradation_against_load,
    occupation as occupation,
    queue_length as queue_length,
    utilisation as utilisation,
)
from cosched.dags.plots import (
    competitive as competitive,
    ratios as ratios,
)
from cosched.described import described
from cosched.moldable.plots import (
    moldable_quality as moldable_quality,
    moldable_run_time as moldable_run_time,
    pareto as pareto,
)
from cosched.packs.plots import pack_quality as pack_quality
from cosched.plot.charts import (
    gantt as gantt,
    save as save,
)
from cosched.plot.runs import execution as execution
from cosched.slurm.live.plots import starts as starts

described(globals())
