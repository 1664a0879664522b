"""A Slurm of one's own on this host: a controller, nodes, accounts, and a clock that may run
faster; and recordings of what it does with a trace of jobs.

Nothing of cosched needs this package but ``cosched slurm record``. A Slurm needs the extra
``cosched-hpc[slurm-lab]``: without it that is said before anything begins.
"""

from cosched.slurm_lab.conf import node_names as node_names, plain_nodes as plain_nodes
from cosched.slurm_lab.daemons import RealSlurm as RealSlurm
from cosched.slurm_lab.export import EXPORTED as EXPORTED, ExportError as ExportError
from cosched.slurm_lab.recorder import record as record
from cosched.slurm_lab.slurmdbd import (
    missing_packages as missing_packages,
    read_accounts as read_accounts,
)
from cosched.slurm_lab.trace import read_trace as read_trace
