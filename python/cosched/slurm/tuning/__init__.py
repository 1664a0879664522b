"""A search over lines of a slurm.conf: on common clocks, judged on weeks that it did not see."""

from cosched.slurm.tuning.tune_settings import tune
from cosched.slurm.tuning.tuned import Tuned
