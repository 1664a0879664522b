"""The studies of Casanova, Stillwell, Vivien 2011, and archive logs as they ran."""

from __future__ import annotations

from cosched.experiments.cluster import (
    archive,
    calls,
    costs,
    counting,
    degradation,
    readings,
    remarks,
    slurm,
    theorems,
    traces,
)
from cosched.experiments.study import Study

_PAPER = (
    "Casanova, Stillwell, Vivien: Dynamic fractional resource scheduling vs. batch scheduling, "
    "2011. "
)
_SETS = (
    "Real: the 182 weeks of HPC2N on 120 dual-core nodes. Unscaled: 100 traces of 1,000 jobs of "
    "the Lublin-Feitelson model (batch and interactive) on 128 quad-core nodes; the paper's own "
    "draws are not public. "
    "Scaled: these at offered loads 0.1 to 0.9. The rescheduling penalty is 300 s, the period "
    "600 s. "
)
_TRACE = ("traces", "trace", "load", "algorithm")
_REDUCED = (
    "At reduced size: few and short traces, and weeks of generated jobs where the log is not there."
)

STUDIES = (
    Study(
        name="cluster-table2",
        title="Batch queue or fractional sharing: degradation from the bound, 20 policies",
        family="cluster",
        paper=_PAPER + "Table 2.",
        about="Maximum bounded stretch over its lower bound: mean, standard deviation and maximum "
        "over traces. "
        + _SETS
        + "The third set, the scaled traces, is in cluster-fig1. "
        + _REDUCED,
        plan=degradation.plan_table2,
        run=traces.run,
        tables=degradation.tables2,
        figures=degradation.figures2,
        charts=degradation.charts,
        needs=(traces.LOG,),
        keep=(*_TRACE, "bound", "max_stretch", "degradation"),
    ),
    Study(
        name="cluster-table3",
        title="Preemptions and migrations: bandwidth, an hour, a job",
        family="cluster",
        paper=_PAPER + "Table 3.",
        about="Scaled synthetic traces with load 0.7 and more; mean and, in parentheses, maximum "
        "over traces. A job is preempted (migrated) when one or more of its tasks is. " + _REDUCED,
        plan=costs.plan_table3,
        run=traces.run,
        tables=costs.tables3,
        figures=costs.figures3,
        keep=(*_TRACE, *costs.MEASURES),
    ),
    Study(
        name="cluster-table4",
        title="Normalised underutilisation of EASY and the best two policies",
        family="cluster",
        paper=_PAPER + "Table 4.",
        about="CPU that could have been used and was not, over the CPU work of all jobs. "
        + _SETS
        + "The whole log in one piece is from Section 6.4.2, which does not say what it "
        "assumes of the penalty: both are here. " + _REDUCED,
        plan=costs.plan_table4,
        run=traces.run,
        tables=costs.tables4,
        figures=costs.figures4,
        needs=(traces.LOG,),
        keep=(*_TRACE, "underutilisation"),
    ),
    Study(
        name="cluster-table5",
        title="All 116 policies on the real weeks",
        family="cluster",
        paper=_PAPER + "Table 5.",
        about="As cluster-table2, on the 182 weeks of HPC2N. " + _REDUCED,
        plan=degradation.plan_table5,
        run=traces.run,
        tables=degradation.tables5,
        figures=degradation.figures5,
        charts=degradation.charts,
        needs=(traces.LOG,),
        keep=(*_TRACE, "degradation"),
    ),
    Study(
        name="cluster-fig1",
        title="Degradation from the bound against the offered load",
        family="cluster",
        paper=_PAPER + "Figure 1, and the scaled traces of Table 2.",
        about="Scaled synthetic traces, mean over traces. The paper shows Figure 1 as a picture. "
        + _REDUCED,
        plan=degradation.plan_figure1,
        run=traces.run,
        tables=degradation.tables_figure1,
        figures=degradation.figures1,
        charts=degradation.charts1,
        keep=(*_TRACE, "degradation"),
    ),
    Study(
        name="cluster-fig3-4",
        title="Underutilisation and degradation against the scheduling period",
        family="cluster",
        paper=_PAPER + "Figures 3 and 4.",
        about=f"{costs.BEST} with periods from 600 to 24,000 s, beside EASY. " + _SETS + _REDUCED,
        plan=costs.plan_periods,
        run=traces.run,
        tables=costs.tables_periods,
        figures=costs.figures_periods,
        charts=costs.charts_periods,
        needs=(traces.LOG,),
        keep=(
            *_TRACE,
            "period",
            "underutilisation",
            "degradation",
            "preemption_bandwidth",
            "migration_bandwidth",
        ),
    ),
    Study(
        name="cluster-theorems",
        title="EquiPartition and FCFS on the worst cases of the maximum stretch",
        family="cluster",
        paper=_PAPER + "Theorems 3 and 4.",
        about="The families of the proofs on one node, and random jobs; the bound is Theorem 1's. "
        "FCFS on two jobs of which the short one comes when the long one has begun.",
        plan=theorems.plan,
        run=theorems.run,
        tables=theorems.tables,
        figures=theorems.figures,
        keep=("family", "jobs", "draw", "value", "bound", "ratio", "delta", "of_delta"),
    ),
    Study(
        name="cluster-mcb8",
        title="Run time of MCB8 for the calls of a simulation",
        family="cluster",
        paper=_PAPER + "Section 6.2.",
        about="MCB8 * on the unscaled traces; then, at each submission and completion, one search "
        "for the jobs that are in the system at that instant, timed. While their memory does not "
        "fit, the last is left out. " + _REDUCED,
        plan=calls.plan,
        run=calls.run,
        tables=calls.tables,
        figures=calls.figures,
        keep=(
            "trace",
            "calls",
            "small",
            "most_jobs",
            "seconds_small_slow",
            "seconds_large",
            "seconds_longest",
        ),
    ),
    Study(
        name="cluster-readings",
        title="Other readings: a weaker bound, EASY that backfills less, other counts",
        family="cluster",
        paper=_PAPER + "Sections 3.1, 5.2, 5.3 and 6.3.",
        about="What the ledger tries as explanations of differences: the bound without (1d), in "
        "which a job may do any share of its work at any instant; EASY that backfills only jobs "
        "just submitted, by an event loop of its own; preemptions and migrations of Table 3 with "
        "pauses that end elsewhere within a period counted as migrations, and the memory of an "
        "event once; and facts of the traces. " + _REDUCED,
        plan=readings.plan,
        run=readings.run,
        tables=readings.tables,
        figures=readings.figures,
        needs=(traces.LOG,),
        keep=(
            *("traces", "trace", "load", "reading", "variant", "bound", "pooled", "stretch"),
            *counting.COSTS,
            *("jobs", "days", "least_memory", "no_memory"),
        ),
    ),
    Study(
        name="cluster-archive",
        title="Archive logs: what happened, and what policies would have given",
        family="cluster",
        paper="Logs of the Parallel Workloads Archive; their headers name the donors.",
        about="The log's own schedule, batch policies on whole processors over the whole log, and "
        "two DFRS policies on its first 56 days (nodes with cores and memory of the log's machine: "
        "other numbers of nodes and another bound). Calibration is how far starts are from the "
        "log's, where it has waits. Jobs wider than the machine are left out. "
        "At reduced size: the first week.",
        plan=archive.plan,
        run=archive.run,
        tables=archive.tables,
        figures=archive.figures,
        needs=tuple(archive.LOGS.values()),
        quick_needs=tuple(archive.LOGS.values()),
        keep=("log", "policy", "days", "jobs", "nodes", "says", *archive.MEASURES),
        remarks=remarks.of_archive,
    ),
    Study(
        name="cluster-slurm",
        title="Slurm under other parameters, and how much of it is noise",
        family="cluster",
        paper="Rules of Slurm 22.05.8 (slurm-backfill); logs of the Parallel Workloads Archive.",
        about="Slurm's scheduler with bf_resolution and bf_interval of the table, on the same 20 "
        "draws of its hidden clocks: medians, 5% and 95% quantiles. Beside it the log's own "
        "schedule, EASY and conservative backfilling with the users' limits, and the bound. The "
        "first 14 days of two logs, a processor a node. At reduced size: two days, four draws.",
        plan=slurm.plan,
        run=slurm.run,
        tables=slurm.tables,
        figures=slurm.figures,
        needs=tuple(slurm.LOGS.values()),
        quick_needs=tuple(slurm.LOGS.values()),
        keep=("log", "policy", "bf_resolution", "bf_interval", "jobs", "says", *slurm.KEPT),
        remarks=remarks.of_slurm,
    ),
)
