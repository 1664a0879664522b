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

from cosched.border import guard_public
from cosched.cluster.algorithms import (
    TABLE_2 as TABLE_2,
    Event as Event,
    Job as Job,
    State as State,
    as_logged as as_logged,
    conservative as conservative,
    conservative_with_perfect_estimates as conservative_with_perfect_estimates,
    dfrs as dfrs,
    easy as easy,
    easy_with_perfect_estimates as easy_with_perfect_estimates,
    fcfs as fcfs,
    mcb8 as mcb8,
    mcb8_search as mcb8_search,
    paper_policies as paper_policies,
    python_policy as python_policy,
    yields as yields,
)
from cosched.cluster.auditing import audit as audit
from cosched.cluster.bounds import max_stretch_bound as max_stretch_bound
from cosched.cluster.exported_files import (
    jobs_table as jobs_table,
    write_jobs_csv as write_jobs_csv,
    write_log_csv as write_log_csv,
)
from cosched.cluster.family import (
    ALGORITHMS as ALGORITHMS,
    BOUNDS as BOUNDS,
    DEFAULT_COMPARE as DEFAULT_COMPARE,
    FAMILY as FAMILY,
    register_policy as register_policy,
)
from cosched.cluster.instance import Instance as Instance
from cosched.cluster.judgement import (
    FitVerdict as FitVerdict,
    LogJudgement as LogJudgement,
    judge_log as judge_log,
)
from cosched.cluster.log_readers import from_sacct as from_sacct, from_swf as from_swf
from cosched.cluster.machine import Machine as Machine
from cosched.cluster.machine.node_types import NodeType as NodeType, Partition as Partition
from cosched.cluster.result import Result as Result
from cosched.cluster.result.log_fit import fit as fit
from cosched.cluster.result.result import Draws as Draws
from cosched.cluster.schedule import Schedule as Schedule
from cosched.cluster.sizing import RightSize as RightSize, rightsize as rightsize
from cosched.described import described
from cosched.lazy import deprecated_names as _deprecated_names

solve = FAMILY.solve
bound = FAMILY.bound
compare = FAMILY.compare

described(
    globals(),
    {
        "period": (
            "float",
            "Between two periodic events (s), > 0; the first comes one period after the first\n"
            "submission.",
        ),
        "penalty": ("float", "What a resumed or moved job pays (s), >= 0."),
        "estimates": (
            '{"requested", "perfect"}, optional',
            "Expected run times: the column ``estimate``, or the real ones. None: requested where\n"
            "the jobs have time limits, else perfect.",
        ),
        "kill": (
            "bool",
            "A job ends at its limit, the column ``estimate``; the bound is then that of the run\n"
            "times so cut.",
        ),
        "priority": (
            '{"fcfs", "shortest", "smallest", "wfp3"} or callable',
            "The order of the queue: by submission; by expected run time; by tasks; by decreasing\n"
            "(wait / expected run time)^3 x tasks, looked at in every pass; or\n"
            "``priority(jobs)``, which gets ``instance.jobs`` and returns a key a job, smallest\n"
            "first. Equal keys by submission.",
        ),
    },
)
guard_public(globals())

#: Names that moved to :mod:`cosched.slurm`; they go with the next minor version.
__getattr__ = _deprecated_names(
    __name__,
    {
        "Snapshot": "cosched.slurm:Snapshot",
        "Tuned": "cosched.slurm:Tuned",
        "backtest": "cosched.slurm:backtest",
        "slurm_backfill": "cosched.slurm:backfill",
        "tune": "cosched.slurm:tune",
        "when": "cosched.slurm:when",
    },
)
