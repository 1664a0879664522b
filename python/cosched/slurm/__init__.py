"""A production Slurm: its files, a twin of its scheduler, recordings of real ones, a Slurm now.

What a log or a machine of :mod:`cosched.cluster` hands over becomes the core's scenario here; what
users call is shown as ``cosched.cluster.slurm_backfill``, ``when`` and ``Snapshot``.

* ``accounts``: associations, shares and QOS as Slurm's commands print them
* ``conf``: slurm.conf, or what ``scontrol show`` prints, becomes settings
* ``requests``: what jobs ask for, and whose they are
* ``trace``: what a simulated cycle or pass did with each job, and why
* ``twin``: the scheduler, second by second
* ``recordings``: real runs, and how far the twin is from them
* ``whatif``: the same jobs under another slurm.conf
* ``live``: snapshots, and when jobs will start
"""

from cosched.cluster.analysis.longest_waits import add_limit_finder
from cosched.cluster.analysis.what_if import add_change_provider
from cosched.cluster.family import FAMILY
from cosched.cluster.machine.machine import add_reader
from cosched.slurm.machines import read_machine
from cosched.slurm.twin.backfill import slurm_backfill
from cosched.slurm.whatif.blocking_limits import blocking_limits
from cosched.slurm.whatif.changes import CHANGE_PROVIDER

add_reader(read_machine)
add_change_provider(CHANGE_PROVIDER)
add_limit_finder(blocking_limits)
FAMILY.include("slurm-backfill", slurm_backfill)
