"""Streams of jobs: Lublin's model, the weeks of a log, another load."""

from cosched.cluster.workloads.lublin_model import LUBLIN, LublinConstants, lublin
from cosched.cluster.workloads.traces import hpc2n_weeks, rescale_load

__all__ = ["LUBLIN", "LublinConstants", "hpc2n_weeks", "lublin", "rescale_load"]
