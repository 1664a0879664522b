"""Pictures. Every function takes an optional matplotlib axes and returns it."""

from cosched.bags.plots import energy_front as energy_front
from cosched.border import guard_public
from cosched.cluster.plots import (
    occupation as occupation,
    queue_length as queue_length,
    utilisation as utilisation,
    utilization as utilization,
)
from cosched.core.drawing import lines as lines
from cosched.dags.plots import ratios as ratios
from cosched.described import described
from cosched.moldable.plots import pareto as pareto
from cosched.plot.charts import execution as execution, gantt as gantt, save as save
from cosched.slurm.live.start_chart import starts as starts

described(globals())
guard_public(globals())
