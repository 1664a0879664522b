"""A search over lines of a slurm.conf: on common clocks, judged on weeks that it did not see."""

from cosched.slurm.tune.search import tune
from cosched.slurm.tune.tuned import Tuned
