"""Streams of jobs: Lublin's model, the weeks of a log, another load."""

from cosched.cluster.workloads.logs import hpc2n_weeks, requests, rescale_load
from cosched.cluster.workloads.lublin_model import lublin
