"""What each backfill cycle and each main pass of a simulation did, and why."""

from cosched.slurm.trace.selection import TraceSelection as TraceSelection
from cosched.slurm.trace.trace_records import (
    Cycle as Cycle,
    JobTest as JobTest,
    LockYield as LockYield,
    MainPass as MainPass,
    NodeSpaceRecord as NodeSpaceRecord,
    QueuedJob as QueuedJob,
    Trace as Trace,
    TracedJob as TracedJob,
)
