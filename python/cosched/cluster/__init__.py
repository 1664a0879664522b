"""Cluster: batch queue or fractional sharing (Casanova, Stillwell, Vivien 2011).

A discrete-event simulator of a stream of jobs on identical nodes. Batch policies (``FCFS``,
``EASY``) give a job whole nodes; DFRS policies share the CPU of a node among jobs (never its
memory), pause and move them. The value is the maximum *bounded stretch* of a job: turnaround
over run time, both at least 10 s. The bound is a lower bound for any policy.

>>> jobs = {"submit": [0, 0, 0], "tasks": [1, 1, 1], "cpu": [1, 1, 1],
...         "memory": [0.3, 0.3, 0.3], "runtime": [100.0, 100.0, 10.0]}
>>> inst = cs.cluster.Instance(jobs, nodes=2)
>>> cs.cluster.solve(inst, "EASY").max_stretch
11.0
>>> round(cs.cluster.solve(inst, "GreedyPM */per/opt=min").max_stretch, 2)
2.0

Reference: H. Casanova, M. Stillwell, F. Vivien, *Dynamic fractional resource scheduling vs.
batch scheduling*, 2011. Section numbers in the docstrings are that paper's.
"""

from cosched.cluster.algorithms import (
    TABLE_2,
    Event,
    Job,
    State,
    as_logged,
    conservative,
    dfrs,
    easy,
    equipartition,
    fcfs,
    mcb8,
    mcb8_search,
    paper_policies,
    python_policy,
    yields,
)
from cosched.cluster.bounds import max_stretch_bound
from cosched.cluster.family import (
    ALGORITHMS,
    BOUNDS,
    DEFAULT_COMPARE,
    FAMILY,
    register_policy,
)
from cosched.cluster.instance import Instance
from cosched.cluster.logs import from_sacct, from_swf
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import NodeType, Partition
from cosched.cluster.outputs import (
    jobs_table,
    write_jobs_csv,
    write_log_csv,
)
from cosched.cluster.page import audit
from cosched.cluster.result import Result
from cosched.cluster.result.draws import Draws
from cosched.cluster.result.log_fit import fit
from cosched.cluster.schedule import Schedule
from cosched.cluster.sizing import RightSize, rightsize
from cosched.described import described
from cosched.slurm.conf.settings import SlurmSettings
from cosched.slurm.live import Snapshot, backtest, when
from cosched.slurm.twin.backfill import slurm_backfill

solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare

__all__ = [
    "ALGORITHMS",
    "BOUNDS",
    "DEFAULT_COMPARE",
    "FAMILY",
    "TABLE_2",
    "Draws",
    "Event",
    "Instance",
    "Job",
    "Machine",
    "NodeType",
    "Partition",
    "Result",
    "RightSize",
    "Schedule",
    "SlurmSettings",
    "Snapshot",
    "State",
    "as_logged",
    "audit",
    "backtest",
    "bound",
    "compare",
    "conservative",
    "dfrs",
    "easy",
    "equipartition",
    "fcfs",
    "fit",
    "from_sacct",
    "from_swf",
    "jobs_table",
    "max_stretch_bound",
    "mcb8",
    "mcb8_search",
    "paper_policies",
    "python_policy",
    "register_policy",
    "rightsize",
    "slurm_backfill",
    "solve",
    "when",
    "write_jobs_csv",
    "write_log_csv",
    "yields",
]

described(
    globals(),
    {
        "period": (
            "float",
            "Between two periodic events (s), > 0; the first comes one period after the first\n"
            "submission.",
        ),
        "penalty": ("float", "What a resumed or moved job pays (s), >= 0."),
    },
)
