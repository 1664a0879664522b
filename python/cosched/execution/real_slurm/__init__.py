"""A Slurm of one's own on this host: a controller, nodes, accounts, and a clock that may run
faster; and recordings of what it does with a trace of jobs."""

from cosched.execution.real_slurm.conf import node_names, plain_nodes
from cosched.execution.real_slurm.daemons import RealSlurm
from cosched.execution.real_slurm.recorder import record
from cosched.execution.real_slurm.slurmdbd import missing_packages, read_accounts
from cosched.execution.real_slurm.trace import read_trace

__all__ = [
    "RealSlurm",
    "missing_packages",
    "node_names",
    "plain_nodes",
    "read_accounts",
    "read_trace",
    "record",
]
